// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/trigger/schedule.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

using namespace std::chrono_literals;
using rbprof::mono;
using rbprof::nanos;
using rbprof::trigger::schedule;

namespace {

constexpr mono start{5'000'000'000'000};

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

TEST_CASE("every tick is due within a quarter of a period of its place", "[schedule]") {
  const auto seed = GENERATE(range(std::uint64_t{0}, std::uint64_t{50}));
  CAPTURE(seed);
  const schedule s(start, 10ms, seed);
  for (std::uint64_t k = 1; k <= 2'000; ++k) {
    const nanos off = s.due(k) - (start + 10ms * static_cast<std::int64_t>(k));
    REQUIRE(off >= -2500us);
    REQUIRE(off <= 2500us);
    REQUIRE(s.due(k + 1) - s.due(k) >= 5ms);
  }
}

TEST_CASE("the jitter covers its range evenly and differs between seeds", "[schedule]") {
  const schedule a(start, 10ms, 1);
  const schedule b(start, 10ms, 2);
  int quarters[4] = {};
  int equal = 0;
  nanos sum{0};
  for (std::uint64_t k = 1; k <= 4'000; ++k) {
    const nanos off = a.due(k) - (start + 10ms * static_cast<std::int64_t>(k)) + 2500us;
    ++quarters[std::min<std::int64_t>(off / 1250us, 3)];
    equal += a.due(k) == b.due(k) ? 1 : 0;
    sum += off - 2500us;
  }
  for (const int n : quarters) CHECK((n > 850 && n < 1150));  // 1000 expected; 5 deviations are 137
  CHECK(equal < 5);
  CHECK(sum / 4'000 > -125us);  // mean 0; 5 deviations are 114 us
  CHECK(sum / 4'000 < 125us);
}

TEST_CASE("whatever the pattern of looking is, ticks add up, in order, without drift",
          "[schedule][property]") {
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{100}));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const nanos period{static_cast<std::int64_t>(1 + random() % 20'000'000)};
  schedule s(start, period, seed);
  const schedule oracle(start, period, seed);
  mono now = start;
  mono last_due{0};
  std::uint64_t total = 0;
  for (int look = 0; look < 3'000; ++look) {
    const std::uint64_t magnitude = std::uint64_t{1} << (random() % 34);
    now = now + nanos{static_cast<std::int64_t>(random() % magnitude)};
    const schedule::expired e = s.advance(now);
    total += e.ticks;
    REQUIRE(total == s.taken());
    if (e.ticks > 0) {
      REQUIRE(e.due == oracle.due(total));
      REQUIRE(e.due > last_due);
      last_due = e.due;
    }
    REQUIRE((total == 0 || oracle.due(total) <= now));
    REQUIRE(oracle.due(total + 1) > now);
    REQUIRE(s.next() == oracle.due(total + 1));
    REQUIRE(distance(total, static_cast<std::uint64_t>((now - start) / period)) <= 1);
  }
}

TEST_CASE("a gap of a hundred years is one step", "[schedule]") {
  schedule s(start, 1ms, 3);
  const mono later = start + std::chrono::hours(24 * 365 * 100);
  const schedule::expired e = s.advance(later);
  CHECK(distance(e.ticks, 24ULL * 365 * 100 * 3600 * 1000) <= 1);
  CHECK(later - e.due <= 1500us);
  CHECK(s.advance(later).ticks == 0);
}

TEST_CASE("a clock that goes back a little gives no tick twice", "[schedule]") {
  schedule s(start, 10ms, 7);
  const schedule oracle(start, 10ms, 7);
  std::uint64_t total = s.advance(start + 1s).ticks;
  const schedule::expired back = s.advance(start + 995ms);
  CHECK(back.ticks == 0);
  CHECK(back.went_back);
  CHECK(s.advance(start + 990ms).went_back);
  const schedule::expired on = s.advance(start + 1s);
  CHECK(on.ticks == 0);
  CHECK_FALSE(on.went_back);
  total += s.advance(start + 2s).ticks;
  CHECK(total == s.taken());
  CHECK(distance(total, 200) <= 1);
  CHECK(s.next() == oracle.due(total + 1));  // still the same schedule
}

TEST_CASE("a clock that goes back far is followed from where it is", "[schedule]") {
  schedule s(start, 10ms, 7);
  const std::uint64_t before = s.advance(start + 1s).ticks;
  CHECK(s.advance(start - 1h).went_back);
  CHECK(s.taken() == before);
  CHECK(s.next() >= start - 1h + 7500us);
  CHECK(s.next() <= start - 1h + 12500us);
  const std::uint64_t after = s.advance(start - 1h + 1s).ticks;
  CHECK(distance(after, 100) <= 1);
}

TEST_CASE("periods too short for a jitter have none", "[schedule]") {
  schedule s(start, 1ns, 1);
  CHECK(s.advance(start + 1000ns).ticks == 1000);
  schedule three(start, 3ns, 1);
  CHECK(three.advance(start + 3000ns).due == start + 3000ns);
}
