// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_HOST_LABEL_SCOPE_HPP
#define RBPROF_HOST_LABEL_SCOPE_HPP

#include <cstdint>
#include <string_view>

#include <rbprof/base/mark_labels.hpp>
#include <rbprof/base/mark_slot.hpp>

namespace rbprof::inline v0 {

/// Labels what the calling thread does until the end of the scope: every sample of it has key = value in its profile.
///
///     rbprof::label_scope level{"level", "cave"};
///
/// Needs no VM, no VM lock and no profiler; costs a look-up under a mutex, and two stores when it is nested. A scope that a
/// VM's longjmp skips is undone by the scope around it.
///
/// Calls from: any thread, and its end from the same one · Blocks: for another thread that makes a label · Allocates: for
/// labels not seen before · On failure: the thread keeps the labels it has, counted (mark_labels::refused, mark_slots::refused)
class label_scope {
 public:
  label_scope(std::string_view key, std::string_view value) : slot_(mark_slots::mine()) {
    if (slot_ == nullptr) return;
    before_ = slot_->load().labels();
    slot_->set_labels(mark_labels::instance().with(before_, key, value));
  }
  ~label_scope() {
    if (slot_ != nullptr) slot_->set_labels(before_);
  }
  label_scope(const label_scope&) = delete;

 private:
  mark_slot* slot_;
  std::uint32_t before_ = 0;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_HOST_LABEL_SCOPE_HPP
