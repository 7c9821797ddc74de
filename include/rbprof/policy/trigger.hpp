// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_POLICY_TRIGGER_HPP
#define RBPROF_POLICY_TRIGGER_HPP

#include <absl/status/status.h>

#include <concepts>
#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/vm_adapter.hpp>

// The trigger decides when to ask for a sample. docs/policies/trigger.md has the semantics.

namespace rbprof::inline v0 {

struct trigger_tag {};

/// The least that a clock of ours can tick in.
inline constexpr nanos shortest_period{20'000};

/// How often, and whom to ask for rests. `nap` is called by the ticker between two ticks, from its thread;
/// ticks that fall into a rest are counted as skipped, since somebody decided so.
struct pace {
  nanos period{10'000'000};
  std::uint64_t seed = 1;  ///< of the jitter
  nanos (*nap)(void* self, mono now) noexcept = nullptr;
  void (*before_tick)(void* self) noexcept = nullptr;  ///< a seam for tests: may hold the ticker back
  void* self = nullptr;
};

/// Says what is wrong with a pace, if anything is, for a trigger that keeps it by a clock of its own.
[[nodiscard]] inline absl::Status validate(const pace& p) {
  if (p.period >= shortest_period) return absl::OkStatus();
  return absl::InvalidArgumentError("the period must be at least 20 us, for example 10 ms");
}

/// scheduled = claimed + coalesced + missed + skipped + what has expired and was not claimed yet.
struct tick_counters {
  std::uint64_t scheduled = 0;  ///< from the schedule alone
  std::uint64_t claimed = 0;    ///< claims that found at least one tick
  std::uint64_t coalesced = 0;  ///< further ticks that a claim found
  std::uint64_t missed = 0;     ///< the ticker woke too late for them
  std::uint64_t skipped = 0;    ///< fell into a rest that the sampler had asked for
  std::uint64_t clock_went_back = 0;  ///< times that the clock was earlier than before
};

/// A trigger T that can serve the adapter V.
template <class T, class V>
concept trigger_for =
    vm_adapter<V> && std::same_as<typename T::trigger_concept, trigger_tag> &&
    has(V::request_from, T::needs) && (!T::needs_binding || has_binding<V>) &&
    (!T::needs_target || has_signal_target<V>) &&
    requires(T& t, const T& ct, V& v, typename V::lock_type& lk, const pace& p) {
      { t.arm(v, p) } -> std::same_as<absl::Status>;
      { t.disarm(v) } noexcept;                         // returns within two periods
      { t.bound(v, true) } noexcept;
      { t.claim(v, lk) } noexcept -> std::same_as<moment>;  // ticks == 0: this safe point is not ours
      { ct.counters() } noexcept -> std::same_as<tick_counters>;
      { ct.last_due() } noexcept -> std::same_as<mono>;     // the last tick that expired
    };

}  // namespace rbprof::inline v0

#endif  // RBPROF_POLICY_TRIGGER_HPP
