// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/trigger/ticker.hpp>

#include <catch2/catch_test_macros.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

#include <rbprof/base/clock.hpp>
#include <rbprof/trigger/tick_ledger.hpp>

using namespace std::chrono_literals;
using rbprof::mono;
using rbprof::monotonic_now;
using rbprof::nanos;
using rbprof::pace;
using rbprof::tick_counters;
using rbprof::trigger::tick_ledger;
using rbprof::trigger::ticker;

namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  std::abort();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

struct clock_only {
  [[nodiscard]] mono now() const noexcept { return monotonic_now(); }
};

/// A ticker with the seams of a test.
struct bench {
  tick_ledger ticks;
  ticker t{ticks};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::int64_t> last_request{0};
  std::atomic<std::uint64_t> looks{0};
  std::atomic<std::int64_t> rest_ns{0};
  std::atomic<std::int64_t> hold_once_ns{0};
  std::atomic<std::uint64_t> allocated_in_ticks{0};
  std::atomic<bool> somebody_runs{true};
  std::string thread_name;
  bool takes_signals = true;

  absl::Status start(nanos period) {
    pace p{.period = period};
    p.self = this;
    p.nap = [](void* self, mono) noexcept {
      return nanos{static_cast<bench*>(self)->rest_ns.load()};
    };
    p.before_tick = [](void* self) noexcept {
      bench& b = *static_cast<bench*>(self);
      b.looks.fetch_add(1);
      const nanos hold{b.hold_once_ns.exchange(0)};
      if (hold > nanos{0}) std::this_thread::sleep_for(hold);
    };
    return t.start(p, &request, this);
  }
  static bool request(void* self, bool) noexcept {
    bench& b = *static_cast<bench*>(self);
    if (b.requests.fetch_add(1) == 0) {
      char name[16] = {};
      pthread_getname_np(pthread_self(), name, sizeof name);
      b.thread_name = name;
      sigset_t blocked;
      pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
      b.takes_signals = sigismember(&blocked, SIGPROF) == 0 || sigismember(&blocked, SIGINT) == 0;
      allocations = 0;
    }
    b.allocated_in_ticks.store(allocations);
    b.last_request.store(monotonic_now().ns);
    return b.somebody_runs.load();
  }
  void wait_for_requests(std::uint64_t n) const {
    while (requests.load() < n) std::this_thread::sleep_for(1ms);
  }
  [[nodiscard]] std::uint64_t accounted() const {
    const tick_counters c = ticks.counters();
    return c.claimed + c.coalesced + c.missed + c.skipped + ticks.outstanding();
  }
};

}  // namespace

TEST_CASE("an idle VM costs a wake a stride, and no tick", "[ticker]") {
  bench b;
  b.somebody_runs = false;
  REQUIRE(b.start(2ms).ok());
  while (b.ticks.outstanding() + b.ticks.counters().missed < 400) std::this_thread::sleep_for(5ms);
  const std::uint64_t calm_wakes = b.requests.load();
  CHECK(calm_wakes <= 101 + 300 / 15 + 2);  // 200 ms of single ticks, then strides of 15; late ones are fewer
  b.somebody_runs = true;
  const tick_counters calm = b.ticks.counters();
  while (b.ticks.counters().scheduled < calm.scheduled + 200) std::this_thread::sleep_for(5ms);
  b.t.stop();
  const tick_counters c = b.ticks.counters();
  CHECK(b.accounted() == c.scheduled);
  const std::uint64_t busy_ticks = c.scheduled - calm.scheduled - (c.missed - calm.missed);
  CHECK(b.requests.load() - calm_wakes + 2 * 15 >= busy_ticks);  // one by one again, after a stride
}

TEST_CASE("ticks are as many as periods have passed, and each is accounted for", "[ticker]") {
  bench b;
  clock_only v;
  const mono before = monotonic_now();
  REQUIRE(b.start(2ms).ok());
  const mono started = monotonic_now();
  while (b.requests.load() < 30) {
    (void)b.ticks.claim(v);
    std::this_thread::sleep_for(5ms);
  }
  b.t.stop();
  const tick_counters c = b.ticks.counters();
  CHECK(b.accounted() == c.scheduled);
  CHECK(c.skipped == 0);
  CHECK(b.requests.load() + c.missed == c.scheduled);
  const auto at_least = static_cast<std::uint64_t>((mono{b.last_request.load()} - started) / 2ms);
  const auto at_most = static_cast<std::uint64_t>((monotonic_now() - before) / 2ms);
  CHECK(c.scheduled <= at_most + 1);
  CHECK(c.scheduled + c.missed + 2 >= at_least);  // the last request may itself have come late
  CHECK(b.ticks.last_due() <= mono{b.last_request.load()});
}

TEST_CASE("its thread has a name, takes no signals and allocates nothing", "[ticker]") {
  bench b;
  REQUIRE(b.start(1ms).ok());
  b.wait_for_requests(20);
  b.t.stop();
  CHECK(b.thread_name == "rbprof-ticker");
  CHECK_FALSE(b.takes_signals);
  CHECK(b.allocated_in_ticks.load() == 0);
}

TEST_CASE("a ticker that is held back counts what it missed and goes on in time", "[ticker]") {
  bench b;
  REQUIRE(b.start(2ms).ok());
  b.wait_for_requests(3);
  const std::uint64_t missed_before = b.ticks.counters().missed;
  b.hold_once_ns = nanos{100ms}.count();
  b.wait_for_requests(b.requests.load() + 4);
  b.t.stop();
  CHECK(b.ticks.counters().missed - missed_before >=
        48);  // 100 ms are 50 ticks, less one that it serves
  CHECK(b.accounted() == b.ticks.counters().scheduled);
}

TEST_CASE("ticks in a rest are skipped, and none of them is asked for", "[ticker]") {
  bench b;
  b.rest_ns = nanos{5ms}.count();
  REQUIRE(b.start(1ms).ok());
  while (b.ticks.counters().skipped < 40) std::this_thread::sleep_for(1ms);
  CHECK(b.requests.load() == 0);
  CHECK(b.ticks.last_due() == mono{0});
  CHECK(b.looks.load() < 20);  // it sleeps through a rest
  b.rest_ns = 0;
  b.wait_for_requests(2);
  b.t.stop();
  CHECK(b.accounted() == b.ticks.counters().scheduled);
}

TEST_CASE("a stop does not wait for the next tick", "[ticker]") {
  bench b;
  REQUIRE(b.start(60s).ok());
  const mono before = monotonic_now();
  b.t.stop();
  CHECK((monotonic_now() - before) * 20 < nanos{60s});
  CHECK(b.ticks.counters().scheduled == 0);
}

TEST_CASE("a stop does not wait for the end of a rest", "[ticker]") {
  bench b;
  b.rest_ns = nanos{60s}.count();
  REQUIRE(b.start(1ms).ok());
  while (b.looks.load() == 0) std::this_thread::sleep_for(1ms);
  const mono before = monotonic_now();
  b.t.stop();
  CHECK((monotonic_now() - before) * 20 < nanos{60s});
  CHECK(b.ticks.counters().skipped == b.ticks.counters().scheduled);
}

TEST_CASE("a ticker starts again after a stop, and only then", "[ticker]") {
  bench b;
  REQUIRE(b.start(1ms).ok());
  CHECK(b.start(1ms).code() == absl::StatusCode::kFailedPrecondition);
  b.wait_for_requests(2);
  b.t.stop();
  b.t.stop();
  const std::uint64_t first = b.requests.load();
  std::this_thread::sleep_for(10ms);
  CHECK(b.requests.load() == first);
  REQUIRE(b.start(1ms).ok());
  CHECK(b.ticks.outstanding() <= 1 + b.requests.load() - first);
  b.wait_for_requests(first + 2);
  b.t.stop();
  CHECK(b.accounted() == b.ticks.counters().scheduled);
}

TEST_CASE("a period that no ticker could keep is refused", "[ticker]") {
  bench b;
  CHECK(b.start(rbprof::shortest_period - 1ns).code() == absl::StatusCode::kInvalidArgument);
  CHECK(b.start(0ns).code() == absl::StatusCode::kInvalidArgument);
  CHECK_FALSE(b.t.running());
}

#ifndef __SANITIZE_THREAD__  // it can't start a thread in a forked child
TEST_CASE("a forked child forgets the ticker and may start its own", "[ticker]") {
  bench b;
  REQUIRE(b.start(1ms).ok());
  b.wait_for_requests(2);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    b.t.after_fork_child();
    if (b.t.running()) _exit(1);
    const std::uint64_t inherited = b.requests.load();
    if (!b.start(1ms).ok()) _exit(2);
    b.wait_for_requests(inherited + 2);
    b.t.stop();
    _exit(b.accounted() == b.ticks.counters().scheduled ? 0 : 3);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  b.wait_for_requests(b.requests.load() + 2);  // the parent's goes on
  b.t.stop();
}
#endif
