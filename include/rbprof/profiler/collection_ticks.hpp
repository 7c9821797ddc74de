// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_COLLECTION_TICKS_HPP
#define RBPROF_PROFILER_COLLECTION_TICKS_HPP

#include <algorithm>
#include <optional>

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>

namespace rbprof::inline v0 {
namespace detail {

/// What the collections of one thread do to its ticks until the next sample.
///
///     ticks           1         2     3
///     thread   ───────┼──[ gc ]─┼──[ gc ]──▶ safe point
///
/// * A tick inside a collection (3) is the collector's: it books nothing on the thread.
/// * The thread is booked up to its own last tick (2) then. Else a C call of many ticks whose last one hits a
///   collection would leave all its time to whatever is sampled next.
/// * A collection after that tick is not the program's time, and both of its clocks have been booked past it. It
///   pushes the tick forward, so that a row leaves out what the program ran since the tick and no more. Example: tick
///   at 20 ms, collection from 21 to 24, safe point at 25: the program ran 2 ms since, the row ends at 23.
///
/// Calls from: the sampler, and inside collections of the thread · Blocks: never · Allocates: never ·
/// On failure: a collection without an exit pushes nothing
class collection_ticks {
 public:
  /// `due`: the last tick that expired. `booked`: the last one that the thread was booked up to.
  void enter(mono due, mono booked, mono now) noexcept {
    due_at_enter_ = due;
    entered_ = now;
    if (due > booked && due != own_ && due_inside_ != due) {
      own_ = due;
      pushed_ = nanos{0};
    }
  }
  void exit(mono due, mono now) noexcept {
    if (!entered_) return;
    pushed_ += std::max(now - *entered_, nanos{0});
    entered_.reset();
    if (due != due_at_enter_) due_inside_ = due;
  }

  /// The moment of a sample with `due` and `in_gc` put right. `resumed`: a tick before the thread last got the VM lock
  /// ends a wait, not a run.
  [[nodiscard]] moment adjust(moment m, mono booked, mono resumed) const noexcept {
    m.in_gc = due_inside_ == m.due;
    const bool own_is_last = m.in_gc || own_ == m.due;
    if (own_is_last && own_ > booked && own_ >= resumed) {
      m.in_gc = false;
      m.due = std::min(own_ + pushed_, m.seen);
    }
    return m;
  }

 private:
  mono own_;         // the last tick outside of every collection, as of the last collection's begin
  nanos pushed_{0};  // wall time of the collections since
  mono due_at_enter_;
  std::optional<mono> entered_;
  std::optional<mono> due_inside_;  // the last tick that expired inside a collection
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_COLLECTION_TICKS_HPP
