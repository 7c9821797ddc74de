// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/trigger/signal.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <rbprof/vm/simulated.hpp>

#include "observations.hpp"
#include "real_vm.hpp"

using namespace std::chrono_literals;
using rbprof::moment;
using rbprof::tick_counters;
using rbprof_test::real_vm;
using rbprof_test::sigprof_is_ignored;
using rbprof_test::statistics;
namespace vm = rbprof::vm;
using trigger_signal = rbprof::trigger::signal;

static_assert(rbprof::trigger_for<trigger_signal, vm::simulated>);
static_assert(rbprof::trigger_for<trigger_signal, vm::simulated_plain>);
static_assert(rbprof::trigger_for<trigger_signal, real_vm>);

TEST_CASE("the thread that runs the VM is signalled, and nobody else", "[signal]") {
  real_vm v;
  trigger_signal t;
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  std::uint64_t ticks = 0;
  std::atomic<std::uint64_t> samples{0};
  std::atomic<bool> over{false};
  std::thread bystander([&] {
    while (!over.load()) std::this_thread::sleep_for(1ms);
  });
  v.execute(
      [&](vm::simulated_lock& lk) {
        const moment m = t.claim(v, lk);
        ticks += m.ticks;
        samples += m.ticks > 0 ? 1 : 0;
      },
      [&] { return samples.load() >= 20; });
  t.disarm(v);
  over = true;
  bystander.join();
  const tick_counters c = t.counters();
  CHECK(c.claimed == samples.load());
  CHECK(c.scheduled == ticks + c.missed + t.outstanding());
  CHECK(v.wrong_thread.load() == 0);
  CHECK(statistics(t)["interrupts_sent"] >= samples.load());
  CHECK(sigprof_is_ignored());
}

TEST_CASE("while nobody runs the VM ticks wait for whoever runs next", "[signal]") {
  real_vm v;
  trigger_signal t;
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  while (statistics(t)["idle_ticks"] < 5) std::this_thread::sleep_for(1ms);
  CHECK(v.requests.load() == 0);
  CHECK(t.outstanding() >= 5);
  std::uint32_t first = 0;
  v.execute(
      [&](vm::simulated_lock& lk) {
        const std::uint32_t found = t.claim(v, lk).ticks;
        if (first == 0) first = found;
      },
      [&] { return first > 0; });
  t.disarm(v);
  CHECK(first >= 6);
}

TEST_CASE("a thread that is gone is an error that is counted", "[signal]") {
  real_vm v;
  trigger_signal t;
  std::thread([&] { v.runner.store(static_cast<pid_t>(syscall(SYS_gettid))); }).join();
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  while (statistics(t)["interrupts_failed"] < 3) std::this_thread::sleep_for(1ms);
  t.disarm(v);
  CHECK(v.requests.load() == 0);
}

TEST_CASE("a start that fails leaves no handler", "[signal]") {
  real_vm v;
  trigger_signal t;
  CHECK_FALSE(t.arm(v, {.period = 1ns}).ok());
  CHECK(sigprof_is_ignored());
  vm::simulated s;
  REQUIRE(s.hook_signal().ok());
  CHECK(t.arm(s, {.period = 1ms}).code() == absl::StatusCode::kFailedPrecondition);
  t.disarm(s);
  CHECK(s.signal_hooked());  // not ours to unhook
}

TEST_CASE("a VM that delivers its own signals is asked to", "[signal]") {
  vm::simulated v;
  rbprof::sink_archetype<vm::simulated> sink;
  REQUIRE(v.attach(sink).ok());
  trigger_signal t;
  REQUIRE(t.arm(v, {.period = 1ms}).ok());
  CHECK(v.signal_hooked());
  while (statistics(t)["interrupts_sent"] < 3) std::this_thread::sleep_for(1ms);
  t.disarm(v);
  CHECK_FALSE(v.signal_hooked());
  CHECK(statistics(t)["interrupts_failed"] == 0);
}
