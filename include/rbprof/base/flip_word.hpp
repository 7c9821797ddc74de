// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_FLIP_WORD_HPP
#define RBPROF_BASE_FLIP_WORD_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <rbprof/base/cache_line.hpp>
#include <rbprof/base/clock.hpp>

// Which of two slots a sampler writes to, and when a flusher may read the other one: one 64-bit word that
// is changed by read-modify-writes alone. No lock, no retry loop, and nothing in it is ever set back.
//
//    63                                     14   13      12     11          0
//   +-----------------------------------------+-----+--------+--------------+
//   | seq: records completed, wraps off the top| hot | closed |  in flight   |
//   +-----------------------------------------+-----+--------+--------------+
//
//   sampler (wait-free)                      flusher (one at a time, by a mutex of its owner)
//   enter   add 1                            flip     xor hot; what was hot is cold now
//           in flight was 0, not closed?     drained  seq moved on, or nobody in flight?
//           yes: slot `hot` is mine                   yes: the cold slot is mine until the next flip
//           no:  subtract 1, refused         close    or closed
//   leave   add 2^14 - 1                     open     and not closed
//           (in flight - 1, seq + 1)
//
// Why it is enough. A writer is accepted only when `in flight` was 0 in the very addition that let it in, so
// accepted writers are serial and at most one is in the slot that goes cold; `seq` changes exactly when it
// leaves. Whoever is accepted after the flip saw the new `hot` in the value that its own addition returned.
// A refused one holds `in flight` up for a moment: it may get another one refused, never two let in.
// tests/model_check has this as a model that is checked exhaustively.
//
// Why the orders are enough. Every operation on the word is a read-modify-write, so each is part of the
// release sequence of every one before it; an acquire sees all that any earlier release published.

/// Weakens one memory order, so that a test can prove that ThreadSanitizer would notice:
/// 1 leave, 2 enter, 3 drained. Never set it outside of that test.
#ifndef RBPROF_DETAIL_FLIP_MUTANT
#define RBPROF_DETAIL_FLIP_MUTANT 0
#endif

namespace rbprof::inline v0 {

class flip_word {
 public:
  enum class entry : std::uint8_t { slot0, slot1, busy, closed };

  /// What the word was when the flusher changed it; needed to tell when the slot has drained.
  struct ticket {
    std::uint64_t seq = 0;    ///< records completed until then, of 50 bits
    unsigned cold = 0;        ///< the slot that was hot until then
    bool quiet = true;        ///< nobody was in flight
    bool was_closed = false;  ///< before this change
  };

  /// Asks for the hot slot. `slot0` and `slot1` are followed by one leave(), the others by nothing.
  ///
  /// Calls from:  the sampler; a second or nested one is refused as `busy` · Blocks: never, wait-free
  /// Allocates:   never · On failure: `busy` or `closed`; nothing may be written
  [[nodiscard]] entry enter() noexcept {
    // acquire: pairs with flip() and open(), so that the slot is seen as the flusher has reset it, and
    // with the leave() of the writer before.
    const std::uint64_t old = word_.fetch_add(1, enter_order);
    if ((old & (in_flight | closed_bit)) == 0) [[likely]] {
      return (old & hot_bit) != 0 ? entry::slot1 : entry::slot0;
    }
    word_.fetch_sub(1, std::memory_order_relaxed);  // wrote nothing, so publishes nothing
    return (old & closed_bit) != 0 ? entry::closed : entry::busy;
  }

  /// Ends what an accepted enter() began. (`in flight` would overflow with 4096 threads inside enter() at the
  /// same instant.)
  ///
  /// Calls from:  the sampler · Blocks: never, wait-free · Allocates: never · On failure: cannot fail
  void leave() noexcept {
    // release: pairs with drained(), flip() and close(), which then may read the slot.
    word_.fetch_add(seq_one - 1, leave_order);
  }

  /// Makes the other slot the hot one. The other slot must be reset and nobody's.
  ///
  /// Calls from:  the flusher, with no ticket waiting to drain · Blocks: never · Allocates: never
  /// On failure:  cannot fail; the ticket says whether one has to wait
  [[nodiscard]] ticket flip() noexcept {
    // release: pairs with enter(), publishes the slot that becomes hot. acquire: pairs with leave(), for
    // the ticket that is quiet at once.
    return made(word_.fetch_xor(hot_bit, std::memory_order_acq_rel));
  }

  /// Refuses everybody from now on; who is inside may finish. The slot that is hot stays hot.
  ///
  /// Calls from:  the flusher · Blocks: never · Allocates: never · On failure: cannot fail
  [[nodiscard]] ticket close() noexcept {
    // acquire: pairs with leave(), as in flip().
    return made(word_.fetch_or(closed_bit, std::memory_order_acq_rel));
  }

  /// Lets samplers in again. Calls from: the flusher · Blocks: never.
  void open() noexcept {
    // release: pairs with enter(), for slots that were changed while closed.
    word_.fetch_and(~closed_bit, std::memory_order_release);
  }

  /// True when nobody can be writing to what was hot when the ticket was made.
  [[nodiscard]] bool drained(const ticket& t) const noexcept {
    if (t.quiet) return true;
    // acquire: pairs with leave(), of which a later refusal or entry continues the release sequence.
    const std::uint64_t now = word_.load(drained_order);
    return now / seq_one != t.seq || (now & in_flight) == 0;
  }

  /// Waits until drained. Naps from 1 us, doubling up to 1 ms: a record takes less than a microsecond, and
  /// a writer that was preempted comes back in milliseconds.
  ///
  /// Calls from:  the flusher · Blocks: until `deadline` at the latest · Allocates: never
  /// On failure:  false; the ticket stays valid and must be waited for before the next flip
  [[nodiscard]] bool wait(const ticket& t, mono deadline) const noexcept {
    for (nanos nap{1'000}; !drained(t); nap = std::min(nap * 2, nanos{1'000'000})) {
      if (monotonic_now() >= deadline) return drained(t);
      std::this_thread::sleep_for(nap);
    }
    return true;
  }

  /// Records completed since the start, of 50 bits; a snapshot for counters.
  [[nodiscard]] std::uint64_t completed() const noexcept {
    return word_.load(std::memory_order_relaxed) / seq_one;  // relaxed: orders nothing
  }

  /// Starts from zero, closed. The one store there is: only for the lone thread of a forked child, or a
  /// word that nobody else has seen.
  void reset_alone() noexcept { word_.store(closed_bit, std::memory_order_relaxed); }

  /// `a - b` of two counts of 50 bits.
  [[nodiscard]] static constexpr std::uint64_t seq_difference(std::uint64_t a,
                                                              std::uint64_t b) noexcept {
    return (a - b) & (~std::uint64_t{0} / seq_one);
  }

 private:
  static constexpr std::uint64_t in_flight = (1U << 12U) - 1;
  static constexpr std::uint64_t closed_bit = 1U << 12U;
  static constexpr std::uint64_t hot_bit = 1U << 13U;
  static constexpr std::uint64_t seq_one = 1U << 14U;

  static constexpr std::memory_order leave_order =
      RBPROF_DETAIL_FLIP_MUTANT == 1 ? std::memory_order_relaxed : std::memory_order_release;
  static constexpr std::memory_order enter_order =
      RBPROF_DETAIL_FLIP_MUTANT == 2 ? std::memory_order_relaxed : std::memory_order_acquire;
  static constexpr std::memory_order drained_order =
      RBPROF_DETAIL_FLIP_MUTANT == 3 ? std::memory_order_relaxed : std::memory_order_acquire;

  [[nodiscard]] static ticket made(std::uint64_t old) noexcept {
    return {old / seq_one, (old & hot_bit) != 0 ? 1U : 0U, (old & in_flight) == 0,
            (old & closed_bit) != 0};
  }

  alignas(cache_line) std::atomic<std::uint64_t> word_{closed_bit};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_FLIP_WORD_HPP
