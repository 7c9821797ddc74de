// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_WINDOW_HPP
#define RBPROF_PROFILER_WINDOW_HPP

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/model/profile_builder.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/policy/recorder.hpp>

namespace rbprof::inline v0 {
namespace detail {

/// What flushes have taken and nobody has read yet: one window of time, open from one reading to the next.
/// A flush that fails leaves it as it is, so the next reading has it all.
///
/// Thread-compatible: the profiler's control lock guards it.
class window {
 public:
  void open(std::vector<value_type> types, mono now, std::int64_t epoch_ns) {
    builder_.emplace(std::move(types));
    from_ = to_ = now;
    epoch_ns_ = epoch_ns;
    records_ = 0;
  }
  [[nodiscard]] bool is_open() const noexcept { return builder_.has_value(); }
  /// Where a recorder's flush puts what it takes.
  [[nodiscard]] profile_builder& builder() noexcept { return *builder_; }
  void took(const recorded_interval& interval) noexcept {
    records_ += interval.records;
    if (interval.finish > to_) to_ = interval.finish;
  }
  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }

  /// The profile of the window, which then begins anew where it ended.
  [[nodiscard]] profile take(std::vector<value_type> types) {
    builder_->set_interval(epoch_ns_, to_ - from_);
    profile made = std::move(*builder_).build();
    open(std::move(types), to_, epoch_ns_ + (to_ - from_).count());
    return made;
  }
  void shut() noexcept { builder_.reset(); }

 private:
  std::optional<profile_builder> builder_;
  mono from_, to_;
  std::int64_t epoch_ns_ = 0;
  std::uint64_t records_ = 0;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_WINDOW_HPP
