// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_SIMULATED_TRUTH_HPP
#define RBPROF_VM_SIMULATED_TRUTH_HPP

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <rbprof/base/clock.hpp>
#include <rbprof/vm/simulated/program.hpp>

namespace rbprof::inline v0 {
namespace vm {

struct simulated_times {
  nanos cpu{0};
  nanos wall{0};

  simulated_times& operator+=(const simulated_times& o) noexcept {
    cpu += o.cpu;
    wall += o.wall;
    return *this;
  }
  friend bool operator==(const simulated_times&, const simulated_times&) noexcept = default;
};

/// What a thread of the simulated VM really did, to the nanosecond, on clocks that have no faults. Every
/// nanosecond of its life is in exactly one place:
///
///     all = sum of stacks + gc + overhead + outside,    all.wall = (ended, or now) - born
///
/// Time without the VM lock (asleep, queueing for it) belongs to the stack that was on top.
struct simulated_truth {
  mono born;                  ///< it got the VM lock for the first time
  std::optional<mono> ended;  ///< none = it lives
  simulated_times all;
  simulated_times gc;        ///< collections that ran on this thread
  simulated_times overhead;  ///< what samples cost this thread
  simulated_times outside;   ///< the host's own code, outside of the VM
  std::map<simulated_stack, simulated_times> stacks;
  std::map<std::string, std::uint64_t> allocations;  ///< by class

  /// Time with `function` as the leaf.
  [[nodiscard]] simulated_times self(std::uint32_t function) const {
    simulated_times sum;
    for (const auto& [stack, times] : stacks) {
      if (!stack.empty() && stack.front().function == function) sum += times;
    }
    return sum;
  }
  /// Time with `function` anywhere in the stack.
  [[nodiscard]] simulated_times inclusive(std::uint32_t function) const {
    simulated_times sum;
    for (const auto& [stack, times] : stacks) {
      const bool there = std::any_of(stack.begin(), stack.end(), [&](const simulated_frame& f) {
        return f.function == function;
      });
      if (there) sum += times;
    }
    return sum;
  }
};

}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_SIMULATED_TRUTH_HPP
