// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_PROFILER_SIMULATED_HOST_HPP
#define RBPROF_TESTS_PROFILER_SIMULATED_HOST_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <rbprof/context/thread_times.hpp>
#include <rbprof/profiler.hpp>
#include <rbprof/recorder/flip_recorder.hpp>
#include <rbprof/sampler/dynamic_rate.hpp>
#include <rbprof/sampler/fixed_rate.hpp>
#include <rbprof/trigger/manual.hpp>
#include <rbprof/vm/simulated.hpp>

// A host whose VM is simulated: its profiler is polled every millisecond of virtual time.

namespace rbprof_test {

using namespace std::chrono_literals;
namespace steps = rbprof::vm::steps;

template <class Vm, class Sampler = rbprof::sampler::fixed_rate>
using simulated_profiler = rbprof::basic_profiler<Vm, rbprof::trigger::manual, Sampler,
                                                  rbprof::context::thread_times, rbprof::flip_recorder>;

/// Starts polling the trigger at each `every` of virtual time, as a ticker would.
template <class Profiler>
void drive(Profiler& p, rbprof::nanos every = 1ms) {
  p.vm().every(every, [&p] {
    if (p.trigger().poll(p.vm().now())) (void)p.vm().request_safe_point();
  });
}

/// The same by signals, one a tick, whose handler takes the stack.
template <class Profiler>
void drive_by_signals(Profiler& p, rbprof::nanos every = 1ms) {
  (void)p.vm().hook_signal();
  // Shared: a timer's function is copied each time it fires.
  p.vm().every(every, [&p, served = std::make_shared<rbprof::mono>()] {
    if (!p.trigger().poll(p.vm().now()) || p.trigger().last_due() == *served) return;
    *served = p.trigger().last_due();
    if (const auto target = p.vm().signal_target()) (void)p.vm().send_signal(*target);
    else (void)p.vm().request_safe_point();
  });
}

/// What a test wants of a profile: sums of one value over the samples that `keep` takes.
template <class Keep>
[[nodiscard]] std::int64_t sum_if(const rbprof::profile& p, rbprof::value_type type, Keep&& keep) {
  std::int64_t sum = 0;
  for (const rbprof::profile_sample& s : p.samples()) {
    if (keep(s)) sum += s.amount[type];
  }
  return sum;
}

[[nodiscard]] inline std::string label_of(const rbprof::profile& p, const rbprof::profile_sample& s,
                                          std::string_view key) {
  for (const rbprof::profile_label& l : p.labels(s.labels)) {
    if (p.string(l.key) == key) {
      return l.is_num ? std::to_string(l.num) : std::string(p.string(l.str));
    }
  }
  return {};
}

[[nodiscard]] inline std::string leaf_of(const rbprof::profile& p, const rbprof::profile_sample& s) {
  if (!s.stack) return {};
  return std::string(p.string(p.function(p.frame(p.stack(s.stack).leaf).function).name));
}

[[nodiscard]] inline std::int64_t sum_of_leaf(const rbprof::profile& p, rbprof::value_type type,
                                              std::string_view leaf) {
  return sum_if(p, type, [&](const auto& s) { return leaf_of(p, s) == leaf; });
}

[[nodiscard]] inline std::uint64_t statistic(const rbprof::profile& p, std::string_view name) {
  for (const auto& [known, value] : p.statistics()) {
    if (known == name) return value;
  }
  return ~std::uint64_t{0};
}

/// The label `thread id` of a thread of the simulated VM.
[[nodiscard]] inline std::string simulated_thread_id(std::uint32_t th) {
  return std::to_string(1000 + th) + " (" + std::to_string(8 * th) + ")";
}

}  // namespace rbprof_test

#endif  // RBPROF_TESTS_PROFILER_SIMULATED_HOST_HPP
