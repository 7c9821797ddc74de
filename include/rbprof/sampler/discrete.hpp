// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_SAMPLER_DISCRETE_HPP
#define RBPROF_SAMPLER_DISCRETE_HPP

#include <absl/status/status.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/base/splitmix.hpp>
#include <rbprof/policy/sampler.hpp>

// Which of very many events become samples, so that samples cost a wanted share of time. Allocations come by the
// million, so an event that is no sample costs a countdown and nothing else.
//
//     events   . . . . . x . . x . . . . . . . x . .        x = sample, weight = events since the one before
//              |<- gap ->|<gap>|<--- gap ---->|
//
// Gaps are random, uniform in [1, 2N-1], so N on average: a program whose allocations repeat with a period that a
// fixed gap divides would show some classes always and others never. A weight is the gap itself, so weights add up to
// the events exactly, and an event of any class has the same expectation of weight, 1: where a gap begins is
// independent of how long it is.
//
// N is found by a controller that looks back over a window, which ends after a second or 100 samples:
//
//     rate, cost   events a second and time a sample, smoothed with 0.6 * min(window / 1 s, 1); what differs by
//                  more than 4 times is a step, not noise, and is taken as it is
//     adjustment   minus what the window was over its budget, smoothed likewise: it pays back, and recovers
//     share        target + adjustment, at least 0
//     p            share / (rate * cost * (1 - share)), at most 1           N = ceil(1 / p)
//
// A countdown can't see time pass. So N is at most a second's events at the known rate; and whoever looks at the clock
// anyhow calls `look`, which shortens a gap that was drawn when events came faster.

namespace rbprof::inline v0 {
namespace sampler {

/// Calls from:  one thread at a time, the holder of the VM lock
/// Blocks:      never
/// Allocates:   never
/// On failure:  cannot fail; a sample whose time is not known costs 0
class discrete {
 public:
  using sampler_concept = sampler_tag;

  static constexpr double default_target_percent = 1.0;
  static constexpr nanos window{1'000'000'000};
  static constexpr std::uint64_t window_samples = 100;

  struct options {
    double target_percent = default_target_percent;  ///< of wall time; in (0, 100]
    std::uint64_t seed = 1;                          ///< of the gaps
    std::uint32_t every = 0;  ///< not 0: every so many events on average, whatever that costs; 1 = each
  };

  [[nodiscard]] static absl::Status validate(const options& o) {
    if (o.target_percent > 0.0 && o.target_percent <= 100.0) return absl::OkStatus();
    return absl::InvalidArgumentError("the target of an event sampler must be over 0 and at most 100 percent");
  }

  discrete() noexcept { reset({0}); }
  explicit discrete(const options& o) { (void)configure(o, {0}); }

  /// Takes options and starts anew at `now`; those that are not valid change nothing.
  absl::Status configure(const options& o, mono now) {
    absl::Status judged = validate(o);
    if (judged.ok()) {
      target_percent_ = o.target_percent;
      seed_ = o.seed;
      every_ = o.every;
      drawn_ = 0;
    }
    reset(now);
    return judged;
  }

  /// Starts anew: the next event is a sample of weight 1.
  void reset(mono now) noexcept {
    gap_ = left_ = 1;
    interval_ = std::max<std::int64_t>(every_, 1);
    consumed_ = window_events_from_ = 0;
    window_began_ = now;
    window_taken_ = 0;
    window_time_ = nanos{0};
    rate_ = cost_ = adjustment_ = 0;
    smoothed_ = false;
    clamped_.take();
  }

  /// One event; true = it is to become a sample. A sample that can't be taken is left out: then the next event is one.
  [[nodiscard]] bool count() noexcept { return --left_ <= 0; }

  /// After a `count` that was true: how many events this sample stands for.
  [[nodiscard]] std::uint64_t weight(mono) noexcept {
    const std::uint64_t w = pending();
    consumed_ += w;
    draw();
    return w;
  }

  /// The sample took `d` and ended at `now`.
  void charge(mono now, nanos d) noexcept {
    ++window_taken_;
    window_time_ += std::max(d, nanos{0});
    if (window_taken_ >= window_samples || now - window_began_ >= window) adjust(now);
  }

  /// A period ends: events that are in no weight yet, which no sample stands for any more. The gap goes on, so which
  /// event becomes the next sample does not depend on when periods end.
  std::uint64_t take_pending() noexcept {
    const std::uint64_t n = pending();
    consumed_ += n;
    gap_ = left_;
    return n;
  }

  /// What samples have cost afterwards, when they were put into words.
  void charge_more(nanos d) noexcept { window_time_ += std::max(d, nanos{0}); }

  /// From time to time, with a clock that was read for something else.
  void look(mono now) noexcept {
    if (now - window_began_ >= window) adjust(now);
  }

  /// Events that are in no weight yet.
  [[nodiscard]] std::uint64_t pending() const noexcept { return static_cast<std::uint64_t>(gap_ - left_); }
  [[nodiscard]] std::uint64_t events() const noexcept { return consumed_ + pending(); }
  /// The mean gap that is in force.
  [[nodiscard]] std::uint64_t interval() const noexcept { return static_cast<std::uint64_t>(interval_); }

  /// The controller's state: what it aims at, what it knows, what came out.
  template <class F>
  void each_statistic(F&& f) const {
    f("event_interval", interval());
    f("events_per_second", static_cast<std::uint64_t>(rate_ * 1e9));
    f("event_sample_ns", static_cast<std::uint64_t>(cost_));
    f("event_target_ppm", static_cast<std::uint64_t>(target_percent_ * 1e4));
    f("event_share_ppm", static_cast<std::uint64_t>(share() * 1e6));
    f("event_window_samples", window_taken_);
    f("event_window_events", events() - window_events_from_);
    f("event_cost_clamped", clamped_.get());
  }

 private:
  static constexpr double step_factor = 4;
  static constexpr std::uint64_t few_samples = 10;  // fewer may be dear by chance

  /// No sample is thought to cost more than a window's whole budget: a preempted one would stop sampling for long.
  [[nodiscard]] double largest_cost() const noexcept {
    return static_cast<double>(window.count()) * target_percent_ / 100.0;
  }
  [[nodiscard]] double share() const noexcept {
    return std::max(target_percent_ + adjustment_, 0.0) / 100.0;
  }

  void adjust(mono now) noexcept {
    const double w = static_cast<double>((now - window_began_).count());
    if (w <= 0) {
      if (w < 0) window_began_ = now;  // the clock went back
      return;
    }
    const double share_of_window = 0.6 * std::min(w / static_cast<double>(window.count()), 1.0);
    const double a = smoothed_ ? share_of_window : 1.0;
    const auto smooth = [a](double& old, double fresh, bool may_be_step) {
      const bool step = may_be_step && (fresh > old * step_factor || fresh * step_factor < old);
      old = step ? fresh : old + a * (fresh - old);
    };
    // A window that 100 samples ended may be a burst of microseconds. If these were dear, it is believed: a burst that
    // goes on would cost many times the budget, and for one that does not, gaps are too long for a window at most.
    const auto spent = static_cast<double>(window_time_.count());
    const bool dear = spent > 2 * w * target_percent_ / 100.0;
    const bool long_window = now - window_began_ >= window / 4;
    smooth(rate_, static_cast<double>(events() - window_events_from_) / w, long_window || dear);
    if (window_taken_ > 0) {
      const double mean = spent / static_cast<double>(window_taken_);
      if (mean > largest_cost()) clamped_.add();
      smooth(cost_, std::min(mean, largest_cost()), window_taken_ >= few_samples);
    }
    const double over = std::max(spent - w * target_percent_ / 100.0, 0.0);
    adjustment_ += share_of_window * (-std::min(target_percent_, over * 100.0 / w) - adjustment_);
    smoothed_ = true;

    const double m = share();
    const double all = rate_ * cost_ * (1.0 - m);  // the share that sampling every event would take
    const double most = std::max(rate_ * static_cast<double>(window.count()), 1.0);
    const double n = all <= m ? 1.0 : m > 0 ? std::ceil(all / m) : most;
    interval_ = every_ != 0 ? every_ : static_cast<std::int64_t>(std::min(n, most));

    window_events_from_ = events();
    window_began_ = now;
    window_taken_ = 0;
    window_time_ = nanos{0};
    shorten();
  }

  /// A gap for the next sample.
  void draw() noexcept { gap_ = left_ = random_gap(); }

  /// What is left of a gap that was drawn for another interval. Chosen without a look at the events, so no class is
  /// preferred.
  void shorten() noexcept {
    if (left_ < 2 * interval_) return;
    const std::int64_t left = random_gap();
    gap_ -= left_ - left;
    left_ = left;
  }

  [[nodiscard]] std::int64_t random_gap() noexcept {
    const auto span = static_cast<std::uint64_t>(2 * interval_ - 1);
    return 1 + static_cast<std::int64_t>(splitmix(seed_, ++drawn_) % span);
  }

  std::int64_t left_ = 1;  // of the gap; at or below 0 a sample is due
  std::int64_t gap_ = 1;
  std::int64_t interval_ = 1;
  std::uint64_t seed_ = 1;
  std::int64_t every_ = 0;
  std::uint64_t drawn_ = 0;  // gaps, since the seed
  std::uint64_t consumed_ = 0;  // events in weights
  double target_percent_ = default_target_percent;
  // Smoothed over windows; not known before the first is over.
  double rate_ = 0;        // events a nanosecond
  double cost_ = 0;        // nanoseconds a sample
  double adjustment_ = 0;  // percent, never over 0
  bool smoothed_ = false;
  mono window_began_;
  std::uint64_t window_events_from_ = 0;
  std::uint64_t window_taken_ = 0;
  nanos window_time_{0};
  counter clamped_;
};

static_assert(event_sampler<discrete>);

}  // namespace sampler
}  // namespace rbprof::inline v0

#endif  // RBPROF_SAMPLER_DISCRETE_HPP
