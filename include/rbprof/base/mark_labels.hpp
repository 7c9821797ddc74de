// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_MARK_LABELS_HPP
#define RBPROF_BASE_MARK_LABELS_HPP

#include <absl/base/thread_annotations.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include <rbprof/base/counter.hpp>
#include <rbprof/base/fork_mutex.hpp>

// The text of the labels that hosts put on their threads. A set of labels has a number, which goes into a thread's mark
// word; sets are made under a mutex by the threads that mark, and read by samplers without one, since a set never
// changes and never goes.
//
//     set 0 ──level=cave──▶ set 1 ──player=2──▶ set 2        each made once, whoever asks
//
// So the number of different sets is bounded: labels are for levels, routes and job names. What is over the bound keeps
// the labels that it had, and is counted.

namespace rbprof::inline v0 {

/// Calls from:  `with`: any thread; `find`: any thread, handlers too
/// Blocks:      `with`: for another thread's `with`; `find`: never
/// Allocates:   `with`, for a set that is new
/// On failure:  `with` gives the set it was given, counted
class mark_labels {
 public:
  static constexpr std::size_t capacity = 4096;
  static constexpr std::size_t most_text = 256;  ///< bytes of a key or a value; more is cut off
  using set = std::vector<std::pair<std::string, std::string>>;  ///< in the order of their keys

  [[nodiscard]] static mark_labels& instance() {
    static mark_labels* const all = new mark_labels;  // never destroyed: threads mark until the process ends
    return *all;
  }

  /// The set that is `under` with `key` = `value`, in place of another value of that key.
  [[nodiscard]] std::uint32_t with(std::uint32_t under, std::string_view key, std::string_view value) {
    key = key.substr(0, most_text);
    value = value.substr(0, most_text);
    std::string step = std::to_string(under) + '\0';
    step.append(key) += '\0';
    step.append(value);
    const fork_mutex_hold hold(mutex_);
    if (const auto known = steps_.find(step); known != steps_.end()) return known->second;
    set made;
    if (const set* const below = find(under)) made = *below;
    const auto at = std::lower_bound(made.begin(), made.end(), key, [](const auto& l, std::string_view k) { return l.first < k; });
    if (at != made.end() && at->first == key) at->second = value;
    else made.emplace(at, key, value);
    const std::uint32_t number = number_of(std::move(made));
    if (number == 0) {
      refused.add();
      return under;
    }
    if (steps_.size() < 4 * capacity) steps_.emplace(std::move(step), number);
    return number;
  }

  /// Null for 0 and for what is no set.
  [[nodiscard]] const set* find(std::uint32_t number) const noexcept {
    return number < capacity ? sets_[number].load(std::memory_order_acquire) : nullptr;  // pairs with number_of()
  }

  counter refused;

 private:
  mark_labels() {
    pthread_atfork([] { instance().before_fork(); }, [] { instance().after_fork(); }, [] { instance().after_fork(); });
  }
  void before_fork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  void after_fork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }

  /// The same labels have one number, by whatever steps they came. 0 = there is no room.
  std::uint32_t number_of(set made) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::string all;
    for (const auto& [key, value] : made) {
      all.append(key) += '\0';
      all.append(value) += '\0';
    }
    if (const auto known = numbers_.find(all); known != numbers_.end()) return known->second;
    if (next_ == capacity) return 0;
    const std::uint32_t number = next_++;
    sets_[number].store(new set(std::move(made)), std::memory_order_release);
    numbers_.emplace(std::move(all), number);
    return number;
  }

  fork_mutex mutex_;
  std::array<std::atomic<const set*>, capacity> sets_{};
  absl::flat_hash_map<std::string, std::uint32_t> steps_ ABSL_GUARDED_BY(mutex_);    // set, key, value
  absl::flat_hash_map<std::string, std::uint32_t> numbers_ ABSL_GUARDED_BY(mutex_);  // by all labels
  std::uint32_t next_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_MARK_LABELS_HPP
