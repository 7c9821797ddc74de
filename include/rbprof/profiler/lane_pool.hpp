// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_LANE_POOL_HPP
#define RBPROF_PROFILER_LANE_POOL_HPP

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>

namespace rbprof::inline v0 {
namespace detail {

[[nodiscard]] inline pid_t current_tid() noexcept {
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

/// Whether a thread of this process has ended. The null signal asks without sending anything.
[[nodiscard]] inline bool thread_is_gone(pid_t tid) noexcept {
  return ::syscall(SYS_tgkill, ::getpid(), tid, 0) != 0 && errno == ESRCH;
}

/// The lanes of one composition: a bounded pool that lives as long as the process and is never destroyed,
/// because what a VM calls back may come after any handle, any static object, any thread.
///
/// Thread-safe. A lane is constructed anew when its place is taken again, which happens only after the adapter
/// has said that nothing points at it.
template <class Lane>
class lane_pool {
 public:
  static constexpr std::size_t capacity = 64;

  struct place {
    std::unique_ptr<Lane> lane;
    pid_t owner = 0;       // the thread that started it; 0 = not running
    bool taken = false;
    bool retired = false;  // its adapter could not let go of it: never to be used again
    bool taken_over = false;
  };

  /// Never destroyed: reachable to the end, so no leak to a leak checker.
  static lane_pool& instance() {
    static lane_pool* const pool = new lane_pool;
    return *pool;
  }

  /// A new lane; null when all places are taken.
  template <class... Args>
  [[nodiscard]] place* acquire(const Args&... args) {
    absl::MutexLock hold(&mutex_);
    for (place& p : places_) {
      if (p.taken || p.retired) continue;
      p.lane = std::make_unique<Lane>(args...);
      p.taken = true;
      p.taken_over = false;
      return &p;
    }
    return nullptr;
  }
  void release(place* p, bool hooks_are_gone) {
    absl::MutexLock hold(&mutex_);
    p->owner = 0;
    p->taken = false;
    p->retired = !hooks_are_gone;
  }
  void set_owner(place* p, pid_t owner) {
    absl::MutexLock hold(&mutex_);
    p->owner = owner;
  }
  [[nodiscard]] bool was_taken_over(place* p) {
    absl::MutexLock hold(&mutex_);
    return p->taken_over;
  }
  /// A running lane whose owner has ended, marked as taken over; null when there is none.
  [[nodiscard]] Lane* take_over_orphan() {
    absl::MutexLock hold(&mutex_);
    for (place& p : places_) {
      if (p.owner == 0 || !thread_is_gone(p.owner)) continue;
      p.owner = 0;
      p.taken_over = true;
      return p.lane.get();
    }
    return nullptr;
  }

 private:
  lane_pool() = default;
  absl::Mutex mutex_;
  std::array<place, capacity> places_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_LANE_POOL_HPP
