// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/trigger/manual.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <chrono>
#include <cstdint>
#include <random>

#include <rbprof/vm/simulated.hpp>

using namespace std::chrono_literals;
using rbprof::moment;
using rbprof::mono;
using rbprof::nanos;
using rbprof::tick_counters;
using rbprof::trigger::manual;
namespace vm = rbprof::vm;
namespace steps = rbprof::vm::steps;

static_assert(rbprof::trigger_for<manual, vm::simulated>);
static_assert(rbprof::trigger_for<manual, vm::simulated_plain>);

namespace {

template <class V>
moment claim(manual& t, V& v) {
  moment m;
  REQUIRE(v.with_lock_here([&](typename V::lock_type& lk) { m = t.claim(v, lk); }));
  return m;
}

std::uint64_t accounted(const manual& t) {
  const tick_counters c = t.counters();
  return c.claimed + c.coalesced + c.missed + c.skipped + t.outstanding();
}

}  // namespace

TEST_CASE("ticks between two polls become one sample", "[manual]") {
  vm::simulated v;
  manual t;
  CHECK_FALSE(t.poll(v.now()));
  REQUIRE(t.arm(v, {.period = 10ms}).ok());
  CHECK_FALSE(t.poll(v.now()));
  CHECK(claim(t, v).ticks == 0);
  v.run_outside(0ms, 100ms);
  CHECK(t.poll(v.now()));
  const moment m = claim(t, v);
  CHECK((m.ticks == 9 || m.ticks == 10));
  CHECK(m.seen == v.now());
  CHECK(m.seen >= m.due);
  CHECK(m.seen - m.due <= 15ms);
  CHECK(m.due == t.last_due());
  CHECK(t.counters().claimed == 1);
  CHECK(t.counters().coalesced == m.ticks - 1);
  CHECK_FALSE(t.poll(v.now()));
}

TEST_CASE("a tick waits to be claimed until it is", "[manual]") {
  vm::simulated v;
  manual t;
  REQUIRE(t.arm(v, {.period = 10ms}).ok());
  v.run_outside(0ms, 15ms);
  CHECK(t.poll(v.now()));
  CHECK(t.poll(v.now()));
  CHECK(t.outstanding() == 1);
}

TEST_CASE("polled when the next tick is due, each tick is one sample in time", "[manual]") {
  vm::simulated v;
  manual t;
  REQUIRE(t.arm(v, {.period = 10ms, .seed = 9}).ok());
  for (int i = 0; i < 100; ++i) {
    v.run_outside(0ms, t.next_due() - v.now());
    REQUIRE(t.poll(v.now()));
    const moment m = claim(t, v);
    REQUIRE(m.ticks == 1);
    REQUIRE(m.due == v.now());
  }
  CHECK(t.counters().scheduled == 100);
  CHECK(t.counters().claimed == 100);
}

TEST_CASE("ticks in a rest of the sampler are skipped", "[manual]") {
  vm::simulated v;
  manual t;
  nanos rest = 1ms;
  rbprof::pace p{.period = 10ms};
  p.self = &rest;
  p.nap = [](void* self, mono) noexcept { return *static_cast<nanos*>(self); };
  REQUIRE(t.arm(v, p).ok());
  v.run_outside(0ms, 100ms);
  CHECK_FALSE(t.poll(v.now()));
  CHECK(t.counters().skipped == t.counters().scheduled);
  CHECK(t.counters().skipped >= 9);
  rest = 0ms;
  v.run_outside(0ms, 20ms);
  CHECK(t.poll(v.now()));
}

TEST_CASE("a clock that goes back is counted, once for each time, and gives no tick", "[manual]") {
  vm::simulated v;
  manual t;
  REQUIRE(t.arm(v, {.period = 10ms}).ok());
  v.run_outside(0ms, 100ms);
  CHECK(t.poll(v.now()));
  const std::uint64_t scheduled = t.counters().scheduled;
  v.step_clock(-5ms);
  CHECK(t.poll(v.now()));
  CHECK(t.poll(v.now()));
  CHECK(t.counters().clock_went_back == 1);
  CHECK(t.counters().scheduled == scheduled);
  v.step_clock(1h);
  CHECK(t.poll(v.now()));
  CHECK(t.counters().clock_went_back == 1);
  CHECK(accounted(t) == t.counters().scheduled);
}

TEST_CASE("arming is refused twice and without a period, and what was left over is missed",
          "[manual]") {
  vm::simulated v;
  manual t;
  CHECK(t.arm(v, {.period = 0ns}).code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(t.arm(v, {.period = 10ms}).ok());
  CHECK(t.arm(v, {.period = 10ms}).code() == absl::StatusCode::kFailedPrecondition);
  v.run_outside(0ms, 15ms);
  CHECK(t.poll(v.now()));
  t.disarm(v);
  CHECK_FALSE(t.poll(v.now() + 1s));
  CHECK(t.outstanding() == 1);  // a last settle may still claim it
  REQUIRE(t.arm(v, {.period = 10ms}).ok());
  CHECK(t.outstanding() == 0);
  CHECK(t.counters().missed == 1);
  CHECK(accounted(t) == t.counters().scheduled);
}

TEMPLATE_TEST_CASE("under any pattern of polls and claims ticks balance", "[manual][property]",
                   vm::simulated, vm::simulated_plain) {
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{40}));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  TestType v;
  manual t;
  nanos rest{0};
  rbprof::pace p{.period = nanos{static_cast<std::int64_t>(1 + random() % 5'000'000)},
                 .seed = seed};
  p.self = &rest;
  p.nap = [](void* self, mono) noexcept { return *static_cast<nanos*>(self); };
  const mono armed = v.now();
  REQUIRE(t.arm(v, p).ok());
  mono last_due{0};
  for (int i = 0; i < 2'000; ++i) {
    v.run_outside(0ns, nanos{static_cast<std::int64_t>(random() % 10'000'000)});
    rest = random() % 4 == 0 ? 1ms : 0ns;
    (void)t.poll(v.now());
    if (random() % 3 == 0) {
      const moment m = claim(t, v);
      if (m.ticks > 0) REQUIRE(m.due > last_due);
      if (m.ticks > 0) last_due = m.due;
      REQUIRE(m.ticks <= t.counters().scheduled);
    }
    REQUIRE(accounted(t) == t.counters().scheduled);
  }
  (void)t.poll(v.now());
  const auto whole = static_cast<std::uint64_t>((v.now() - armed) / p.period);
  CHECK(t.counters().scheduled + 1 >= whole);
  CHECK(t.counters().scheduled <= whole + 1);
}

TEST_CASE("a virtual timer drives a program's samples to within one of time over period",
          "[manual]") {
  struct sink {
    vm::simulated& v;
    manual& t;
    std::uint64_t samples = 0;
    void on_safe_point(vm::simulated_lock& lk) noexcept { samples += t.claim(v, lk).ticks; }
    void on_thread(vm::simulated_lock&, std::uint32_t, bool) noexcept {}
    void on_gc(std::uint32_t, bool) noexcept {}
    void on_running(vm::simulated_lock&, std::uint32_t) noexcept {}
    void on_bind(bool) noexcept {}
  };
  vm::simulated v;
  manual t;
  sink s{v, t};
  REQUIRE(v.attach(s).ok());
  REQUIRE(t.arm(v, {.period = 10ms}).ok());
  v.every(1ms, [&] {
    if (t.poll(v.now())) (void)v.request_safe_point();
  });
  v.append(v.main_thread, {steps::run({{1, 1}}, 400ms), steps::native({{2, 0}}, 300ms),
                           steps::sleep({{1, 2}}, 300ms)});
  v.run();
  CHECK(t.counters().scheduled >= 99);
  CHECK(t.counters().scheduled <= 101);
  CHECK(s.samples == t.counters().scheduled - t.outstanding());
}
