// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/trigger/thread_timer.hpp>

#include <catch2/catch_test_macros.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <memory>
#include <vector>

#include <rbprof/vm/simulated.hpp>

#include "observations.hpp"

using namespace std::chrono_literals;
using namespace rbprof_test;
using rbprof::moment;
using rbprof::tick_counters;
using rbprof::trigger::thread_timer;
using rbprof::trigger::timer_clock;
namespace vm = rbprof::vm;

namespace {

/// The simulated VM on real time, driven by whoever binds it.
class bound_vm : public vm::simulated {
 public:
  static constexpr rbprof::event emits = vm::simulated::emits | rbprof::event::bind;
  [[nodiscard]] rbprof::mono now() const noexcept { return rbprof::monotonic_now(); }
  absl::Status bind() { return absl::OkStatus(); }
  void unbind() noexcept {}
  void interrupted(const void* context) noexcept {
    if (context != nullptr) interruptions.fetch_add(1);
    last_thread.store(gettid());
  }
  std::atomic<std::uint64_t> interruptions{0};
  std::atomic<pid_t> last_thread{0};
};
static_assert(rbprof::has_binding<bound_vm>);
static_assert(rbprof::trigger_for<thread_timer, bound_vm>);
static_assert(!rbprof::trigger_for<thread_timer, vm::simulated>);

moment claim(thread_timer& t, bound_vm& v) {
  moment m;
  (void)v.with_lock_here([&](vm::simulated_lock& lk) { m = t.claim(v, lk); });
  return m;
}

void burn(std::chrono::nanoseconds time) {
  const auto until = *rbprof::thread_cpu_now() + time;
  while (*rbprof::thread_cpu_now() < until) {
  }
}

/// Burns cpu until it holds, ten seconds at most: on a busy machine the kernel looks at a thread's clock seldom.
template <class F>
bool burn_until(F&& holds) {
  const auto end = rbprof::monotonic_now() + 10s;
  while (!holds() && rbprof::monotonic_now() < end) burn(2ms);
  return holds();
}

}  // namespace

TEST_CASE("a timer's ticks are as many as the periods of its thread's clock, overruns included", "[thread_timer]") {
  bound_vm v;
  thread_timer t;
  t.choose(timer_clock::cpu);
  t.bound(v, true);
  const auto began = *rbprof::thread_cpu_now();
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  std::uint64_t ticks = 0;
  const auto periods = [&] { return static_cast<double>((*rbprof::thread_cpu_now() - began).count()) / 1e6; };
  burn(100ms);
  // The kernel delivers when it next looks at the thread's clock: then no period is missing.
  const bool complete = burn_until([&] {
    ticks += claim(t, v).ticks;
    return static_cast<double>(ticks) > periods() - 8;
  });
  CHECK(complete);
  CHECK(static_cast<double>(ticks) < periods() + 2);
  t.disarm(v);
  const tick_counters c = t.counters();
  CHECK(c.scheduled == c.claimed + c.coalesced + c.missed + c.skipped + t.outstanding());
  CHECK(statistics(t)["timer_signals"] + statistics(t)["timer_overruns"] + c.missed == c.scheduled);
  CHECK(v.interruptions > 0);
  CHECK(v.last_thread == gettid());
}

TEST_CASE("a thread that waits has ticks on the wall clock alone", "[thread_timer]") {
  for (const timer_clock clock : {timer_clock::wall, timer_clock::cpu}) {
    bound_vm v;
    thread_timer t;
    t.choose(clock);
    t.bound(v, true);
    REQUIRE(t.arm(v, {.period = 2ms}).ok());
    const auto end = std::chrono::steady_clock::now() + 100ms;
    while (std::chrono::steady_clock::now() < end) std::this_thread::sleep_until(end);
    t.disarm(v);
    const std::uint64_t n = t.counters().scheduled;
    INFO((clock == timer_clock::wall ? "wall " : "cpu ") << n);
    CHECK((clock == timer_clock::wall) == (n > 20));  // of 50
    CHECK(t.sees_waits() == (clock == timer_clock::wall));
  }
}

TEST_CASE("ticks in a rest of the sampler are skipped, and nobody is interrupted", "[thread_timer]") {
  bound_vm v;
  thread_timer t;
  t.bound(v, true);
  rbprof::pace p{.period = 1ms};
  p.nap = [](void*, rbprof::mono) noexcept { return rbprof::nanos{1}; };
  REQUIRE(t.arm(v, p).ok());
  CHECK(burn_until([&] { return t.counters().skipped > 20; }));
  t.disarm(v);
  CHECK(t.counters().skipped + t.counters().missed == t.counters().scheduled);
  CHECK(v.interruptions == 0);
}

TEST_CASE("the timer follows the VM from thread to thread", "[thread_timer]") {
  bound_vm v;
  thread_timer t;
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  burn(30ms);
  CHECK(t.counters().scheduled == 0);
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      t.bound(v, true);
      const std::uint64_t before = t.counters().scheduled;
      CHECK(burn_until([&] { return t.counters().scheduled > before + 15; }));
      CHECK(v.last_thread == gettid());
      t.bound(v, false);
      const std::uint64_t after = t.counters().scheduled;
      burn(30ms);
      CHECK(t.counters().scheduled == after);
    }).join();
  }
  t.disarm(v);
  CHECK(sigprof_is_ignored());
}

TEST_CASE("timers of several threads share the signal, and each tells its own", "[thread_timer]") {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      bound_vm v;
      thread_timer t;
      t.bound(v, true);
      if (!t.arm(v, {.period = 1ms}).ok()) return;
      const auto wanted = static_cast<std::uint64_t>(5 * (i + 1));
      const bool ticked = burn_until([&] { return t.counters().scheduled > wanted; });
      t.disarm(v);
      if (ticked && v.last_thread == gettid()) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 4);
  CHECK(sigprof_is_ignored());
}

TEST_CASE("a signal that comes after its timer is gone does nothing", "[thread_timer]") {
  auto v = std::make_unique<bound_vm>();
  auto t = std::make_unique<thread_timer>();
  bound_vm other;
  thread_timer keeps_the_handler;
  keeps_the_handler.bound(other, true);
  REQUIRE(keeps_the_handler.arm(other, {.period = 1s}).ok());
  t->choose(timer_clock::wall);
  t->bound(*v, true);
  sigset_t prof;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &prof, nullptr);
  REQUIRE(t->arm(*v, {.period = 1ms}).ok());
  std::this_thread::sleep_for(20ms);  // one is pending
  t->disarm(*v);
  t.reset();
  v.reset();
  pthread_sigmask(SIG_UNBLOCK, &prof, nullptr);
  burn(5ms);
  keeps_the_handler.disarm(other);
  CHECK(sigprof_is_ignored());
}

TEST_CASE("a handler of somebody else is not replaced, and the refusal leaves nothing behind", "[thread_timer]") {
  struct sigaction theirs {};
  theirs.sa_handler = [](int) {};
  sigemptyset(&theirs.sa_mask);
  sigaction(SIGPROF, &theirs, nullptr);
  bound_vm v;
  thread_timer t;
  t.bound(v, true);
  CHECK(absl::IsFailedPrecondition(t.arm(v, {.period = 1ms})));
  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  CHECK(now.sa_handler == theirs.sa_handler);
  struct sigaction none {};
  none.sa_handler = SIG_IGN;
  sigemptyset(&none.sa_mask);
  sigaction(SIGPROF, &none, nullptr);
  CHECK(t.arm(v, {.period = 1us}).message().find("20 us") != std::string_view::npos);
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  CHECK_FALSE(t.arm(v, {.period = 1ms}).ok());
  t.disarm(v);
  t.disarm(v);
}

TEST_CASE("a forked child has no timer, and may have one of its own", "[thread_timer]") {
  bound_vm v;
  thread_timer t;
  t.bound(v, true);
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  const pid_t child = fork();
  if (child == 0) {
    t.after_fork_child(v);
    const std::uint64_t before = t.counters().scheduled;
    burn(20ms);
    bool good = t.counters().scheduled == before && sigprof_is_ignored();
    t.bound(v, true);
    good = good && t.arm(v, {.period = 1ms}).ok();
    good = good && burn_until([&] { return t.counters().scheduled > before + 10; });
    t.disarm(v);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  t.disarm(v);
}
