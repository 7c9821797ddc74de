// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TRIGGER_SCHEDULE_HPP
#define RBPROF_TRIGGER_SCHEDULE_HPP

#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/splitmix.hpp>

// When ticks are due. Tick k (from 1) is due at
//
//     start + k * period + jitter(k),     -period/4 <= jitter(k) <= period/4
//
// so the schedule never drifts, whatever its user does between two looks at it, and a program with
// a rhythm of its own can't stay in step with it. jitter(k) is a hash of the seed and k, not the
// next number of a sequence: any tick's time can be computed alone, and a gap of an hour costs what
// a gap of one tick costs. Two ticks are at least half a period apart, so their order is that of
// their numbers.

namespace rbprof::inline v0 {
namespace trigger {

/// Thread-compatible. A pure state machine over the times that it is given.
class schedule {
 public:
  struct expired {
    std::uint64_t ticks = 0;  ///< since the last call
    mono due;                 ///< of the last of them
    bool went_back = false;   ///< the clock was earlier than at the last call
  };

  schedule() noexcept = default;
  /// `period` must be positive.
  schedule(mono start, nanos period, std::uint64_t seed) noexcept
      : start_(start), seen_(start), period_(period), seed_(seed) {}

  /// When tick `k` is due.
  [[nodiscard]] mono due(std::uint64_t k) const noexcept {
    return start_ + period_ * static_cast<std::int64_t>(k) + jitter(k);
  }
  /// When the first tick is due that no `advance` has returned.
  [[nodiscard]] mono next() const noexcept { return due(taken_ + 1); }
  /// The ticks that expired up to now.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

  /// Takes the ticks that are due at or before `now`. A clock that goes back gives none; if it went back by
  /// periods, the schedule goes on from there, since else it would be silent until the clock has caught up.
  [[nodiscard]] expired advance(mono now) noexcept {
    if (now < seen_) {
      if (next() - now > 2 * period_) start_ = now - period_ * static_cast<std::int64_t>(taken_);
      seen_ = now;
      return {0, {}, true};
    }
    seen_ = now;
    const std::int64_t whole = (now - start_) / period_;
    if (now < start_ || whole < 0) return {};
    // The jitter is under half a period, so only the neighbours of `whole` can be the last one.
    std::uint64_t last = static_cast<std::uint64_t>(whole) + 1;
    while (last > taken_ && due(last) > now) --last;
    if (last <= taken_) return {};
    const expired found{last - taken_, due(last), false};
    taken_ = last;
    return found;
  }

 private:
  [[nodiscard]] nanos jitter(std::uint64_t k) const noexcept {
    const auto quarter = static_cast<std::uint64_t>(period_.count() / 4);
    const std::uint64_t at = splitmix(seed_, k) % (2 * quarter + 1);
    return nanos{static_cast<std::int64_t>(at) - static_cast<std::int64_t>(quarter)};
  }

  mono start_;
  mono seen_;
  nanos period_{1};
  std::uint64_t seed_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace trigger
}  // namespace rbprof::inline v0

#endif  // RBPROF_TRIGGER_SCHEDULE_HPP
