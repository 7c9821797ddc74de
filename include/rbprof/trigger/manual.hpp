// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TRIGGER_MANUAL_HPP
#define RBPROF_TRIGGER_MANUAL_HPP

#include <absl/status/status.h>

#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/trigger/schedule.hpp>
#include <rbprof/trigger/tick_ledger.hpp>

// The trigger that does nothing by itself: the host, or a test with a virtual clock, calls `poll`
// from time to time, and ticks that expired between two polls become one sample. No thread, no
// signal, no clock of its own, so it fits every adapter.

namespace rbprof::inline v0 {
namespace trigger {

/// Calls from:  arm, disarm, poll: one thread at a time; claim: a thread at a safe point; reads:
/// any thread Blocks:      never Allocates:   for messages of refusal alone On failure:  arm
/// refuses a period that is not positive
class manual {
 public:
  using trigger_concept = trigger_tag;
  static constexpr role needs = role::vm_thread;
  static constexpr bool needs_binding = false;
  static constexpr bool needs_target = false;

  template <vm_adapter V>
  absl::Status arm(V& v, const pace& p) {
    if (armed_)
      return absl::FailedPreconditionError("this trigger is armed already: disarm it first");
    if (p.period <= nanos{0}) {
      return absl::InvalidArgumentError("the period must be positive, for example 10 ms");
    }
    ticks_.abandon_outstanding();
    pace_ = p;
    schedule_ = schedule(v.now(), p.period, p.seed);
    armed_ = true;
    return absl::OkStatus();
  }
  template <vm_adapter V>
  void disarm(V&) noexcept {
    armed_ = false;
  }
  template <vm_adapter V>
  void bound(V&, bool) noexcept {}

  /// Advances the schedule to `now`. True when a tick is waiting to be claimed: then ask the VM for
  /// a safe point, or, holding its lock, sample at once. Ticks in a rest of the sampler are
  /// skipped.
  [[nodiscard]] bool poll(mono now) noexcept {
    if (!armed_) return false;
    const schedule::expired found = schedule_.advance(now);
    if (found.went_back) ticks_.clock_went_back();
    if (found.ticks > 0) {
      const bool resting = pace_.nap != nullptr && pace_.nap(pace_.self, now) > nanos{0};
      if (resting) {
        ticks_.skipped(found.ticks);
      } else {
        ticks_.expired(found.ticks, found.due);
      }
    }
    return ticks_.outstanding() > 0;
  }

  template <vm_adapter V>
  [[nodiscard]] moment claim(V& v, typename V::lock_type&) noexcept {
    return ticks_.claim(v);
  }

  [[nodiscard]] tick_counters counters() const noexcept { return ticks_.counters(); }
  [[nodiscard]] mono last_due() const noexcept { return ticks_.last_due(); }
  [[nodiscard]] std::uint64_t outstanding() const noexcept { return ticks_.outstanding(); }
  /// When the next tick is due; for a host that wants to poll just then.
  [[nodiscard]] mono next_due() const noexcept { return schedule_.next(); }
  /// A forked child starts with a disarmed trigger.
  template <vm_adapter V>
  void after_fork_child(V& v) noexcept {
    disarm(v);
  }

 private:
  tick_ledger ticks_;
  schedule schedule_;
  pace pace_;
  bool armed_ = false;
};

}  // namespace trigger
}  // namespace rbprof::inline v0

#endif  // RBPROF_TRIGGER_MANUAL_HPP
