// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TRIGGER_POSTPONED_JOB_HPP
#define RBPROF_TRIGGER_POSTPONED_JOB_HPP

#include <absl/status/status.h>

#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/base/flags.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/trigger/tick_ledger.hpp>
#include <rbprof/trigger/ticker.hpp>

// The gentle mode: a ticker thread asks the VM for a safe point, and no signal is ever sent. No system call
// of the host is interrupted, no handler is taken. What it can't do is stop inside C code: a tick there is
// served when the call ends, with the call still on the stack.

namespace rbprof::inline v0 {
namespace trigger {

/// Calls from:  arm, disarm, after_fork_child: one thread at a time; claim: a thread at a safe point; reads:
///              any thread
/// Blocks:      disarm: until the ticker has ended
/// Allocates:   arm
/// On failure:  arm refuses and leaves nothing behind; a request that the VM refuses is counted
class postponed_job {
 public:
  using trigger_concept = trigger_tag;
  static constexpr role needs = role::foreign;
  static constexpr bool needs_binding = false;
  static constexpr bool needs_target = false;

  template <vm_adapter V>
  absl::Status arm(V& v, const pace& p) {
    if (!has(v.features(), feature::foreign_request)) {
      return absl::FailedPreconditionError(
          "this VM can't be asked for a safe point from another thread in this process: use "
          "trigger::signal or trigger::manual");
    }
    vm_ = &v;
    return ticker_.start(
        p,
        [](void* self, bool answered) noexcept {
          postponed_job& me = *static_cast<postponed_job*>(self);
          const request_result r = static_cast<V*>(me.vm_)->request_safe_point();
          me.count(r);
          return answered && r != request_result::idle;
        },
        this);
  }
  template <vm_adapter V>
  void disarm(V&) noexcept {
    ticker_.stop();
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
  /// The ticker does not exist in the child: the trigger is disarmed there.
  template <vm_adapter V>
  void after_fork_child(V&) noexcept {
    ticker_.after_fork_child();
  }

  template <class F>
  void each_statistic(F&& f) const {
    f("trigger_requests", requests_.get());
    f("trigger_requests_idle", idle_.get());
    f("trigger_requests_refused", refused_.get());
  }

 private:
  void count(request_result r) noexcept {
    requests_.add();
    if (r == request_result::idle) idle_.add();
    if (r == request_result::refused) refused_.add();
  }

  tick_ledger ticks_;
  ticker ticker_{ticks_};
  void* vm_ = nullptr;
  counter requests_;
  counter idle_;
  counter refused_;
};

}  // namespace trigger
}  // namespace rbprof::inline v0

#endif  // RBPROF_TRIGGER_POSTPONED_JOB_HPP
