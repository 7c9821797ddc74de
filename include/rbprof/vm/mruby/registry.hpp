// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_REGISTRY_HPP
#define RBPROF_VM_MRUBY_REGISTRY_HPP

#include <absl/status/status.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>

#include <rbprof/base/clock.hpp>
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

  template <class F>
  void each(F&& f) const {
    for (const std::atomic<attachment*>& place : places_) {
      attachment* const a = place.load(std::memory_order_acquire);
      if (a == nullptr) return;
      f(*a);
    }
  }
  static void before_fork() noexcept {
    attachment::forking().store(true, std::memory_order_seq_cst);
    const mono deadline = monotonic_now() + fork_patience;
    self().each([&](const attachment& a) { a.before_fork(deadline); });
  }
  static void after_fork_parent() noexcept { attachment::forking().store(false, std::memory_order_release); }
  static void after_fork_child() noexcept {
    self().mutex_.renew_in_child();
    self().each([](attachment& a) { a.after_fork_child(); });
    after_fork_parent();
  }

  registry() {
    // Later than those of the lanes, whose first place comes before any attach: so ours are the first before a fork, and
    // the last after it.
    pthread_atfork(&before_fork, &after_fork_parent, &after_fork_child);
#ifdef MRB_USE_DEBUG_HOOK
    instruction_hook::ours = [](mrb_state* mrb, const mrb_irep* irep, const mrb_code* pc, mrb_value* registers) {
      attachment* const a = self().find(mrb);
      if (a == nullptr) {
        mrb->code_fetch_hook = nullptr;
        return;
      }
      const auto theirs = a->hook.taken(mrb);
      a->at_instruction(mrb);
      if (theirs != nullptr) theirs(mrb, irep, pc, registers);
    };
#endif
  }

  static constexpr nanos fork_patience{100'000'000};

  fork_mutex mutex_;
  std::array<std::atomic<attachment*>, capacity> places_{};
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_REGISTRY_HPP
