// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_FORK_MUTEX_HPP
#define RBPROF_BASE_FORK_MUTEX_HPP

#include <absl/base/thread_annotations.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <thread>

#include <rbprof/base/clock.hpp>

// A mutex that may be held across fork() and made anew in the child. absl::Mutex can't be: where its
// deadlock detection is on (Debian's build), the child's thread still counts as the holder of the old one
// and is aborted, and letting go of it first may wait for a queue of threads that do not exist there.
//
// Any thread. The annotations let clang check who holds it.

namespace rbprof::inline v0 {

class ABSL_LOCKABLE fork_mutex {
 public:
  void lock() noexcept ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void unlock() noexcept ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

  /// Tries until `deadline`, napping from 1 us, doubling up to 1 ms.
  [[nodiscard]] bool try_lock_until(mono deadline) noexcept ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    for (nanos nap{1'000}; !mutex_.try_lock(); nap = std::min(nap * 2, nanos{1'000'000})) {
      if (monotonic_now() >= deadline) return false;
      std::this_thread::sleep_for(nap);
    }
    return true;
  }

  /// Free again, whoever held it. Calls from: the lone thread of a forked child.
  void renew_in_child() noexcept { new (&mutex_) std::mutex; }

 private:
  std::mutex mutex_;
};

/// Holds a fork_mutex for a scope.
class ABSL_SCOPED_LOCKABLE fork_mutex_hold {
 public:
  explicit fork_mutex_hold(fork_mutex& m) noexcept ABSL_EXCLUSIVE_LOCK_FUNCTION(m) : mutex_(m) {
    mutex_.lock();
  }
  ~fork_mutex_hold() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  fork_mutex_hold(const fork_mutex_hold&) = delete;
  fork_mutex_hold& operator=(const fork_mutex_hold&) = delete;

 private:
  fork_mutex& mutex_;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_FORK_MUTEX_HPP
