// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/trigger/postponed_job.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include <rbprof/vm/simulated.hpp>

#include "real_vm.hpp"

using namespace std::chrono_literals;
using rbprof::moment;
using rbprof::mono;
using rbprof::tick_counters;
using rbprof::trigger::postponed_job;
using rbprof_test::real_vm;
namespace vm = rbprof::vm;

static_assert(rbprof::trigger_for<postponed_job, vm::simulated>);
static_assert(
    !rbprof::trigger_for<postponed_job, vm::simulated_plain>);  // can't be asked from outside

TEST_CASE("a VM that runs is asked at each tick, from a thread of its own", "[postponed_job]") {
  real_vm v;
  postponed_job t;
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  std::uint64_t ticks = 0;
  std::uint64_t samples = 0;
  bool sound = true;
  v.execute(
      [&](vm::simulated_lock& lk) {
        const moment m = t.claim(v, lk);
        ticks += m.ticks;
        samples += m.ticks > 0 ? 1 : 0;
        sound = sound && (m.ticks == 0 || m.seen >= m.due);
      },
      [&] { return samples >= 20; });
  t.disarm(v);
  const tick_counters c = t.counters();
  CHECK(sound);
  CHECK(c.claimed == samples);
  CHECK(c.claimed + c.coalesced == ticks);
  CHECK(c.scheduled == ticks + c.missed + t.outstanding());
  std::map<std::string, std::uint64_t> stats;
  t.each_statistic([&](const char* n, std::uint64_t value) { stats[n] = value; });
  CHECK(stats["trigger_requests"] == v.requests.load());
  CHECK(stats["trigger_requests_refused"] == 0);
}

TEST_CASE("after disarming nothing is asked any more", "[postponed_job]") {
  real_vm v;
  postponed_job t;
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  while (v.requests.load() < 3) std::this_thread::sleep_for(1ms);
  t.disarm(v);
  const std::uint64_t asked = v.requests.load();
  std::this_thread::sleep_for(10ms);
  CHECK(v.requests.load() == asked);
  CHECK(t.arm(v, {.period = 1ms}).ok());
  t.disarm(v);
}

TEST_CASE("a VM that is not attached refuses, which is counted", "[postponed_job]") {
  vm::simulated v;
  postponed_job t;
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  std::uint64_t refused = 0;
  while (refused < 2) {
    std::this_thread::sleep_for(1ms);
    t.each_statistic([&](const std::string& n, std::uint64_t value) {
      if (n == "trigger_requests_refused") refused = value;
    });
  }
  t.disarm(v);
  CHECK(refused >= 2);
}
