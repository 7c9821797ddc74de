// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RECORDER_RECORDER_STATISTICS_HPP
#define RBPROF_RECORDER_RECORDER_STATISTICS_HPP

#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/recorder/slot.hpp>

// What a recorder counts about itself. Two kinds, kept apart: counts since construction, which only grow
// and may be read by any thread at any time, and the report of one flush.

namespace rbprof::inline v0 {

/// Of the last flush that took something.
struct flush_report {
  std::uint64_t records = 0;      ///< taken
  std::uint64_t overflow = 0;     ///< of these, booked on "(overflow)"
  std::uint64_t labels_lost = 0;  ///< of these, without their labels
  std::uint64_t busy = 0;         ///< refused since the flush before: another sampler was inside
  std::uint64_t closed = 0;       ///< refused since the flush before: closed
  nanos waited{0};                ///< for the sampler to leave
  nanos build{0};                 ///< copying into the profile
};

namespace recording {

struct statistics {
  counter busy;            ///< refused: another sampler was inside
  counter closed;          ///< refused: closed
  counter records;         ///< taken by flushes; so are the next five
  counter overflow;        ///< of these, booked on "(overflow)"
  counter labels_lost;     ///< of these, without their labels
  counter unknown_keys;    ///< writes whose stack a flip had made unknown; the caller tried again
  counter cache_hits;      ///< of records, stacks found by their bytes
  counter cache_restarts;  ///< the cache of stacks was full and started over
  counter generations;     ///< of tables, the first included
  counter evictions;       ///< of these, because the one before was too large
  counter flushes;         ///< that took something
  counter timeouts;        ///< flushes that left a slot behind; the only way in which one can fail
  counter flush_ns_min;
  counter flush_ns_max;
  counter flush_ns_total;
  counter wait_ns_total;   ///< of it, for the sampler to leave
  counter build_ns_total;  ///< of it, copying
  counter abandoned;       ///< in a child: what was inherited could not be trusted
  counter self_check;      ///< must stay 0: entries taken and entries counted by the word differ

  void add(const slot_counts& c) noexcept {
    records.add(c.records);
    overflow.add(c.overflow);
    labels_lost.add(c.labels_lost);
    unknown_keys.add(c.unknown_keys);
    cache_hits.add(c.cache_hits);
    cache_restarts.add(c.restarts);
  }
  /// One caller at a time.
  void add(const flush_report& r, nanos took) noexcept {
    const auto ns = [](nanos d) { return static_cast<std::uint64_t>(d.count()); };
    const std::uint64_t least = flush_ns_min.get();
    if (least == 0 || ns(took) < least) flush_ns_min.add(ns(took) - least);  // modulo 2^64
    flush_ns_max.raise_to(ns(took));
    flush_ns_total.add(ns(took));
    wait_ns_total.add(ns(r.waited));
    build_ns_total.add(ns(r.build));
    flushes.add();
  }

  template <class F>
  void each(F&& f) const {
    f("recorder_records", records.get());
    f("recorder_busy", busy.get());
    f("recorder_closed", closed.get());
    f("recorder_overflow", overflow.get());
    f("recorder_labels_lost", labels_lost.get());
    f("recorder_unknown_keys", unknown_keys.get());
    f("recorder_cache_hits", cache_hits.get());
    f("recorder_cache_restarts", cache_restarts.get());
    f("recorder_generations", generations.get());
    f("recorder_evictions", evictions.get());
    f("recorder_flushes", flushes.get());
    f("recorder_flush_timeouts", timeouts.get());
    f("recorder_flush_ns_min", flush_ns_min.get());
    f("recorder_flush_ns_max", flush_ns_max.get());
    f("recorder_flush_ns_total", flush_ns_total.get());
    f("recorder_wait_ns_total", wait_ns_total.get());
    f("recorder_build_ns_total", build_ns_total.get());
    f("recorder_abandoned", abandoned.get());
    f("recorder_self_check", self_check.get());
  }
};

}  // namespace recording
}  // namespace rbprof::inline v0

#endif  // RBPROF_RECORDER_RECORDER_STATISTICS_HPP
