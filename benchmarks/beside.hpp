// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BENCHMARKS_BESIDE_HPP
#define RBPROF_BENCHMARKS_BESIDE_HPP

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include <rbprof/base/clock.hpp>

// What something costs beside a floor, the least that any implementation must pay. On a shared machine two
// figures taken one after the other are not comparable: the clock rate and the neighbours change. So both are
// taken in turns, a block of one and a block of the other, and each counts with its fastest block. Counters:
//
//   ns        one unit of work, fastest block
//   floor_ns  one unit of the floor, fastest block
//   ratio     of the two

namespace bench {

class beside {
 public:
  void floor_took(rbprof::nanos block, double units) { keep(floor_, block, units); }
  void work_took(rbprof::nanos block, double units) { keep(work_, block, units); }

  void report(benchmark::State& state) const {
    state.counters["ns"] = work_;
    state.counters["floor_ns"] = floor_;
    state.counters["ratio"] = work_ / floor_;
  }

 private:
  static void keep(double& best, rbprof::nanos block, double units) {
    best = std::min(best, static_cast<double>(block.count()) / units);
  }
  double floor_ = std::numeric_limits<double>::infinity();
  double work_ = std::numeric_limits<double>::infinity();
};

template <class F>
[[nodiscard]] rbprof::nanos time_of(int times, F&& f) {
  const rbprof::mono began = rbprof::monotonic_now();
  for (int i = 0; i < times; ++i) f();
  return rbprof::monotonic_now() - began;
}

/// In cpu time of this thread: for work of milliseconds, into which other programs get anyway.
template <class F>
[[nodiscard]] rbprof::nanos cpu_time_of(F&& f) {
  const auto began = rbprof::thread_cpu_now();
  f();
  const auto ended = rbprof::thread_cpu_now();
  return *ended - *began;
}

/// An iteration is a block of each; its time is that of one unit of work.
template <class Floor, class Work>
void run_beside(benchmark::State& state, int block, Floor&& floor, Work&& work) {
  beside both;
  floor();
  work();
  for (auto _ : state) {
    both.floor_took(time_of(block, floor), block);
    const rbprof::nanos took = time_of(block, work);
    both.work_took(took, block);
    state.SetIterationTime(std::chrono::duration<double>(took).count() / block);
  }
  both.report(state);
}

}  // namespace bench

#endif  // RBPROF_BENCHMARKS_BESIDE_HPP
