// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_LANE_STATISTICS_HPP
#define RBPROF_PROFILER_LANE_STATISTICS_HPP

#include <cstdint>

#include <rbprof/base/counter.hpp>
#include <rbprof/policy/trigger.hpp>

namespace rbprof::inline v0 {
namespace detail {

/// What a lane counts of its own. Added to by the sampler, read by anyone.
struct lane_statistics {
  counter refused;          // claims that the sampler did not admit; all others are samples
  counter woken_samples;    // of threads that had waited for longer than a tick
  counter async_samples;    // whose stack was taken in a signal handler
  counter safe_points;      // that reached the lane
  counter thread_samples;   // rows of threads
  counter gc_samples;       // rows of the collector
  counter gc_samples_missed_due_to_missing_context;
  counter threads_begun, threads_ended;
  counter settles, settles_inline;
  counter sampling_cpu_ns;
  counter caches_dropped;

  template <class F>
  void each(F&& f) const {
    f("woken_samples", woken_samples.get());
    f("async_samples", async_samples.get());
    f("safe_points", safe_points.get());
    f("thread_samples", thread_samples.get());
    f("gc_samples", gc_samples.get());
    f("gc_samples_missed_due_to_missing_context", gc_samples_missed_due_to_missing_context.get());
    f("threads_begun", threads_begun.get());
    f("threads_ended", threads_ended.get());
    f("settles", settles.get());
    f("settles_inline", settles_inline.get());
    f("sampling_cpu_ns", sampling_cpu_ns.get());
    f("caches_dropped", caches_dropped.get());
  }
  void reset() noexcept {
    for (counter* c : {&refused, &woken_samples, &async_samples, &safe_points, &thread_samples, &gc_samples,
                       &gc_samples_missed_due_to_missing_context, &threads_begun, &threads_ended,
                       &settles, &settles_inline, &sampling_cpu_ns, &caches_dropped}) {
      (void)c->take();
    }
  }
};

[[nodiscard]] constexpr tick_counters operator-(const tick_counters& a,
                                                const tick_counters& b) noexcept {
  return {a.scheduled - b.scheduled, a.claimed - b.claimed, a.coalesced - b.coalesced,
          a.missed - b.missed, a.skipped - b.skipped, a.clock_went_back - b.clock_went_back};
}

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_LANE_STATISTICS_HPP
