// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
// accuracy-host runs a Ruby program that profiles a part of itself and gets the profile back as Ruby objects, so that
// it can compare it with what it measured by its own clocks:
//
//     accuracy-host postponed_job|signal|handler|unsound_handler 1ms|100us|10ms PROGRAM.rb [ARGS...]
//
//     Profiler.start    as basic_profiler::start
//     Profiler.stop     [[labels, cpu ns, wall ns, samples, [[name, file, line], ... leaf first]], ...]
//     Profiler.remarks  of the last profile      Profiler.statistics  likewise, {name => count}
//     Profiler.signal_delay_us  what a signal takes from another core to the calling thread, while that computes; median
//     Profiler::MODE, Profiler::INTERVAL_NS
//
// It samples at a fixed rate: a governor would skip ticks, and what is asked here is how good a sample is.
// `signal` takes stacks at Ruby's safe points, `handler` in the signal's handler where that is sound, `unsound_handler`
// before Ruby 3.3 as well.
#include <rbprof/cruby.hpp>
#include <rbprof/sampler/fixed_rate.hpp>

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using profiler =
    rbprof::basic_profiler<rbprof::vm::cruby,
                           rbprof::trigger::either<rbprof::trigger::postponed_job, rbprof::trigger::signal>,
                           rbprof::sampler::fixed_rate, rbprof::context::thread_times, rbprof::flip_recorder>;

profiler* the_profiler = nullptr;
std::optional<rbprof::profile> the_profile;

VALUE text(std::string_view s) { return rb_utf8_str_new(s.data(), static_cast<long>(s.size())); }

/// Nothing of C++ that has a destructor may be alive when Ruby raises.
void raise_unless(absl::Status (*act)()) {
  VALUE message = Qnil;
  {
    const absl::Status done = act();
    if (!done.ok()) message = text(std::string(done.message()));
  }
  if (!NIL_P(message)) rb_raise(rb_eRuntimeError, "%s", StringValueCStr(message));
}

VALUE frames_of(const rbprof::profile& p, rbprof::stack_id stack) {
  const VALUE all = rb_ary_new();
  p.each_frame(stack, [&](rbprof::frame_id id) {
    const rbprof::profile_function& f = p.function(p.frame(id).function);
    rb_ary_push(all, rb_ary_new_from_args(3, text(p.string(f.name)), text(p.string(f.file)),
                                          INT2NUM(p.frame(id).line)));
  });
  return all;
}

VALUE labels_of(const rbprof::profile& p, rbprof::label_set_id set) {
  const VALUE all = rb_hash_new();
  for (const rbprof::profile_label& l : p.labels(set)) {
    rb_hash_aset(all, text(p.string(l.key)), l.is_num ? LL2NUM(l.num) : text(p.string(l.str)));
  }
  return all;
}

VALUE start(VALUE) {
  raise_unless([] { return the_profiler->start(); });
  return Qnil;
}

VALUE stop(VALUE) {
  raise_unless([]() -> absl::Status {
    absl::StatusOr<rbprof::profile> got = the_profiler->stop();
    if (!got.ok()) return got.status();
    the_profile = *std::move(got);
    return absl::OkStatus();
  });
  const VALUE rows = rb_ary_new();
  for (const rbprof::profile_sample& s : the_profile->samples()) {
    rb_ary_push(rows, rb_ary_new_from_args(5, labels_of(*the_profile, s.labels),
                                           LL2NUM(s.amount[rbprof::value_type::cpu_time]),
                                           LL2NUM(s.amount[rbprof::value_type::wall_time]),
                                           LL2NUM(s.amount[rbprof::value_type::cpu_samples]),
                                           frames_of(*the_profile, s.stack)));
  }
  return rows;
}

VALUE remarks(VALUE) {
  const VALUE all = rb_ary_new();
  if (!the_profile) return all;
  for (const std::string& s : the_profile->comments()) rb_ary_push(all, text(s));
  return all;
}

VALUE statistics(VALUE) {
  const VALUE all = rb_hash_new();
  if (!the_profile) return all;
  for (const auto& [name, value] : the_profile->statistics()) rb_hash_aset(all, text(name), ULL2NUM(value));
  return all;
}

std::atomic<std::int64_t> signal_sent{0};  // ns; 0 = it has arrived
std::atomic<std::int64_t> signal_delay{0};

VALUE signal_delay_us(VALUE) {
  struct sigaction act {};
  struct sigaction before {};
  act.sa_handler = [](int) {
    signal_delay.store(rbprof::monotonic_now().ns - signal_sent.load());
    signal_sent.store(0);
  };
  sigaction(SIGUSR2, &act, &before);
  std::vector<std::int64_t> delays;
  std::atomic<bool> over{false};
  std::thread sender([&, target = pthread_self()] {
    for (int i = 0; i < 200; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      signal_sent.store(rbprof::monotonic_now().ns);
      pthread_kill(target, SIGUSR2);
      while (signal_sent.load() != 0) std::this_thread::yield();
      delays.push_back(signal_delay.load());
    }
    over.store(true);
  });
  while (!over.load()) {
  }
  sender.join();
  sigaction(SIGUSR2, &before, nullptr);
  std::nth_element(delays.begin(), delays.begin() + 100, delays.end());
  return LL2NUM(delays[100] / 1000);
}

std::optional<rbprof::nanos> to_interval(std::string_view s) {
  char* end = nullptr;
  const std::string number(s);
  const long n = std::strtol(number.c_str(), &end, 10);
  const std::string_view unit(end);
  if (n <= 0 || (unit != "ms" && unit != "us")) return std::nullopt;
  return rbprof::nanos{n * (unit == "ms" ? 1'000'000 : 1'000)};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 3 ? argv[1] : "";
  const std::optional<rbprof::nanos> interval = argc > 3 ? to_interval(argv[2]) : std::nullopt;
  if (!interval || (mode != "postponed_job" && mode != "signal" && mode != "handler" &&
                    mode != "unsound_handler")) {
    std::fputs("usage: accuracy-host postponed_job|signal|handler|unsound_handler 1ms PROGRAM.rb [ARGS...]\n", stderr);
    return 2;
  }
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  std::vector<char*> for_ruby{argv[0]};
  for_ruby.insert(for_ruby.end(), argv + 3, argv + argc);
  const int count = static_cast<int>(for_ruby.size());
  for_ruby.push_back(nullptr);
  void* const program = ruby_options(count, for_ruby.data());
  int status = 0;
  if (ruby_executable_node(program, &status) == 0) {
    ruby_cleanup(0);
    return status;
  }

  rbprof::profiler_options options;
  options.interval = *interval;
  static profiler made(options);
  made.trigger().choose(mode == "postponed_job" ? 0 : 1);
  made.vm().options.handler_capture = mode.ends_with("handler");
  made.vm().options.unsound_handler_capture = mode == "unsound_handler";
  the_profiler = &made;

  const VALUE module = rb_define_module("Profiler");
  rb_define_module_function(module, "start", start, 0);
  rb_define_module_function(module, "stop", stop, 0);
  rb_define_module_function(module, "remarks", remarks, 0);
  rb_define_module_function(module, "statistics", statistics, 0);
  rb_define_module_function(module, "signal_delay_us", signal_delay_us, 0);
  rb_define_const(module, "MODE", text(mode));
  rb_define_const(module, "INTERVAL_NS", LL2NUM(interval->count()));
  return ruby_run_node(program);
}
