// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TRIGGER_EITHER_HPP
#define RBPROF_TRIGGER_EITHER_HPP

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/flags.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>

// Two triggers, one of which is chosen when the profiler starts: a program that reads its mode from a
// setting composes one profiler, not two. It fits an adapter when at least one of the two does; choosing the
// other one is refused by `arm`. Nests: either<either<A, B>, C>.

namespace rbprof::inline v0 {
namespace trigger {

/// Calls from:  choose: while disarmed; the rest as in A and B
/// Blocks:      as the chosen one does
/// Allocates:   as the chosen one does
/// On failure:  arm refuses a choice that the VM can't serve
template <class A, class B>
class either {
 public:
  using trigger_concept = trigger_tag;
  // What both need. What only one of them needs is asked for at `arm`; that one of them fits at all is the
  // constraint of the members below.
  static constexpr role needs = A::needs & B::needs;
  static constexpr bool needs_binding = A::needs_binding && B::needs_binding;
  static constexpr bool needs_target = A::needs_target && B::needs_target;

  template <class V>
  static constexpr bool fits = trigger_for<A, V> || trigger_for<B, V>;

  /// 0 = A, else B. Takes effect at the next `arm`.
  void choose(std::size_t index) noexcept { wanted_ = index; }
  /// The one that is armed, or was last: 0 = A, 1 = B.
  [[nodiscard]] std::size_t chosen() const noexcept { return chosen_; }
  [[nodiscard]] A& first() noexcept { return a_; }
  [[nodiscard]] B& second() noexcept { return b_; }

  template <vm_adapter V>
  requires fits<V> absl::Status arm(V& v, const pace& p) {
    const auto with = [&](auto& t) -> absl::Status {
      if constexpr (trigger_for<std::remove_cvref_t<decltype(t)>, V>) {
        return t.arm(v, p);
      } else {
        return absl::FailedPreconditionError(
            "the chosen trigger needs what this VM does not offer: choose the other one");
      }
    };
    if (armed_)
      return absl::FailedPreconditionError("this trigger is armed already: disarm it first");
    chosen_ = wanted_ == 0 ? 0 : 1;
    absl::Status done = chosen_ == 0 ? with(a_) : with(b_);
    armed_ = done.ok();
    return done;
  }
  template <vm_adapter V>
  requires fits<V>
  void disarm(V& v) noexcept {
    visit_for<V>([&](auto& t) noexcept { t.disarm(v); });
    armed_ = false;
  }
  template <vm_adapter V>
  requires fits<V>
  void bound(V& v, bool on) noexcept {
    visit_for<V>([&](auto& t) noexcept { t.bound(v, on); });
  }
  template <vm_adapter V>
  requires fits<V>
  [[nodiscard]] moment claim(V& v, typename V::lock_type& lk) noexcept {
    moment m;
    visit_for<V>([&](auto& t) noexcept { m = t.claim(v, lk); });
    return m;
  }
  template <vm_adapter V>
  requires fits<V>
  void after_fork_child(V& v) noexcept {
    visit_for<V>([&](auto& t) noexcept { t.after_fork_child(v); });
    armed_ = false;
  }

  [[nodiscard]] tick_counters counters() const noexcept {
    return chosen_ == 0 ? a_.counters() : b_.counters();
  }
  [[nodiscard]] mono last_due() const noexcept {
    return chosen_ == 0 ? a_.last_due() : b_.last_due();
  }
  [[nodiscard]] std::uint64_t outstanding() const noexcept {
    return chosen_ == 0 ? a_.outstanding() : b_.outstanding();
  }

  /// For triggers that are polled; one that is not has nothing to do here.
  [[nodiscard]] bool poll(mono now) noexcept {
    const auto with = [&](auto& t) noexcept -> bool {
      if constexpr (requires { t.poll(now); }) {
        return t.poll(now);
      } else {
        return false;
      }
    };
    return chosen_ == 0 ? with(a_) : with(b_);
  }

  /// False for a trigger that has no ticks while a thread waits.
  [[nodiscard]] bool sees_waits() const noexcept {
    const auto with = [](const auto& t) noexcept -> bool {
      if constexpr (requires { t.sees_waits(); }) return t.sees_waits();
      else return true;
    };
    return chosen_ == 0 ? with(a_) : with(b_);
  }
  template <class F>
  void each_remark(F&& f) const {
    const auto with = [&](const auto& t) {
      if constexpr (requires { t.each_remark(f); }) t.each_remark(f);
    };
    chosen_ == 0 ? with(a_) : with(b_);
  }
  template <class F>
  void each_statistic(F&& f) const {
    const auto with = [&](const auto& t) {
      if constexpr (requires { t.each_statistic(f); }) t.each_statistic(f);
    };
    chosen_ == 0 ? with(a_) : with(b_);
  }

 private:
  template <class V, class F>
  void visit_for(F&& f) noexcept {
    const auto with = [&](auto& t) noexcept {
      if constexpr (trigger_for<std::remove_cvref_t<decltype(t)>, V>) f(t);
    };
    chosen_ == 0 ? with(a_) : with(b_);
  }

  A a_;
  B b_;
  std::size_t wanted_ = 0;
  std::size_t chosen_ = 0;
  bool armed_ = false;
};

}  // namespace trigger
}  // namespace rbprof::inline v0

#endif  // RBPROF_TRIGGER_EITHER_HPP
