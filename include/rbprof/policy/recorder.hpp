// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_POLICY_RECORDER_HPP
#define RBPROF_POLICY_RECORDER_HPP

#include <absl/status/status.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/id.hpp>
#include <rbprof/model/profile_builder.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/model/value_type.hpp>

// The recorder decides where a sample goes. docs/policies/recorder.md has the semantics.
//
// Names are resolved by the sampling side before `enter`; what is handed over are entries that it owns: a
// text, and a place for the id that the recorder gave it in one generation of its tables.

namespace rbprof::inline v0 {

struct recorder_tag {};

/// A frame with its words. Owned by the sampling side, stable in memory.
struct frame_entry {
  frame_text text;
  std::uint32_t generation = 0;  ///< of the tables that `id` belongs to; 0 = none yet
  frame_id id;
};

/// A thread with its words, which may become known late: they are looked up when a profile is built.
struct thread_entry {
  thread_text text;
  std::uint32_t version = 1;     ///< raise it when `text` changes
  std::uint32_t generation = 0;  ///< 0 = none yet
  std::uint32_t number = 0;      ///< its row in the tables
  std::uint32_t written = 0;     ///< the version that the tables have
};

/// A set of labels: those of a thread, and further ones.
struct label_entry {
  thread_entry* thread = nullptr;
  std::vector<label_text> more;
  std::uint32_t generation = 0;
  label_set_id id;
};

/// The node ids of a thread's previous stack, root first, so that a stack that is new only at its leaf
/// costs only its leaf. Owned by the sampling side, used by the recorder alone.
struct path_hint {
  struct step {
    const frame_entry* frame;
    stack_id stack;
  };
  std::vector<step> steps;
  std::uint32_t generation = 0;
};

/// A stack as the sampling side captured it: bytes that are equal for equal stacks, and their hash.
struct stack_key {
  std::span<const std::byte> bytes;
  std::size_t hash = 0;
};

/// One record.
struct record {
  stack_key key;                        ///< empty bytes = not to be cached
  std::span<frame_entry* const> frames; ///< leaf first; may be empty when the recorder knows `key`
  label_entry* labels = nullptr;
  path_hint* path = nullptr;            ///< may be null
  values amount;
};

/// What a flush took, to be merged into a profile.
struct recorded_interval {
  mono start;
  mono finish;
  std::int64_t start_epoch_ns = 0;
  std::uint64_t records = 0;
};

template <class R>
concept recorder =
    std::same_as<typename R::recorder_concept, recorder_tag> &&
    // made of the columns of its profiles and a budget of bytes: options_type{types, bytes}
    std::constructible_from<R, const typename R::options_type&> &&
    requires(std::vector<value_type> types, std::size_t bytes) {
      { typename R::options_type{std::move(types), bytes} } -> std::same_as<typename R::options_type>;
    } &&
    requires(R& r, const R& cr, const stack_key& key, const record& x, nanos patience, mono now,
             profile_builder& into, recorded_interval& interval) {
      { cr.knows(key) } noexcept -> std::same_as<bool>;  // a hint: a flip may make it untrue
      { r.enter() } noexcept -> std::same_as<bool>;      // false = refused, counted
      { r.write(x) } noexcept -> std::same_as<bool>;     // false = key unknown and no frames: nothing written
      { r.leave() } noexcept;
      { r.forget_keys() } noexcept;  // sampling side: handles in keys may be used again for other stacks
      { cr.generation() } noexcept -> std::same_as<std::uint32_t>;  // of the last record; sampling side
      { r.flush(patience, now, into, interval) } -> std::same_as<absl::Status>;
      { r.close(patience) } noexcept -> std::same_as<bool>;  // false = somebody is still inside
      { r.open(now) } noexcept;
      { r.after_fork() } noexcept;
    };

}  // namespace rbprof::inline v0

#endif  // RBPROF_POLICY_RECORDER_HPP
