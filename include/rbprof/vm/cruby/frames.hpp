// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_FRAMES_HPP
#define RBPROF_VM_CRUBY_FRAMES_HPP

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <rbprof/model/text.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/vm/cruby/block_names.hpp>
#include <rbprof/vm/cruby/frame.hpp>
#include <rbprof/vm/cruby/holder.hpp>
#include <rbprof/vm/cruby/names.hpp>
#include <rbprof/vm/cruby/ruby.hpp>
#include <rbprof/vm/cruby/thread_slot.hpp>

// Stacks: reading them, and putting them into words. All of it needs the VM lock.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

class frame_reader {
 public:
  explicit frame_reader(holder& keep) noexcept : keep_(keep), blocks_(keep) {}

  /// Leaf first. Of other threads than the running one only from 3.3 on.
  [[nodiscard]] captured capture(const thread_slot& th, std::span<frame> out) {
    // One more than fits, to know whether something is missing; and on 3.1 a dummy frame at the bottom.
    const std::size_t want = std::min<std::size_t>(out.size(), INT_MAX - 2) + (ruby_abi < 303 ? 2 : 1);
    VALUE* const handles = keep_.room(want);
    if (lines_.size() < want) lines_.resize(want * 2);
    const bool own = th.thread == rb_thread_current();
    int got = 0;
    if (own) {
      // 3.1 takes no notice of the first argument, so it is always 0.
      got = rb_profile_frames(0, static_cast<int>(want), handles, lines_.data());
    } else {
#if RBPROF_DETAIL_RUBY_HOOKS
      got = rb_profile_thread_frames(th.thread, 0, static_cast<int>(want), handles, lines_.data());
#endif
    }
    if (got <= 0) return {};
    const captured c = accept(static_cast<std::size_t>(got), want, handles, out);
    whole_ = own && !c.truncated ? c.count : 0;
    earlier_ = false;
    return c;
  }

  /// Takes what a handler has left.
  [[nodiscard]] captured adopt(pending_stack& left, std::span<frame> out) {
    const std::size_t n = left.count();
    VALUE* const handles = keep_.room(n);
    if (lines_.size() < n) lines_.resize(n * 2);
    for (std::size_t i = 0; i < n; ++i) {
      handles[i] = left.handle(i);
      lines_[i] = left.line(i);
    }
    const captured c = accept(n, left.room(), handles, out);
    left.release();  // from here on the arena keeps the frames alive
    whole_ = c.truncated ? 0 : c.count;
    earlier_ = true;
    return c;
  }

  /// Tells blocks from their methods, for the stack that was captured or adopted last, of the running thread.
  void refine(const thread_slot& th, std::span<frame> frames) {
    // Without its root side a stack can't be laid beside a backtrace, and another thread has none here.
    if (frames.size() != whole_ || th.thread != rb_thread_current()) return;
    if (!earlier_) {
      blocks_.refine(frames);
      return;
    }
    refine_later(th, frames);
  }

  /// The same for a whole stack that the running thread had a moment ago, and has gone on from. A backtrace tells of where
  /// it is now, so that stack is told apart, and what the two have in common is taken over.
  void refine_later(const thread_slot& th, std::span<frame> frames) {
    if (th.thread != rb_thread_current()) return;
    now_.resize(frames.size() + 64);
    const captured c = capture(th, now_);
    now_.resize(c.count);
    if (!c.truncated) blocks_.refine(now_);
    else now_.clear();
    blocks_.refine(frames, now_);
  }

  /// False when Ruby raised. The frame is kept until forget().
  [[nodiscard]] bool describe(const frame& f, frame_text& text) {
    const auto handle = static_cast<VALUE>(f.handle);
    frame_words words;
    auto ask = [&] { words.ask(handle); };
    if (!protect(ask)) return false;
    keep_.keep(handle);
    text.native = NIL_P(words.path);
    text.start_line = text.native ? 0 : words.first_line;
    const std::string_view absolute = bytes_of(words.absolute_path);
    text.file = text.native         ? std::string("<cfunc>")
                : !absolute.empty() ? std::string(absolute)
                                    : std::string(bytes_of(words.path));
    text.name = frame_name(words, text.file, text.native ? "" : blocks_.prefix(f.variant));
    // Compiled code may leave the top frame without a line.
    text.line = text.native ? 0 : f.line > 0 ? f.line : text.start_line;
    RB_GC_GUARD(words.owner);
    RB_GC_GUARD(words.method);
    RB_GC_GUARD(words.label);
    RB_GC_GUARD(words.path);
    RB_GC_GUARD(words.absolute_path);
    return true;
  }

  /// Captured frames stay alive and in place until forget(). Makes no object.
  void keep(std::span<const frame> frames) {
    for (const frame& f : frames) keep_.keep(static_cast<VALUE>(f.handle));
  }

  void forget() {
    keep_.forget();
    blocks_.forget();
  }

  [[nodiscard]] const block_names& blocks() const noexcept { return blocks_; }

 private:
  /// The `n` frames that were written to `handles` and lines_, of at most `want`.
  [[nodiscard]] captured accept(std::size_t n, std::size_t want, const VALUE* handles, std::span<frame> out) {
    const bool cut = n == want;
    keep_.use(n);
    if (ruby_abi < 303 && !cut && lines_[n - 1] == 0 && is_dummy(handles[n - 1])) --n;
    const bool truncated = cut || n > out.size();
    n = std::min(n, out.size());
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = {handles[i], std::max<std::int32_t>(lines_[i], 0), 0};
    }
    return {static_cast<std::uint32_t>(n), truncated};
  }

  /// 3.1 shows the frame that the main program began with, which never ran a line.
  [[nodiscard]] static bool is_dummy(VALUE handle) { return !NIL_P(rb_profile_frame_path(handle)); }

  holder& keep_;
  block_names blocks_;
  std::vector<int> lines_;
  std::vector<frame> now_;
  std::size_t whole_ = 0;  ///< frames of the last capture, when it was whole and of the running thread
  bool earlier_ = false;   ///< it was taken by a handler, before
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_FRAMES_HPP
