// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_SIMULATED_CLOCK_HPP
#define RBPROF_VM_SIMULATED_CLOCK_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>

namespace rbprof::inline v0 {
namespace vm {

/// A virtual monotonic clock with timers. It has a true time, which only goes forward, and what it shows,
/// which may have been made to jump; timers follow the true time.
///
/// Calls from:  the thread that drives the VM; shown(): any thread
/// Blocks:      never
/// Allocates:   when a timer is added
/// On failure:  cannot fail
class simulated_clock {
 public:
  explicit simulated_clock(mono start) noexcept : true_(start) { publish(); }

  [[nodiscard]] mono now() const noexcept { return true_; }
  [[nodiscard]] mono shown() const noexcept {
    return {shown_.load(std::memory_order_relaxed)};  // a clock orders nothing
  }
  void jump(nanos by) noexcept {
    fault_ += by;
    publish();
  }

  /// Calls `fn` at `first` and then each `period`; a period of 0 = once.
  std::uint64_t add(mono first, nanos period, std::function<void()> fn) {
    timers_.push_back({++last_id_, first, period, std::move(fn)});
    return last_id_;
  }
  void remove(std::uint64_t id) {
    timers_.erase(
        std::remove_if(timers_.begin(), timers_.end(), [&](const timer& t) { return t.id == id; }),
        timers_.end());
  }

  /// The instant of the next timer; far away when there is none.
  [[nodiscard]] mono next_timer() const noexcept {
    mono next{std::numeric_limits<std::int64_t>::max()};
    for (const timer& t : timers_) next = std::min(next, t.at);
    return next;
  }

  /// Moves the true time, at most to the next timer; fires what is due there.
  void pass(nanos by) {
    true_ = true_ + by;
    publish();
    while (next_timer() <= true_) fire_one();
  }
  /// True while a timer's function runs.
  [[nodiscard]] bool firing() const noexcept { return firing_; }

 private:
  struct timer {
    std::uint64_t id;
    mono at;
    nanos period;
    std::function<void()> fn;
  };

  void publish() noexcept { shown_.store((true_ + fault_).ns, std::memory_order_relaxed); }

  void fire_one() {
    const auto due =
        std::min_element(timers_.begin(), timers_.end(), [](const timer& a, const timer& b) {
          return a.at < b.at;  // equal instants: the older timer comes first
        });
    const std::function<void()> fn = due->fn;  // it may add and remove timers
    if (due->period > nanos{0}) {
      due->at = due->at + due->period;
    } else {
      timers_.erase(due);
    }
    const bool outer = std::exchange(firing_, true);
    fn();
    firing_ = outer;
  }

  mono true_;
  nanos fault_{0};
  std::atomic<std::int64_t> shown_{0};
  std::vector<timer> timers_;
  std::uint64_t last_id_ = 0;
  bool firing_ = false;
};

}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_SIMULATED_CLOCK_HPP
