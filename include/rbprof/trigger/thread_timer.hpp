// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TRIGGER_THREAD_TIMER_HPP
#define RBPROF_TRIGGER_THREAD_TIMER_HPP

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <cstring>
#include <string>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/base/fork_mutex.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/trigger/tick_ledger.hpp>
#include <rbprof/trigger/timer_target.hpp>

// A timer of the kernel on the thread that drives the VM: its signal arrives on that thread and no other. It is for VMs
// that can be asked for nothing from outside. The signal brings whom it is for, so the handler looks into no
// thread-local storage, whose first touch may allocate.
//
//   bound(on) ─▶ timer_create(this thread)        bound(off), disarm ─▶ timer_delete, wait for the handler
//   signal    ─▶ 1 + overruns ticks expire ─▶ the sampler rests? skipped : v.interrupted(where)
//
// The kernel delivers at most one signal for each of its own ticks, and counts the others as overruns; so a timer of 1
// kHz on a kernel of 250 Hz is right in its counts and its weights, though its stacks are fewer.

namespace rbprof::inline v0 {
namespace trigger {

/// On which clock a thread's ticks come.
enum class timer_clock : std::uint8_t {
  cpu,   ///< a thread that waits is left alone, so nobody sees where it waited
  wall,  ///< waits are seen; a thread that waits is woken, and its system call may end early (EINTR)
};

/// Calls from:  arm, disarm: one thread at a time; bound: the thread that it is about; claim: a thread at a safe point
/// Blocks:      disarm and bound: until a handler that runs has ended
/// Allocates:   for messages of refusal; the kernel a timer
/// On failure:  arm refuses and leaves nothing behind; a timer that can't be made for a later thread is counted
class thread_timer {
 public:
  using trigger_concept = trigger_tag;
  static constexpr role needs = role::handler;
  static constexpr bool needs_binding = true;
  static constexpr bool needs_target = false;

  thread_timer() noexcept = default;
  thread_timer(const thread_timer&) = delete;
  thread_timer& operator=(const thread_timer&) = delete;

  /// Takes effect at the next `arm`.
  void choose(timer_clock c) noexcept { clock_ = c; }

  template <has_binding V>
  absl::Status arm(V& v, const pace& p) {
    static_assert(requires(const void* context) { v.interrupted(context); });
    const fork_mutex_hold hold(mutex_);
    if (armed_) return absl::FailedPreconditionError("this trigger is armed already: disarm it first");
    if (absl::Status s = validate(p); !s.ok()) return s;
    if (absl::Status hooked = timer_target::hook(); !hooked.ok()) return hooked;
    ticks_.abandon_outstanding();
    pace_ = p;
    vm_ = &v;
    expire_ = [](void* self, std::uint64_t n, const void* context) noexcept {
      thread_timer& me = *static_cast<thread_timer*>(self);
      me.expire(*static_cast<V*>(me.vm_), n, context);
    };
    armed_ = true;
    if (const int failed = tid_ == 0 ? 0 : create(); failed != 0) {
      armed_ = false;
      timer_target::unhook();
      return absl::ResourceExhaustedError(std::string("no timer for the thread that drives the VM: ") +
                                          std::strerror(failed));
    }
    return absl::OkStatus();
  }
  template <has_binding V>
  void disarm(V&) noexcept {
    const fork_mutex_hold hold(mutex_);
    if (!armed_) return;
    remove();
    armed_ = false;
    timer_target::unhook();
  }
  template <has_binding V>
  void bound(V&, bool on) noexcept {
    const fork_mutex_hold hold(mutex_);
    remove();
    tid_ = on ? static_cast<pid_t>(syscall(SYS_gettid)) : 0;
    if (on && armed_ && create() != 0) failed_.add();
  }
  template <has_binding V>
  [[nodiscard]] moment claim(V& v, typename V::lock_type&) noexcept {
    return ticks_.claim(v);
  }

  [[nodiscard]] tick_counters counters() const noexcept { return ticks_.counters(); }
  [[nodiscard]] mono last_due() const noexcept { return ticks_.last_due(); }
  [[nodiscard]] std::uint64_t outstanding() const noexcept { return ticks_.outstanding(); }
  /// Whether a tick waits to be claimed: a host that polls takes it at once.
  [[nodiscard]] bool poll(mono) noexcept { return ticks_.outstanding() > 0; }

  /// Timers are not inherited.
  template <has_binding V>
  void after_fork_child(V&) noexcept {
    mutex_.renew_in_child();
    forget();
  }

  /// Whether a thread that waits has ticks. Else what it waited, nobody saw where.
  [[nodiscard]] bool sees_waits() const noexcept { return clock_ == timer_clock::wall; }

  template <class F>
  void each_remark(F&& f) const {
    if (!sees_waits()) f("ticks come on the cpu clock of the thread: what it waited is \"(not running)\"");
  }
  template <class F>
  void each_statistic(F&& f) const {
    f("timer_signals", signals_.get());
    f("timer_overruns", overruns_.get());
    f("timers_failed", failed_.get());
  }

 private:
  static constexpr int rests_for_one = 4;  // a handler has a fifth of the time, at most
  static constexpr nanos longest_rest{4'000'000};  // what took longer was another thread's

  template <class V>
  void expire(V& v, std::uint64_t n, const void* context) noexcept {
    signals_.add();
    overruns_.add(n - 1);
    const mono now = v.now();
    if (pace_.before_tick != nullptr) pace_.before_tick(pace_.self);
    if (now < rest_until_ || (pace_.nap != nullptr && pace_.nap(pace_.self, now) > nanos{0})) {
      ticks_.skipped(n);
      return;
    }
    ticks_.expired(n, now);
    v.interrupted(context);
    // The sampler is charged at safe points, and would never reach one if handlers took all the time.
    const mono left = v.now();
    rest_until_ = left + std::min((left - now) * rests_for_one, longest_rest);
  }

  /// 0, or errno.
  int create() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    target_ = timer_target::acquire(this, expire_);
    if (target_ == nullptr) return EAGAIN;
    sigevent to{};
    to.sigev_notify = SIGEV_THREAD_ID;
    to.sigev_signo = SIGPROF;
    to.sigev_value.sival_ptr = target_->address();
#ifdef sigev_notify_thread_id
    to.sigev_notify_thread_id = tid_;
#else
    to._sigev_un._tid = tid_;
#endif
    const clockid_t clock = clock_ == timer_clock::wall ? CLOCK_MONOTONIC : cpu_clock_of(tid_);
    const auto count = pace_.period.count();
    itimerspec every{};
    every.it_interval = {static_cast<time_t>(count / 1'000'000'000), static_cast<long>(count % 1'000'000'000)};
    every.it_value = every.it_interval;
    running_on_ = clock;
    counted_ = ticks_.counters().scheduled;
    began_ = detail::read_clock(clock).value_or(-1);
    if (timer_create(clock, &to, &timer_) == 0) {
      if (timer_settime(timer_, 0, &every, nullptr) == 0) return 0;
      const int failed = errno;
      timer_delete(timer_);
      release();
      return failed;
    }
    const int failed = errno;
    release();
    return failed;
  }
  void remove() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (target_ == nullptr) return;
    timer_delete(timer_);
    release();
    // A signal that was on its way, with its overruns, has gone with the timer.
    const std::int64_t now = detail::read_clock(running_on_).value_or(-1);
    if (began_ < 0 || now < began_) return;
    const auto due = static_cast<std::uint64_t>((now - began_) / pace_.period.count());
    const std::uint64_t seen = ticks_.counters().scheduled - counted_;
    if (due > seen) ticks_.missed(due - seen);
  }
  void release() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    target_->release();
    target_ = nullptr;
  }
  void forget() noexcept ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (target_ != nullptr) target_->abandon_in_child();
    target_ = nullptr;
    if (armed_) timer_target::unhook_in_child();
    armed_ = false;
    tid_ = 0;
  }

  tick_ledger ticks_;
  timer_clock clock_ = timer_clock::cpu;
  pace pace_;
  void* vm_ = nullptr;
  timer_target::expire_fn expire_ = nullptr;
  fork_mutex mutex_;
  bool armed_ ABSL_GUARDED_BY(mutex_) = false;
  pid_t tid_ ABSL_GUARDED_BY(mutex_) = 0;  // who drives the VM; 0 = nobody
  timer_target* target_ ABSL_GUARDED_BY(mutex_) = nullptr;
  timer_t timer_{};
  clockid_t running_on_ = CLOCK_MONOTONIC;
  std::int64_t began_ = -1;
  std::uint64_t counted_ = 0;  // ticks of earlier timers
  mono rest_until_;  // the handler's own
  counter signals_, overruns_, failed_;
};

}  // namespace trigger
}  // namespace rbprof::inline v0

#endif  // RBPROF_TRIGGER_THREAD_TIMER_HPP
