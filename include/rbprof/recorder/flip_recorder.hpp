// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RECORDER_FLIP_RECORDER_HPP
#define RBPROF_RECORDER_FLIP_RECORDER_HPP

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/flip_word.hpp>
#include <rbprof/base/fork_mutex.hpp>
#include <rbprof/base/id.hpp>
#include <rbprof/model/profile_builder.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/recorder/profile_copy.hpp>
#include <rbprof/recorder/recorder_options.hpp>
#include <rbprof/recorder/recorder_statistics.hpp>
#include <rbprof/recorder/slot.hpp>
#include <rbprof/recorder/stack_cache.hpp>
#include <rbprof/recorder/tables.hpp>

// The recorder of samples: two slots, of which the sampler writes to the hot one while a flusher reads the
// cold one; a flip of one word swaps them (base/flip_word.hpp). The sampler never waits and takes no lock,
// and every sample ends up in a profile, in a counter of refusals, or is still in a slot.
//
//   sampler (VM lock held)                        flusher (any thread, one at a time: mutex)
//   knows(key)? else resolve names                flush: finish what an earlier flush could not
//   enter -> write ... write -> leave                    flip, wait for the writer, copy, reset
//   generation() changed? drop cached ids         close, open; before_fork, after_fork_parent
//
// It must outlive everybody who may still call enter().

namespace rbprof::inline v0 {

class flip_recorder {
 public:
  using recorder_concept = recorder_tag;
  using options_type = recorder_options;

  /// Starts closed: nothing is recorded before open(). Allocates.
  explicit flip_recorder(recorder_options options = {})
      : types_(std::move(options.types)),
        budget_(std::clamp<std::size_t>(options.byte_budget, 256U << 10U, std::size_t{4} << 30U)) {
    begin_anew();
  }
  flip_recorder(const flip_recorder&) = delete;
  flip_recorder& operator=(const flip_recorder&) = delete;

  /// To make the builder with that flush() fills.
  [[nodiscard]] const std::vector<value_type>& types() const noexcept { return types_; }

  // --- sampler ------------------------------------------------------------------------------------------

  /// True when a write with this key needs no frames. A hint: a flip may make it untrue.
  ///
  /// Calls from:  the sampler, VM lock held · Blocks: never · Allocates: never · On failure: false
  [[nodiscard]] bool knows(const stack_key& key) const noexcept {
    return static_cast<bool>(cache_->find(key));
  }

  /// Opens the hot slot. True is followed by any number of write() and one leave(), with no VM call, no
  /// lock and no wait in between.
  ///
  /// Calls from:  the sampler, VM lock held · Blocks: never, wait-free · Allocates: never
  /// On failure:  false, counted as busy (a second or nested sampler) or closed; call nothing further
  [[nodiscard]] bool enter() noexcept;

  /// Adds one record. Names that do not fit are booked on placeholder::overflow.
  ///
  /// Calls from:  the sampler, inside · Blocks: never
  /// Allocates:   for stacks, names, labels that are new; nothing once warm
  /// On failure:  false: key unknown and no frames, nothing written; leave, resolve, enter again
  [[nodiscard]] bool write(const record& r) noexcept;

  /// Closes what enter() opened. Contract as enter(); cannot fail.
  void leave() noexcept { word_.leave(); }

  /// Forgets every key: the handles that they are made of may come to mean other stacks. Ids stay valid.
  ///
  /// Calls from:  the sampler, VM lock held, not inside · Blocks: never · Allocates: never
  void forget_keys() noexcept { cache_->clear(); }

  /// Of the tables that the last enter() found. Ids of another generation are worthless; entries and paths
  /// notice by themselves, a caller's own caches are to be dropped when this changes.
  ///
  /// Calls from:  the sampler, VM lock held · Blocks: never · Allocates: never · On failure: cannot fail
  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }

  // --- flusher ------------------------------------------------------------------------------------------

  /// Adds to `into` what was recorded, and says over which interval. `now` is the end of that interval on
  /// the caller's clock; `patience` is counted on the real one.
  ///
  /// A slot that an earlier flush had to leave behind is taken first, with its own interval, and then the
  /// newer one as well: both are added, the interval spans from the start of the first to the end of the
  /// last that was taken, and it has no gap. When only the older one could be taken in time, that alone is
  /// the result, and OK; the newer one is taken by the next flush. Works while closed, too.
  ///
  /// Calls from:  any thread but one that is between enter() and leave()
  /// Blocks:      until another flush, close or fork is done; then at most `patience`, never for the VM
  /// Allocates:   yes · On failure: DeadlineExceeded, `into` and `interval` as they were; nothing is lost
  [[nodiscard]] absl::Status flush(nanos patience, mono now, profile_builder& into,
                                   recorded_interval& interval);

  /// Refuses further records and waits until nobody is inside.
  ///
  /// Calls from:  any thread but one that is inside · Blocks: as flush() · Allocates: never
  /// On failure:  false: somebody is still inside; closed all the same, and flush() still works
  [[nodiscard]] bool close(nanos patience) noexcept;

  /// Accepts records. The interval begins at `now` if nothing is waiting to be flushed; else it goes on.
  /// Calls from: any thread · Blocks: as flush() · Allocates: never
  void open(mono now) noexcept;

  // --- fork ---------------------------------------------------------------------------------------------

  /// What pthread_atfork's prepare does: takes the mutex and closes, each for `patience` at most. Be
  /// followed by after_fork_parent() on this thread, whatever the result.
  ///
  /// Calls from:  the forking thread · Blocks: 2 x patience · Allocates: never
  /// On failure:  false: the child will abandon what it inherits; the parent loses nothing
  [[nodiscard]] bool before_fork(nanos patience) noexcept ABSL_NO_THREAD_SAFETY_ANALYSIS;

  /// Undoes before_fork(), in the parent.
  void after_fork_parent() noexcept ABSL_NO_THREAD_SAFETY_ANALYSIS;

  /// In the child: empties the slots, since their records are the parent's, and keeps the names; when
  /// somebody was inside at the fork, or before_fork() was not called, what may be half-written is
  /// abandoned (leaked, counted) and all starts anew. Closed afterwards, until open().
  ///
  /// Calls from:  the lone thread of the child · Blocks: never · Allocates: when abandoning
  /// On failure:  cannot fail
  void after_fork() noexcept ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // --- figures ------------------------------------------------------------------------------------------

  /// Calls `f(name, value)` for counts since construction; they only grow, so a caller that wants those of
  /// a period takes differences. Any thread, no lock.
  template <class F>
  void each_statistic(F&& f) const {
    statistics_.each(f);
  }

  /// Of the last flush that took something. Blocks: as flush().
  [[nodiscard]] flush_report last_flush() const noexcept {
    const fork_mutex_hold hold(mutex_);
    return last_;
  }

 private:
  struct pending_flip {
    flip_word::ticket ticket;
    mono finish;
  };
  /// So that a deadline can be computed from any patience.
  [[nodiscard]] static nanos bounded(nanos patience) noexcept {
    return std::clamp<nanos>(patience, nanos{0}, std::chrono::hours{24});
  }
  [[nodiscard]] std::shared_ptr<recording::tables> fresh_tables() {
    statistics_.generations.add();
    return std::make_shared<recording::tables>(++newest_generation_, budget_ / 2);
  }
  void begin_anew();
  void flip(mono now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] std::optional<recorded_interval> take(mono deadline, profile_builder& into,
                                                      flush_report& report)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void check(std::uint64_t entries, const flip_word::ticket& t)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Shared by all roles.
  flip_word word_;
  std::array<std::unique_ptr<recording::slot>, 2> slots_;  // whose it is: base/flip_word.hpp
  recording::statistics statistics_;
  const std::vector<value_type> types_;
  const std::size_t budget_;

  // The sampler's. Written between enter and leave alone, so one writer after another.
  alignas(cache_line) recording::slot* in_ = nullptr;
  std::unique_ptr<recording::stack_cache> cache_;
  std::uint32_t generation_ = 0;

  // The flusher's.
  alignas(cache_line) mutable fork_mutex mutex_;
  unsigned hot_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<pending_flip> pending_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;     // entries, to compare with the word's count
  bool drained_closed_ ABSL_GUARDED_BY(mutex_) = true;  // closed, and nobody inside since
  std::uint32_t newest_generation_ = 0;
  flush_report last_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t busy_before_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t closed_before_ ABSL_GUARDED_BY(mutex_) = 0;
  // Who holds the mutex for a fork. relaxed: only its own id tells a thread anything.
  std::atomic<std::thread::id> forking_{std::thread::id{}};
  bool quiet_at_fork_ ABSL_GUARDED_BY(mutex_) = false;
  bool reopen_after_fork_ ABSL_GUARDED_BY(mutex_) = false;
};

inline bool flip_recorder::enter() noexcept {
  const flip_word::entry got = word_.enter();
  if (got == flip_word::entry::busy || got == flip_word::entry::closed) [[unlikely]] {
    (got == flip_word::entry::busy ? statistics_.busy : statistics_.closed).add();
    return false;
  }
  in_ = slots_[got == flip_word::entry::slot1 ? 1 : 0].get();
  ++in_->counts.entries;
  if (const std::uint32_t now = in_->names().generation(); now != generation_) [[unlikely]] {
    cache_->clear();
    generation_ = now;
  }
  return true;
}

inline bool flip_recorder::write(const record& r) noexcept {
  recording::slot& slot = *in_;
  stack_id stack;
  const bool cached = !r.key.bytes.empty();
  if (cached) stack = cache_->find(r.key);
  if (stack) {
    ++slot.counts.cache_hits;
  } else {
    if (r.frames.empty()) {
      ++slot.counts.unknown_keys;
      return false;
    }
    stack = slot.names().stack(r.frames, r.path);
    if (!stack) stack = recording::tables::overflow_stack;
    // An overflow too: nothing new fits this generation.
    if (cached && cache_->insert(r.key, stack)) ++slot.counts.restarts;
  }
  label_set_id labels;
  if (r.labels != nullptr) {
    labels = slot.names().label_set(*r.labels);
    if (!labels) ++slot.counts.labels_lost;
  }
  slot.add(stack, labels, r.amount);
  return true;
}

inline absl::Status flip_recorder::flush(nanos patience, mono now, profile_builder& into,
                                         recorded_interval& interval) {
  const fork_mutex_hold hold(mutex_);
  const mono began = monotonic_now();
  const mono deadline = began + bounded(patience);
  flush_report report;
  std::optional<recorded_interval> got;
  if (pending_) got = take(deadline, into, report);
  if (!pending_) {
    flip(now);
    if (const auto newer = take(deadline, into, report)) {
      const recorded_interval older = got.value_or(*newer);
      const std::uint64_t records = newer->records + (got ? got->records : 0);
      got = {older.start, newer->finish, older.start_epoch_ns, records};
    }
  }
  if (pending_) statistics_.timeouts.add();
  if (!got) {
    return absl::DeadlineExceededError(
        "rbprof: a sample was being recorded for as long as the flush could wait; nothing is lost, "
        "flush again");
  }
  const std::uint64_t busy = statistics_.busy.get();
  const std::uint64_t closed = statistics_.closed.get();
  report.busy = busy - std::exchange(busy_before_, busy);
  report.closed = closed - std::exchange(closed_before_, closed);
  statistics_.add(report, monotonic_now() - began);
  last_ = report;
  interval = *got;
  return absl::OkStatus();
}

// Takes the slot that is pending, or nothing if its writer does not leave in time.
inline std::optional<recorded_interval> flip_recorder::take(mono deadline, profile_builder& into,
                                                            flush_report& report) {
  const mono began = monotonic_now();
  if (!word_.wait(pending_->ticket, deadline)) return std::nullopt;
  const mono drained = monotonic_now();
  recording::slot& cold = *slots_[pending_->ticket.cold];
  const recording::slot_counts& counts = cold.counts;
  const recorded_interval got{cold.start, pending_->finish, cold.start_epoch_ns, counts.records};
  recording::copy_sums(cold, types_, into);
  check(counts.entries, pending_->ticket);
  statistics_.add(counts);
  report.records += counts.records;
  report.overflow += counts.overflow;
  report.labels_lost += counts.labels_lost;
  cold.reset(slots_[hot_]->shared_names());  // frees the old tables if the hot slot has newer ones
  pending_.reset();
  report.waited += drained - began;
  report.build += monotonic_now() - drained;
  return got;
}

// The cold slot is ours since it was taken, or is new.
inline void flip_recorder::flip(mono now) {
  recording::slot& next = *slots_[1 - hot_];
  const recording::tables& names = slots_[hot_]->names();
  if (names.bytes_used() > names.byte_limit() / 2) {
    next.reset(fresh_tables());
    statistics_.evictions.add();
  }
  next.start = now;
  next.start_epoch_ns = epoch_now_ns();
  pending_ = pending_flip{word_.flip(), now};
  hot_ = 1 - hot_;
}

// Entries taken so far are the word's count at the flip; one more when somebody was in flight then who was
// let in, and not refused.
inline void flip_recorder::check(std::uint64_t entries, const flip_word::ticket& t) {
  taken_ += entries;
  const std::uint64_t more = flip_word::seq_difference(taken_, t.seq);
  const bool good = more == 0 || (more == 1 && !t.quiet);
  assert(good && "a record was lost or counted twice");
  if (!good) statistics_.self_check.add();
}

inline bool flip_recorder::close(nanos patience) noexcept {
  const fork_mutex_hold hold(mutex_);
  const mono deadline = monotonic_now() + bounded(patience);
  const flip_word::ticket t = word_.close();
  drained_closed_ = word_.wait(t, deadline);
  return drained_closed_;
}

inline void flip_recorder::open(mono now) noexcept {
  const fork_mutex_hold hold(mutex_);
  recording::slot& hot = *slots_[hot_];
  if (drained_closed_ && !pending_ && hot.counts.entries == 0) {
    hot.start = now;
    hot.start_epoch_ns = epoch_now_ns();
  }
  drained_closed_ = false;
  word_.open();
}

inline bool flip_recorder::before_fork(nanos patience) noexcept {
  if (!mutex_.try_lock_until(monotonic_now() + bounded(patience))) return false;
  forking_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  const flip_word::ticket t = word_.close();
  reopen_after_fork_ = !t.was_closed;
  quiet_at_fork_ = word_.wait(t, monotonic_now() + bounded(patience));
  return quiet_at_fork_;
}

inline void flip_recorder::after_fork_parent() noexcept {
  if (forking_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return;
  forking_.store({}, std::memory_order_relaxed);
  if (reopen_after_fork_) word_.open();
  mutex_.unlock();
}

inline void flip_recorder::after_fork() noexcept {
  const bool ours = forking_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  forking_.store({}, std::memory_order_relaxed);
  mutex_.renew_in_child();
  word_.reset_alone();
  if (ours && quiet_at_fork_) {
    const auto names = slots_[hot_]->shared_names();
    for (const auto& s : slots_) s->reset(names);
  } else {
    for (auto& s : slots_) (void)s.release();  // leaked, with the tables that they share
    (void)cache_.release();
    newest_generation_ = std::max(newest_generation_, generation_);
    statistics_.abandoned.add();
    begin_anew();
  }
  hot_ = 0;
  pending_.reset();
  taken_ = 0;
  drained_closed_ = true;
}

inline void flip_recorder::begin_anew() {
  const auto names = fresh_tables();
  for (auto& s : slots_) s = std::make_unique<recording::slot>(budget_ / 8, names);
  cache_ = std::make_unique<recording::stack_cache>(budget_ / 4);
  in_ = nullptr;
  generation_ = names->generation();
}

static_assert(recorder<flip_recorder>);

}  // namespace rbprof::inline v0

#endif  // RBPROF_RECORDER_FLIP_RECORDER_HPP
