// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_COUNTER_HPP
#define RBPROF_BASE_COUNTER_HPP

#include <atomic>
#include <cstdint>

namespace rbprof::inline v0 {

/// A statistic that any thread may read while others add to it. Relaxed: it orders nothing.
///
/// Calls from:  any thread, signal handler · Blocks: never · Allocates: never · On failure: cannot fail
class counter {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  /// The same, for a reader that must see all that was done before: pairs with `get_published`.
  void publish(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_release); }
  /// Keeps the larger of the two. One writer at a time.
  void raise_to(std::uint64_t n) noexcept {
    if (n > value_.load(std::memory_order_relaxed)) value_.store(n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get_published() const noexcept {
    return value_.load(std::memory_order_acquire);  // pairs with release in publish()
  }
  /// Reads and zeroes in one step, so that a count is in exactly one period.
  std::uint64_t take() noexcept { return value_.exchange(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_COUNTER_HPP
