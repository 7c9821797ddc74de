// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_SAMPLER_TIME_STATISTICS_HPP
#define RBPROF_SAMPLER_TIME_STATISTICS_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>

namespace rbprof::inline v0 {
namespace sampler {

/// What samplers in time count: decisions, and how long samples took. The share of ticks that
/// became samples is sampled / (sampled + skipped).
///
/// Calls from:  writes: one sampling thread at a time; reads: any thread
/// Blocks:      never
/// Allocates:   never
/// On failure:  cannot fail; a negative duration counts as 0
class time_statistics {
 public:
  void decided(bool sampled) noexcept { (sampled ? sampled_ : skipped_).add(); }

  void took(nanos wall) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(wall.count(), 0));
    if (ns < min_.load(std::memory_order_relaxed)) min_.store(ns, std::memory_order_relaxed);
    max_.raise_to(ns);
    total_.add(ns);
  }

  [[nodiscard]] std::uint64_t sampled() const noexcept { return sampled_.get(); }
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_.get(); }
  [[nodiscard]] std::uint64_t total_ns() const noexcept { return total_.get(); }
  [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_.get(); }
  /// 0 = no sample yet.
  [[nodiscard]] std::uint64_t min_ns() const noexcept {
    const std::uint64_t least = min_.load(std::memory_order_relaxed);
    return least == none ? 0 : least;
  }

  /// Calls `f(name, value)` for each count.
  template <class F>
  void each(F&& f) const {
    f("cpu_sampled", sampled());
    f("cpu_skipped", skipped());
    f("cpu_sampling_time_ns_min", min_ns());
    f("cpu_sampling_time_ns_max", max_ns());
    f("cpu_sampling_time_ns_total", total_ns());
  }

  void reset() noexcept {
    sampled_.take();
    skipped_.take();
    max_.take();
    total_.take();
    min_.store(none, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  counter sampled_;
  counter skipped_;
  counter max_;
  counter total_;
  std::atomic<std::uint64_t> min_{none};  // a statistic: relaxed, orders nothing
};

}  // namespace sampler
}  // namespace rbprof::inline v0

#endif  // RBPROF_SAMPLER_TIME_STATISTICS_HPP
