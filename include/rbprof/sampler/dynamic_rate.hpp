// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_SAMPLER_DYNAMIC_RATE_HPP
#define RBPROF_SAMPLER_DYNAMIC_RATE_HPP

#include <absl/status/status.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/sampler.hpp>
#include <rbprof/sampler/time_statistics.hpp>

// The governor of overhead. It has no memory but one point in time, "not before": after work that
// cost d, it rests for as long as makes d the wanted share T of the whole:
//
//     rest = d * (100 - T) / T,  at most 10 s        1 ms at 2 %  ->  49 ms;  1 ms at 20 %  ->  4
//     ms
//
// so a spike costs one rest and nothing has to be unlearned. Since values are weighted with time,
// resting lowers resolution and never a total.
//
// d is wall time, which a busy machine inflates: a sampler that the kernel preempts for 8 ms would
// pay with a rest of 392 ms. So a sample that took over four times the running median is charged
// with what it spent of its cpu clock.

namespace rbprof::inline v0 {
namespace sampler {

/// Keeps what is charged at or under a share of wall time.
///
/// Calls from:  admit, charge: one sampling thread at a time; nap: the ticker; configure, reset:
/// while
///              nothing samples; reads: any thread
/// Blocks:      never
/// Allocates:   never
/// On failure:  cannot fail; a clock that goes back can't make it rest for longer than the longest
/// rest
class dynamic_rate {
 public:
  using sampler_concept = sampler_tag;

  static constexpr double default_target_percent = 2.0;
  static constexpr double largest_target_percent = 20.0;
  static constexpr nanos longest_rest{10'000'000'000};
  static constexpr nanos longest_nap{100'000'000};  ///< so that whoever naps can be stopped soon
  static constexpr nanos most_owed{500'000'000};
  static constexpr std::size_t median_window = 31;
  static constexpr int preempted_factor = 4;

  struct options {
    double target_percent = default_target_percent;  ///< of wall time; in (0, 20]
  };

  /// Says what is wrong with these options, if anything is.
  [[nodiscard]] static absl::Status validate(const options& o) {
    if (o.target_percent > 0.0 && o.target_percent <= largest_target_percent) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "overhead target must be more than 0 and at most 20 percent; the default of 2 percent is "
        "used "
        "instead");
  }

  dynamic_rate() noexcept = default;
  explicit dynamic_rate(const options& o) { (void)configure(o); }

  /// Takes options; those that are not valid leave the default in force, and the status says so.
  absl::Status configure(const options& o) {
    absl::Status judged = validate(o);
    target_percent_ = judged.ok() ? o.target_percent : default_target_percent;
    fell_back_ = !judged.ok();
    return judged;
  }

  [[nodiscard]] double target_percent() const noexcept { return target_percent_; }

  /// True when the last rest is over.
  [[nodiscard]] bool admit(mono now) noexcept {
    const bool yes = rest_left(now) <= nanos{0};
    statistics_.decided(yes);
    return yes;
  }

  /// True for a sample that can't be taken later, of a thread that wakes from a wait: it is taken in advance,
  /// and the rests become longer, until this much rest is owed.
  [[nodiscard]] bool admit_wake(mono now) noexcept {
    if (rest_left(now) < most_owed) return true;
    wakes_refused_.add();
    return false;
  }

  /// Charges work that ended at `now`. A further charge before the rest is over makes it longer.
  void charge(mono now, const sample_cost& cost) noexcept {
    const nanos wall = std::max(cost.wall, nanos{0});
    statistics_.took(wall);
    const nanos due = to_be_charged({wall, cost.cpu});
    remember(wall);
    const double factor = (100.0 - target_percent_) / target_percent_;
    const double rest = static_cast<double>(due.count()) * factor;
    const double most = static_cast<double>(longest_rest.count());
    const nanos more = rest < most ? nanos{static_cast<std::int64_t>(rest)} : longest_rest;
    const nanos total = std::min(rest_left(now) + more, longest_rest);
    not_before_.store((now + total).ns, std::memory_order_relaxed);
  }

  /// How long a ticker may sleep at `now` because its ticks would be refused; 0 = not at all.
  [[nodiscard]] nanos nap(mono now) const noexcept { return std::min(rest_left(now), longest_nap); }

  /// Forgets every rest and every count.
  void reset(mono) noexcept {
    not_before_.store(0, std::memory_order_relaxed);
    walls_known_ = 0;
    walls_next_ = 0;
    preempted_.take();
    wakes_refused_.take();
    statistics_.reset();
  }

  [[nodiscard]] const time_statistics& statistics() const noexcept { return statistics_; }
  /// Samples that were charged with cpu instead of wall time.
  [[nodiscard]] std::uint64_t preempted() const noexcept { return preempted_.get(); }

  template <class F>
  void each_statistic(F&& f) const {
    statistics_.each(f);
    f("cpu_sampling_preempted", preempted());
    f("woken_samples_refused", wakes_refused_.get());
  }
  template <class F>
  void each_remark(F&& f) const {
    if (fell_back_) f("overhead target was not in (0, 20] percent: 2 percent was used");
  }

 private:
  /// What is left of the rest. More than the longest one means that the clock went back: then
  /// nothing.
  [[nodiscard]] nanos rest_left(mono now) const noexcept {
    const nanos left = mono{not_before_.load(std::memory_order_relaxed)} - now;
    return left > nanos{0} && left <= longest_rest ? left : nanos{0};
  }

  /// A cpu time of 0 was not measured, so it can't excuse anybody.
  [[nodiscard]] nanos to_be_charged(const sample_cost& cost) noexcept {
    if (walls_known_ == 0 || cost.cpu <= nanos{0}) return cost.wall;
    if (!is_over_the_median(cost.wall)) return cost.wall;
    preempted_.add();
    return std::min(cost.cpu, cost.wall);
  }

  /// Whether `wall` is over four times the median of the walls known: more than half of them are small enough.
  [[nodiscard]] bool is_over_the_median(nanos wall) const noexcept {
    std::size_t small = 0;
    for (std::size_t i = 0; i < walls_known_; ++i) {
      if (walls_[i] * preempted_factor < wall) ++small;
    }
    return small > walls_known_ / 2;
  }

  void remember(nanos wall) noexcept {
    walls_[walls_next_] = wall;
    walls_next_ = (walls_next_ + 1) % median_window;
    walls_known_ = std::min(walls_known_ + 1, median_window);
  }

  // Written by the sampling thread, read by the ticker. Relaxed: it guards no other data, and a
  // ticker that sees an old value asks in vain once.
  std::atomic<std::int64_t> not_before_{0};
  double target_percent_ = default_target_percent;
  bool fell_back_ = false;
  std::array<nanos, median_window> walls_{};
  std::size_t walls_known_ = 0;
  std::size_t walls_next_ = 0;
  counter preempted_;
  counter wakes_refused_;
  time_statistics statistics_;
};

static_assert(time_sampler<dynamic_rate>);

}  // namespace sampler
}  // namespace rbprof::inline v0

#endif  // RBPROF_SAMPLER_DYNAMIC_RATE_HPP
