// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/sampler/dynamic_rate.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

using namespace std::chrono_literals;
using rbprof::mono;
using rbprof::nanos;
using rbprof::sampler::dynamic_rate;

namespace {

constexpr mono start{1'000'000'000'000};

/// Rest after one sample of `cost`, with nothing before it.
nanos rest_after(nanos cost, double target) {
  dynamic_rate s{{target}};
  s.charge(start, {cost, 0ns});
  nanos rest{0};
  while (!s.admit(start + rest)) rest += std::max(s.nap(start + rest), 1ns);
  return rest;
}

}  // namespace

TEST_CASE("a sample is followed by the rest that makes it its share of time", "[dynamic_rate]") {
  CHECK(rest_after(1ms, 2.0) == 49ms);
  CHECK(rest_after(2ms, 2.0) == 98ms);
  CHECK(rest_after(1ms, 20.0) == 4ms);
  CHECK(rest_after(10us, 1.0) == 990us);
  CHECK(rest_after(0ns, 2.0) == 0ns);
}

TEST_CASE("no rest is longer than ten seconds, and no nap than a tenth of one", "[dynamic_rate]") {
  CHECK(rest_after(1s, 2.0) == 10s);
  CHECK(rest_after(24h, 0.5) == 10s);
  dynamic_rate s;
  s.charge(start, {1s, 0ns});
  CHECK(s.nap(start) == 100ms);
  CHECK(s.nap(start + 9950ms) == 50ms);
  CHECK(s.nap(start + 10s) == 0ns);
}

TEST_CASE("a target of 0, or of over 20 percent, leaves 2 percent and says so", "[dynamic_rate]") {
  const double bad = GENERATE(0.0, -1.0, 20.001, 100.0, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity());
  CAPTURE(bad);
  CHECK(dynamic_rate::validate({bad}).code() == absl::StatusCode::kInvalidArgument);
  dynamic_rate s{{bad}};
  CHECK(s.target_percent() == 2.0);
  std::string remarks;
  s.each_remark([&](const char* line) { remarks += line; });
  CHECK(remarks.find("2 percent") != std::string::npos);
  CHECK(s.configure({20.0}).ok());
  CHECK(s.target_percent() == 20.0);
  remarks.clear();
  s.each_remark([&](const char* line) { remarks += line; });
  CHECK(remarks.empty());
}

TEST_CASE("admit counts what it lets through and what it refuses", "[dynamic_rate]") {
  dynamic_rate s;
  CHECK(s.admit(start));
  s.charge(start, {1ms, 0ns});
  CHECK_FALSE(s.admit(start + 10ms));
  CHECK_FALSE(s.admit(start + 49ms - 1ns));
  CHECK(s.admit(start + 49ms));
  CHECK(s.statistics().sampled() == 2);
  CHECK(s.statistics().skipped() == 2);
}

TEST_CASE("a sample that was preempted is charged with the cpu it burned", "[dynamic_rate]") {
  dynamic_rate s;
  mono now = start;
  for (int i = 0; i < 10; ++i, now = now + 1s) s.charge(now, {100us, 90us});
  s.charge(now, {8ms, 110us});  // over four times the median of 100 us
  CHECK(s.nap(now) == 110us * 49);
  CHECK(s.preempted() == 1);
  CHECK(s.statistics().max_ns() == 8'000'000);  // what it took stays what it took
}

TEST_CASE("up to four times the median, and without a cpu time, wall time counts",
          "[dynamic_rate]") {
  dynamic_rate s;
  mono now = start;
  for (int i = 0; i < 10; ++i, now = now + 1s) s.charge(now, {100us, 90us});
  s.charge(now, {400us, 90us});
  CHECK(s.nap(now) == 400us * 49);
  now = now + 1s;
  s.charge(now, {500us, 0ns});
  CHECK(s.nap(now) == 500us * 49);
  CHECK(s.preempted() == 0);
}

TEST_CASE("cpu never makes a sample dearer than its wall time", "[dynamic_rate]") {
  dynamic_rate s;
  s.charge(start, {100us, 90us});
  s.charge(start + 1s, {1ms, 5s});
  CHECK(s.nap(start + 1s) == 49ms);
}

TEST_CASE("samples that stay dear become the usual ones", "[dynamic_rate]") {
  dynamic_rate s;
  mono now = start;
  for (int i = 0; i < 100; ++i, now = now + 1s) s.charge(now, {100us, 90us});
  const std::uint64_t before = s.preempted();
  for (int i = 0; i < 31; ++i, now = now + 1s) s.charge(now, {1ms, 200us});
  CHECK(s.preempted() - before == 16);  // then more than half of the window is dear
  s.charge(now, {1ms, 200us});
  CHECK(s.nap(now) == 49ms);
}

TEST_CASE("after one dear sample the next cheap one rests as if nothing had been",
          "[dynamic_rate]") {
  dynamic_rate s;
  s.charge(start, {300ms, 0ns});
  CHECK_FALSE(s.admit(start + 10s - 1ns));
  CHECK(s.admit(start + 10s));
  s.charge(start + 10s, {10us, 0ns});
  CHECK(s.nap(start + 10s) == 490us);
}

TEST_CASE("a second charge within a rest makes it longer, never shorter", "[dynamic_rate]") {
  dynamic_rate s;
  s.charge(start, {1ms, 0ns});
  s.charge(start + 1ms, {10us, 0ns});
  CHECK(s.nap(start + 1ms) == 48ms + 490us);
}

TEST_CASE("wakes are sampled in advance until half a second of rest is owed", "[dynamic_rate]") {
  dynamic_rate s;
  int taken = 0;
  while (s.admit_wake(start) && taken < 100) {
    CHECK((taken == 0 || !s.admit(start)));  // a tick would have to wait
    s.charge(start, {1ms, 0ns});
    ++taken;
  }
  CHECK(taken == 11);  // 49 ms each: 539 ms are owed
  CHECK(s.admit_wake(start + 40ms));
  CHECK_FALSE(s.admit(start + 538ms));
  CHECK(s.admit(start + 539ms));
  std::uint64_t refused = 0;
  s.each_statistic([&](const std::string& n, std::uint64_t v) {
    if (n == "woken_samples_refused") refused = v;
  });
  CHECK(refused == 1);
}

TEST_CASE("a clock that goes back does not silence the sampler", "[dynamic_rate]") {
  dynamic_rate s;
  s.charge(start, {1ms, 0ns});
  CHECK(s.admit(start - 1h));
  CHECK(s.nap(start - 1h) == 0ns);
  s.charge(start - 1h, {1ms, 0ns});
  CHECK_FALSE(s.admit(start - 1h + 48ms));
  CHECK(s.admit(start - 1h + 49ms));
}

TEST_CASE("a reset forgets the rest, the median and the counts", "[dynamic_rate]") {
  dynamic_rate s;
  for (int i = 0; i < 31; ++i) s.charge(start, {1us, 1us});
  s.charge(start, {1s, 0ns});
  s.reset(start);
  CHECK(s.admit(start));
  s.charge(start, {1ms, 1us});  // the first of all: nothing to compare it with
  CHECK(s.nap(start) == 49ms);
  CHECK(s.preempted() == 0);
  CHECK(s.statistics().total_ns() == 1'000'000);
}

TEST_CASE("over any run what is charged stays at its share of time", "[dynamic_rate][property]") {
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{60}));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const double target = 0.5 + static_cast<double>(random() % 39) / 2.0;
  dynamic_rate s{{target}};
  mono now = start;
  nanos spent{0};
  nanos last{0};
  for (int tick = 0; tick < 20'000; ++tick) {
    now = now + nanos{static_cast<std::int64_t>(1 + random() % 2'000'000)};
    if (!s.admit(now)) continue;
    last = nanos{static_cast<std::int64_t>(random() % 3'000'000)};
    now = now + last;
    spent += last;
    s.charge(now, {last, 0ns});
  }
  const double share =
      static_cast<double>((spent - last).count()) / static_cast<double>((now - start).count());
  CHECK(100.0 * share <= target);
  CHECK(100.0 * share >= target / 3);  // and it is used
}
