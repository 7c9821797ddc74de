// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RECORDER_SLOT_HPP
#define RBPROF_RECORDER_SLOT_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/id.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/recorder/chunked.hpp>
#include <rbprof/recorder/tables.hpp>

// What one of the two slots of a recorder holds: sums by (stack, labels), and the tables that those ids
// belong to. It belongs to the sampler while it is hot, between enter and leave, and to the flusher from
// the moment it has drained until the next flip; the flip word says whose it is.

namespace rbprof::inline v0 {
namespace recording {

struct slot_row {
  stack_id stack;
  label_set_id labels;
  std::uint32_t next = 0;
  values amount;
};

/// Plain counts of the sampler in this slot; added up when the slot is taken.
struct slot_counts {
  std::uint64_t entries = 0;       ///< accepted enter()s, with or without a record
  std::uint64_t records = 0;       ///< records written
  std::uint64_t overflow = 0;      ///< of these, booked on "(overflow)"
  std::uint64_t labels_lost = 0;   ///< of these, without the labels that they should have
  std::uint64_t unknown_keys = 0;  ///< writes refused: key unknown and no frames
  std::uint64_t cache_hits = 0;    ///< stacks found by their bytes
  std::uint64_t restarts = 0;      ///< of the cache of stacks, because it was full
};

class slot {
 public:
  /// Takes up at most `byte_limit` bytes. Calls from: the flusher · Allocates: yes
  slot(std::size_t byte_limit, std::shared_ptr<tables> names)
      : names_(std::move(names)),
        purse_(byte_limit),
        rows_(purse_, byte_limit / sizeof(slot_row), byte_limit / sizeof(slot_row)),
        room_(rows_.most() - rows_.most() / 8) {
    reserve_last_resort();
  }

  [[nodiscard]] tables& names() noexcept { return *names_; }
  [[nodiscard]] const tables& names() const noexcept { return *names_; }

  /// Adds up. What does not fit goes to the overflow stack, with its labels if that fits: no value is lost.
  ///
  /// Calls from:  the sampler, inside · Blocks: never
  /// Allocates:   a chunk, until there were as many rows before · On failure: counted, see slot_counts
  void add(stack_id stack, label_set_id labels, const values& amount) noexcept {
    ++counts.records;
    std::uint32_t at = row_of(stack, labels, room_);
    if (at == 0) {
      stack = tables::overflow_stack;
      at = row_of(stack, labels, ~std::size_t{0});
    }
    if (at == 0) {
      at = last_resort;
      if (labels) ++counts.labels_lost;
    }
    if (stack == tables::overflow_stack) ++counts.overflow;
    rows_[at].amount += amount;
  }

  /// Calls `f(stack_id, label_set_id, const values&)` for each sum. Calls from: the flusher, drained.
  template <class F>
  void each(F&& f) const {
    for (std::uint32_t i = last_resort; i < rows_.size(); ++i) {
      f(rows_[i].stack, rows_[i].labels, rows_[i].amount);
    }
  }

  /// Empties it for its next turn, keeping its memory. Calls from: the flusher, drained.
  void reset(std::shared_ptr<tables> names) noexcept {
    names_ = std::move(names);
    rows_.clear(hash_of);
    counts = {};
    reserve_last_resort();
  }
  [[nodiscard]] const std::shared_ptr<tables>& shared_names() const noexcept { return names_; }

  slot_counts counts;  ///< of the sampler while hot
  mono start;          ///< of the flusher alone: when it became hot
  std::int64_t start_epoch_ns = 0;

 private:
  static constexpr std::uint32_t last_resort = 1;  ///< the row (overflow, no labels), always there

  [[nodiscard]] static std::size_t hash_of(const slot_row& r) noexcept {
    return mixed(r.stack.value, r.labels.value);
  }
  void reserve_last_resort() noexcept { (void)row_of(tables::overflow_stack, {}, room_); }

  /// The row of these, made if there are fewer than `most`; 0 = does not fit.
  [[nodiscard]] std::uint32_t row_of(stack_id stack, label_set_id labels,
                                     std::size_t most) noexcept {
    const slot_row wanted{stack, labels, 0, {}};
    const std::size_t hash = hash_of(wanted);
    const std::uint32_t known =
        rows_.find(hash, [&](const slot_row& r) { return r.stack == stack && r.labels == labels; });
    if (known != 0) return known;
    return rows_.size() < most ? rows_.insert(hash, wanted) : 0;
  }

  std::shared_ptr<tables> names_;
  byte_purse purse_;
  chained<slot_row> rows_;
  std::size_t room_;  // rows of stacks; the rest is for the overflow stack with its labels
};

}  // namespace recording
}  // namespace rbprof::inline v0

#endif  // RBPROF_RECORDER_SLOT_HPP
