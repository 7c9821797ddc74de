// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_OPTIONS_HPP
#define RBPROF_PROFILER_OPTIONS_HPP

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/model/value_type.hpp>

namespace rbprof::inline v0 {

/// What every composition understands; the policies have options of their own.
struct profiler_options {
  nanos interval{10'000'000};          ///< between two ticks; 20 us to 1 s
  std::size_t max_frames = 400;        ///< of a stack, the leaf side is kept; 5 to 3000
  std::size_t byte_budget = 32U << 20; ///< of the recorder's tables
  std::vector<value_type> types = time_value_types();
  std::uint32_t heap_every = 1;        ///< of allocation samples, so many are watched while they live, on average
  nanos settle_patience{200'000'000};  ///< how long a flush from outside waits for the VM
  nanos flush_patience{1'000'000'000}; ///< how long a flush waits for a record to end
  std::string program = "ruby";        ///< shown by viewers as the binary
  std::uint64_t seed = 0;              ///< of the jitter; 0 = from the clock
  void (*before_tick)(void*) noexcept = nullptr;  ///< a seam for tests, see `pace`
};

[[nodiscard]] inline absl::Status validate(const profiler_options& o) {
  if (o.interval < nanos{20'000} || o.interval > nanos{1'000'000'000}) {
    return absl::InvalidArgumentError("interval must be from 20us to 1s");
  }
  if (o.max_frames < 5 || o.max_frames > 3000) {
    return absl::InvalidArgumentError("max_frames must be from 5 to 3000");
  }
  if (o.types.empty()) return absl::InvalidArgumentError("types must name at least one value");
  if (o.byte_budget < (1U << 16)) {
    return absl::InvalidArgumentError("byte_budget must be at least 64 KiB");
  }
  return absl::OkStatus();
}

/// One thing that a VM may be able to do, whether it is on in this process, and why not.
struct capability {
  std::string name;
  bool on = false;
  std::string why;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_OPTIONS_HPP
