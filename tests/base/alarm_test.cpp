// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/base/alarm.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <chrono>
#include <thread>

using namespace std::chrono_literals;
using rbprof::mono;
using rbprof::monotonic_now;
using rbprof::nanos;

TEST_CASE("an alarm that nobody rings waits for its time", "[alarm]") {
  rbprof::alarm a;
  const mono until = monotonic_now() + 20ms;
  CHECK_FALSE(a.wait_until(until));
  CHECK(monotonic_now() >= until);
}

TEST_CASE("a time that is past is not waited for", "[alarm]") {
  rbprof::alarm a;
  CHECK_FALSE(a.wait_until({0}));
  CHECK_FALSE(a.wait_until(monotonic_now() - 1s));
}

TEST_CASE("a ring wakes the sleeper, and those who come later, until a reset", "[alarm]") {
  rbprof::alarm a;
  std::atomic<bool> rung{false};
  const mono before = monotonic_now();
  std::thread sleeper([&] { rung = a.wait_until(monotonic_now() + 60s); });
  std::this_thread::sleep_for(5ms);
  a.ring();
  sleeper.join();
  CHECK(rung);
  CHECK((monotonic_now() - before) * 20 < nanos{60s});
  CHECK(a.wait_until(monotonic_now() + 60s));
  a.reset();
  CHECK_FALSE(a.wait_until(monotonic_now() + 1ms));
}

TEST_CASE("a ring is not lost when it comes before the sleep", "[alarm]") {
  for (int i = 0; i < 200; ++i) {
    rbprof::alarm a;
    std::thread ringer([&] { a.ring(); });
    REQUIRE(a.wait_until(monotonic_now() + 60s));
    ringer.join();
  }
}
