// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TRIGGER_SIGNAL_HPP
#define RBPROF_TRIGGER_SIGNAL_HPP

#include <absl/status/status.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/trigger/tick_ledger.hpp>
#include <rbprof/trigger/ticker.hpp>

// The accurate mode: the thread that runs the VM now is signalled. The adapter's handler, on that thread,
// may take the stack inside C code, and asks for the safe point at which it is booked. The signal is sent by
// kernel thread id: an id whose thread is gone is an error that is counted, where a stale pthread_t would be
// undefined behaviour.

namespace rbprof::inline v0 {
namespace trigger {

/// Calls from:  arm, disarm, after_fork_child: one thread at a time; claim: a thread at a safe point; reads:
///              any thread
/// Blocks:      disarm: until the ticker has ended
/// Allocates:   arm
/// On failure:  arm refuses and leaves nothing behind; a signal that can't be sent is counted
class signal {
 public:
  using trigger_concept = trigger_tag;
  static constexpr role needs = role::handler;
  static constexpr bool needs_binding = false;
  static constexpr bool needs_target = true;

  template <has_signal_target V>
  absl::Status arm(V& v, const pace& p) {
    if (ticker_.running()) {
      return absl::FailedPreconditionError("this trigger is armed already: disarm it first");
    }
    if (absl::Status hooked = v.hook_signal(); !hooked.ok()) return hooked;
    vm_ = &v;
    absl::Status started = ticker_.start(
        p,
        [](void* self, bool) noexcept {
          signal& me = *static_cast<signal*>(self);
          return me.tick(*static_cast<V*>(me.vm_));
        },
        this);
    if (!started.ok()) v.unhook_signal();
    return started;
  }
  template <has_signal_target V>
  void disarm(V& v) noexcept {
    if (!ticker_.running()) return;
    ticker_.stop();
    v.unhook_signal();
  }
  template <vm_adapter V>
  void bound(V&, bool) noexcept {}
  template <vm_adapter V>
  [[nodiscard]] moment claim(V& v, typename V::lock_type&) noexcept {
    return ticks_.claim(v);
  }

  [[nodiscard]] tick_counters counters() const noexcept { return ticks_.counters(); }
  [[nodiscard]] mono last_due() const noexcept { return ticks_.last_due(); }
  [[nodiscard]] std::uint64_t outstanding() const noexcept { return ticks_.outstanding(); }
  /// The ticker does not exist in the child, but the handler does: the trigger is disarmed there.
  template <has_signal_target V>
  void after_fork_child(V& v) noexcept {
    const bool was_armed = ticker_.running();
    ticker_.after_fork_child();
    if (was_armed) v.unhook_signal();
  }

  template <class F>
  void each_statistic(F&& f) const {
    f("interrupt_thread_attempts", sent_.get() + failed_.get());
    f("interrupts_sent", sent_.get());
    f("interrupts_failed", failed_.get());
    f("idle_ticks", idle_.get());
  }

 private:
  /// Whether anybody runs.
  template <class V>
  bool tick(V& v) noexcept {
    const std::optional<pid_t> target = v.signal_target();
    if (target) {
      pause_ = waited_ = 0;
      send(v, *target);
    } else if (const std::optional<pid_t> waker = idle_target(v); waker) {
      send(v, *waker);
    } else {
      idle_.add();  // the tick stays claimable: whoever runs next is asked by the next one
    }
    return target.has_value();
  }

  /// Whom to ask while nobody runs: ever more seldom, because each time wakes the process up.
  template <class V>
  std::optional<pid_t> idle_target(V& v) noexcept {
    if constexpr (requires { v.idle_signal_target(); }) {
      if (++waited_ <= pause_) return std::nullopt;
      waited_ = 0;
      pause_ = std::min(pause_ == 0 ? 1U : pause_ * 2, longest_pause);
      return v.idle_signal_target();
    } else {
      return std::nullopt;
    }
  }

  template <class V>
  void send(V& v, pid_t target) noexcept {
    (deliver(v, target) ? sent_ : failed_).add();
  }

  /// A VM whose threads are not the kernel's delivers itself.
  template <class V>
  static bool deliver(V& v, pid_t target) noexcept {
    if constexpr (requires { v.send_signal(target); }) {
      return v.send_signal(target);
    } else {
      return syscall(SYS_tgkill, getpid(), target, SIGPROF) == 0;
    }
  }

  static constexpr unsigned longest_pause = 9;

  tick_ledger ticks_;
  ticker ticker_{ticks_};
  void* vm_ = nullptr;
  unsigned pause_ = 0;   // the ticker's own, of requests
  unsigned waited_ = 0;
  counter sent_;
  counter failed_;
  counter idle_;
};

}  // namespace trigger
}  // namespace rbprof::inline v0

#endif  // RBPROF_TRIGGER_SIGNAL_HPP
