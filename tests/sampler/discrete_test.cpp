// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/sampler/discrete.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace std::chrono_literals;
using rbprof::mono;
using rbprof::nanos;
using rbprof::sampler::discrete;

namespace {

/// A program that allocates at a steady rate, whose samples cost a steady time.
struct world {
  explicit world(double target, std::uint64_t seed = 1) : s({target, seed}) { s.reset(now); }

  discrete s;
  mono now{1'000'000'000'000};
  nanos gap{1000};   // between two events
  nanos cost{2000};  // of a sample
  std::uint64_t counted = 0;
  std::uint64_t weighed = 0;
  std::uint64_t taken = 0;
  nanos spent{0};

  /// True when the event was sampled.
  bool event() {
    now = now + gap;
    ++counted;
    if (!s.count()) return false;
    weighed += s.weight(now);
    ++taken;
    now = now + cost;
    spent += cost;
    s.charge(now, cost);
    return true;
  }
  void run(nanos d) {
    const mono end = now + d;
    while (now < end) (void)event();
  }
  /// Share of time that samples took in the next `d`.
  double share(nanos d) {
    const nanos before = spent;
    const mono from = now;
    run(d);
    return static_cast<double>((spent - before).count()) / static_cast<double>((now - from).count());
  }
};

}  // namespace

TEST_CASE("the first event is a sample of weight 1", "[discrete]") {
  discrete s;
  REQUIRE(s.count());
  CHECK(s.weight({5}) == 1);
  CHECK(s.pending() == 0);
}

TEST_CASE("weights and what is pending add up to the events, whatever happens", "[discrete]") {
  const std::uint64_t seed = std::random_device{}() + static_cast<std::uint64_t>(GENERATE(range(1, 31)));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  world w(0.1 + static_cast<double>(random() % 50), seed);
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 5000 == 0) w.gap = nanos{static_cast<std::int64_t>(1 + random() % 1'000'000)};
    if (random() % 5000 == 0) w.cost = nanos{static_cast<std::int64_t>(random() % 20'000'000)};
    if (random() % 3000 == 0) w.s.look(w.now);
    if (random() % 7000 == 0) w.now = w.now + nanos{-2'000'000'000};
    (void)w.event();
    REQUIRE(w.weighed + w.s.pending() == w.counted);
    REQUIRE(w.s.events() == w.counted);
  }
}

TEST_CASE("a sample that can't be taken is left to the next event, which weighs for both", "[discrete]") {
  discrete s;
  REQUIRE(s.count());
  REQUIRE(s.count());
  REQUIRE(s.count());
  CHECK(s.pending() == 3);
  CHECK(s.weight({1}) == 3);
}

TEST_CASE("an event that repeats with a period is neither hidden nor preferred", "[discrete]") {
  // 10^6 events of a program that allocates its classes in turn. For each class the weights sum to its own events,
  // within 5 standard deviations of a sum of uniform gaps: per sample the spread is at most N, and a class has
  // events / period / N samples.
  const int period = GENERATE(range(1, 13));
  const std::uint64_t seed = GENERATE(11U, 12U, 13U, 14U, 15U);
  CAPTURE(period, seed);
  world w(1.0, seed);
  w.run(3s);  // the interval has settled
  const auto n = static_cast<double>(w.s.interval());
  REQUIRE(n > 10);
  std::vector<double> weight(static_cast<std::size_t>(period));
  constexpr int events = 1'000'000;
  for (int i = 0; i < events; ++i) {
    const std::uint64_t before = w.weighed;
    if (w.event()) weight[static_cast<std::size_t>(i % period)] += static_cast<double>(w.weighed - before);
  }
  const double truth = static_cast<double>(events) / period;
  const double spread = n * std::sqrt(truth / n) * 1.3;
  for (const double x : weight) CHECK(std::abs(x - truth) < 5 * spread);
}

TEST_CASE("samples cost their target, also two windows after the program has changed", "[discrete]") {
  world w(1.0);
  w.run(4s);
  CHECK(w.share(4s) < 0.0125);
  CHECK(w.share(4s) > 0.006);
  SECTION("events come twenty times as often") { w.gap = 50ns; }
  SECTION("events come a hundred times as seldom") { w.gap = 100us; }
  SECTION("samples cost ten times as much") { w.cost = 20us; }
  w.run(2s);
  w.s.look(w.now);
  CHECK(w.share(4s) < 0.0125);
}

TEST_CASE("a burst after a rest costs the target too, but for its first hundred samples", "[discrete]") {
  for (const nanos first : {nanos{1'200'000'000}, nanos{20'000}}) {
    CAPTURE(first.count());
    world w(1.0);
    w.cost = 27us;
    w.gap = first / 50;
    w.run(first);
    w.gap = 400ns;
    const nanos before = w.spent;
    const double of_burst = w.share(800ms);
    CHECK((w.spent - before) - 100 * w.cost <= 800ms / 100 * 2);
    CHECK(of_burst < 0.03);
    CHECK(of_burst > 0.002);
    CHECK(w.weighed + w.s.pending() == w.counted);
  }
}

TEST_CASE("cheap samples of rare events are all taken", "[discrete]") {
  world w(1.0);
  w.gap = 1ms;
  w.run(2s);
  const std::uint64_t before = w.taken;
  const std::uint64_t events = w.counted;
  w.run(2s);
  CHECK(w.taken - before == w.counted - events);
}

TEST_CASE("one sample that took very long does not stop sampling for good", "[discrete]") {
  world w(1.0);
  w.run(2s);
  w.cost = 3s;
  while (!w.event()) {
  }
  w.cost = 2us;
  const std::uint64_t before = w.taken;
  w.run(12s);
  CHECK(w.taken - before > 20);
  CHECK(w.share(4s) > 0.006);
}

TEST_CASE("after a burst, what comes seldom is seen again within a second", "[discrete]") {
  world w(1.0);
  w.gap = 50ns;
  w.run(3s);
  REQUIRE(w.s.interval() > 100);
  w.gap = 10ms;
  w.now = w.now + 1s;
  w.s.look(w.now);
  w.run(1s);
  w.s.look(w.now);
  w.run(1s);
  w.s.look(w.now);
  const std::uint64_t before = w.taken;
  const std::uint64_t events = w.counted;
  w.run(2s);
  CHECK(static_cast<double>(w.taken - before) > 0.5 * static_cast<double>(w.counted - events));
}

TEST_CASE("a target that makes no sense is refused and changes nothing", "[discrete]") {
  const double bad = GENERATE(0.0, -1.0, 100.5, std::numeric_limits<double>::quiet_NaN());
  discrete s;
  CHECK(s.configure({bad, 1}, {0}).code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(s.count());
  CHECK(s.weight({1}) == 1);
}
