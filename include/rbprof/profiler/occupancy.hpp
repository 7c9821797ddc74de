// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_OCCUPANCY_HPP
#define RBPROF_PROFILER_OCCUPANCY_HPP

#include <pthread.h>

#include <atomic>
#include <cstdint>

// Whether a thread is inside of a lane, and whether it is the calling one: then a new object is the sampler's own. It
// nests, because a settle that reads names runs Ruby code, during which other threads may run too.

namespace rbprof::inline v0 {
namespace detail {

/// Calls from: the holder of the VM lock; `any` also from the lone thread of a forked child · Blocks: never ·
/// Allocates: never · On failure: cannot fail
class occupancy {
 public:
  class hold {
   public:
    explicit hold(occupancy& o) noexcept : of_(o) {
      if (of_.count_.fetch_add(1, std::memory_order_relaxed) == 0) of_.first_ = self();
    }
    ~hold() { of_.count_.fetch_sub(1, std::memory_order_relaxed); }
    hold(const hold&) = delete;

   private:
    occupancy& of_;
  };

  [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool here() const noexcept { return any() && first_ == self(); }

 private:
  [[nodiscard]] static std::uintptr_t self() noexcept { return static_cast<std::uintptr_t>(pthread_self()); }

  // relaxed: threads that hold the VM lock are ordered by it, and the forked child is alone.
  std::atomic<std::uint32_t> count_{0};
  std::uintptr_t first_ = 0;  // who came first
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_OCCUPANCY_HPP
