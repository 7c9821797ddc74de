// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_VM_RANDOM_PROGRAM_HPP
#define RBPROF_TESTS_VM_RANDOM_PROGRAM_HPP

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/vm/simulated/program.hpp>

// Random programs for property tests. The same seed gives the same program, so a test prints its seed.

namespace rbprof_test {

using rbprof::nanos;

/// What a random program may do besides running, calling C and waiting.
struct program_mix {
  std::uint32_t steps = 40;   ///< of each thread
  std::uint32_t threads = 4;  ///< at most, besides the first
  bool collections = true;
  bool clock_faults = false;  ///< cpu clocks that fail; the sums of a profile are then lower bounds
};

class program_maker {
 public:
  program_maker(std::uint64_t seed, const program_mix& mix)
      : random_(seed), mix_(mix), threads_left_(mix.threads) {}

  rbprof::vm::simulated_program make() {
    rbprof::vm::simulated_program p;
    for (std::uint32_t i = 0; i < mix_.steps; ++i) p.push_back(step());
    return p;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  /// Between 1 ns and about 50 ms, all magnitudes alike.
  nanos duration() {
    const std::uint64_t magnitude = std::uint64_t{1} << below(26);
    return nanos{static_cast<std::int64_t>(magnitude + below(magnitude))};
  }

  rbprof::vm::simulated_stack stack() {
    rbprof::vm::simulated_stack s;
    const std::uint64_t depth = 1 + below(6);
    for (std::uint64_t i = 0; i < depth; ++i) {
      s.push_back(
          {static_cast<std::uint32_t>(1 + below(8)), static_cast<std::int32_t>(1 + below(5))});
    }
    s.push_back({0, 0});
    return s;
  }

  rbprof::vm::simulated_step step() {
    namespace steps = rbprof::vm::steps;
    const nanos cpu = duration();
    const nanos wall = below(3) == 0 ? cpu + duration() : cpu;
    switch (below(12)) {
      case 0:
        return steps::inner(stack(), cpu, wall);
      case 1:
        return steps::native(stack(), cpu, wall);
      case 2:
      case 3:
        return steps::sleep(stack(), wall);
      case 4:
        if (mix_.collections) return steps::gc_minor(cpu, wall, "newobj");
        break;
      case 5:
        if (mix_.collections) return steps::gc_major(cpu, wall, "malloc", "oldmalloc");
        break;
      case 6:
        return steps::switch_fiber(stack());
      case 7:
        return steps::allocate("Class" + std::to_string(below(5)), 1 + below(100));
      case 8:
        if (threads_left_ > 0) {
          --threads_left_;
          return steps::spawn(make(), below(2) == 0 ? "worker" : "");
        }
        break;
      case 9:
        if (mix_.clock_faults) return steps::fail_cpu_clock(1 + below(3));
        break;
      default:
        break;
    }
    return steps::run(stack(), cpu, wall);
  }

  std::mt19937_64 random_;
  program_mix mix_;
  std::uint32_t threads_left_;
};

inline rbprof::vm::simulated_program random_program(std::uint64_t seed,
                                                    const program_mix& mix = {}) {
  return program_maker(seed, mix).make();
}

}  // namespace rbprof_test

#endif  // RBPROF_TESTS_VM_RANDOM_PROGRAM_HPP
