// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_CAPTURE_HPP
#define RBPROF_VM_MRUBY_CAPTURE_HPP

#include <mruby/opcode.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/vm/mruby/api.hpp>
#include <rbprof/vm/mruby/frame.hpp>
#include <rbprof/vm/mruby/interrupted.hpp>
#include <rbprof/vm/mruby/stack_walk.hpp>
#include <rbprof/vm/mruby/tick_queue.hpp>
#include <rbprof/vm/mruby/words.hpp>

// Taking stacks: what the signal handler keeps of a tick, and what a safe point makes of it.
//
//     copy   the handler copies the whole stack. Its pointers are put into words before mruby frees anything: a safe
//            point is inside the allocator, before each call of it; and, when a few ticks wait, or
//            another thread waits, in the handler itself where it has interrupted the interpreter's own loop.
//     hook   the handler keeps the methods in C that were on top; the safe point is the next instruction, where the
//            stack below them still stands.
//     poll   the handler keeps the clocks; the stack is that of the place where the host polls.

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

/// Where a stack comes from.
enum class backend : std::uint8_t {
  automatic,  ///< hook where the library has it, else copy, else poll
  hook,
  copy,
  poll,
};

struct capture_counters {
  counter gc, outside, no_room, unreadable;

  template <class F>
  void each(F&& f) const {
    f("mruby_ticks_in_collector", gc.get());
    f("mruby_ticks_outside_vm", outside.get());
    f("mruby_ticks_without_room", no_room.get());
    f("mruby_stacks_unreadable", unreadable.get());
  }
};

/// Calls from:  keep: the handler on the thread that drives the state, not while a safe point runs; the rest: a safe
///              point on that thread
/// Blocks:      never
/// Allocates:   never in keep; for new words elsewhere, never mruby's memory
/// On failure:  a tick without a stack, counted
class capturer {
 public:
  capture_counters count;

  void begin(mrb_state* mrb, backend how, std::size_t max_frames, bool gc) {
    mrb_ = mrb;
    how_ = how;
    max_frames_ = max_frames;
    self_ = getpid();
    queue_.resize(1024, std::max<std::size_t>(8192, 4 * max_frames));
    words_.begin(mrb);
    scan_.learn();
    gc_ = gc && scan_.works();
  }
  [[nodiscard]] backend how() const noexcept { return how_; }
  [[nodiscard]] bool tells_gc() const noexcept { return gc_; }
  [[nodiscard]] bool knows_collector() const noexcept { return scan_.works(); }

  /// Keeps a tick. `stack`: the interrupted thread's. `guarded`: mruby frees nothing before a safe
  /// point, so what is found now is good there. False when there was no room.
  bool keep(const void* context, const stack_range& stack, bool guarded) noexcept {
    queue_.begin();
    const interrupted_at where(context);
    // In the interpreter's own loop no method in C runs: what looks like one is about to be called, or half made.
    in_loop_ = scan_.in_loop(where);
    tick t;
    t.guarded = guarded;
    t.seen = monotonic_now();
    if (const auto cpu = thread_cpu_now()) t.cpu_ns = cpu->count();
    bool room = true;
    if (gc_ && scan_.in_collector(where, stack)) {
      t.in_gc = true;
      count.gc.add();
    } else if (is_outside()) {
      t.outside = true;
      count.outside.add();
    } else if (how_ == backend::hook) {
      room = keep_leaf(t);
    } else if (how_ == backend::copy) {
      if (guarded) room = keep_stack(t);
      else count.unreadable.add();
    }
    room = room && queue_.commit(t, cost_since(t));
    if (!room) count.no_room.add();
    return room;
  }

  /// The tick that was just kept has interrupted the interpreter's own loop: neither mruby nor libc has begun anything
  /// there, so the handler may do what a safe point does, but for looking at a stack as it is.
  [[nodiscard]] bool at_quiet_place() const noexcept {
#ifdef __SANITIZE_THREAD__
    return false;  // ThreadSanitizer delivers a signal later, where the thread has gone on
#else
    return how_ == backend::copy && in_loop_ && scan_.loop_is_plain();
#endif
  }
  /// So many ticks wait that they are to be taken at the next quiet place. Few, because the sampler rests for what a safe
  /// point has cost, and what runs while it rests goes to the stack behind it.
  [[nodiscard]] bool has_several() const noexcept { return queue_.ticks() >= several; }

  /// A safe point begins; `end` forgets what was not asked for, since it is not good any more behind it.
  void begin_safe_point(bool in_handler = false) noexcept {
    in_handler_ = in_handler;
    words_.next_safe_point();
  }
  void end_safe_point() noexcept { queue_.clear(); }
  [[nodiscard]] bool any() const noexcept { return queue_.any(); }

  /// The stack as it is.
  [[nodiscard]] captured live(std::span<frame> out) {
    if (in_handler_) return {};
    if (is_outside()) return outside(out);
    const stack_bounds b = live_bounds(*mrb_);
    captured got;
    for (std::size_t i = 0; i < b.depth; ++i) put(read_live(*(b.leaf() - i)), out, got);
    return got;
  }

  /// The oldest tick that was kept.
  [[nodiscard]] std::optional<async_stack> take(std::span<frame> out) {
    if (!queue_.any()) return std::nullopt;
    const tick t = queue_.front();
    async_stack a;
    a.seen = t.seen;
    if (t.cpu_ns >= 0) a.cpu = nanos{t.cpu_ns};
    a.spent = t.spent;
    a.in_gc = t.in_gc;
    a.more = queue_.more_than_one();
    if (!a.more) a.cost = queue_.last_cost();
    if (t.outside) a.got = outside(out);
    else if (!t.in_gc) a.got = how_ == backend::copy ? copied(t, out) : with_leaf(t, out);
    queue_.pop();
    return a;
  }

  [[nodiscard]] bool describe(const frame& f, frame_text& text) const { return words_.describe(f, text); }
  void forget_words() { words_.forget(); }

 private:
  static constexpr std::uint32_t several = 8;
  static constexpr std::size_t leaf_frames = guarded_walk::few;

  /// No Ruby runs: nobody has set up a place to which an exception would jump.
  [[nodiscard]] bool is_outside() const noexcept {
    return *const_cast<mrb_jmpbuf* const volatile*>(&mrb_->jmp) == nullptr;
  }

  /// Of the thread's clock: while another one runs nothing is spent.
  [[nodiscard]] static nanos cost_since(const tick& t) noexcept {
    const auto now = thread_cpu_now();
    return now && t.cpu_ns >= 0 ? std::max(*now - nanos{t.cpu_ns}, nanos{0}) : nanos{0};
  }

  [[nodiscard]] bool keep_stack(tick& t) noexcept {
    bool in_loop = in_loop_;
    const stack_bounds b = walk_.bounds(self_, *mrb_);
    t.depth = static_cast<std::uint32_t>(b.depth);
    bool room = true;
    const std::size_t n = std::min(b.depth, max_frames_);
    bool first = true;
    const bool read = b.depth != 0 && walk_.frames(self_, b, n, [&](raw_frame f) {
      if (std::exchange(first, false)) walk_.check_owner(self_, f);
      const bool call = std::exchange(in_loop, false) && (f.is & raw_frame::ruby) == 0;
      if (call) --t.depth;
      else room = room && queue_.add(f);
    });
    if (!read) count.unreadable.add();
    return room;
  }

  /// Keeps the methods in C on top, and the Ruby frame below them.
  [[nodiscard]] bool keep_leaf(tick& t) noexcept {
    bool in_loop = in_loop_;
    const stack_bounds b = walk_.bounds(self_, *mrb_);
    t.context = b.context;
    t.depth = static_cast<std::uint32_t>(b.depth);
    bool room = true;
    bool above = true;
    bool first = true;
    const bool read = b.depth != 0 &&
                      walk_.frames(self_, b, std::min(b.depth, leaf_frames), [&](raw_frame f) {
                        if (std::exchange(first, false)) walk_.check_owner(self_, f);
                        const bool call = std::exchange(in_loop, false) && (f.is & raw_frame::ruby) == 0;
                        if (call) --t.depth;
                        else if (above) room = room && queue_.add(f);
                        if ((f.is & raw_frame::ruby) != 0) above = false;
                      });
    if (!read) count.unreadable.add();
    return room;
  }

  [[nodiscard]] captured outside(std::span<frame> out) {
    if (out.empty()) return {};
    out[0] = words_.outside();
    return {1, false};
  }

  /// One frame further to the root. Those that stand for nothing are left out: a call from the host's own code, and
  /// a program that has come to its end.
  void put(const raw_frame& r, std::span<frame> out, captured& got) {
    if ((r.is & raw_frame::ruby) == 0 && r.mid == 0) return;
    if (has_ended(r)) return;
    if (got.count == out.size()) {
      got.truncated = true;
      return;
    }
    const frame f = words_.translate(mrb_, r);
    if (words_.has_name(f)) out[got.count++] = f;
  }

  /// A program ends with a return, of two bytes, and a stop.
  [[nodiscard]] static bool has_ended(const raw_frame& r) noexcept {
    const bool program = (r.is & (raw_frame::ruby | raw_frame::scope | raw_frame::nested)) == raw_frame::ruby;
    return program && r.mid == 0 && r.irep != nullptr && r.irep->ilen > 3 && r.pc + 3 > r.irep->ilen &&
           r.irep->iseq[r.irep->ilen - 1] == OP_STOP;
  }

  [[nodiscard]] captured copied(const tick& t, std::span<frame> out) {
    captured got;
    for (const raw_frame& f : queue_.frames()) put(f, out, got);
    got.truncated = got.truncated || t.depth > t.frames;
    return got;
  }

  /// The stack as it is, with what was on top of it at the tick, if it still stands where it stood then.
  [[nodiscard]] captured with_leaf(const tick& t, std::span<frame> out) {
    const stack_bounds b = live_bounds(*mrb_);
    if (t.frames == 0 || t.context != b.context || b.depth + t.frames != std::size_t{t.depth} + 1) return live(out);
    const std::span<const raw_frame> kept = queue_.frames();
    const raw_frame& below = kept.back();
    raw_frame here = read_live(*b.leaf());
    if (below.irep == nullptr || below.irep != here.irep) return live(out);
    captured got;
    const std::size_t natives = kept.size() - 1;
    for (std::size_t i = 0; i < natives; ++i) {
      raw_frame native = kept[i];
      if (!t.guarded && !(i + 1 == natives && has_just_returned(native, b))) native.owner = nullptr;
      put(native, out, got);
    }
    here.pc = below.pc;
    put(here, out, got);
    for (std::size_t i = 1; i < b.depth; ++i) put(read_live(*(b.leaf() - i)), out, got);
    return got;
  }

  /// Whether a method in C is the one that the instruction before this one called. Its record is still there above the
  /// leaf, and its class was marked as long as it ran, so that is still there too; the classes of what it called may
  /// have been freed.
  [[nodiscard]] bool has_just_returned(const raw_frame& native, const stack_bounds& b) const noexcept {
    const mrb_callinfo* const record = b.leaf() + 1;
    if (record >= mrb_->c->ciend) return false;
    const raw_frame was = read_live(*record);
    return (was.is & raw_frame::ruby) == 0 && was.mid == native.mid && was.owner == native.owner;
  }

  mrb_state* mrb_ = nullptr;
  backend how_ = backend::poll;
  bool gc_ = false;
  bool in_loop_ = false;     // the handler's own: where the last tick came
  bool in_handler_ = false;  // this safe point is in the handler
  std::size_t max_frames_ = 400;
  pid_t self_ = 0;
  tick_queue queue_;
  words words_;
  gc_scan scan_;
  guarded_walk walk_;
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_CAPTURE_HPP
