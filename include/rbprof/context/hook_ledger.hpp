// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_CONTEXT_HOOK_LEDGER_HPP
#define RBPROF_CONTEXT_HOOK_LEDGER_HPP

#include <algorithm>
#include <cstdint>

#include <rbprof/base/clock.hpp>

namespace rbprof::inline v0 {
namespace context {

/// Says whether a hook may pay for two readings of a cpu clock (about 2 us each), and keeps what hooks have
/// cost for the one overhead budget.
///
/// An account: it earns `share` of the wall time that passes, up to one second's worth, and pays for each
/// pair of readings. With a share of 0.5 % and 4 us a pair it affords 1250 pairs a second, while a program
/// may run 50 000 collection steps in that second; the others are then estimated.
///
/// Calls from: hooks of one lane, one at a time · Blocks: never · Allocates: never · On failure: cannot fail
class hook_ledger {
 public:
  void reset(mono now, double share) noexcept {
    *this = hook_ledger{};
    share_ = share;
    last_ = now;
    balance_ = share_ * burst;
  }

  /// What one reading costs here, measured by the caller.
  void calibrate(nanos reading) noexcept {
    pair_ = 2.0 * static_cast<double>(std::max(reading, nanos{0}).count());
    calibrated_ = true;
  }
  [[nodiscard]] bool calibrated() const noexcept { return calibrated_; }

  /// True when a pair of readings is paid for. `now` is the entry into the hook.
  [[nodiscard]] bool affords(mono now) noexcept {
    const nanos passed = std::max(now - last_, nanos{0});
    last_ = now;
    balance_ = std::min(balance_ + share_ * static_cast<double>(passed.count()), share_ * burst);
    cost_ += hook;
    if (balance_ < pair_) return false;
    balance_ -= pair_;
    cost_ += pair_;
    return true;
  }

  [[nodiscard]] nanos take_cost() noexcept {
    const nanos all{static_cast<std::int64_t>(cost_)};
    cost_ = 0;
    return all;
  }

 private:
  static constexpr double burst = 1e9;  // ns of earnings that can be saved
  static constexpr double hook = 150;   // ns of a hook pair without cpu readings: two monotonic reads
  double share_ = 0;
  double balance_ = 0;
  double pair_ = 0;
  double cost_ = 0;
  mono last_;
  bool calibrated_ = false;
};

}  // namespace context
}  // namespace rbprof::inline v0

#endif  // RBPROF_CONTEXT_HOOK_LEDGER_HPP
