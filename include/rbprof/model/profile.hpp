// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_MODEL_PROFILE_HPP
#define RBPROF_MODEL_PROFILE_HPP

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/id.hpp>
#include <rbprof/model/value_type.hpp>

// A profile is a value: immutable, owning every byte that it shows, with no tie to the VM or the
// profiler that made it. All writers read it through this one interface. `profile_builder` makes it.
//
// Everything is a dense table and an index into it; index 0 is always the empty one. A stack is a node
// of a tree: (parent stack, frame), the root side first, so that a million samples share their callers.

namespace rbprof::inline v0 {

struct profile_function {
  string_id name;
  string_id file;
  std::int32_t start_line = 0;
};

struct profile_frame {
  function_id function;
  std::int32_t line = 0;
};

/// A stack is its leaf frame on top of a parent stack, whose index is the smaller one; stack 0 is empty,
/// and no sample has it.
struct profile_stack {
  stack_id parent;
  frame_id leaf;
  std::uint32_t depth = 0;
};

/// A number with its unit when `is_num`, else text.
struct profile_label {
  string_id key;
  string_id str;
  std::int64_t num = 0;
  string_id unit;
  bool is_num = false;

  friend bool operator==(const profile_label&, const profile_label&) = default;
};

struct profile_sample {
  stack_id stack;
  label_set_id labels;
  values amount;
};

/// A named count about how the profile was made ("ticks", "recorder_busy", ...).
using profile_statistic = std::pair<std::string, std::uint64_t>;

class profile {
 public:
  [[nodiscard]] std::span<const value_type> types() const noexcept { return data_.types; }
  [[nodiscard]] std::span<const profile_sample> samples() const noexcept { return data_.samples; }
  [[nodiscard]] std::span<const std::string> strings() const noexcept { return data_.strings; }
  [[nodiscard]] std::span<const profile_function> functions() const noexcept {
    return data_.functions;
  }
  [[nodiscard]] std::span<const profile_frame> frames() const noexcept { return data_.frames; }
  [[nodiscard]] std::span<const profile_stack> stacks() const noexcept { return data_.stacks; }

  [[nodiscard]] std::string_view string(string_id i) const noexcept {
    return data_.strings[i.value];
  }
  [[nodiscard]] const profile_function& function(function_id i) const noexcept {
    return data_.functions[i.value];
  }
  [[nodiscard]] const profile_frame& frame(frame_id i) const noexcept {
    return data_.frames[i.value];
  }
  [[nodiscard]] const profile_stack& stack(stack_id i) const noexcept {
    return data_.stacks[i.value];
  }
  [[nodiscard]] std::span<const profile_label> labels(label_set_id i) const noexcept {
    return data_.label_sets[i.value];
  }
  [[nodiscard]] std::size_t label_set_count() const noexcept { return data_.label_sets.size(); }

  /// Calls `f(frame_id)` for each frame of a stack, leaf first. Not recursive: depth has no limit.
  template <class F>
  void each_frame(stack_id at, F&& f) const {
    for (; at; at = stack(at).parent) f(stack(at).leaf);
  }

  /// Start of the interval, nanoseconds since the Unix epoch.
  [[nodiscard]] std::int64_t start_epoch_ns() const noexcept { return data_.start_epoch_ns; }
  /// Length of the interval on the monotonic clock; never negative.
  [[nodiscard]] nanos duration() const noexcept { return data_.duration; }
  /// Nominal time between two ticks.
  [[nodiscard]] nanos period() const noexcept { return data_.period; }
  /// Name of the program, shown by viewers as the binary.
  [[nodiscard]] std::string_view program() const noexcept { return data_.program; }
  /// Remarks for people: what could not be measured in this process and why.
  [[nodiscard]] std::span<const std::string> comments() const noexcept { return data_.comments; }
  [[nodiscard]] std::span<const profile_statistic> statistics() const noexcept {
    return data_.statistics;
  }
  /// Sum of one value over all samples.
  [[nodiscard]] std::int64_t total(value_type t) const noexcept {
    std::int64_t sum = 0;
    for (const profile_sample& s : data_.samples) sum = saturating_sum(sum, s.amount[t]);
    return sum;
  }

 private:
  friend class profile_builder;
  struct data {
    std::vector<value_type> types;
    std::vector<std::string> strings;
    std::vector<profile_function> functions;
    std::vector<profile_frame> frames;
    std::vector<profile_stack> stacks;
    std::vector<std::vector<profile_label>> label_sets;
    std::vector<profile_sample> samples;
    std::vector<std::string> comments;
    std::vector<profile_statistic> statistics;
    std::string program;
    std::int64_t start_epoch_ns = 0;
    nanos duration{0};
    nanos period{0};
  };
  explicit profile(data d) noexcept : data_(std::move(d)) {}
  data data_;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_MODEL_PROFILE_HPP
