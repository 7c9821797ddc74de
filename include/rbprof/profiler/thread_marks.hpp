// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_THREAD_MARKS_HPP
#define RBPROF_PROFILER_THREAD_MARKS_HPP

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <rbprof/base/mark_labels.hpp>
#include <rbprof/base/mark_slot.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/recorder.hpp>

// What the host says of a VM thread, as the sampler knows it. The sampler runs on the thread that it samples, so it finds
// that one's slot as the thread itself does, and keeps it for the samples that it takes of it from elsewhere, while it
// waits. Where VM threads share native ones the slot's marks are those of whoever runs there.

namespace rbprof::inline v0 {
namespace detail {

/// Calls from: the sampler, VM lock held · Blocks: never · Allocates: for labels not seen before on this thread · On
/// failure: cannot fail
class thread_marks {
 public:
  /// Reads the marks of the calling thread.
  void read_here() noexcept {
    slot_ = mark_slots::mine_if_any();
    const mark_word w = slot_ != nullptr ? slot_->load() : mark_word{};
    generation_ = w.generation();
    labels_ = w.labels();
  }
  /// Reads those of another thread, as far as it has been read on itself before.
  void read() noexcept {
    if (slot_ == nullptr) return;
    const mark_word w = slot_->load();
    if (w.generation() == generation_) {
      labels_ = w.labels();
    } else {  // it has ended
      slot_ = nullptr;
      labels_ = 0;
    }
  }

  /// The number of the set in mark_labels; 0 = none.
  [[nodiscard]] std::uint32_t labels() const noexcept { return labels_; }

  /// `plain` with the labels that were read. `plain` must stay where it is.
  [[nodiscard]] label_entry& over(label_entry& plain) {
    if (labels_ == 0) return plain;
    std::unique_ptr<label_entry>& made = made_[{&plain, labels_}];
    if (!made) {
      made = std::make_unique<label_entry>();
      made->thread = plain.thread;
      made->more = plain.more;
      append_to(made->more);
    }
    return *made;
  }
  void append_to(std::vector<label_text>& out) const {
    const mark_labels::set* const all = mark_labels::instance().find(labels_);
    if (all == nullptr) return;
    for (const auto& [key, value] : *all) {
      if (!label_key::is_ours(key)) out.push_back({key, value, 0, {}});
    }
  }

 private:
  const mark_slot* slot_ = nullptr;
  std::uint32_t generation_ = 0;
  std::uint32_t labels_ = 0;
  absl::flat_hash_map<std::pair<const label_entry*, std::uint32_t>, std::unique_ptr<label_entry>> made_;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_THREAD_MARKS_HPP
