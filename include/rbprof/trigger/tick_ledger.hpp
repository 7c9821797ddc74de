// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TRIGGER_TICK_LEDGER_HPP
#define RBPROF_TRIGGER_TICK_LEDGER_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include <rbprof/base/cache_line.hpp>
#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/trigger.hpp>

namespace rbprof::inline v0 {
namespace trigger {

/// Every tick's fate, booked once: what all triggers share. At rest
///
///     scheduled = claimed + coalesced + missed + skipped + outstanding
///
/// Calls from:  expired, missed, skipped: whoever keeps the schedule, one thread at a time; claim:
/// a thread
///              at a safe point, one at a time; reads: any thread
/// Blocks:      never
/// Allocates:   never
/// On failure:  cannot fail
class tick_ledger {
 public:
  /// `ticks` have expired and are to become a sample; the last of them was due at `due`.
  void expired(std::uint64_t ticks, mono due) noexcept {
    scheduled_.add(ticks);
    due_.store(due.ns, std::memory_order_relaxed);
    outstanding_.fetch_add(ticks, std::memory_order_release);  // pairs with acquire in claim()
  }
  /// `ticks` came too late to be served.
  void missed(std::uint64_t ticks) noexcept {
    scheduled_.add(ticks);
    missed_.publish(ticks);
  }
  /// `ticks` fell into a rest.
  void skipped(std::uint64_t ticks) noexcept {
    scheduled_.add(ticks);
    skipped_.publish(ticks);
  }

  /// The clock was earlier than before.
  void clock_went_back() noexcept { clock_went_back_.add(); }

  /// Takes all that has expired, at a safe point of `v`: 0 ticks = none had. `due` is that of the
  /// last tick taken, or of one that expires meanwhile and is taken by the next claim.
  template <class V>
  [[nodiscard]] moment claim(const V& v) noexcept {
    const std::uint64_t ticks = outstanding_.exchange(0, std::memory_order_acquire);
    if (ticks == 0) return {};
    claimed_.publish();
    coalesced_.publish(ticks - 1);
    const mono due = last_due();  // before `seen` is read, so that it is not later
    const std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    return {due,  v.now(), std::nullopt, static_cast<std::uint32_t>(std::min(ticks, most)),
            true, false, false};
  }

  /// Gives up what was never claimed: it belongs to a run that is over.
  void abandon_outstanding() noexcept {
    missed_.publish(outstanding_.exchange(0, std::memory_order_acquire));
  }

  [[nodiscard]] std::uint64_t outstanding() const noexcept {
    return outstanding_.load(std::memory_order_relaxed);
  }
  /// The last tick that is, or was, to become a sample; ticks in a rest do not count.
  [[nodiscard]] mono last_due() const noexcept { return {due_.load(std::memory_order_relaxed)}; }
  /// What is scheduled is read last, since each tick is counted there first: what came of ticks is never more.
  [[nodiscard]] tick_counters counters() const noexcept {
    tick_counters t{0,
                    claimed_.get_published(),
                    coalesced_.get_published(),
                    missed_.get_published(),
                    skipped_.get_published(),
                    clock_went_back_.get()};
    t.scheduled = scheduled_.get();
    return t;
  }

 private:
  alignas(cache_line) std::atomic<std::uint64_t> outstanding_{0};
  std::atomic<std::int64_t> due_{0};
  counter scheduled_;
  counter missed_;
  counter skipped_;
  counter clock_went_back_;
  alignas(cache_line) counter claimed_;  // the claiming side
  counter coalesced_;
};

}  // namespace trigger
}  // namespace rbprof::inline v0

#endif  // RBPROF_TRIGGER_TICK_LEDGER_HPP
