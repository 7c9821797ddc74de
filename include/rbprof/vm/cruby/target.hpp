// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_TARGET_HPP
#define RBPROF_VM_CRUBY_TARGET_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <rbprof/base/clock.hpp>
#include <rbprof/vm/cruby/thread_slot.hpp>

// Whom to signal on Ruby 3.1, which does not say who holds the VM lock: the Ruby thread that burned most cpu
// since the last tick. Cpu clocks of threads can be read without the lock. Reading one costs 2 us, so a tick
// reads at most 16: the winner of the last tick, then round robin.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

class target_chooser {
 public:
  /// Calls from: the ticker · Blocks: never · Allocates: never · On failure: none = nobody runs Ruby
  [[nodiscard]] std::optional<pid_t> choose(const thread_table& threads) noexcept {
    const std::size_t limit = threads.runner_limit();
    best_ = nullptr;
    best_share_ = 0.02;
    std::size_t reads = 0;
    if (hot_ != nullptr) reads += measure(*hot_);
    for (std::size_t i = 0; i < limit && reads < max_reads; ++i) {
      next_ = next_ + 1 < limit ? next_ + 1 : 0;
      thread_slot* const s = threads.runner(next_);
      if (s != nullptr && s != hot_) reads += measure(*s);
    }
    hot_ = best_;
    if (best_ == nullptr) return std::nullopt;
    const pid_t tid = best_->tid.load(std::memory_order_relaxed);
    return tid != 0 ? std::optional(tid) : std::nullopt;
  }

  /// True once after threads were found dead.
  [[nodiscard]] bool saw_deaths() noexcept { return std::exchange(deaths_, false); }

 private:
  static constexpr std::size_t max_reads = 16;

  /// Reads one clock and keeps the thread if it is the busiest so far. Returns how many clocks it read.
  std::size_t measure(thread_slot& s) noexcept {
    const pid_t tid = s.tid.load(std::memory_order_relaxed);
    if (tid == 0 || s.exited.load(std::memory_order_relaxed)) return 0;
    const std::optional<nanos> cpu = thread_cpu_of(tid);
    const mono now = monotonic_now();
    if (!cpu) {
      // The kernel does not know it any more: Ruby 3.1 tells nobody when a thread dies of an exception.
      s.exited.store(true, std::memory_order_release);
      deaths_ = true;
      return 1;
    }
    const nanos span = now - s.seen_then;
    const nanos burned = *cpu - s.cpu_then;
    const bool known = s.measured == tid && span.count() > 0 && burned.count() >= 0;
    s.measured = tid;
    s.cpu_then = *cpu;
    s.seen_then = now;
    if (!known) return 1;
    const double share = static_cast<double>(burned.count()) / static_cast<double>(span.count());
    if (share > best_share_) {
      best_share_ = share;
      best_ = &s;
    }
    return 1;
  }

  thread_slot* hot_ = nullptr;
  thread_slot* best_ = nullptr;
  double best_share_ = 0;
  std::size_t next_ = 0;
  bool deaths_ = false;
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_TARGET_HPP
