// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <string>

#include "simulated_host.hpp"

// Clocks that step and samples that are too dear, among several threads.

using namespace rbprof_test;
using rbprof::nanos;
using rbprof::value_type;
namespace vm = rbprof::vm;

TEST_CASE("clocks that step among four threads make no negative time, and each step is counted once") {
  simulated_profiler<vm::simulated> p{{.interval = 10ms}};
  REQUIRE(p.start().ok());
  drive(p);
  const vm::simulated_program other{steps::run({{2, 2}, {0, 1}}, 250ms), steps::step_cpu_clock(-200ms),
                                    steps::run({{3, 3}, {0, 1}}, 250ms)};
  p.vm().append(1, {steps::spawn(other, "a"), steps::spawn(other, "b"), steps::spawn(other, "c"),
                    steps::run({{1, 1}, {0, 1}}, 200ms), steps::step_clock(-5ms),
                    steps::run({{1, 1}, {0, 1}}, 200ms), steps::step_clock(1h),
                    steps::run({{1, 1}, {0, 1}}, 200ms)});
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(statistic(*profile, "clock_went_back") == 1);
  CHECK(statistic(*profile, "cpu_clock_went_back") == 3);
  CHECK(statistic(*profile, "samples") > 100);
  std::int64_t longest = 0;
  for (const auto& s : profile->samples()) {
    CHECK(s.amount[value_type::wall_time] >= 0);
    CHECK(s.amount[value_type::cpu_time] >= 0);
  }
  for (std::uint32_t th = 1; th <= p.vm().thread_count(); ++th) {
    const std::int64_t wall = sum_if(*profile, value_type::wall_time, [&](const auto& s) {
      return label_of(*profile, s, "thread id") == simulated_thread_id(th);
    });
    longest = std::max(longest, wall);
  }
  CHECK(longest <= nanos(1h + 2100ms).count());  // the step is counted once at most
  // Each cpu step costs its 200 ms and no more: the clock is behind for as long.
  const std::int64_t lost = nanos(2100ms).count() - profile->total(value_type::cpu_time);
  CHECK(lost >= 0);
  CHECK(lost <= nanos(3 * 200ms).count());
}

TEST_CASE("samples that cost five times their interval don't stop a program from moving") {
  simulated_profiler<vm::simulated, rbprof::sampler::dynamic_rate> p{{.interval = 1ms}};
  p.vm().charge_for_samples({5ms, 5ms});
  REQUIRE(p.start().ok());
  drive(p);
  // One piece a second, so that the first second can be looked at alone.
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 1s)});
  p.vm().run();
  const nanos first = p.vm().truth(1).overhead.wall;
  CHECK(first <= 60ms);  // three times the target of 2 %
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 1s)});
  p.vm().run();
  CHECK(p.vm().truth(1).all.wall <= 2600ms);
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 8s)});
  p.vm().run();
  const vm::simulated_truth& truth = p.vm().truth(1);
  CHECK(truth.overhead.wall.count() <= truth.all.wall.count() / 40);
  CHECK(p.stop().ok());
}
