// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_INSTRUCTION_HOOK_HPP
#define RBPROF_VM_MRUBY_INSTRUCTION_HOOK_HPP

#include <atomic>
#include <utility>

#include <rbprof/vm/mruby/api.hpp>

// The function that mruby calls before each instruction, where it was built with one. Ours is there for one instruction
// at a time, since every instruction is dearer while it is; a debugger's is called after it, and back then.
//
//     null ──set, set_from_outside──▶ ours ──taken──▶ null         theirs ──set──▶ ours ──taken──▶ theirs
//
// Another thread may only put ours into an empty place: what is in it, it could not keep without a race. So the place
// goes from ours to anything else on the thread that drives the state alone, and mruby, which looks twice, first whether
// there is a function and then for it, finds one.

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

#ifdef MRB_USE_DEBUG_HOOK

/// Calls from:  set_from_outside: any thread; the rest: the thread that drives the state, set in its handler too
/// Blocks:      never
/// Allocates:   never
/// On failure:  cannot fail
class instruction_hook {
 public:
  using function = decltype(mrb_state::code_fetch_hook);

  /// The hook of the process; it finds its attachment.
  static inline function ours = nullptr;

  void set(mrb_state* mrb) noexcept {
    const std::atomic_ref<function> place(mrb->code_fetch_hook);
    function there = place.load(std::memory_order_relaxed);
    if (there == ours) return;
    if (there != nullptr) {
      theirs_ = there;
      place.store(ours, std::memory_order_release);
    } else {
      set_from_outside(mrb);
    }
  }
  static void set_from_outside(mrb_state* mrb) noexcept {
    function none = nullptr;
    const std::atomic_ref<function> place(mrb->code_fetch_hook);
    (void)place.compare_exchange_strong(none, ours, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  /// Ours was called. Puts back and returns the one that was there before, or null.
  function taken(mrb_state* mrb) noexcept {
    const function before = std::exchange(theirs_, nullptr);
    std::atomic_ref<function>(mrb->code_fetch_hook).store(before, std::memory_order_release);
    return before;
  }
  void remove(mrb_state* mrb) noexcept {
    if (std::atomic_ref<function>(mrb->code_fetch_hook).load(std::memory_order_acquire) == ours) (void)taken(mrb);
  }

 private:
  function theirs_ = nullptr;
};

#else

/// A library without the hook.
class instruction_hook {
 public:
  static void set(mrb_state*) noexcept {}
  static void set_from_outside(mrb_state*) noexcept {}
  static void remove(mrb_state*) noexcept {}
};

#endif

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_INSTRUCTION_HOOK_HPP
