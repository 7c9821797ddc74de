// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_MARK_SLOT_HPP
#define RBPROF_BASE_MARK_SLOT_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <rbprof/base/cache_line.hpp>
#include <rbprof/base/counter.hpp>

// What a host says of a native thread, in one word, so that whoever reads it sees all of one instant:
//
//     63                 40 39             24 23                    0
//     +--------------------+-----------------+-----------------------+
//     | generation         | depth           | label set             |
//     +--------------------+-----------------+-----------------------+
//       raised when the      scopes that are   of mark_labels;
//       slot changes hands   open              0 = none
//
// The thread itself is the only writer. A sampler that keeps a slot keeps its generation as well: where that has changed
// the thread has ended, and the marks are another one's.
//
// Slots are of a table that lives as long as the process, since a sampler may look at one whose thread has just ended. A
// thread takes one with its first mark and gives it back when it ends. When all are taken, marks do nothing and are counted.

namespace rbprof::inline v0 {

struct mark_word {
  std::uint64_t bits = 0;

  static constexpr unsigned depth_at = 24;
  static constexpr unsigned generation_at = 40;
  static constexpr std::uint32_t most_labels = (1U << depth_at) - 1;
  static constexpr std::uint32_t most_depth = 0xFFFF;

  [[nodiscard]] static constexpr mark_word of(std::uint32_t generation, std::uint32_t depth, std::uint32_t labels) noexcept {
    return {(std::uint64_t{generation} << generation_at) | (std::uint64_t{depth & most_depth} << depth_at) |
            (labels & most_labels)};
  }
  [[nodiscard]] constexpr std::uint32_t labels() const noexcept { return static_cast<std::uint32_t>(bits) & most_labels; }
  [[nodiscard]] constexpr std::uint32_t depth() const noexcept {
    return static_cast<std::uint32_t>(bits >> depth_at) & most_depth;
  }
  [[nodiscard]] constexpr std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(bits >> generation_at);
  }
  friend constexpr bool operator==(const mark_word&, const mark_word&) noexcept = default;
};

class alignas(cache_line) mark_slot {
 public:
  /// Calls from: any thread, handlers too
  [[nodiscard]] mark_word load() const noexcept { return {word_.load(std::memory_order_relaxed)}; }
  /// Calls from: the slot's thread
  void set_labels(std::uint32_t labels) noexcept {
    const mark_word w = load();
    store(mark_word::of(w.generation(), w.depth(), labels));
  }
  void set_depth(std::uint32_t depth) noexcept {
    const mark_word w = load();
    store(mark_word::of(w.generation(), depth, w.labels()));
  }

 private:
  friend class mark_slots;
  void store(mark_word w) noexcept { word_.store(w.bits, std::memory_order_relaxed); }

  std::atomic<std::uint64_t> word_{0};
  std::atomic<bool> taken_{false};
};

/// Calls from:  any thread that is no handler; a handler goes by a slot that somebody has kept for it
/// Blocks:      never
/// Allocates:   never
/// On failure:  null, counted
class mark_slots {
 public:
  static constexpr std::size_t capacity = 1024;

  [[nodiscard]] static mark_slots& instance() noexcept {
    static mark_slots all;
    return all;
  }

  /// The calling thread's, taken when it has none.
  [[nodiscard]] static mark_slot* mine() noexcept {
    holder& h = here();
    if (h.slot == nullptr) h.slot = instance().take();
    return h.slot;
  }
  /// The calling thread's, or null when it has never marked anything.
  [[nodiscard]] static mark_slot* mine_if_any() noexcept { return here().slot; }

  /// Marks that found no slot.
  counter refused;

 private:
  struct holder {
    mark_slot* slot = nullptr;
    ~holder() {
      if (slot != nullptr) give_back(*slot);
      slot = nullptr;
    }
  };
  [[nodiscard]] static holder& here() noexcept {
    thread_local holder h;
    return h;
  }

  [[nodiscard]] mark_slot* take() noexcept {
    for (mark_slot& s : slots_) {
      bool is_taken = s.taken_.load(std::memory_order_relaxed);
      if (is_taken || !s.taken_.compare_exchange_strong(is_taken, true, std::memory_order_acquire)) continue;  // give_back
      return &s;
    }
    refused.add();
    return nullptr;
  }
  static void give_back(mark_slot& s) noexcept {
    s.store(mark_word::of(s.load().generation() + 1, 0, 0));
    s.taken_.store(false, std::memory_order_release);  // pairs with take()
  }

  std::array<mark_slot, capacity> slots_;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_MARK_SLOT_HPP
