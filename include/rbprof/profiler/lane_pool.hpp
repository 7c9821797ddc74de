// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_LANE_POOL_HPP
#define RBPROF_PROFILER_LANE_POOL_HPP

#include <absl/base/thread_annotations.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/fork_mutex.hpp>
#include <rbprof/base/pin_code.hpp>

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
///
/// Fork: every lane is quiet across it, for a bounded time. In the child all have stopped, and their handles
/// know it; the child may start again.
template <class Lane>
class lane_pool {
 public:
  static constexpr std::size_t capacity = 64;
  static constexpr nanos fork_patience{100'000'000};

  struct place {
    std::unique_ptr<Lane> lane;
    void* handle = nullptr;                     // who has taken it
    void (*forked)(void* handle) noexcept = nullptr;  // tells the handle that it is in a child now
    pid_t owner = 0;                            // the thread that started it; 0 = not running
    bool taken = false;
    bool retired = false;  // its adapter could not let go of it: never to be used again
    bool taken_over = false;
    bool left_by_fork = false;  // ran in the parent
  };

  /// Never destroyed: reachable to the end, so no leak to a leak checker.
  static lane_pool& instance() {
    static lane_pool* const pool = new lane_pool;
    return *pool;
  }

  /// A new lane; null when all places are taken.
  template <class... Args>
  [[nodiscard]] place* acquire(void* handle, void (*forked)(void*) noexcept, const Args&... args) {
    pin_code(forked);  // and with it the handle's triggers, hooks and fork handlers
    const fork_mutex_hold hold(mutex_);
    for (place& p : places_) {
      if (p.taken || p.retired) continue;
      p.lane = std::make_unique<Lane>(args...);
      p.handle = handle;
      p.forked = forked;
      p.taken = true;
      p.taken_over = p.left_by_fork = false;
      return &p;
    }
    return nullptr;
  }
  void release(place* p, bool hooks_are_gone) {
    const fork_mutex_hold hold(mutex_);
    p->handle = nullptr;
    p->owner = 0;
    p->taken = false;
    p->retired = !hooks_are_gone;
    p->left_by_fork = false;
  }
  void set_owner(place* p, pid_t owner) {
    const fork_mutex_hold hold(mutex_);
    p->owner = owner;
    if (owner != 0) p->taken_over = p->left_by_fork = false;
  }
  [[nodiscard]] bool was_taken_over(place* p) {
    const fork_mutex_hold hold(mutex_);
    return p->taken_over;
  }
  /// A lane that is in the way and whose owner has ended, or that ran in the parent of this process; marked as taken
  /// over. `in_the_way(lane)` is asked of those alone. Null when there is none.
  template <class InTheWay>
  [[nodiscard]] Lane* take_over_orphan(InTheWay&& in_the_way) {
    const fork_mutex_hold hold(mutex_);
    for (place& p : places_) {
      const bool orphan = p.left_by_fork || (p.owner != 0 && thread_is_gone(p.owner));
      if (!orphan || !in_the_way(*p.lane)) continue;
      p.owner = 0;
      p.left_by_fork = false;
      p.taken_over = true;
      return p.lane.get();
    }
    return nullptr;
  }

 private:
  lane_pool() {
    pthread_atfork([] { instance().before_fork(); }, [] { instance().after_fork_parent(); },
                   [] { instance().after_fork_child(); });
  }

  // Calls from: the forking thread, which may be any · Blocks: bounded · Allocates: never
  void before_fork() noexcept ABSL_NO_THREAD_SAFETY_ANALYSIS {
    locked_ = mutex_.try_lock_until(monotonic_now() + fork_patience);
    if (!locked_) return;
    for (place& p : places_) {
      if (p.taken) p.lane->before_fork(fork_patience);
    }
  }
  void after_fork_parent() noexcept ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!locked_) return;
    for (place& p : places_) {
      if (p.taken) p.lane->after_fork_parent();
    }
    mutex_.unlock();
  }
  void after_fork_child() noexcept ABSL_NO_THREAD_SAFETY_ANALYSIS {
    mutex_.renew_in_child();
    for (place& p : places_) {
      if (!p.taken || !p.lane) continue;
      p.lane->after_fork_child();
      p.left_by_fork = p.left_by_fork || p.owner != 0;
      p.owner = 0;
      if (p.handle != nullptr) p.forked(p.handle);
    }
  }

  fork_mutex mutex_;
  std::array<place, capacity> places_ ABSL_GUARDED_BY(mutex_);
  bool locked_ = false;  // of the forking thread
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_LANE_POOL_HPP
