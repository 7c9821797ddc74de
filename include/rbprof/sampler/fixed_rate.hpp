// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_SAMPLER_FIXED_RATE_HPP
#define RBPROF_SAMPLER_FIXED_RATE_HPP

#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/sampler.hpp>
#include <rbprof/sampler/time_statistics.hpp>

namespace rbprof::inline v0 {
namespace sampler {

/// Makes a sample of every tick, whatever it costs: for tests, benchmarks and short runs. It has no
/// overhead target; `dynamic_rate` has one.
///
/// Calls from:  admit, charge, reset: one sampling thread at a time; nap and reads: any thread
/// Blocks:      never
/// Allocates:   never
/// On failure:  cannot fail
class fixed_rate {
 public:
  using sampler_concept = sampler_tag;

  [[nodiscard]] bool admit(mono) noexcept {
    statistics_.decided(true);
    return true;
  }
  [[nodiscard]] bool admit_wake(mono) noexcept { return true; }
  void charge(mono, const sample_cost& cost) noexcept { statistics_.took(cost.wall); }
  [[nodiscard]] nanos nap(mono) const noexcept { return nanos{0}; }
  void reset(mono) noexcept { statistics_.reset(); }

  [[nodiscard]] const time_statistics& statistics() const noexcept { return statistics_; }
  template <class F>
  void each_statistic(F&& f) const {
    statistics_.each(f);
  }

 private:
  time_statistics statistics_;
};

static_assert(time_sampler<fixed_rate>);

}  // namespace sampler
}  // namespace rbprof::inline v0

#endif  // RBPROF_SAMPLER_FIXED_RATE_HPP
