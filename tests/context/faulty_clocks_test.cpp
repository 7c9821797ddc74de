// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <rbprof/context/thread_times.hpp>

#include <chrono>
#include <optional>
#include <vector>

using namespace std::chrono_literals;
using rbprof::mono;
using rbprof::nanos;
using rbprof::row;
using rbprof::context::thread_times;

namespace {

/// As much of a VM as an account of times asks: a thread that burns cpu as time passes, and whose clock may fail.
struct clocks {
  struct lock_type {};
  using thread_type = int;

  mono time{1'000'000'000};
  nanos cpu{0};
  int failures = 0;  // of the next readings
  int readings = 0;

  [[nodiscard]] mono now() const noexcept { return time; }
  std::optional<nanos> cpu_time(int) noexcept {
    ++readings;
    if (failures == 0) return cpu;
    --failures;
    return std::nullopt;
  }
  [[nodiscard]] rbprof::gc_facts last_gc() const noexcept { return {}; }
  void pass(nanos t) {
    time = time + t;
    cpu += t;
  }
};

struct account {
  clocks vm;
  clocks::lock_type lock;
  thread_times times;
  thread_times::thread_state state;
  std::vector<row> rows;

  account() {
    times.reset(vm.now());
    times.begin(vm, lock, 1, state);
  }
  auto keep() {
    return [this](const row& r) { rows.push_back(r); };
  }
  /// The cpu of a sample that is taken now.
  nanos sample() {
    rows.clear();
    times.settle(vm, lock, 1, state, {vm.now(), vm.now(), std::nullopt, 1, true, false, false}, keep());
    nanos sum{0};
    for (const row& r : rows) sum += r.cpu;
    return sum;
  }
  /// The collector's row of a collection of `length`, in which `before_enter` and `before_leave` change the clocks.
  template <class Before, class Inside>
  row collect(nanos length, Before&& before_enter, Inside&& before_leave) {
    rows.clear();
    before_enter();
    (void)times.gc(vm, 1, state, true);
    vm.pass(length);
    before_leave();
    (void)times.gc(vm, 1, state, false);
    times.report_gc(vm, lock, 1, state, keep());
    REQUIRE(rows.size() == 1);
    return rows.front();
  }
  std::uint64_t count(std::string_view name) {
    std::uint64_t found = 0;
    times.each_statistic([&](std::string_view n, std::uint64_t v) {
      if (n == name) found = v;
    });
    return found;
  }
};

}  // namespace

TEST_CASE("after a reading that failed the next one only sets the base, however much cpu there was") {
  account a;
  a.vm.pass(5s);
  a.vm.failures = 1;
  CHECK(a.sample() == 0ms);
  a.vm.pass(10ms);
  CHECK(a.sample() == 0ms);
  a.vm.pass(10ms);
  CHECK(a.sample() == 10ms);
  CHECK(a.count("cpu_clock_failures") == 1);
}

TEST_CASE("a collection whose cpu could be read on one side alone has none") {
  account a;
  a.vm.pass(20ms);
  CHECK(a.sample() == 20ms);
  const auto nothing = [] {};
  const auto fails = [&] { a.vm.failures = 1; };
  const row sound = a.collect(5ms, nothing, nothing);
  CHECK(sound.cpu == 5ms);
  const row no_begin = a.collect(5ms, fails, nothing);
  CHECK(no_begin.cpu == 0ms);
  CHECK(no_begin.wall == 5ms);
  const row no_end = a.collect(5ms, nothing, fails);
  CHECK(no_end.cpu == 0ms);
  CHECK(no_end.wall == 5ms);
  CHECK(a.count("cpu_clock_failures") == 2);
  CHECK(a.collect(5ms, nothing, nothing).cpu == 5ms);
  // Nothing is booked twice: what the broken pairs had is the thread's.
  a.vm.pass(10ms);
  CHECK(a.sample() == 20ms);
  a.vm.pass(10ms);
  CHECK(a.sample() == 10ms);
}

TEST_CASE("a cpu clock that goes back is worth nothing until it is past where it was") {
  account a;
  a.vm.pass(20ms);
  CHECK(a.sample() == 20ms);
  a.vm.cpu -= 2ms;
  CHECK(a.sample() == 0ms);
  CHECK(a.count("cpu_clock_went_back") == 1);
  a.vm.pass(10ms);
  CHECK(a.sample() == 8ms);
  CHECK(a.count("cpu_clock_went_back") == 1);
}
