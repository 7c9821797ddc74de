// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_ASYNC_CAPTURE_HPP
#define RBPROF_VM_CRUBY_ASYNC_CAPTURE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <rbprof/base/counter.hpp>
#include <rbprof/vm/cruby/escape_range.hpp>
#include <rbprof/vm/cruby/interrupted.hpp>
#include <rbprof/vm/cruby/ruby.hpp>
#include <rbprof/vm/cruby/thread_slot.hpp>

// May a stack be taken in a signal handler, and the taking. rb_profile_frames is made for it, but alone it is
// not safe on any version: see docs/reliability.md. Before it, in this order:
//
//     not on the alternate stack, armed, VM lock held       process::on_signal, for the trigger too
//     this thread is between its begin and its end          `slot_here` is set
//     no collection, no marking                             what is read may be moving
//     not inside the function that tears an environment     escape_range.hpp
//     nothing pending                                       pending_stack.hpp
//
// A signal that fails a guard still asks for the safe point, so that its tick is seen there.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// The slot of the Ruby thread that runs on this native one while its stack may be read: from its begin, or its
/// first job, to its end. In the initial TLS block, since a handler must not allocate one.
[[gnu::tls_model("initial-exec")]] inline thread_local std::atomic<thread_slot*> slot_here{nullptr};

class async_capture {
 public:
  enum class state : std::uint8_t { not_asked, on, unsound, old_patch, unproved, jit, ractors, no_range };

  /// Decides and, once a process, looks for the range. `unsound`: 3.1 and 3.2 too. VM lock held, runs Ruby code.
  void start(bool unsound) {
    state s = state::on;
    if (ractors_ || other_ractors()) s = state::ractors;
    else if (jit_ || any_jit()) s = state::jit;
    else if (!has_thread_hooks && !unsound) s = state::unsound;
    else if (old_patch()) s = state::old_patch;
    else if (!known_processor) s = state::unproved;
    else if (!find_range()) s = state::no_range;
    state_.store(s, std::memory_order_release);
  }
  /// For a new run, which has not asked yet.
  void reset() noexcept { state_.store(state::not_asked, std::memory_order_release); }
  /// The process has changed so that it is unsound from now on.
  void refuse(state why) noexcept {
    (why == state::jit ? jit_ : ractors_) = true;
    if (on()) state_.store(why, std::memory_order_release);
  }

  [[nodiscard]] bool on() const noexcept { return state_.load(std::memory_order_acquire) == state::on; }

  /// `me`: pthread_self(). Calls from: the signal handler, VM lock held · Blocks: never · Allocates: never · On failure: counts
  void capture(std::uintptr_t me, std::uintptr_t pc, bool collecting) noexcept {
    if (!on()) return;
    thread_slot* const s = slot_here.load(std::memory_order_relaxed);
    if (s == nullptr || s->exited.load(std::memory_order_relaxed) ||
        s->native.load(std::memory_order_relaxed) != me) {
      not_capturable.add();
    } else if (collecting || marking_.load(std::memory_order_relaxed) || rb_during_gc() != 0) {
      in_gc.add();
    } else if (range_.holds(pc)) {
      escaping.add();
    } else if (pending_stack* const b = s->pending.load(std::memory_order_relaxed); b == nullptr) {
      not_capturable.add();
    } else if (b->full()) {
      pending.add();
    } else if (b->take()) {
      taken.add();
    }
  }

  /// From inside the collector: what is pending, of all threads.
  void mark(const thread_table& threads) noexcept {
    marking_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    threads.each([](const thread_slot& s) {
      if (const pending_stack* const b = s.pending.load(std::memory_order_relaxed)) b->mark();
    });
    std::atomic_signal_fence(std::memory_order_seq_cst);
    marking_.store(false, std::memory_order_relaxed);
  }

  [[nodiscard]] std::string_view remark() const noexcept {
    switch (state_.load(std::memory_order_relaxed)) {
      case state::on: return {};
      case state::not_asked: return "async_capture: off, stacks are taken at Ruby's safe points";
      case state::unsound:
        return "async_capture: off, not sound on this Ruby (3.3.4); unsound_handler_capture asks for it all the same";
      case state::old_patch: return "async_capture: off, not sound before Ruby 3.3.4";
      case state::unproved: return "async_capture: off, not proved on this processor";
      case state::jit: return "async_capture: off, not proved with a JIT compiler, which is on";
      case state::ractors: return "async_capture: off, not sound beside other Ractors, of which one was made";
      case state::no_range:
        return "async_capture: off, the function of this Ruby that must not be interrupted was not found";
    }
    return {};
  }

  template <class F>
  void each_statistic(F&& f) const {
    f("async_taken", taken.get());
    f("async_pending", pending.get());
    f("async_in_gc", in_gc.get());
    f("async_escaping", escaping.get());
    f("async_not_capturable", not_capturable.get());
  }

  [[nodiscard]] const code_range& range() const noexcept { return range_; }

 private:
#if defined(__x86_64__)
  static constexpr bool known_processor = true;
#else
  static constexpr bool known_processor = false;
#endif

  /// Before 3.3.4 a compiler may reorder how a frame is pushed.
  [[nodiscard]] static bool old_patch() noexcept {
    const std::string_view v(ruby_version);
    return v.starts_with("3.3.") && std::atoi(ruby_version + 4) < 4;
  }

  [[nodiscard]] static bool other_ractors() noexcept {
    VALUE answer = Qtrue;
    auto ask = [&] { answer = rb_eval_string("Ractor.count > 1"); };
    return !protect(ask) || RTEST(answer);
  }

  [[nodiscard]] static bool any_jit() noexcept {
    VALUE answer = Qtrue;
    auto ask = [&] {
      answer = rb_eval_string(
          "%i[YJIT ZJIT RJIT MJIT].any? { |n| RubyVM.const_defined?(n, false) && "
          "(j = RubyVM.const_get(n, false)).respond_to?(:enabled?) && j.enabled? }");
    };
    return !protect(ask) || RTEST(answer);
  }

  [[nodiscard]] bool find_range() noexcept {
    if (!range_.known()) escape_finder::find(range_);
    return range_.known();
  }

  std::atomic<state> state_{state::not_asked};
  std::atomic<bool> marking_{false};
  bool jit_ = false;
  bool ractors_ = false;
  code_range range_;
  counter taken, pending, in_gc, escaping, not_capturable;
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_ASYNC_CAPTURE_HPP
