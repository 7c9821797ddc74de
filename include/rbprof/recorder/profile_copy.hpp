// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RECORDER_PROFILE_COPY_HPP
#define RBPROF_RECORDER_PROFILE_COPY_HPP

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rbprof/base/id.hpp>
#include <rbprof/model/profile_builder.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/recorder/slot.hpp>
#include <rbprof/recorder/tables.hpp>

// Copies what a drained slot refers to from the tables into a profile, names included, so that the profile
// owns them and the tables may go. Only what is referred to is looked at: the sampler may be appending to
// the same tables meanwhile.
//
// Calls from: the flusher · Blocks: never · Allocates: yes

namespace rbprof::inline v0 {
namespace recording {

class profile_copy {
 public:
  profile_copy(const tables& from, profile_builder& into) : from_(from), into_(into) {}

  /// The stack's id in the profile. Not recursive: depth has no limit.
  [[nodiscard]] stack_id stack(stack_id id) {
    missing_.clear();
    stack_id made;
    for (; id; id = from_.stack(id).parent) {
      if (const auto known = stacks_.find(id.value); known != stacks_.end()) {
        made = known->second;
        break;
      }
      missing_.push_back(id);
    }
    for (auto it = missing_.rbegin(); it != missing_.rend(); ++it) {
      made = into_.stack(made, frame(from_.stack(*it).leaf));
      stacks_.emplace(it->value, made);
    }
    return made;
  }

  /// The label set's id in the profile: its own labels, then those of its thread as they are now. A label
  /// that the set has itself takes the place of the thread's.
  [[nodiscard]] label_set_id labels(label_set_id id) {
    if (!id) return {};
    if (const auto known = label_sets_.find(id.value); known != label_sets_.end()) {
      return known->second;
    }
    std::vector<label_text> all;
    const label_set_row& set = from_.label_set(id);
    for (std::uint32_t i = set.first; i < set.first + set.count; ++i) {
      const label_row& l = from_.label(i);
      all.push_back(
          {from_.string(l.key), std::string(from_.string(l.str)), l.num, from_.string(l.unit)});
    }
    const auto add = [&](std::string_view key, std::atomic<std::uint32_t> thread_row::*which) {
      const std::string_view text = from_.thread_text_of(set.thread, which);
      if (!text.empty()) all.push_back({key, std::string(text), 0, {}});
    };
    add(label_key::thread_id, &thread_row::id);
    add(label_key::thread_name, &thread_row::name);
    add(label_key::invoke_location, &thread_row::started_at);
    return label_sets_.emplace(id.value, into_.labels(all)).first->second;
  }

 private:
  [[nodiscard]] frame_id frame(frame_id id) {
    if (const auto known = frames_.find(id.value); known != frames_.end()) return known->second;
    const frame_row& row = from_.frame(id);
    const function_row& f = from_.function(row.function);
    const function_id function =
        into_.function(from_.string(f.name), from_.string(f.file), f.start_line);
    return frames_.emplace(id.value, into_.frame(function, row.line)).first->second;
  }

  const tables& from_;
  profile_builder& into_;
  std::vector<stack_id> missing_;
  absl::flat_hash_map<std::uint32_t, stack_id> stacks_;
  absl::flat_hash_map<std::uint32_t, frame_id> frames_;
  absl::flat_hash_map<std::uint32_t, label_set_id> label_sets_;
};

/// Adds the sums of a drained slot, those of `types` alone.
inline void copy_sums(const slot& from, std::span<const value_type> types, profile_builder& into) {
  profile_copy names(from.names(), into);
  from.each([&](stack_id stack, label_set_id labels, const values& amount) {
    values kept;
    for (const value_type t : types) kept[t] = amount[t];
    if (kept == values{}) return;
    into.add(names.stack(stack), names.labels(labels), kept);
  });
}

}  // namespace recording
}  // namespace rbprof::inline v0

#endif  // RBPROF_RECORDER_PROFILE_COPY_HPP
