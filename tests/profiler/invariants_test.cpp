// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <rbprof/sampler/discrete.hpp>
#include <rbprof/sampler/with_events.hpp>

#include "../vm/random_program.hpp"
#include "simulated_host.hpp"

// The invariants of docs/architecture.md over random programs, exactly: every nanosecond that a thread of the
// simulated VM lives is in the profile once.

using namespace rbprof_test;
using rbprof::nanos;
using rbprof::value_type;
namespace vm = rbprof::vm;

namespace {

struct booked {
  std::int64_t cpu = 0, wall = 0, gc_cpu = 0, gc_wall = 0, overhead = 0;
};

std::map<std::string, booked> by_thread(const rbprof::profile& p) {
  std::map<std::string, booked> all;
  for (const rbprof::profile_sample& s : p.samples()) {
    const std::int64_t cpu = s.amount[value_type::cpu_time];
    const std::int64_t wall = s.amount[value_type::wall_time];
    const std::string id = label_of(p, s, "thread id");
    if (id == "GC") {
      booked& b = all[label_of(p, s, "gc thread id")];
      b.gc_cpu += cpu;
      b.gc_wall += wall;
    } else if (id == "0") {
      all[label_of(p, s, "overhead thread id")].overhead += cpu;
      CHECK(wall == 0);
    } else {
      booked& b = all[id];
      b.cpu += cpu;
      b.wall += wall;
    }
  }
  return all;
}

std::vector<std::pair<std::string, std::int32_t>> frames_of(const rbprof::profile& p, rbprof::stack_id s) {
  std::vector<std::pair<std::string, std::int32_t>> out;
  p.each_frame(s, [&](rbprof::frame_id f) {
    out.emplace_back(p.string(p.function(p.frame(f).function).name), p.frame(f).line);
  });
  return out;
}

/// Invariant 5: a recorded stack is one that its thread really had.
template <class Vm>
void check_stacks(Vm& v, const rbprof::profile& p) {
  std::map<std::string, std::set<std::vector<std::pair<std::string, std::int32_t>>>> real;
  for (std::uint32_t th = 1; th <= v.thread_count(); ++th) {
    auto& mine = real[simulated_thread_id(th)];
    for (const auto& [stack, times] : v.truth(th).stacks) {
      std::vector<std::pair<std::string, std::int32_t>> words;
      for (const vm::simulated_frame& f : stack) {
        words.emplace_back(f.function == 0 ? "<main>" : "function_" + std::to_string(f.function), f.line);
      }
      mine.insert(words);
    }
    mine.insert({{"(unattributed)", 0}});
    mine.insert({{"(not running)", 0}});
  }
  for (const rbprof::profile_sample& s : p.samples()) {
    const std::string id = label_of(p, s, "thread id");
    if (id == "GC" || id == "0" || id == "SS") continue;
    CAPTURE(id, frames_of(p, s.stack));
    REQUIRE(real[id].contains(frames_of(p, s.stack)));
  }
}

/// The program with bursts of allocations between its steps, also in the threads that it starts.
vm::simulated_program allocating(const vm::simulated_program& from, std::mt19937_64& random) {
  vm::simulated_program out;
  for (vm::simulated_step s : from) {
    s.child = allocating(s.child, random);
    out.push_back(std::move(s));
    if (random() % 3 == 0) {
      out.push_back(steps::allocate("Class" + std::to_string(random() % 5), std::uint64_t{1} << random() % 5));
    }
  }
  return out;
}

enum class asked_by { request, signal };

template <class Vm, class Sampler>
void check_random_program(std::uint64_t seed, vm::simulated_times cost, nanos interval,
                          asked_by way = asked_by::request) {
  CAPTURE(seed);
  rbprof::profiler_options o{.interval = interval, .seed = seed + 1};
  o.types.push_back(value_type::alloc_samples);
  o.types.push_back(value_type::alloc_samples_unscaled);
  simulated_profiler<Vm, rbprof::sampler::with_events<Sampler, rbprof::sampler::discrete>> p{o};
  std::mt19937_64 random(seed);
  p.vm().allocate_in_samples(seed % 3);
  p.vm().charge_for_samples(cost, {cost.cpu / 4, cost.wall / 4});
  REQUIRE(p.start().ok());
  if (way == asked_by::signal) {
    p.vm().capture_in_handler({cost.cpu / 8, cost.cpu / 8});
    drive_by_signals(p, interval / 8);
  } else {
    drive(p, interval / 8);
  }
  p.vm().append(1, allocating(random_program(seed), random));
  p.vm().run();
  const nanos main_wall = p.vm().truth(1).all.wall;  // the settle books up to its own begin
  const auto profile = p.stop();
  REQUIRE(profile.ok());

  std::uint64_t events = statistic(*profile, "allocations_during_sample");
  for (std::uint32_t th = 1; th <= p.vm().thread_count(); ++th) {
    for (const auto& [name, n] : p.vm().truth(th).allocations) events += n;
  }
  CHECK(static_cast<std::uint64_t>(profile->total(value_type::alloc_samples)) == events);
  CHECK(static_cast<std::uint64_t>(profile->total(value_type::alloc_samples_unscaled)) ==
        statistic(*profile, "allocation_samples"));

  auto got = by_thread(*profile);
  for (std::uint32_t th = 1; th <= p.vm().thread_count(); ++th) {
    const vm::simulated_truth& truth = p.vm().truth(th);
    const booked b = got[simulated_thread_id(th)];
    CAPTURE(th, b.cpu, b.wall, b.gc_cpu, b.gc_wall, b.overhead);
    CHECK(b.wall + b.gc_wall == (th == 1 ? main_wall : truth.all.wall).count());
    CHECK(b.cpu + b.gc_cpu + b.overhead == truth.all.cpu.count());
    CHECK(b.gc_wall == truth.gc.wall.count());
  }
  CHECK(statistic(*profile, "ticks") ==
        statistic(*profile, "samples") + statistic(*profile, "skipped") +
            statistic(*profile, "coalesced") + statistic(*profile, "missed"));
  CHECK(statistic(*profile, "outstanding") == 0);
  check_stacks(p.vm(), *profile);
}

std::vector<std::uint64_t> seeds(std::size_t n) {
  std::random_device from;
  std::vector<std::uint64_t> all{1, 2, 3, 4, 5, 6, 7, 8, 4134992480};  // the last: stacks put into words by a settle
  while (all.size() < n) all.push_back(from());
  return all;
}

using rbprof::sampler::dynamic_rate;
using rbprof::sampler::fixed_rate;

}  // namespace

TEST_CASE("every nanosecond of every thread is booked once, at a fixed rate") {
  for (const std::uint64_t seed : seeds(150)) {
    check_random_program<vm::simulated, fixed_rate>(seed, {}, 10ms);
    check_random_program<vm::simulated_plain, fixed_rate>(seed, {}, 10ms);
  }
}

TEST_CASE("every nanosecond is booked once when samples cost time and the governor rests") {
  for (const std::uint64_t seed : seeds(100)) {
    check_random_program<vm::simulated, dynamic_rate>(seed, {200us, 300us}, 2ms);
    check_random_program<vm::simulated_plain, dynamic_rate>(seed, {200us, 300us}, 2ms);
  }
}

TEST_CASE("every nanosecond is booked once when the handler takes the stacks") {
  for (const std::uint64_t seed : seeds(100)) {
    check_random_program<vm::simulated, fixed_rate>(seed, {}, 10ms, asked_by::signal);
    check_random_program<vm::simulated_plain, fixed_rate>(seed, {}, 10ms, asked_by::signal);
    check_random_program<vm::simulated, dynamic_rate>(seed, {200us, 300us}, 2ms, asked_by::signal);
    check_random_program<vm::simulated_plain, dynamic_rate>(seed, {200us, 300us}, 2ms, asked_by::signal);
  }
}

TEST_CASE("the governor keeps what samples cost at its target") {
  simulated_profiler<vm::simulated, dynamic_rate> p{{.interval = 1ms}};
  p.vm().charge_for_samples({500us, 500us});
  REQUIRE(p.start().ok());
  drive(p, 500us);
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 20s)});
  p.vm().run();
  REQUIRE(p.stop().ok());
  const vm::simulated_truth& truth = p.vm().truth(1);
  const double share = static_cast<double>(truth.overhead.wall.count()) / static_cast<double>(truth.all.wall.count());
  CHECK(share <= 0.0202);
  CHECK(share >= 0.0150);
}

TEST_CASE("a cpu clock that fails costs the readings it touches and nothing else") {
  simulated_profiler<vm::simulated> p{{.interval = 10ms}};
  REQUIRE(p.start().ok());
  drive(p);
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 5s), steps::fail_cpu_clock(1),
                    steps::run({{2, 5}, {0, 1}}, 500ms)});
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  // 5 s before the failure are booked; the span of the failed reading, about a tick, is worth 0.
  const std::int64_t lost = p.vm().truth(1).all.cpu.count() - profile->total(value_type::cpu_time);
  CHECK(lost >= 0);
  CHECK(lost <= nanos(40ms).count());
  CHECK(statistic(*profile, "cpu_clock_failures") == 1);
  CHECK(profile->total(value_type::wall_time) == p.vm().truth(1).all.wall.count());
}

TEST_CASE("a monotonic clock that steps makes no negative time and is counted") {
  simulated_profiler<vm::simulated> p{{.interval = 10ms}};
  REQUIRE(p.start().ok());
  drive(p);
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 500ms), steps::step_clock(-5ms),
                    steps::run({{1, 5}, {0, 1}}, 500ms), steps::step_clock(1h),
                    steps::run({{1, 5}, {0, 1}}, 500ms)});
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  for (const auto& s : profile->samples()) {
    CHECK(s.amount[value_type::wall_time] >= 0);
    CHECK(s.amount[value_type::cpu_time] >= 0);
  }
  CHECK(profile->total(value_type::wall_time) <= nanos(1h + 1500ms).count());
  CHECK(profile->total(value_type::wall_time) >= nanos(1h + 1490ms).count());
  CHECK(profile->total(value_type::cpu_time) == nanos(1500ms).count());
  CHECK(statistic(*profile, "clock_went_back") == 1);
}
