// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <string>
#include <string_view>

#include "simulated_host.hpp"

using namespace rbprof_test;
using rbprof::nanos;
using rbprof::value_type;
namespace vm = rbprof::vm;

TEST_CASE("time goes to the function that ran, and all of it is there") {
  simulated_profiler<vm::simulated> p{{.interval = 10ms}};
  REQUIRE(p.start().ok());
  drive(p);
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 300ms), steps::run({{2, 7}, {0, 2}}, 100ms),
                    steps::sleep({{3, 9}, {0, 3}}, 500ms)});
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(profile->total(value_type::cpu_time) == nanos(400ms).count());
  CHECK(profile->total(value_type::wall_time) == nanos(900ms).count());
  // A change between two ticks is seen at the next one: a period, its jitter, and the poll's own step.
  const nanos blur = 10ms + 5ms + 1ms;
  CHECK(std::abs(sum_of_leaf(*profile, value_type::cpu_time, "function_1") - nanos(300ms).count()) <=
        blur.count());
  CHECK(std::abs(sum_of_leaf(*profile, value_type::wall_time, "function_3") - nanos(500ms).count()) <=
        blur.count());
  CHECK(profile->duration() == 900ms);
  CHECK(statistic(*profile, "ticks") >= 89);
  CHECK(statistic(*profile, "ticks") <= 91);
}

TEST_CASE("a wait is booked where the thread waited, though others took the ticks") {
  simulated_profiler<vm::simulated> p{{.interval = 10ms}};
  REQUIRE(p.start().ok());
  drive(p);
  vm::simulated_program sleeper;
  for (int i = 0; i < 4; ++i) {
    sleeper.push_back(steps::run({{1, 1}, {0, 1}}, 30ms));
    sleeper.push_back(steps::sleep({{2, 2}, {1, 1}, {0, 1}}, 200ms));
  }
  p.vm().append(1, {steps::spawn(sleeper, "sleeper"), steps::run({{3, 3}, {0, 2}}, 1500ms)});
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  const auto own = [&](std::string_view leaf, value_type type) {
    return sum_if(*profile, type, [&](const auto& s) {
      return label_of(*profile, s, "thread name") == "sleeper" && leaf_of(*profile, s) == leaf;
    });
  };
  // It ran for 120 ms; the rest of its life it slept, or stood where it slept and waited for the VM lock.
  const vm::simulated_truth& truth = p.vm().truth(2);
  CHECK(truth.self(1).cpu == 120ms);
  CHECK(std::abs(own("function_1", value_type::cpu_time) - nanos(120ms).count()) <= nanos(16ms).count());
  CHECK(own("function_2", value_type::cpu_time) <= nanos(16ms).count());
  CHECK(std::abs(own("function_2", value_type::wall_time) - truth.self(2).wall.count()) <= nanos(64ms).count());
  CHECK(statistic(*profile, "woken_samples") >= 3);
}

TEST_CASE("a second profile begins where the first ended") {
  simulated_profiler<vm::simulated> p{{.interval = 10ms}};
  REQUIRE(p.start().ok());
  drive(p);
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 300ms), steps::run({{2, 7}, {0, 2}}, 100ms)});
  p.vm().run_for(200ms);
  const auto first = p.flush();
  REQUIRE(first.ok());
  p.vm().run();
  const auto second = p.stop();
  REQUIRE(second.ok());
  CHECK(first->total(value_type::cpu_time) == nanos(200ms).count());
  CHECK(second->total(value_type::cpu_time) == nanos(200ms).count());
  CHECK(second->start_epoch_ns() == first->start_epoch_ns() + first->duration().count());
  CHECK(second->duration() == 200ms);
}

TEST_CASE("the collector has its own stack, and the program is not charged with it") {
  simulated_profiler<vm::simulated> p{{.interval = 10ms}};
  REQUIRE(p.start().ok());
  drive(p);
  vm::simulated_program program;
  for (int i = 0; i < 20; ++i) {
    program.push_back(steps::run({{1, 5}, {0, 1}}, 20ms));
    program.push_back(steps::gc_major(4ms, 5ms, "GC.start()", "requested (FORCE)"));
  }
  p.vm().append(1, program);
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(sum_of_leaf(*profile, value_type::cpu_time, "Garbage Collection") == nanos(80ms).count());
  CHECK(sum_of_leaf(*profile, value_type::wall_time, "Garbage Collection") == nanos(100ms).count());
  CHECK(sum_of_leaf(*profile, value_type::cpu_samples, "Garbage Collection") == 20);
  CHECK(profile->total(value_type::cpu_time) == nanos(480ms).count());
  CHECK(profile->total(value_type::wall_time) == nanos(500ms).count());
  for (const auto& s : profile->samples()) {
    if (leaf_of(*profile, s) != "Garbage Collection") continue;
    CHECK(label_of(*profile, s, "thread id") == "GC");
    CHECK(label_of(*profile, s, "gc thread id") == simulated_thread_id(1));
    CHECK(label_of(*profile, s, "event") == "gc");
    CHECK(label_of(*profile, s, "gc type") == "major");
    CHECK(label_of(*profile, s, "gc reason") == "requested (FORCE)");
    CHECK(label_of(*profile, s, "gc cause") == "GC.start()");
  }
}

TEST_CASE("a stop that comes before the start cancels that start once") {
  simulated_profiler<vm::simulated> p;
  CHECK(p.stop().status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(p.start().code() == absl::StatusCode::kCancelled);
  CHECK(p.start().ok());
  CHECK(p.stop().ok());
  CHECK(p.stop().status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(p.start().ok());  // a second stop is not a stop that came first
}

TEST_CASE("options out of range are refused in words") {
  CHECK_FALSE(simulated_profiler<vm::simulated>{{.interval = 1us}}.start().ok());
  CHECK_FALSE(simulated_profiler<vm::simulated>{{.max_frames = 4}}.start().ok());
  CHECK_FALSE(simulated_profiler<vm::simulated>{{.types = {}}}.start().ok());
}

TEST_CASE("counts of time start over at a flush, those of the process go on") {
  simulated_profiler<vm::simulated> p{{.interval = 10ms}};
  REQUIRE(p.start().ok());
  drive(p);
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 400ms)});
  p.vm().run_for(200ms);
  const auto first = p.flush();
  REQUIRE(first.ok());
  for (const auto& [name, value] : p.stats()) {
    if (name == "samples" || name == "ticks" || name == "thread_samples") CHECK(value == 0);
    if (name == "lifetime_flush_successes") CHECK(value == 1);
  }
  p.vm().run();
  const auto second = p.stop();
  REQUIRE(second.ok());
  CHECK(statistic(*first, "ticks") + statistic(*second, "ticks") >= 39);
  CHECK(statistic(*second, "ticks") <= 21);
}

TEST_CASE("a stack deeper than the limit keeps its leaf side and says what is missing") {
  for (const std::uint32_t depth : {9U, 10U, 11U, 30U}) {
    simulated_profiler<vm::simulated> p{{.interval = 10ms, .max_frames = 10}};
    REQUIRE(p.start().ok());
    drive(p);
    vm::simulated_stack stack;
    for (std::uint32_t i = depth; i > 0; --i) stack.push_back({i, 1});
    p.vm().append(1, {steps::run(stack, 100ms)});
    p.vm().run_for(95ms);
    const auto profile = p.stop();
    REQUIRE(profile.ok());
    for (const auto& s : profile->samples()) {
      if (label_of(*profile, s, "thread id") != simulated_thread_id(1)) continue;
      const bool cut = depth > 10;
      CHECK(profile->stack(s.stack).depth == (cut ? 11U : depth));
      CHECK(leaf_of(*profile, s) == "function_" + std::to_string(depth));
      std::string root;
      profile->each_frame(s.stack, [&](rbprof::frame_id f) {
        root = std::string(profile->string(profile->function(profile->frame(f).function).name));
      });
      CHECK((root == "Truncated Frames") == cut);
    }
  }
}

TEST_CASE("the handler sees what no safe point sees") {
  // A C method of 10 ms with a part of 6 ms that shows a stack of its own: at the only safe point, the end, that
  // part is over.
  const vm::simulated_stack method{{1, 5}, {0, 1}};
  const vm::simulated_stack part{{2, 7}, {1, 5}, {0, 1}};
  vm::simulated_program calls;
  for (int i = 0; i < 2100; ++i) {
    calls.push_back(steps::inner(part, 6ms));
    calls.push_back(steps::native(method, 4ms));
  }
  const auto share_of_part = [&](bool by_signal) {
    simulated_profiler<vm::simulated> p{{.interval = 23ms}};  // longer than a call: one tick a call
    if (by_signal) p.vm().capture_in_handler();
    REQUIRE(p.start().ok());
    by_signal ? drive_by_signals(p, 100us) : drive(p, 100us);
    p.vm().append(1, calls);
    p.vm().run();
    const auto profile = p.stop();
    REQUIRE(profile.ok());
    CHECK(profile->total(value_type::cpu_time) == nanos(21s).count());
    CHECK((statistic(*profile, "async_samples") > 800) == by_signal);
    return static_cast<double>(sum_of_leaf(*profile, value_type::cpu_time, "function_2")) / 21e9;
  };
  CHECK(share_of_part(false) == 0.0);
  const double share = share_of_part(true);
  CHECK(share > 0.55);
  CHECK(share < 0.65);
}

TEST_CASE("a C call that collects keeps its time, whatever of it was a collection when the ticks expired") {
  // Calls with a collection in the middle and a single safe point, at the end; beside them, Ruby code.
  struct shape {
    nanos before, collection, after, interval;
  };
  const shape of = GENERATE(shape{3400us, 2200us, 400us, 1ms},   // the last of several ticks hits the collector
                            shape{1400us, 2200us, 2400us, 10ms},  // one tick at most, before, in or after it
                            shape{200us, 5500us, 300us, 1ms});    // little else than the collection
  const vm::simulated_stack call{{1, 5}, {0, 1}};
  const nanos ruby = 6100us;
  const bool in_handler = GENERATE(false, true);
  constexpr int times = 3000;
  vm::simulated_program calls;
  for (int i = 0; i < times; ++i) {
    calls.push_back(steps::inner(call, of.before));
    calls.push_back(steps::inner_gc(of.collection, of.collection, "newobj"));
    calls.push_back(steps::native(call, of.after));
    calls.push_back(steps::run({{2, 7}, {0, 1}}, ruby));
  }
  simulated_profiler<vm::simulated> p{{.interval = of.interval, .seed = 7}};
  if (in_handler) p.vm().capture_in_handler();
  REQUIRE(p.start().ok());
  in_handler ? drive_by_signals(p, 100us) : drive(p, 100us);
  p.vm().append(1, calls);
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  const auto share = [&](std::string_view leaf, value_type type) {
    return static_cast<double>(sum_of_leaf(*profile, type, leaf)) / static_cast<double>(profile->total(type));
  };
  const nanos own = of.before + of.after;
  const double all = static_cast<double>((own + of.collection + ruby).count());
  INFO("interval " << of.interval.count() << ", collection " << of.collection.count() << ", handler " << in_handler);
  for (const value_type type : {value_type::cpu_time, value_type::wall_time}) {
    CHECK(std::abs(share("function_1", type) - static_cast<double>(own.count()) / all) < 0.015);
    CHECK(std::abs(share("function_2", type) - static_cast<double>(ruby.count()) / all) < 0.015);
    CHECK(std::abs(share("Garbage Collection", type) - static_cast<double>(of.collection.count()) / all) < 0.001);
  }
}

TEST_CASE("who runs first after a wait, and who waits for less than a tick, has all of its time") {
  // A round between two long sleeps, with about three ticks in it.
  const vm::simulated_program round{
      steps::sleep({{1, 1}, {0, 1}}, 20ms), steps::run({{2, 1}, {0, 1}}, 8ms),
      steps::native({{3, 1}, {0, 1}}, 12ms), steps::run({{4, 1}, {0, 1}}, 3ms),
      steps::wait_lock({{5, 1}, {0, 1}}, 4ms)};
  const bool in_handler = GENERATE(false, true);
  const nanos every = GENERATE(nanos(1ms), nanos(10ms));
  constexpr int times = 3000;
  vm::simulated_program rounds;
  for (int i = 0; i < times; ++i) rounds.insert(rounds.end(), round.begin(), round.end());
  simulated_profiler<vm::simulated> p{{.interval = every, .seed = 7}};
  if (in_handler) p.vm().capture_in_handler();
  REQUIRE(p.start().ok());
  in_handler ? drive_by_signals(p, 100us) : drive(p, 100us);
  p.vm().append(1, rounds);
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  INFO("interval " << every.count() << ", handler " << in_handler);
  for (std::uint32_t f = 1; f <= 5; ++f) {
    const std::string name = "function_" + std::to_string(f);
    const vm::simulated_times truth = p.vm().truth(1).self(f);
    INFO(name);
    const auto off = [&](value_type type, nanos t, nanos all) {
      return std::abs(static_cast<double>(sum_of_leaf(*profile, type, name) - t.count())) / static_cast<double>(all.count());
    };
    CHECK(off(value_type::cpu_time, truth.cpu, times * nanos(23ms)) < 0.01);
    CHECK(off(value_type::wall_time, truth.wall, times * nanos(47ms)) < 0.01);
  }
}
