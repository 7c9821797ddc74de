// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <rbprof/sampler/discrete.hpp>
#include <rbprof/sampler/with_events.hpp>

#include "simulated_host.hpp"

// Allocations of a simulated VM, whose true number is known for each class.

using namespace rbprof_test;
using rbprof::nanos;
using rbprof::value_type;
namespace vm = rbprof::vm;
namespace sampler = rbprof::sampler;

namespace {

/// Samples every n-th event on average, by random gaps that no budget changes.
struct random_gaps {
  using sampler_concept = rbprof::sampler_tag;
  std::uint64_t mean = 1;
  std::mt19937_64 random{1};
  std::uint64_t gap = 1, left = 1;

  bool count() noexcept {
    if (left > 0) --left;
    else ++gap;  // the one before could not be taken
    return left == 0;
  }
  std::uint64_t weight(rbprof::mono) noexcept {
    const std::uint64_t w = gap;
    gap = left = 1 + random() % (2 * mean - 1);
    return w;
  }
  void charge(rbprof::mono, nanos) noexcept {}
  void reset(rbprof::mono) noexcept {}
  [[nodiscard]] std::uint64_t pending() const noexcept { return gap - left; }
  std::uint64_t take_pending() noexcept { return std::exchange(gap, left) - left; }
};

template <class Vm, class Events>
using allocation_profiler = simulated_profiler<Vm, sampler::with_events<sampler::fixed_rate, Events>>;

rbprof::profiler_options with_allocations() {
  rbprof::profiler_options o;
  o.types = rbprof::time_value_types();
  o.types.push_back(value_type::alloc_samples);
  o.types.push_back(value_type::alloc_samples_unscaled);
  return o;
}

std::map<std::string, std::int64_t> by_class(const rbprof::profile& p, value_type t) {
  std::map<std::string, std::int64_t> all;
  for (const rbprof::profile_sample& s : p.samples()) {
    if (s.amount[t] != 0) all[label_of(p, s, "allocation class")] += s.amount[t];
  }
  return all;
}

}  // namespace

TEST_CASE("with every event sampled each class has its exact number, on the stack that allocated") {
  allocation_profiler<vm::simulated, random_gaps> p{with_allocations()};
  REQUIRE(p.start().ok());
  drive(p);
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 20ms), steps::allocate("String", 700),
                    steps::run({{2, 5}, {0, 1}}, 20ms), steps::allocate("Array", 41)});
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  const std::map<std::string, std::int64_t> truth{{"String", 700}, {"Array", 41}};
  CHECK(by_class(*profile, value_type::alloc_samples) == truth);
  CHECK(by_class(*profile, value_type::alloc_samples_unscaled) == truth);
  CHECK(sum_of_leaf(*profile, value_type::alloc_samples, "function_1") == 700);
  CHECK(sum_of_leaf(*profile, value_type::alloc_samples, "function_2") == 41);
  CHECK(profile->total(value_type::wall_time) == nanos(40ms).count());
  for (const auto& s : profile->samples()) {
    if (s.amount[value_type::alloc_samples] == 0) continue;
    CHECK(label_of(*profile, s, "ruby vm type") == "T_OBJECT");
    CHECK(label_of(*profile, s, "thread id") == simulated_thread_id(1));
    CHECK(s.amount[value_type::wall_time] == 0);
  }
  CHECK(statistic(*profile, "allocation_samples") == 741);
}

TEST_CASE("weights and what is skipped at the end add up to the events, and no class is preferred whatever the period") {
  // 10^6 events in all, for every period from 1 to 12 and several seeds. A weight is a gap, uniform in [1, 2N-1], whose
  // second moment is at most 4/3 N^2; so the weights of a class that has m of the events have a variance of at most
  // 4/3 N m. Over the classes of a period the sum of (seen - true)^2 / variance is about a chi-square of `period`
  // degrees; the bound is its mean plus eight standard deviations.
  const std::uint64_t first = std::random_device{}();
  constexpr std::uint64_t mean = 20, seeds = 6, events = 1'000'000 / (12 * seeds);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    for (std::uint64_t period = 1; period <= 12; ++period) {
      CAPTURE(seed, period);
      allocation_profiler<vm::simulated, random_gaps> p{with_allocations()};
      p.sampler().events.mean = mean;
      p.sampler().events.random.seed(seed);
      REQUIRE(p.start().ok());
      vm::simulated_program program{steps::run({{1, 5}, {0, 1}}, 1ms)};
      for (std::uint64_t i = 0; i < events; ++i) {
        program.push_back(steps::allocate("Class" + std::to_string(i % period), 1));
      }
      p.vm().append(1, std::move(program));
      p.vm().run();
      const auto profile = p.stop();
      REQUIRE(profile.ok());
      CHECK(static_cast<std::uint64_t>(profile->total(value_type::alloc_samples)) == events);
      auto seen = by_class(*profile, value_type::alloc_samples);
      double chi_square = 0;
      for (const auto& [name, truth] : p.vm().truth(1).allocations) {
        const double off = static_cast<double>(seen[name]) - static_cast<double>(truth);
        chi_square += off * off / (4.0 / 3.0 * static_cast<double>(mean) * static_cast<double>(truth));
      }
      const auto degrees = static_cast<double>(period);
      CHECK(chi_square < degrees + 8 * std::sqrt(2 * degrees) + 8);
    }
  }
}

TEST_CASE("what a sample weighs over the largest weight is booked as skipped") {
  allocation_profiler<vm::simulated, random_gaps> p{with_allocations()};
  p.sampler().events.gap = p.sampler().events.left = 25'000;
  REQUIRE(p.start().ok());
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 1ms), steps::allocate("String", 25'000)});
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(sum_of_leaf(*profile, value_type::alloc_samples, "function_1") == 10'000);
  CHECK(sum_of_leaf(*profile, value_type::alloc_samples, "Skipped Samples") == 15'000);
  CHECK(profile->total(value_type::alloc_samples_unscaled) == 1);
  CHECK(by_class(*profile, value_type::alloc_samples)["(Skipped Samples)"] == 15'000);
}

TEST_CASE("the shipped sampler keeps the sum of events through flushes") {
  allocation_profiler<vm::simulated_plain, sampler::discrete> p{with_allocations()};
  p.vm().charge_for_samples({20us, 30us});
  REQUIRE(p.start().ok());
  drive(p);
  std::uint64_t booked = 0;
  for (int round = 0; round < 5; ++round) {
    vm::simulated_program program;
    for (int i = 0; i < 200; ++i) {
      program.push_back(steps::run({{1, 5}, {0, 1}}, 1ms));
      program.push_back(steps::allocate("String", 100));
    }
    p.vm().append(1, std::move(program));
    p.vm().run();
    const auto profile = p.flush();
    REQUIRE(profile.ok());
    booked += static_cast<std::uint64_t>(profile->total(value_type::alloc_samples));
  }
  CHECK(booked == 100'000);
  CHECK(p.sampler().events.pending() == 0);
  CHECK(p.sampler().events.interval() > 1);
  CHECK(p.stop().ok());
}

TEST_CASE("what the sampler itself allocates is counted once, on the stack of its overhead") {
  allocation_profiler<vm::simulated, random_gaps> p{with_allocations()};
  p.vm().allocate_in_samples(3);
  REQUIRE(p.start().ok());
  p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 1ms), steps::allocate("String", 10)});
  p.vm().run();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  const std::uint64_t own = statistic(*profile, "allocations_during_sample");
  CHECK(own == 3 * 11);  // ten samples of allocations, and the settle
  CHECK(sum_of_leaf(*profile, value_type::alloc_samples, "sampling") == static_cast<std::int64_t>(own));
  CHECK(by_class(*profile, value_type::alloc_samples)["(rbprof)"] == static_cast<std::int64_t>(own));
  CHECK(profile->total(value_type::alloc_samples_unscaled) == 10);
}

TEST_CASE("without columns of allocations no event is counted, and a composition that has none refuses them") {
  allocation_profiler<vm::simulated, sampler::discrete> off;
  REQUIRE(off.start().ok());
  off.vm().append(1, {steps::run({{1, 5}, {0, 1}}, 1ms), steps::allocate("String", 10)});
  off.vm().run();
  CHECK(off.sampler().events.events() == 0);
  CHECK(off.stop().ok());

  simulated_profiler<vm::simulated> no_events{with_allocations()};
  CHECK(no_events.start().code() == absl::StatusCode::kInvalidArgument);
}

namespace {

rbprof::profiler_options with_heap(std::uint32_t every = 1) {
  rbprof::profiler_options o = with_allocations();
  o.types.push_back(value_type::heap_live_samples);
  o.types.push_back(value_type::heap_live_size);
  o.heap_every = every;
  return o;
}

/// Allocates at two places, a collection, and lets most of one class die.
vm::simulated_program keeping(std::uint64_t kept) {
  vm::simulated_program all{steps::run({{1, 5}, {0, 1}}, 20ms), steps::allocate("Kept", kept),
                            steps::allocate("Dropped", 500), steps::run({{2, 5}, {0, 1}}, 20ms),
                            steps::allocate("Kept", 40)};
  all.push_back(steps::gc_minor(1ms, 1ms, "object allocation"));
  all.push_back(steps::release("Dropped", 490));
  all.push_back(steps::run({{1, 5}, {0, 1}}, 5ms));
  return all;
}

}  // namespace

TEST_CASE("objects that are alive are told exactly, with the stack that made them, their bytes and age") {
  allocation_profiler<vm::simulated, random_gaps> p{with_heap()};
  REQUIRE(p.start().ok());
  drive(p);
  p.vm().append(1, keeping(300));
  p.vm().run();
  const auto first = p.flush();
  REQUIRE(first.ok());
  std::map<std::string, std::int64_t> truth{{"Kept", 340}, {"Dropped", 10}};
  CHECK(by_class(*first, value_type::heap_live_samples) == truth);
  CHECK(first->total(value_type::heap_live_size) == 350 * 40);
  CHECK(sum_of_leaf(*first, value_type::heap_live_samples, "function_1") == 310);
  CHECK(sum_of_leaf(*first, value_type::heap_live_samples, "function_2") == 40);
  for (const auto& s : first->samples()) {
    if (s.amount[value_type::heap_live_samples] == 0) continue;
    CHECK(label_of(*first, s, "ruby vm type") == "T_OBJECT");
    CHECK(label_of(*first, s, "thread id") == simulated_thread_id(1));
    CHECK(s.amount[value_type::alloc_samples] == 0);
  }

  p.vm().append(1, {steps::gc_minor(1ms, 1ms, "object allocation"), steps::release("Kept", 300),
                    steps::allocate("Kept", 7), steps::run({{1, 5}, {0, 1}}, 5ms)});
  p.vm().run();
  const auto second = p.stop();
  REQUIRE(second.ok());
  truth = {{"Kept", 40}, {"Dropped", 10}};  // the seven have seen no collection
  CHECK(by_class(*second, value_type::heap_live_samples) == truth);
  CHECK(statistic(*second, "heap_objects_kept") == 847);
  CHECK(statistic(*second, "heap_objects_dead") == 790);
}

TEST_CASE("a part of the objects kept in mind stands for all of them, also when events are sampled") {
  const std::uint64_t first = std::random_device{}();
  double sum = 0;
  constexpr int runs = 8;
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    CAPTURE(seed);
    allocation_profiler<vm::simulated, random_gaps> p{with_heap(3)};
    p.sampler().events.mean = 4;
    p.sampler().events.random.seed(seed);
    REQUIRE(p.start().ok());
    p.vm().append(1, keeping(30'000));
    p.vm().run();
    const auto profile = p.stop();
    REQUIRE(profile.ok());
    sum += static_cast<double>(by_class(*profile, value_type::heap_live_samples)["Kept"]);
  }
  // 12 objects a weight on average, so 2500 weights a run, each of a deviation of about its mean: 1 % over 8 runs
  CHECK(std::abs(sum / runs / 30'040 - 1) < 0.06);
}

TEST_CASE("names of a period go, and what is alive keeps its stack") {
  rbprof::profiler_options o = with_heap();
  o.byte_budget = 1 << 16;
  allocation_profiler<vm::simulated, random_gaps> p{o};
  REQUIRE(p.start().ok());
  drive(p);
  p.vm().append(1, keeping(300));
  p.vm().run();
  REQUIRE(p.flush().ok());
  for (int period = 0; period < 6; ++period) {
    vm::simulated_program many;
    for (std::uint32_t f = 0; f < 150; ++f) {
      many.push_back(steps::run({{1000 + 200 * static_cast<std::uint32_t>(period) + f, 5}, {0, 1}}, 1ms));
      many.push_back(steps::allocate("Brief", 1));
    }
    many.push_back(steps::release("Brief", 150));
    many.push_back(steps::run({{1, 5}, {0, 1}}, 5ms));
    p.vm().append(1, std::move(many));
    p.vm().run();
    const auto profile = p.flush();
    REQUIRE(profile.ok());
    CHECK(sum_of_leaf(*profile, value_type::heap_live_samples, "function_1") == 310);
    CHECK(sum_of_leaf(*profile, value_type::heap_live_samples, "function_2") == 40);
  }
  const auto last = p.stop();
  REQUIRE(last.ok());
  CHECK(statistic(*last, "caches_dropped") + statistic(*last, "recorder_generations") > 1);
}
