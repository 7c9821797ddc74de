// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_POLICY_SAMPLER_HPP
#define RBPROF_POLICY_SAMPLER_HPP

#include <concepts>
#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>

// Samplers decide whether an event becomes a sample, and what it weighs. Pure state machines over the
// times that they are given: they read no clock. docs/policies/sampler.md has the semantics.

namespace rbprof::inline v0 {

struct sampler_tag {};

/// Governs samples in time.
template <class S>
concept time_sampler = std::same_as<typename S::sampler_concept, sampler_tag> &&
                       requires(S& s, const S& cs, mono t, const sample_cost& cost) {
                         { s.admit(t) } noexcept -> std::same_as<bool>;  // by the sampling thread
                         // of a thread that wakes: it can't be taken later
                         { s.admit_wake(t) } noexcept -> std::same_as<bool>;  // by the sampling thread
                         { s.charge(t, cost) } noexcept;                 // by the sampling thread
                         { cs.nap(t) } noexcept -> std::same_as<nanos>;  // by the ticker
                         { s.reset(t) } noexcept;
                       };

/// Governs samples among events. Weights add up to the events counted.
template <class S>
concept event_sampler =
    std::same_as<typename S::sampler_concept, sampler_tag> &&
    requires(S& s, const S& cs, mono t, nanos d) {
      { s.count() } noexcept -> std::same_as<bool>;             // the skip path: a countdown, no clock
      { s.weight(t) } noexcept -> std::same_as<std::uint64_t>;  // events since the last weight()
      { s.charge(t, d) } noexcept;
      { s.reset(t) } noexcept;
      { cs.pending() } noexcept -> std::same_as<std::uint64_t>;  // counted, in no weight yet
      { s.take_pending() } noexcept -> std::same_as<std::uint64_t>;  // these; the gap goes on
    };

/// A time_sampler that has a sampler of events beside it: then allocations can be sampled too.
template <class S>
concept has_event_sampler = time_sampler<S> && event_sampler<typename S::event_sampler_type> && requires(S& s) {
  { s.events } -> std::same_as<typename S::event_sampler_type&>;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_POLICY_SAMPLER_HPP
