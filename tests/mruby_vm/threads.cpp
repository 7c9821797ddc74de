// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// Four states on four threads, sampled at 10 kHz, while one more thread flushes all of them as fast as it can; and a fork
// from one of the four. Nothing may get lost between the flushes: what the profiles of a state hold together lies between
// two readings of its thread's clocks, one outside of start and stop and one inside. Compiled plainly, and with
// ThreadSanitizer.
//
//     mruby_threads SECONDS
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <mruby/compile.h>

#include <rbprof/mruby.hpp>

namespace {

constexpr int states = 4;

std::atomic<bool> failed{false};

void fail(int state, std::string_view why) {
  std::fprintf(stderr, "state %d: %.*s\n", state, static_cast<int>(why.size()), why.data());
  failed = true;
}

rbprof::mruby::options often() {
  rbprof::mruby::options o;
  o.interval = rbprof::nanos{100'000};
  o.overhead_target = {20};
  o.clock = rbprof::mruby::timer_clock::wall;
  return o;
}

/// What the profiles of one state hold together.
struct account {
  std::int64_t cpu = 0;
  std::int64_t wall = 0;
  std::uint64_t ticks = 0;
  int flushes = 0;

  void add(const rbprof::profile& p, int state) {
    cpu += p.total(rbprof::value_type::cpu_time);
    wall += p.total(rbprof::value_type::wall_time);
    std::uint64_t due = 0;
    std::uint64_t come = 0;
    std::uint64_t left = 0;
    for (const auto& [name, value] : p.statistics()) {
      if (name == "ticks") due = value;
      if (name == "outstanding") left = value;
      if (name == "samples" || name == "skipped" || name == "coalesced" || name == "missed") come += value;
      if (name == "recorder_self_check" && value != 0) fail(state, "the recorder has lost something");
    }
    if (due != come + left) fail(state, "ticks have got lost");
    ticks += due - left;  // those are in the next profile
    const std::string own = "Object#own_" + std::to_string(state);
    for (const auto& f : p.functions()) {
      const std::string_view name = p.string(f.name);
      if (name.starts_with("Object#own_") && name != own) fail(state, "a frame of another state");
    }
    ++flushes;
  }
};

struct clocks {
  rbprof::mono wall = rbprof::monotonic_now();
  rbprof::nanos cpu = *rbprof::thread_cpu_now();
};

void check_between(int state, const char* what, std::int64_t least, std::int64_t value, std::int64_t most) {
  if (value >= least && value <= most) return;
  fail(state, std::string(what) + " is " + std::to_string(value) + ", not between " + std::to_string(least) + " and " +
                  std::to_string(most));
}

/// A child of a fork is not profiled, and can be, by a profiler of its own.
int profile_in_child(int state, mrb_state* mrb, rbprof::mruby::profiler& of_parent) {
  if (of_parent.is_running()) fail(state, "in the child of a fork: runs");
  rbprof::mruby::profiler own(mrb, often());
  const absl::Status started = own.start();
  if (!started.ok()) fail(state, "in the child of a fork: " + std::string(started.message()));
  const clocks began;
#ifdef __SANITIZE_THREAD__
  bool seen = true;  // ThreadSanitizer delivers no signals in the child of a program that had threads
#else
  bool seen = false;
#endif
  while (started.ok() && !seen && rbprof::monotonic_now() - began.wall < rbprof::nanos{20'000'000'000}) {
    mrb_load_string(mrb, "40.times { again(20_000); [1] }");
    const absl::StatusOr<rbprof::profile> made = own.flush();
    if (!made.ok()) continue;
    for (const auto& f : made->functions()) seen = seen || made->string(f.name) == "Object#again";
  }
  if (!seen) fail(state, "in the child of a fork: nothing was sampled");
  if (!own.stop().ok()) fail(state, "in the child of a fork: does not stop");
  return failed ? 1 : 0;
}

/// One thread's work: each round allocates, collects, switches fibers, and burns.
void drive(int state, mrb_state* mrb, rbprof::mruby::profiler& profiler, std::atomic<int>& ready, const std::atomic<bool>& over,
           account& sum, std::atomic<int>& flushers) {
  const std::string name = "own_" + std::to_string(state);
  mrb_load_string(mrb, ("def again(n); i = 0; i += 1 while i < n; end\n"
                        "def " + name + "(n); i = 0; i += 1 while i < n; x = (1..50).map { |k| k.to_s }\n"
                        "f = Fiber.new { Fiber.yield x.size; 1 }; f.resume; f.resume; end\n"
                        "def round; 10.times { " + name + "(3000) }; GC.start; end").c_str());
  const clocks before;
  const absl::Status started = profiler.start();
  const clocks inside;
  ready.fetch_add(1);
  if (!started.ok()) return fail(state, std::string(started.message()));
  for (int round = 0; !over; ++round) {
    const int arena = mrb_gc_arena_save(mrb);
    mrb_funcall(mrb, mrb_top_self(mrb), "round", 0);
    mrb_gc_arena_restore(mrb, arena);
    if (mrb->exc != nullptr) return fail(state, "the program raised");
    if (state == 0 && round == 20) {
      const pid_t child = fork();
      if (child == 0) _exit(profile_in_child(state, mrb, profiler));
      int status = 0;
      if (waitpid(child, &status, 0) != child || status != 0) fail(state, "the child of a fork could not profile");
    }
  }
  while (flushers != 0) std::this_thread::yield();  // the account is the flusher's until then
  const clocks still_inside;
  const absl::StatusOr<rbprof::profile> rest = profiler.stop();
  const clocks after;
  if (!rest.ok()) return fail(state, std::string(rest.status().message()));
  sum.add(*rest, state);
  check_between(state, "cpu", (still_inside.cpu - inside.cpu).count(), sum.cpu, (after.cpu - before.cpu).count());
  check_between(state, "wall", (still_inside.wall - inside.wall).count(), sum.wall, (after.wall - before.wall).count());
  const std::int64_t period = often().interval.count();
  check_between(state, "ticks", (still_inside.wall - inside.wall).count() / period - 1,
                static_cast<std::int64_t>(sum.ticks), (after.wall - before.wall).count() / period);
  if (sum.flushes < 3) fail(state, "hardly any flushes");
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  std::array<mrb_state*, states> all{};
  std::vector<std::unique_ptr<rbprof::mruby::profiler>> profilers;
  for (mrb_state*& mrb : all) {
    mrb = mrb_open();
    profilers.push_back(std::make_unique<rbprof::mruby::profiler>(mrb, often()));
  }
  std::array<account, states> sums{};
  std::atomic<bool> over{false};
  std::atomic<int> ready{0};
  std::atomic<int> flushers{1};
  std::vector<std::thread> threads;
  for (int i = 0; i < states; ++i) {
    const auto n = static_cast<std::size_t>(i);
    threads.emplace_back([&, i, n] { drive(i, all[n], *profilers[n], ready, over, sums[n], flushers); });
  }
  while (ready != states) std::this_thread::yield();
  const auto end = rbprof::monotonic_now() + rbprof::nanos{static_cast<std::int64_t>(seconds * 1e9)};
  int late = 0;
  while (rbprof::monotonic_now() < end && !failed) {
    for (int i = 0; i < states; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const absl::StatusOr<rbprof::profile> made = profilers[n]->flush();
      if (made.ok()) sums[n].add(*made, i);
      else ++late;  // nothing is lost: the next one has it
    }
  }
  over = true;
  flushers = 0;
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < states; ++i) {
    const account& a = sums[static_cast<std::size_t>(i)];
    std::printf("state %d: %d profiles, %llu ticks, %.3f s of cpu, %.3f s of wall\n", i, a.flushes,
                static_cast<unsigned long long>(a.ticks), static_cast<double>(a.cpu) / 1e9, static_cast<double>(a.wall) / 1e9);
  }
  std::printf("%d flushes were late\n", late);
  profilers.clear();
  for (mrb_state* mrb : all) mrb_close(mrb);
  return failed ? 1 : 0;
}
