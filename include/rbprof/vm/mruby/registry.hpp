// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_REGISTRY_HPP
#define RBPROF_VM_MRUBY_REGISTRY_HPP

#include <absl/status/status.h>

#include <array>
#include <atomic>
#include <cstddef>

#include <rbprof/base/fork_mutex.hpp>
#include <rbprof/vm/mruby/api.hpp>
#include <rbprof/vm/mruby/attachment.hpp>

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

/// From a state to its attachment, for callbacks that bring nothing but the state. Attachments are never destroyed;
/// that of a state that was closed serves the next one.
///
/// Calls from:  attach: the thread that drives the state; find: any thread, the hook
/// Blocks:      attach, while another one attaches
/// Allocates:   attach
/// On failure:  attach says why; find: null
class registry {
 public:
  static constexpr std::size_t capacity = 512;

  static registry& self() {
    static registry* const r = new registry;  // never destroyed: mruby may call after static objects are gone
    return *r;
  }

  /// Attaches a state; `to` is its attachment then. One at a time, since a place that is free must not be taken twice.
  [[nodiscard]] absl::Status attach(mrb_state* mrb, const sink_calls& calls, const attach_options& o, attachment*& to) {
    const fork_mutex_hold hold(mutex_);
    to = place_for(mrb);
    if (to == nullptr) return absl::ResourceExhaustedError("too many mrb_states are attached in this process");
    return to->attach(mrb, calls, o, &registry::at_close);
  }

  [[nodiscard]] attachment* find(const mrb_state* mrb) const noexcept {
    for (const std::atomic<attachment*>& place : places_) {
      attachment* const a = place.load(std::memory_order_acquire);
      if (a == nullptr) return nullptr;
      if (a->state() == mrb) return a;
    }
    return nullptr;
  }

 private:
  static void at_close(mrb_state* mrb) {
    if (attachment* a = self().find(mrb)) a->closed();
  }

  [[nodiscard]] attachment* place_for(const mrb_state* mrb) {
    if (attachment* known = find(mrb)) return known;
    for (std::atomic<attachment*>& place : places_) {
      attachment* a = place.load(std::memory_order_acquire);
      if (a == nullptr) {
        a = new attachment;
        place.store(a, std::memory_order_release);
        return a;
      }
      if (a->state() == nullptr) return a;
    }
    return nullptr;
  }

  registry() {
#ifdef MRB_USE_DEBUG_HOOK
    attachment::our_hook = [](mrb_state* mrb, const mrb_irep* irep, const mrb_code* pc, mrb_value* registers) {
      attachment* const a = self().find(mrb);
      const auto other = a == nullptr ? nullptr : a->take_other_hook();
      mrb->code_fetch_hook = other;
      if (a != nullptr) a->at_instruction(mrb);
      if (other != nullptr) other(mrb, irep, pc, registers);
    };
#endif
  }

  fork_mutex mutex_;
  std::array<std::atomic<attachment*>, capacity> places_{};
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_REGISTRY_HPP
