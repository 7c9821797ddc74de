// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_PENDING_STACK_HPP
#define RBPROF_VM_CRUBY_PENDING_STACK_HPP

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/vm/cruby/ruby.hpp>

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// What a signal handler took on its thread, until a job has used it.
///
///     handler of the thread, VM lock held          a job, VM lock held
///   full?  yes: leave it as it is                full?  no: nothing to use
///     no:  write all, full = true                  yes: copy all, full = false
///
/// Both need the VM lock, and the handler can interrupt a job of its own thread but not the other way round. So
/// the two never overlap between threads, and signal fences order them within one. Ruby 3.1 says "held" also to a
/// thread that waits for the lock again, so there the flag must order them between threads too.
class pending_stack {
 public:
  explicit pending_stack(std::size_t frames) : handles_(frames, Qnil), lines_(frames) {}

  [[nodiscard]] bool full() const noexcept { return full_.load(std::memory_order_acquire); }  // pairs with take()
  [[nodiscard]] std::size_t room() const noexcept { return handles_.size(); }

  /// Calls from: signal handler on the thread that holds the VM lock, or that thread · Blocks: never ·
  /// Allocates: never · On failure: false, nothing was taken
  [[nodiscard]] bool take() noexcept {
    seen = monotonic_now();
    cpu = thread_cpu_now();
    const int got = rb_profile_frames(0, static_cast<int>(handles_.size()), handles_.data(), lines_.data());
    if (got <= 0) return false;
    count_ = static_cast<std::size_t>(got);
    cost = std::clamp(monotonic_now() - seen, nanos{0}, longest_cost);
    full_.store(true, std::memory_order_release);  // pairs with full()
    return true;
  }
  /// VM lock held. The handler may fill it again at once.
  void release() noexcept {
    full_.store(false, std::memory_order_release);  // pairs with full()
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] VALUE handle(std::size_t i) const noexcept { return handles_[i]; }
  [[nodiscard]] int line(std::size_t i) const noexcept { return lines_[i]; }

  /// From inside the collector.
  void mark() const {
    if (!full()) return;
    for (std::size_t i = 0; i < count_; ++i) rb_gc_mark(handles_[i]);
  }

  mono seen;
  std::optional<nanos> cpu;
  nanos cost{0};  ///< wall time of the walk; more than the cap was another thread's turn

 private:
  static constexpr nanos longest_cost{50'000};

  std::vector<VALUE> handles_;
  std::vector<int> lines_;
  std::size_t count_ = 0;
  std::atomic<bool> full_{false};
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_PENDING_STACK_HPP
