// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_ALARM_HPP
#define RBPROF_BASE_ALARM_HPP

#include <pthread.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

#include <rbprof/base/clock.hpp>

// Sleep until a point of the monotonic clock, unless somebody rings. std::condition_variable waits on the
// monotonic clock through a call that thread sanitizers of today's distributions do not know; a POSIX
// condition with the clock as its attribute is understood by all of them, and can be made anew in a forked
// child.

namespace rbprof::inline v0 {

/// Wakes a sleeper early, for good, until `reset`.
///
/// Calls from:  wait_until: one thread; ring: any thread; reset, after_fork_child: while nobody waits
/// Blocks:      wait_until, until its time or a ring; the others for a few instructions
/// Allocates:   never
/// On failure:  a wait that the system refuses ends at once, as if its time had come
class alarm {
 public:
  alarm() noexcept { make(); }
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;
  ~alarm() {
    pthread_cond_destroy(&condition_);
    pthread_mutex_destroy(&mutex_);
  }

  /// True when it was rung, false when `t` has come.
  [[nodiscard]] bool wait_until(mono t) noexcept {
    const timespec at{static_cast<time_t>(t.ns / 1'000'000'000),
                      static_cast<long>(t.ns % 1'000'000'000)};
    pthread_mutex_lock(&mutex_);
    int waited = 0;
    while (!rung_ && waited == 0) waited = pthread_cond_timedwait(&condition_, &mutex_, &at);
    const bool rung = rung_;
    pthread_mutex_unlock(&mutex_);
    return rung;
  }

  void ring() noexcept {
    pthread_mutex_lock(&mutex_);
    rung_ = true;
    pthread_cond_broadcast(&condition_);
    pthread_mutex_unlock(&mutex_);
  }

  void reset() noexcept {
    pthread_mutex_lock(&mutex_);
    rung_ = false;
    pthread_mutex_unlock(&mutex_);
  }

  /// Whoever held the mutex, or waited, does not exist in the child.
  void after_fork_child() noexcept {
    make();
    rung_ = false;
  }

 private:
  void make() noexcept {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition_, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&mutex_, nullptr);
  }

  pthread_mutex_t mutex_{};
  pthread_cond_t condition_{};
  bool rung_ = false;  // guarded by mutex_
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_ALARM_HPP
