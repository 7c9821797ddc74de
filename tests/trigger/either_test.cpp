// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/trigger/either.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <string>

#include <rbprof/trigger/manual.hpp>
#include <rbprof/trigger/postponed_job.hpp>
#include <rbprof/trigger/signal.hpp>
#include <rbprof/vm/simulated.hpp>

using namespace std::chrono_literals;
namespace trigger = rbprof::trigger;
namespace vm = rbprof::vm;
using gentle_or_accurate = trigger::either<trigger::postponed_job, trigger::signal>;
using any_of_three = trigger::either<gentle_or_accurate, trigger::manual>;

static_assert(rbprof::trigger_for<gentle_or_accurate, vm::simulated>);
static_assert(rbprof::trigger_for<gentle_or_accurate, vm::simulated_plain>);  // one of them fits
static_assert(rbprof::trigger_for<any_of_three, vm::simulated>);
static_assert(rbprof::trigger_for<any_of_three, vm::simulated_plain>);
static_assert(!rbprof::trigger_for<trigger::either<trigger::postponed_job, trigger::postponed_job>,
                                   vm::simulated_plain>);

TEST_CASE("the trigger that was chosen is the one that is armed", "[either]") {
  vm::simulated v;
  gentle_or_accurate t;
  t.choose(1);
  REQUIRE(t.arm(v, {.period = 1s}).ok());
  CHECK(t.chosen() == 1);
  CHECK(v.signal_hooked());
  t.choose(0);
  CHECK(t.chosen() == 1);  // until the next arm
  CHECK(t.arm(v, {.period = 1s}).code() == absl::StatusCode::kFailedPrecondition);
  t.disarm(v);
  CHECK_FALSE(v.signal_hooked());
  REQUIRE(t.arm(v, {.period = 1s}).ok());
  CHECK(t.chosen() == 0);
  CHECK_FALSE(v.signal_hooked());
  t.disarm(v);
}

TEST_CASE("a choice that the VM can't serve is refused in words, and the other still works",
          "[either]") {
  vm::simulated_plain v;
  gentle_or_accurate t;
  t.choose(0);
  const absl::Status refused = t.arm(v, {.period = 1s});
  CHECK(refused.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(std::string(refused.message()).find("choose the other one") != std::string::npos);
  CHECK(v.with_lock_here([&](vm::simulated_lock& lk) { CHECK(t.claim(v, lk).ticks == 0); }));
  t.disarm(v);
  t.choose(1);
  REQUIRE(t.arm(v, {.period = 1s}).ok());
  t.disarm(v);
}

TEST_CASE("choices nest, and what is polled is polled through them", "[either]") {
  vm::simulated_plain v;
  any_of_three t;
  t.choose(1);
  REQUIRE(t.arm(v, {.period = 10ms}).ok());
  v.run_outside(0ms, 25ms);
  CHECK(t.poll(v.now()));
  CHECK(t.outstanding() == 2);
  CHECK(t.last_due() > rbprof::mono{0});
  CHECK(v.with_lock_here([&](vm::simulated_lock& lk) { CHECK(t.claim(v, lk).ticks == 2); }));
  CHECK(t.counters().claimed == 1);
  t.disarm(v);
  t.choose(0);
  t.first().choose(1);
  REQUIRE(t.arm(v, {.period = 1s}).ok());
  CHECK_FALSE(t.poll(v.now()));
  CHECK(v.signal_hooked());
  t.disarm(v);
  CHECK_FALSE(v.signal_hooked());
}
