// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TRIGGER_TIMER_TARGET_HPP
#define RBPROF_TRIGGER_TIMER_TARGET_HPP

#include <absl/status/status.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <rbprof/base/fork_mutex.hpp>
#include <rbprof/base/signal_disposition.hpp>

namespace rbprof::inline v0 {
namespace trigger {

/// Whom a timer's signal is for. A signal may arrive after its timer is gone, so its value is the number of a place that
/// lives as long as the process, and which use of that place is meant: a late signal finds another use, and does
/// nothing.
///
///     value of the signal   | use: 52 bits | place: 10 bits | 01 |
///
/// Calls from:  acquire, release, hook, unhook: any thread; the handler: the thread of the timer
/// Blocks:      release: until the handler, on another thread, has left
/// Allocates:   acquire, once a process; hook: for messages of refusal
/// On failure:  acquire: null, all places are taken; hook: a status
class timer_target {
 public:
  using expire_fn = void (*)(void* self, std::uint64_t ticks, const void* context) noexcept;

  /// A place, for signals that call `expire(self, ...)` in the handler.
  [[nodiscard]] static timer_target* acquire(void* self, expire_fn expire) {
    for (timer_target& t : places()) {
      bool free = false;
      if (!t.taken_.compare_exchange_strong(free, true, std::memory_order_acq_rel)) continue;
      t.self_ = self;
      t.expire_ = expire;
      t.use_.fetch_add(1, std::memory_order_seq_cst);  // odd: in use; release: the two above
      return &t;
    }
    return nullptr;
  }
  /// No call begins after it has returned, and none runs.
  void release() noexcept {
    use_.fetch_add(1, std::memory_order_seq_cst);
    while (inside_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();  // pairs with on_signal
    taken_.store(false, std::memory_order_release);
  }
  /// The same in a forked child, where whoever was inside does not exist.
  void abandon_in_child() noexcept {
    use_.fetch_add(1, std::memory_order_seq_cst);
    inside_.store(0, std::memory_order_relaxed);
    taken_.store(false, std::memory_order_release);
  }
  [[nodiscard]] void* address() const noexcept {
    const auto place = static_cast<std::uint64_t>(this - places().data());
    const std::uint64_t use = use_.load(std::memory_order_relaxed);
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(use << 12U | place << 2U | 1U));
  }

  /// Makes ours the handler of SIGPROF as long as somebody wants it.
  [[nodiscard]] static absl::Status hook() {
    signal_state& s = state();
    const fork_mutex_hold hold(s.mutex);
    if (s.users == 0) {
      (void)places();
      if (absl::Status done = s.disposition.install(&on_signal); !done.ok()) return done;
    }
    ++s.users;
    return absl::OkStatus();
  }
  static void unhook() noexcept {
    signal_state& s = state();
    const fork_mutex_hold hold(s.mutex);
    if (s.users > 0 && --s.users == 0) s.disposition.restore();
  }
  /// Calls from: the lone thread of a forked child.
  static void unhook_in_child() noexcept {
    state().mutex.renew_in_child();
    unhook();
  }

 private:
  static constexpr std::size_t capacity = 1024;
  using all_places = std::array<timer_target, capacity>;

  struct signal_state {
    fork_mutex mutex;
    signal_disposition disposition{SIGPROF};
    std::size_t users = 0;
  };

  // Never destroyed: a signal may come at any time.
  static all_places& places() noexcept {
    static all_places* const all = new all_places;
    return *all;
  }
  static signal_state& state() noexcept {
    static signal_state* const s = new signal_state;
    return *s;
  }

  static void on_signal(int, siginfo_t* info, void* context) {
    if (info == nullptr || info->si_code != SI_TIMER) return;
    const auto value = reinterpret_cast<std::uintptr_t>(info->si_value.sival_ptr);
    const std::size_t place = value >> 2U & (capacity - 1);
    if ((value & 3U) != 1U) return;
    const int error = errno;
    timer_target& t = places()[place];
    t.inside_.fetch_add(1, std::memory_order_seq_cst);  // before use_ is read: either release() sees it, or we the use
    if (t.use_.load(std::memory_order_seq_cst) == value >> 12U) {
      t.expire_(t.self_, 1 + static_cast<std::uint64_t>(info->si_overrun > 0 ? info->si_overrun : 0), context);
    }
    t.inside_.fetch_sub(1, std::memory_order_seq_cst);
    errno = error;
  }

  std::atomic<std::uint64_t> use_{0};
  std::atomic<std::uint32_t> inside_{0};
  std::atomic<bool> taken_{false};
  void* self_ = nullptr;
  expire_fn expire_ = nullptr;
};

}  // namespace trigger
}  // namespace rbprof::inline v0

#endif  // RBPROF_TRIGGER_TIMER_TARGET_HPP
