// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
//     storm MODE INTERVAL_US [--flush MS] PROGRAM [ARGUMENTS]
//
// runs a Ruby program under a profiler that samples every tick, whatever it costs, and then looks whether every tick
// was accounted for and whether what was recorded can be true. MODE says how samples are asked for and taken:
//
//     plain     no profiler: what the program does by itself
//     job       the VM is asked from outside
//     signal    the thread that runs is signalled, its stack is taken at the next safe point
//     handler   the same, and the handler takes the stack
//     unsound   handler, also where this Ruby makes that unsound
//
// --flush: another native thread takes profiles, so often. Status: the program's own, else 3 when something is wrong;
// 77 when this Ruby has no such mode.

#include <rbprof/cruby.hpp>
#include <rbprof/sampler/fixed_rate.hpp>

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using profiler = rbprof::basic_profiler<
    rbprof::vm::cruby, rbprof::trigger::either<rbprof::trigger::postponed_job, rbprof::trigger::signal>,
    rbprof::sampler::fixed_rate, rbprof::context::thread_times, rbprof::flip_recorder>;

constexpr int wrong_status = 3;
constexpr int skip_status = 77;

/// What the profiles of one process say, taken together, and what in them can't be true.
class findings {
 public:
  void look(const rbprof::profile& p) {
    const std::lock_guard<std::mutex> hold(mutex_);
    ++profiles_;
    cpu_ += p.total(rbprof::value_type::cpu_time);
    std::map<std::string, std::uint64_t> n;
    for (const auto& [name, value] : p.statistics()) n[name] = value;
    for (const char* name : {"ticks", "samples", "skipped", "coalesced", "missed", "async_samples", "records"}) {
      sums_[name] += n[name];
    }
    last_ = n;
    if (n["ticks"] != n["samples"] + n["skipped"] + n["coalesced"] + n["missed"] + n["outstanding"]) {
      complain("ticks do not add up: " + std::to_string(n["ticks"]) + " != " + std::to_string(n["samples"]) + " + " +
               std::to_string(n["skipped"]) + " + " + std::to_string(n["coalesced"]) + " + " +
               std::to_string(n["missed"]) + " + " + std::to_string(n["outstanding"]));
    }
    if (n["outstanding"] > n["ticks"]) complain("more ticks are outstanding than there were");
    if (n["recorder_self_check"] != 0) complain("the recorder's own check failed");
    for (const rbprof::profile_sample& s : p.samples()) look(p, s);
  }

  void complain(const std::string& what) {
    if (++complaints_ <= 10) std::fprintf(stderr, "storm: WRONG: %s\n", what.c_str());
  }

  /// At the end. Returns whether all was well.
  bool finish(bool print) {
    const std::lock_guard<std::mutex> hold(mutex_);
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    const std::int64_t used = t.tv_sec * 1'000'000'000 + t.tv_nsec;
    // A clock is read a little after the one that it is compared with.
    if (cpu_ > used + used / 50 + 50'000'000) {
      complain("more cpu was booked than the process used: " + std::to_string(cpu_) + " of " + std::to_string(used));
    }
    if (last_["describe_failures"] > 0) complain("frames without names: " + std::to_string(last_["describe_failures"]));
    if (last_["ruby_errors"] > 0) complain("Ruby raised in a call of ours");
    if (print) {
      std::fprintf(stderr, "storm: profiles %llu", static_cast<unsigned long long>(profiles_));
      for (const auto& [name, value] : sums_) {
        std::fprintf(stderr, " %s %llu", name.c_str(), static_cast<unsigned long long>(value));
      }
      for (const auto& [name, value] : last_) {
        const std::string_view v(name);
        if (value == 0 || sums_.contains(name)) continue;
        if (v.starts_with("async") || v.starts_with("signals") || v.starts_with("interrupts") || v.starts_with("gc_gate") ||
            v.starts_with("gc_flag") || v.starts_with("jobs") || v == "native_thread_changes") {
          std::fprintf(stderr, " %s %llu", name.c_str(), static_cast<unsigned long long>(value));
        }
      }
      std::fputc('\n', stderr);
    }
    return complaints_ == 0;
  }

  [[nodiscard]] std::uint64_t sum(const std::string& name) {
    const std::lock_guard<std::mutex> hold(mutex_);
    return sums_[name];
  }

 private:
  /// Programs that name a thread "t7" run `work_7` on it, and nobody else does.
  void look(const rbprof::profile& p, const rbprof::profile_sample& s) {
    std::string_view thread;
    for (const rbprof::profile_label& l : p.labels(s.labels)) {
      if (p.string(l.key) == "thread name") thread = p.string(l.str);
    }
    if (!s.stack) complain("a sample without a stack");
    p.each_frame(s.stack, [&](rbprof::frame_id f) {
      const std::string_view name = p.string(p.function(p.frame(f).function).name);
      if (name.empty()) complain("a frame without a name");
      const std::size_t at = name.find("work_");
      if (at == std::string_view::npos) return;
      std::string_view number = name.substr(at + 5);
      if (thread.empty() || thread.front() != 't' || thread.substr(1) != number) {
        complain(std::string(name) + " on thread " + std::string(thread));
      }
    });
  }

  std::mutex mutex_;
  std::map<std::string, std::uint64_t> sums_;
  std::map<std::string, std::uint64_t> last_;
  std::uint64_t profiles_ = 0;
  std::int64_t cpu_ = 0;
  int complaints_ = 0;
};

struct storm {
  std::string mode;
  rbprof::profiler_options options;
  long flush_ms = 0;
  std::optional<profiler> prof;
  findings found;
  pid_t pid = 0;
  bool wrong = false;
  std::atomic<bool> over{false};
  std::thread flusher;
};

storm& self() {
  static storm* const s = new storm;  // a child of fork must not destroy the flusher
  return *s;
}

bool start() {
  storm& s = self();
  s.prof.emplace(s.options);
  s.prof->trigger().choose(s.mode == "job" ? 0 : 1);
  s.prof->vm().options.handler_capture = s.mode == "handler";
  s.prof->vm().options.unsound_handler_capture = s.mode == "unsound";
  if (const absl::Status started = s.prof->start(); !started.ok()) {
    s.found.complain("start: " + std::string(started.message()));
    return false;
  }
  return true;
}

// --- what programs may call ---------------------------------------------------------------------------------

VALUE ruby_start(VALUE) {
  if (self().mode == "plain") return Qfalse;
  if (self().pid != getpid()) {
    self().pid = getpid();
    new (&self().found) findings;  // the parent's profiles are not the child's
  }
  return start() ? Qtrue : Qfalse;
}

/// Takes a profile, and with `stop` it is the last. Its number of samples; nil = none was to be had.
VALUE take(bool stop) {
  storm& s = self();
  if (!s.prof) return Qnil;
  const absl::StatusOr<rbprof::profile> p = stop ? s.prof->stop() : s.prof->flush();
  if (!p.ok()) return Qnil;
  s.found.look(*p);
  for (const auto& [name, value] : p->statistics()) {
    if (name == "samples") return ULL2NUM(value);
  }
  return Qnil;
}
VALUE ruby_flush(VALUE) { return take(false); }
VALUE ruby_stop(VALUE) { return take(true); }
VALUE ruby_mode(VALUE) { return rb_str_new_cstr(self().mode.c_str()); }
VALUE ruby_sum(VALUE, VALUE name) { return ULL2NUM(self().found.sum(StringValueCStr(name))); }

/// For a child: whether all that it found is well.
VALUE ruby_well(VALUE) { return self().found.finish(false) ? Qtrue : Qfalse; }

/// How often a thread has queued for the VM lock; nil where Ruby does not tell.
VALUE ruby_ready(VALUE) {
#if RBPROF_DETAIL_RUBY_HOOKS
  static std::atomic<std::uint64_t> count{0};
  static const bool hooked = rb_internal_thread_add_event_hook(
                                 [](rb_event_flag_t, const rb_internal_thread_event_data_t*, void*) { ++count; },
                                 RUBY_INTERNAL_THREAD_EVENT_READY, nullptr) != nullptr;
  return hooked ? ULL2NUM(count.load()) : Qnil;
#else
  return Qnil;
#endif
}

void finish(VALUE) {
  storm& s = self();
  if (s.mode == "plain" || getpid() != s.pid) return;
  s.over = true;
  if (s.flusher.joinable()) {
    rb_thread_call_without_gvl(
        [](void* t) -> void* {
          static_cast<std::thread*>(t)->join();
          return nullptr;
        },
        &s.flusher, nullptr, nullptr);
  }
  if (s.prof && s.prof->is_running() && NIL_P(take(true))) s.found.complain("stop failed");
  s.wrong = !s.found.finish(true);
}

bool usable(const std::string& mode) {
  constexpr bool hooks = rbprof::vm::cruby_detail::has_thread_hooks;
  if (mode == "job" && !hooks) {
    std::puts("skipped: before 3.3 Ruby can't be asked from outside");
    return false;
  }
  if (mode == "handler" && !hooks) {
    std::puts("skipped: a handler's capture is not sound before Ruby 3.3");
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  storm& s = self();
  int at = 1;
  if (argc > 3) {
    s.mode = argv[at++];
    s.options.interval = rbprof::nanos{std::atol(argv[at++]) * 1000};
    if (std::string_view(argv[at]) == "--flush") {
      s.flush_ms = std::atol(argv[at + 1]);
      at += 2;
    }
  }
  if (at >= argc) {
    std::fputs("storm MODE INTERVAL_US [--flush MS] PROGRAM [ARGUMENTS]\n", stderr);
    return 2;
  }
  if (!usable(s.mode)) return skip_status;

  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  std::vector<char*> for_ruby{argv[0]};
  for_ruby.insert(for_ruby.end(), argv + at, argv + argc);
  const int count = static_cast<int>(for_ruby.size());
  for_ruby.push_back(nullptr);
  void* const program = ruby_options(count, for_ruby.data());
  int status = 0;
  if (ruby_executable_node(program, &status) == 0) {
    ruby_cleanup(0);
    return status;
  }
  rb_define_global_function("storm_start", ruby_start, 0);
  rb_define_global_function("storm_flush", ruby_flush, 0);
  rb_define_global_function("storm_stop", ruby_stop, 0);
  rb_define_global_function("storm_mode", ruby_mode, 0);
  rb_define_global_function("storm_sum", ruby_sum, 1);
  rb_define_global_function("storm_well?", ruby_well, 0);
  rb_define_global_function("storm_ready", ruby_ready, 0);
  s.pid = getpid();
  if (s.mode != "plain") {
    if (!start()) {
      ruby_cleanup(0);
      return wrong_status;
    }
    if (s.mode == "handler" && !rbprof::has(s.prof->vm().features(), rbprof::feature::async_capture)) {
      s.prof->vm().each_remark([](std::string_view r) {
        std::fprintf(stderr, "storm: %.*s\n", static_cast<int>(r.size()), r.data());
      });
      s.found.complain("the handler takes no stacks");
    }
  }
  if (s.flush_ms > 0 && s.mode != "plain") {
    s.flusher = std::thread([&s] {
      while (!s.over) {
        std::this_thread::sleep_for(std::chrono::milliseconds(s.flush_ms));
        if (const auto p = s.prof->flush(); p.ok()) s.found.look(*p);
      }
    });
  }
  rb_set_end_proc(finish, Qnil);
  status = ruby_run_node(program);
  return status == 0 && s.wrong ? wrong_status : status;
}
