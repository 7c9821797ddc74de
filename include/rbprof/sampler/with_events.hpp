// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_SAMPLER_WITH_EVENTS_HPP
#define RBPROF_SAMPLER_WITH_EVENTS_HPP

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/sampler.hpp>

// A time sampler and, beside it, a sampler of events: the third policy of a profiler that also samples allocations.
// Neither knows of the other. The clock that a sample in time has read serves the sampler of events as well, whose
// countdown can't see time pass.

namespace rbprof::inline v0 {
namespace sampler {

/// Calls from:  as Time; `events` by the holder of the VM lock
/// Blocks:      never
/// Allocates:   never
/// On failure:  cannot fail
template <time_sampler Time, event_sampler Events>
class with_events : public Time {
 public:
  using event_sampler_type = Events;

  Events events;

  void charge(mono now, const sample_cost& cost) noexcept {
    Time::charge(now, cost);
    if constexpr (requires(Events& e, mono t) { e.look(t); }) events.look(now);
  }
  void reset(mono now) noexcept {
    Time::reset(now);
    events.reset(now);
  }

  template <class F>
  void each_statistic(F&& f) const {
    if constexpr (requires(const Time& t) { t.each_statistic(f); }) Time::each_statistic(f);
    if constexpr (requires(const Events& e) { e.each_statistic(f); }) events.each_statistic(f);
  }
};

}  // namespace sampler
}  // namespace rbprof::inline v0

#endif  // RBPROF_SAMPLER_WITH_EVENTS_HPP
