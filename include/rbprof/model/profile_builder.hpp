// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_MODEL_PROFILE_BUILDER_HPP
#define RBPROF_MODEL_PROFILE_BUILDER_HPP

#include <absl/container/flat_hash_map.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/id.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/model/utf8.hpp>
#include <rbprof/model/value_type.hpp>

// The only maker of profiles: interns text, functions, frames, stacks and label sets, adds up samples
// that have the same stack and labels, and repairs what is not UTF-8 or out of range. Recorders use it
// on the flusher's side, tests and importers use it directly, merging is adding one profile to another.
// What it promises to every writer: text is UTF-8, lines are not negative, a parent stack comes before
// its children, no sample has an empty stack, and every function in a stack has a name.
//
// Thread-compatible. Allocates.

namespace rbprof::inline v0 {

class profile_builder {
 public:
  explicit profile_builder(std::vector<value_type> types) {
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    data_.types = std::move(types);
    data_.strings.emplace_back();
    data_.functions.emplace_back();
    data_.frames.emplace_back();
    data_.stacks.emplace_back();
    data_.label_sets.emplace_back();
    string_of_.emplace(std::string(), 0U);
    label_set_of_.emplace(std::string(), 0U);
  }

  [[nodiscard]] string_id string(std::string_view s);
  [[nodiscard]] function_id function(std::string_view name, std::string_view file,
                                     std::int32_t start_line);
  [[nodiscard]] frame_id frame(function_id function, std::int32_t line);
  [[nodiscard]] frame_id frame(const frame_text& t) {
    return frame(function(t.name, t.file, t.start_line), t.line);
  }
  /// The stack that has `leaf` on top of `parent`. Frame 0 stands for one that could not be named.
  [[nodiscard]] stack_id stack(stack_id parent, frame_id leaf);
  /// One label a key: a later one with the same key is dropped, and so is one without a key. Text wins
  /// over a number. Order does not matter.
  [[nodiscard]] label_set_id labels(std::span<const label_text> all);

  /// Adds to the sample of this stack and these labels. Values of types that are switched off, and
  /// negative ones, do not enter a profile; a sum that is too large stays at the largest number. An empty
  /// stack becomes the one frame "(unattributed)".
  void add(stack_id stack, label_set_id labels, const values& amount);
  /// Adds every sample of another profile, whatever its tables are.
  void add(const profile& other);

  void set_interval(std::int64_t start_epoch_ns, nanos duration) noexcept {
    data_.start_epoch_ns = start_epoch_ns;
    data_.duration = std::max(duration, nanos{0});
  }
  void set_period(nanos period) noexcept { data_.period = period; }
  void set_program(std::string_view name) { data_.program = repair_utf8(name); }
  void add_comment(std::string_view text);
  void add_statistic(std::string_view name, std::uint64_t value) {
    data_.statistics.emplace_back(repair_utf8(name), value);
  }

  [[nodiscard]] profile build() && { return profile(std::move(data_)); }

 private:
  profile::data data_;
  absl::flat_hash_map<std::string, std::uint32_t> string_of_;
  absl::flat_hash_map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t>
      function_of_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::int32_t>, std::uint32_t> frame_of_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> stack_of_;
  absl::flat_hash_map<std::string, std::uint32_t> label_set_of_;  // key: the set's bytes
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> sample_of_;
};

namespace detail {

/// The entry of a map from a key to a dense index; `make` appends to the table when it is new.
template <class Map, class Key, class Make>
[[nodiscard]] std::uint32_t dense_index(Map& map, const Key& key, std::size_t next, Make&& make) {
  const auto [at, is_new] = map.try_emplace(key, static_cast<std::uint32_t>(next));
  if (is_new) make();
  return at->second;
}

}  // namespace detail

inline string_id profile_builder::string(std::string_view s) {
  // Text that is known is good: one look, no copy.
  const auto known = string_of_.find(absl::string_view(s.data(), s.size()));
  if (known != string_of_.end()) return {known->second};
  const std::string good = repair_utf8(s);
  return {detail::dense_index(string_of_, good, data_.strings.size(),
                              [&] { data_.strings.push_back(good); })};
}

inline function_id profile_builder::function(std::string_view name, std::string_view file,
                                             std::int32_t start_line) {
  const string_id n = string(name.empty() ? placeholder::no_name : name);
  const string_id f = string(file);
  const std::int32_t line = std::max(start_line, 0);
  return {detail::dense_index(function_of_, std::tuple(n.value, f.value, line),
                              data_.functions.size(),
                              [&] { data_.functions.push_back({n, f, line}); })};
}

inline frame_id profile_builder::frame(function_id function, std::int32_t line) {
  if (!function) function = this->function({}, {}, 0);
  const std::int32_t at = std::max(line, 0);
  return {detail::dense_index(frame_of_, std::pair(function.value, at), data_.frames.size(),
                              [&] { data_.frames.push_back({function, at}); })};
}

inline stack_id profile_builder::stack(stack_id parent, frame_id leaf) {
  if (!leaf) leaf = frame(function_id{}, 0);
  const std::uint32_t depth = data_.stacks[parent.value].depth + 1;
  return {detail::dense_index(stack_of_, std::pair(parent.value, leaf.value), data_.stacks.size(),
                              [&] { data_.stacks.push_back({parent, leaf, depth}); })};
}

inline label_set_id profile_builder::labels(std::span<const label_text> all) {
  std::vector<profile_label> set;
  for (const label_text& l : all) {
    if (l.key.empty()) continue;
    profile_label made{string(l.key), string(l.str), 0, string_id{},
                       l.str.empty() && (l.num != 0 || !l.unit.empty())};
    if (made.is_num) {
      made.num = l.num;
      made.unit = string(l.unit);
    }
    const bool known = std::any_of(set.begin(), set.end(),
                                   [&](const profile_label& o) { return o.key == made.key; });
    if (!known) set.push_back(made);
  }
  std::sort(set.begin(), set.end(),
            [](const profile_label& a, const profile_label& b) { return a.key < b.key; });
  std::string bytes;
  for (const profile_label& l : set) {
    const std::int64_t parts[] = {l.key.value, l.str.value, l.num, l.unit.value, l.is_num ? 1 : 0};
    bytes.append(reinterpret_cast<const char*>(parts), sizeof parts);
  }
  return {detail::dense_index(label_set_of_, bytes, data_.label_sets.size(),
                              [&] { data_.label_sets.push_back(std::move(set)); })};
}

inline void profile_builder::add(stack_id stack, label_set_id labels, const values& amount) {
  values kept;
  for (const value_type t : data_.types) kept[t] = std::max<std::int64_t>(amount[t], 0);
  if (kept == values{}) return;
  if (!stack) stack = this->stack({}, frame(function(placeholder::unattributed, {}, 0), 0));
  const std::uint32_t at = detail::dense_index(
      sample_of_, std::pair(stack.value, labels.value), data_.samples.size(),
      [&] { data_.samples.push_back({stack, labels, values{}}); });
  values& sum = data_.samples[at].amount;
  for (const value_type t : data_.types) sum[t] = saturating_sum(sum[t], kept[t]);
}

inline void profile_builder::add(const profile& other) {
  std::vector<frame_id> frame_to(other.frames().size());
  for (std::uint32_t i = 1; i < frame_to.size(); ++i) {
    const profile_frame& f = other.frame({i});
    const profile_function& fn = other.function(f.function);
    frame_to[i] = frame(function(other.string(fn.name), other.string(fn.file), fn.start_line),
                        f.line);
  }
  std::vector<stack_id> stack_to(other.stacks().size());  // a parent comes before its children
  for (std::uint32_t i = 1; i < stack_to.size(); ++i) {
    const profile_stack& s = other.stack({i});
    stack_to[i] = stack(stack_to[s.parent.value], frame_to[s.leaf.value]);
  }
  std::vector<label_set_id> labels_to(other.label_set_count());
  for (std::uint32_t i = 1; i < labels_to.size(); ++i) {
    std::vector<label_text> set;
    for (const profile_label& l : other.labels({i})) {
      set.push_back({other.string(l.key), std::string(other.string(l.str)), l.num,
                     other.string(l.unit)});
    }
    labels_to[i] = labels(set);
  }
  for (const profile_sample& s : other.samples()) {
    add(stack_to[s.stack.value], labels_to[s.labels.value], s.amount);
  }
}

inline void profile_builder::add_comment(std::string_view text) {
  std::string good = repair_utf8(text);
  const bool known =
      std::find(data_.comments.begin(), data_.comments.end(), good) != data_.comments.end();
  if (!known) data_.comments.push_back(std::move(good));
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_MODEL_PROFILE_BUILDER_HPP
