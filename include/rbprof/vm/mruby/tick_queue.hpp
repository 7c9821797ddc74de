// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_TICK_QUEUE_HPP
#define RBPROF_VM_MRUBY_TICK_QUEUE_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/hash_bytes.hpp>
#include <rbprof/vm/mruby/frame.hpp>

// What the signal handler saw, until the next safe point. mruby may compute for minutes without one, so ticks with equal
// stacks become one: until mruby frees memory, equal pointers mean equal frames.
//
//     handler  ──begin, add, commit──▶ [ tick tick tick ]   ──front, pop──▶  safe point, same thread
//                                      [ frames, leaf first, of each ]
//
// A tick stands for the time since the tick before it. When it joins an equal one, its time goes there, and the clocks of
// all later ones move up; so the last one ends when the last tick came, and no time is lost:
//
//     came      A 10  B 20  A 30  B 40          kept     A: 10 + 10  B: 10 + 10
//     shown     A until 20, B until 40
//
// The safe point and the handler are on one thread and never at work together: at a safe point the handler keeps nothing.

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

/// One tick, or some with the same stack.
struct tick {
  mono seen;                 ///< when it came; at the safe point: when the time that it stands for ends
  std::int64_t cpu_ns = -1;  ///< the thread's clock then; -1 = could not be read
  nanos spent{0};            ///< cost of the handler within that time
  const mrb_context* context = nullptr;
  std::uint32_t depth = 0;   ///< of the whole stack; 0 = could not be read
  std::uint32_t frames = 0;  ///< that were kept, leaf side
  bool in_gc = false;
  bool outside = false;  ///< no Ruby ran
  bool guarded = false;  ///< what it refers to is there until the safe point
};

/// Calls from:  begin, add, commit: the handler; the rest: a safe point
/// Blocks:      never
/// Allocates:   resize alone, which touches every page
/// On failure:  add and commit say that there is no room
class tick_queue {
 public:
  void resize(std::size_t ticks, std::size_t frames) {
    ticks_.assign(ticks, kept{});
    frames_.assign(frames, raw_frame{});
    index_.assign(std::size_t{4} * ticks, place{});
    clear();
  }
  [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_acquire) != taken_; }
  [[nodiscard]] bool more_than_one() const noexcept { return count_.load(std::memory_order_acquire) - taken_ > 1; }

  /// Ticks that came since it was empty, equal ones too.
  [[nodiscard]] std::uint32_t ticks() const noexcept { return came_; }

  // --- handler -------------------------------------------------------------------------------------------

  void begin() noexcept { end_ = frames_used_; }
  /// Adds a frame to the tick that has begun.
  [[nodiscard]] bool add(const raw_frame& f) noexcept {
    if (end_ == frames_.size()) return false;
    frames_[end_++] = f;
    return true;
  }
  /// `cost`: of the handler, for this tick.
  [[nodiscard]] bool commit(tick t, nanos cost) noexcept {
    t.frames = static_cast<std::uint32_t>(end_ - frames_used_);
    const std::size_t hash = hash_of(t);
    const std::uint32_t n = count_.load(std::memory_order_relaxed);
    place& at = find(t, hash);
    const bool is_new = at.epoch != epoch_;
    if (is_new && n == ticks_.size()) return false;
    const since d = n == 0 ? since{} : since{t.seen - last_seen_, t.cpu_ns < 0 || last_cpu_ < 0 ? 0 : t.cpu_ns - last_cpu_};
    if (n == 0) first_ = t;
    t.spent = n == 0 ? nanos{0} : last_cost_;
    if (is_new) {
      at = {epoch_, n};
      ticks_[n] = {t, d, hash, frames_used_};
      frames_used_ = end_;
      count_.store(n + 1, std::memory_order_release);  // pairs with any()
    } else {
      kept& same = ticks_[at.number];
      same.stands_for.wall += d.wall;
      same.stands_for.cpu_ns += d.cpu_ns;
      same.one.spent += t.spent;
    }
    ++came_;
    last_seen_ = t.seen;
    last_cpu_ = t.cpu_ns;
    last_cost_ = cost;
    return true;
  }

  // --- safe point ----------------------------------------------------------------------------------------

  /// The oldest tick. There must be one.
  [[nodiscard]] tick front() const noexcept {
    tick t = ticks_[taken_].one;
    const since& d = ticks_[taken_].stands_for;
    t.seen = until_ + d.wall;
    if (taken_ == 0) t.seen = first_.seen + d.wall;
    const std::int64_t from = taken_ == 0 ? first_.cpu_ns : until_cpu_;
    t.cpu_ns = from < 0 ? -1 : from + d.cpu_ns;
    return t;
  }
  /// Frames of the oldest tick, leaf first.
  [[nodiscard]] std::span<const raw_frame> frames() const noexcept {
    const kept& k = ticks_[taken_];
    return std::span<const raw_frame>(frames_).subspan(k.first_frame, k.one.frames);
  }
  /// What the handler cost after the last tick.
  [[nodiscard]] nanos last_cost() const noexcept { return last_cost_; }
  void pop() noexcept {
    const tick t = front();
    until_ = t.seen;
    until_cpu_ = t.cpu_ns;
    ++taken_;
    if (!any()) clear();
  }
  void clear() noexcept {
    count_.store(0, std::memory_order_release);
    taken_ = 0;
    came_ = 0;
    frames_used_ = 0;
    ++epoch_;
  }

 private:
  struct since {
    nanos wall{0};
    std::int64_t cpu_ns = 0;
  };
  struct kept {
    tick one;
    since stands_for;
    std::size_t hash = 0;
    std::size_t first_frame = 0;
  };
  struct place {
    std::uint32_t epoch = 0;
    std::uint32_t number = 0;
  };

  [[nodiscard]] std::span<const raw_frame> fresh() const noexcept {
    return std::span<const raw_frame>(frames_).subspan(frames_used_, end_ - frames_used_);
  }
  [[nodiscard]] std::size_t hash_of(const tick& t) const noexcept {
    const std::array<std::uint64_t, 2> head{reinterpret_cast<std::uintptr_t>(t.context),
                                            std::uint64_t{t.depth} << 2U | (t.in_gc ? 1U : 0U) | (t.outside ? 2U : 0U)};
    return hash_bytes(std::as_bytes(fresh())) ^ (hash_bytes(std::as_bytes(std::span(head))) << 1U);
  }
  [[nodiscard]] bool equal(const kept& k, const tick& t, std::size_t hash) const noexcept {
    if (k.hash != hash || k.one.context != t.context || k.one.depth != t.depth || k.one.frames != t.frames ||
        k.one.in_gc != t.in_gc || k.one.outside != t.outside) {
      return false;
    }
    const auto known = std::span<const raw_frame>(frames_).subspan(k.first_frame, k.one.frames);
    const auto now = fresh();
    return std::equal(known.begin(), known.end(), now.begin());
  }
  /// The place of an equal tick, or one that is free: there are four times as many as ticks.
  [[nodiscard]] place& find(const tick& t, std::size_t hash) noexcept {
    for (std::size_t i = hash;; ++i) {
      place& at = index_[i % index_.size()];
      if (at.epoch != epoch_ || equal(ticks_[at.number], t, hash)) return at;
    }
  }

  std::vector<kept> ticks_;
  std::vector<raw_frame> frames_;
  std::vector<place> index_;
  std::uint32_t epoch_ = 1;
  std::atomic<std::uint32_t> count_{0};
  std::size_t frames_used_ = 0;
  std::size_t end_ = 0;  // of the tick that has begun
  tick first_;
  mono last_seen_;
  std::int64_t last_cpu_ = -1;
  nanos last_cost_{0};
  std::uint32_t taken_ = 0;
  std::uint32_t came_ = 0;
  mono until_;
  std::int64_t until_cpu_ = -1;
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_TICK_QUEUE_HPP
