// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_BOOKER_HPP
#define RBPROF_PROFILER_BOOKER_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/base/hash_bytes.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/policy/context.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/bytes.hpp>
#include <rbprof/profiler/frame_cache.hpp>
#include <rbprof/profiler/thread_status.hpp>

// From a captured stack to a record. A stack that the recorder has seen costs its hash and one look-up; only
// a new one is put into words, before the recorder is entered, because words need the VM.

namespace rbprof::inline v0 {
namespace detail {

/// Stacks of one frame that stand for something that is not a method.
enum class stand_in : std::uint8_t { gc, overhead, unattributed, not_running, outside_vm, skipped };
inline constexpr std::size_t stand_in_count = 6;

/// Calls from: the sampler, VM lock held · Blocks: never · Allocates: for stacks not seen before · On failure:
/// a record that the recorder refuses is counted there
template <vm_adapter V, recorder R>
class booker {
 public:
  using frame = typename V::frame_type;
  using lock = typename V::lock_type;

  /// A stack that is ready to be recorded. Valid until the next call of `prepare`.
  struct stack {
    stack_key key;
    std::span<const frame> raw;                // as captured, the mark of truncation included
    std::span<frame_entry* const> frames;      // in words; empty while the recorder knows the key
    thread_status waits = thread_status::unknown;
  };

  explicit booker(R& store) noexcept : store_(store) {
    constexpr std::array<std::string_view, stand_in_count> names{
        placeholder::gc, placeholder::overhead, placeholder::unattributed, placeholder::not_running,
        placeholder::outside_vm, placeholder::skipped};
    for (std::size_t i = 0; i < stand_in_count; ++i) {
      stand_ins_[i].text.name = names[i];
      stand_in_stacks_[i] = &stand_ins_[i];
    }
    truncated_.text.name = placeholder::truncated;
  }
  booker(const booker&) = delete;

  /// Room for `max_frames` frames and the mark of truncation.
  void resize(std::size_t max_frames) {
    buffer_.resize(max_frames + 1);
    max_frames_ = max_frames;
  }
  [[nodiscard]] std::span<frame> room() noexcept { return {buffer_.data(), max_frames_}; }

  /// Makes a stack of what `capture` left in `room()`. `th` must still be where it was captured.
  [[nodiscard]] stack prepare(V& v, lock& lk, typename V::thread_type th, captured got) {
    return prepare(v, lk, th, close(got), refined::here);
  }
  /// Makes a stack of frames that were captured, and recorded, before.
  [[nodiscard]] stack again(V& v, lock& lk, typename V::thread_type th,
                            std::span<const frame> raw) {
    return prepare(v, lk, th, raw, refined::no);
  }
  /// Makes a stack of frames that were captured a moment ago, from where `th` has gone on, and kept by the VM since.
  [[nodiscard]] stack later(V& v, lock& lk, typename V::thread_type th, std::span<const frame> raw) {
    return prepare(v, lk, th, raw, refined::gone_on);
  }

  /// The words of a stack of `later`, also when the recorder needs none.
  void put_in_words(V& v, lock& lk, typename V::thread_type th, stack& s) {
    if (s.frames.empty()) resolve(v, lk, th, s, refined::gone_on);
  }

  /// What `capture` left in `room()`, with the mark of truncation.
  [[nodiscard]] std::span<const frame> close(captured got) noexcept {
    std::size_t n = got.count;
    if (got.truncated) buffer_[n++] = mark_;
    return {buffer_.data(), n};
  }
  /// Records on a stack that needs no words, so without a call of the VM. False = it needs them.
  [[nodiscard]] bool put_known(std::span<const frame> raw, label_entry& labels, path_hint* path, const values& amount) {
    const auto bytes = std::as_bytes(raw);
    const stack_key key{bytes, hash_bytes(bytes)};
    return store_.knows(key) && write({key, {}, &labels, path, amount});
  }

  /// Records an amount on a prepared stack.
  void put(V& v, lock& lk, typename V::thread_type th, stack& s, label_entry& labels,
           path_hint* path, const values& amount) {
    if (write({s.key, s.frames, &labels, path, amount})) return;
    resolve(v, lk, th, s, refined::no);  // a flip has brought new tables since `prepare`
    (void)write({s.key, s.frames, &labels, path, amount});
  }
  void put(stand_in which, label_entry& labels, const values& amount) {
    const auto i = static_cast<std::size_t>(which);
    (void)write({{}, {&stand_in_stacks_[i], 1}, &labels, nullptr, amount});
  }

  /// True once after the recorder has moved to other tables: what refers to frames is to be dropped.
  [[nodiscard]] bool moved_on() noexcept {
    const std::uint32_t now = store_.generation();
    return std::exchange(generation_, now) != now;
  }
  /// Lets go of every frame, and of the recorder's keys, which are made of frames.
  void forget(V& v, lock& lk) noexcept {
    store_.forget_keys();
    frames_.forget(v, lk);
  }
  [[nodiscard]] const frame_cache<V>& names() const noexcept { return frames_; }

 private:
  /// The mark of truncation in a key: no VM has a frame of ones.
  [[nodiscard]] static constexpr frame ones() noexcept {
    std::array<unsigned char, sizeof(frame)> bytes{};
    bytes.fill(0xFF);
    return std::bit_cast<frame>(bytes);
  }

  /// Where the thread is while its stack is put into words: at the place of the capture, a bit further, anywhere.
  enum class refined : std::uint8_t { here, gone_on, no };

  stack prepare(V& v, lock& lk, typename V::thread_type th, std::span<const frame> raw, refined how) {
    stack s;
    s.raw = raw;
    const auto bytes = std::as_bytes(raw);
    s.key = {bytes, hash_bytes(bytes)};
    if (!store_.knows(s.key)) resolve(v, lk, th, s, how);
    if (named_frame* leaf = raw.empty() ? nullptr : frames_.find(raw.front())) s.waits = leaf->waits;
    return s;
  }

  void resolve(V& v, lock& lk, typename V::thread_type th, stack& s, refined how) {
    const bool truncated =
        !s.raw.empty() && std::memcmp(&s.raw.back(), &mark_, sizeof mark_) == 0;
    scratch_.assign(s.raw.begin(), s.raw.end() - (truncated ? 1 : 0));
    if constexpr (has_frame_refinement<V>) {
      if (how == refined::here && !truncated) v.refine(lk, th, std::span<frame>(scratch_));
      if constexpr (requires { v.refine_later(lk, th, std::span<frame>(scratch_)); }) {
        if (how == refined::gone_on && !truncated) v.refine_later(lk, th, std::span<frame>(scratch_));
      }
    }
    refs_.clear();
    for (const frame& f : scratch_) refs_.push_back(&frames_.describe(v, lk, f).entry);
    if (truncated) refs_.push_back(&truncated_);
    s.frames = refs_;
  }

  /// False when the recorder wants the frames in words.
  bool write(const record& r) noexcept {
    if (!store_.enter()) return true;
    const bool written = store_.write(r);
    store_.leave();
    return written;
  }

  R& store_;
  frame_cache<V> frames_;
  std::vector<frame> buffer_, scratch_;
  std::vector<frame_entry*> refs_;
  std::array<frame_entry, stand_in_count> stand_ins_;
  std::array<frame_entry*, stand_in_count> stand_in_stacks_{};
  frame_entry truncated_;
  frame mark_ = ones();
  std::size_t max_frames_ = 0;
  std::uint32_t generation_ = store_.generation();
};

[[nodiscard]] inline values to_values(const row& r) noexcept {
  values out;
  out[value_type::cpu_samples] = r.samples;
  out[value_type::cpu_time] = r.cpu.count();
  out[value_type::wall_time] = r.wall.count();
  return out;
}

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_BOOKER_HPP
