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
