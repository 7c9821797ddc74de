// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_REPORTS_HPP
#define RBPROF_PROFILER_REPORTS_HPP

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/model/profile_builder.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/profiler/lane_statistics.hpp>
#include <rbprof/profiler/options.hpp>
#include <rbprof/profiler/policy_check.hpp>
#include <rbprof/version.hpp>

// What a profiler says of itself: counts, remarks in a profile, the account of one thread.

namespace rbprof::inline v0 {
namespace detail {

[[nodiscard]] constexpr std::uint64_t outstanding(const tick_counters& t) noexcept {
  return t.scheduled - t.claimed - t.coalesced - t.missed - t.skipped;
}

/// Where the period after `now` begins: what is outstanding comes to its end there.
[[nodiscard]] constexpr tick_counters next_period(tick_counters now) noexcept {
  now.scheduled -= outstanding(now);
  return now;
}

/// `f(name, value)` for each count of a lane; those of ticks from `since` to `now`. In every period
/// ticks = samples + skipped + coalesced + missed + outstanding, also when the VM goes on meanwhile: the counts that
/// add up are read once, and a claim that was not refused is a sample.
template <class Lane, class F>
void each_count(Lane& l, const tick_counters& now, const tick_counters& since, F&& f) {
  const tick_counters t = now - since;
  const std::uint64_t refused = std::min(l.counts.refused.get(), t.claimed);
  f("ticks", t.scheduled);
  f("samples", t.claimed - refused);
  f("skipped", t.skipped + refused);
  f("coalesced", t.coalesced);
  f("missed", t.missed);
  f("outstanding", outstanding(t));
  f("clock_went_back", t.clock_went_back);
  l.counts.each(f);
  f("describe_failures", l.describe_failures());
  if constexpr (Lane::samples_allocations) l.allocations().each_statistic(f);
  each_statistic_of(l.context, f);
  each_statistic_of(l.sampler, f);
  each_statistic_of(l.trigger, f);
  each_statistic_of(l.vm, f);
  each_statistic_of(l.store, f);
}

/// Says in a profile what made it, what was on, what was off and why, and what is missing.
template <class Lane>
void add_remarks(profile_builder& b, Lane& l, const std::vector<capability>& known, bool settled) {
  b.add_comment(std::string("rbprof ") + version_text);
  std::string on = "capabilities:";
  for (const capability& c : known) {
    if (c.on) {
      on += ' ' + c.name;
    } else {
      const bool is_remark = c.name.find(' ') != std::string::npos;  // of the adapter's own
      b.add_comment(is_remark ? c.name : c.name + ": off" + (c.why.empty() ? "" : ", " + c.why));
    }
  }
  b.add_comment(on);
  if constexpr (requires { l.sampler.each_remark([](const char*) {}); }) {
    l.sampler.each_remark([&](std::string_view line) { b.add_comment(line); });
  }
  if constexpr (requires { l.trigger.each_remark([](const char*) {}); }) {
    l.trigger.each_remark([&](std::string_view line) { b.add_comment(line); });
  }
  if (!settled) {
    b.add_comment(
        "not settled: the VM gave no safe point in time, so the time since each thread's last sample is not in here");
  }
}

/// Names and values: the words of a thread, and how far its clocks are booked.
using thread_account = std::vector<std::pair<std::string, std::string>>;

/// Empty when no thread has this id; an empty id means the running one.
template <class Lane>
[[nodiscard]] thread_account inspect(Lane& l, typename Lane::lock& lk, std::string_view id) {
  thread_account found;
  thread_text own;
  if (id.empty() && l.vm.describe(lk, l.vm.current(lk), own)) id = own.id;
  l.each_thread(lk, [&](const thread_text& words, const auto& state) {
    if (words.id != id) return;
    found = {{"thread id", words.id},
             {"thread name", words.name},
             {"thread invoke location", words.started_at}};
    if constexpr (requires { l.context.each_field(state, [](const char*, std::int64_t) {}); }) {
      l.context.each_field(state, [&](const char* name, std::int64_t value) {
        found.emplace_back(name, std::to_string(value));
      });
    }
  });
  return found;
}

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_REPORTS_HPP
