// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_CONTEXT_THREAD_TIMES_HPP
#define RBPROF_CONTEXT_THREAD_TIMES_HPP

#include <algorithm>
#include <cstdint>
#include <optional>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/context/hook_ledger.hpp>
#include <rbprof/policy/context.hpp>
#include <rbprof/policy/moment.hpp>

// Cpu and wall time of every thread, the collector's share taken out.
//
// For each thread the state holds how far its two clocks have been booked. A sample moves "booked" forward
// and emits the difference; a collection moves it forward as well and keeps the difference aside for the
// collector's own row; so does the sampler's own cost. Whatever happens in between, the rows of a thread
// therefore add up to "booked" minus its birth:
//
//   wall   birth ----------------- booked ........ due ..... now
//          |<- rows + GC rows ---->|<- next row ->|<- later ->|
//
// * A row ends at the last expired tick (`due`), not at the safe point: what ran after the tick belongs to the
//   next sample. That takes most of the error out of a profile whose safe points come late.
// * Cpu at `due` is the clock's reading now minus (seen − due), since a thread that runs burns cpu at the
//   rate of the wall clock; it is kept between "booked" and the reading. Example: booked 40 ms, reading
//   53 ms, seen 4 ms after due: the row has 49 − 40 = 9 ms, and 4 ms stay for the next one.
// * Where waits are known, a sample of a thread that runs books no more cpu than wall time, and one of a thread that
//   has just waited books none. What a thread burned between its last tick and a wait is thus kept for its next tick,
//   in place of what that tick lacks, since the thread ran only after the wait. Else whoever runs first after a wait
//   would lose half a tick each time to who runs last before it. Example, a tick every 10 ms: tick, 6 ms of cpu, a
//   wait with two ticks in it, 4 ms of cpu, tick: 0 for both of the wait, 4 + 6 = 10 ms for the last.
// * A tick that expires inside a collection is the collector's: the thread is booked up to its own last tick before,
//   or not at all (profiler/collection_ticks.hpp). Else a program that collects for six sevenths of its time would
//   have six sevenths of the rest booked on the frame that happens to come after the collector.
// * A collection's wall time is always measured. Its cpu time is measured while the hook ledger affords the
//   two system calls; else it is min(wall of the collections, cpu of the thread over that span), resolved
//   at the next settle.
//
// Calls from: the sampler (VM lock held); `gc` from inside a collection on the collecting thread.
// Blocks: never · Allocates: never · On failure: a reading that fails or goes back is worth 0, and counted.

namespace rbprof::inline v0 {
namespace context {

struct thread_times_options {
  /// Collections are coalesced into one row for this long, or until a major collection ends.
  nanos gc_report_every{10'000'000};
  /// Share of wall time that cpu readings in the collector's hooks may cost.
  double gc_hook_share = 0.005;
};

class thread_times {
 public:
  using context_concept = context_tag;

  struct thread_state {
    mono wall;                      // booked up to here
    std::optional<nanos> cpu;       // booked up to here; none = the last reading failed
    nanos cpu_reading{0};           // last good reading, to tell a clock that goes back
    std::optional<mono> gc_entered;
    bool gc_measured = false;       // cpu is read on both sides of this collection
    std::optional<nanos> gc_entered_cpu;
    nanos gc_wall{0};               // booked, in no row yet
    nanos gc_cpu{0};                // likewise
    nanos gc_unmeasured{0};         // wall of collections whose cpu is still to be resolved
    std::uint32_t gc_events = 0;    // reports that are due
    gc_facts gc{};                  // of the collection to be reported
  };

  thread_times() noexcept = default;
  explicit thread_times(const thread_times_options& o) noexcept : options_(o) {}

  /// Forgets all that was counted. Call with no thread begun.
  void reset(mono now) noexcept {
    last_report_ = now;
    ledger_.reset(now, options_.gc_hook_share);
  }
  void configure(const thread_times_options& o) noexcept { options_ = o; }

  template <class V>
  void begin(V& v, typename V::lock_type&, typename V::thread_type th, thread_state& st) noexcept {
    st = thread_state{};
    st.wall = v.now();
    st.cpu = read_cpu(v, th, st);
    if (!ledger_.calibrated()) {
      const mono before = v.now();
      for (int i = 0; i < 4; ++i) (void)v.cpu_time(th);
      ledger_.calibrate((v.now() - before) / 4);
    }
  }

  /// Books everything since the last settle up to `m.due`, once. Emits nothing when there is nothing.
  template <class V, class Emit>
  void settle(V& v, typename V::lock_type&, typename V::thread_type th, thread_state& st,
              const moment& m, Emit&& emit) noexcept {
    if (m.in_gc) return;
    row out{row::place::captured, nanos{0}, book_wall(st, m.due), 1, {}};
    std::optional<nanos> reading;
    if (m.cpu_failed) cpu_failures_.add();
    else reading = m.cpu ? note_cpu(*m.cpu, st) : read_cpu(v, th, st);
    const nanos lag = m.running ? std::max(m.seen - m.due, nanos{0}) : nanos{0};
    nanos most = nanos::max();
    if (has_lock_events<V> && m.cpu) most = m.running ? out.wall : nanos{0};
    out.cpu = book_cpu(st, reading, lag, most);
    if (out.cpu.count() != 0 || out.wall.count() != 0) emit(out);
  }

  /// The closing row: books up to now, and what is left of the collector.
  template <class V, class Emit>
  void end(V& v, typename V::lock_type& lk, typename V::thread_type th, thread_state& st,
           Emit&& emit) noexcept {
    const mono now = v.now();
    settle(v, lk, th, st, moment{now, now, std::nullopt, 0, false, false, false}, emit);
    report_gc(v, lk, th, st, emit);
  }

  /// The sampler's own cpu on this thread, so that the program's code is not charged with it. Its wall time
  /// stays with the thread, whose rows thus add up to its life.
  template <class Emit>
  void overhead(thread_state& st, const sample_cost& cost, Emit&& emit) noexcept {
    if (!st.cpu || cost.cpu.count() <= 0) return;
    *st.cpu += cost.cpu;
    emit(row{row::place::overhead, cost.cpu, nanos{0}, 1, {}});
  }

  /// From inside a collection. True at its exit when a report is due: ask for a safe point.
  template <class V>
  [[nodiscard]] bool gc(V& v, typename V::thread_type th, thread_state& st, bool enter) noexcept {
    const mono now = v.now();
    if (enter) {
      st.gc_entered = now;
      st.gc_measured = ledger_.affords(now);
      st.gc_entered_cpu = st.gc_measured ? v.cpu_time(th) : std::nullopt;
      return false;
    }
    if (!st.gc_entered) {
      gc_unpaired_.add();
      return false;
    }
    const nanos wall = std::max(now - *st.gc_entered, nanos{0});
    st.gc_entered.reset();
    st.gc_wall += wall;
    st.wall = st.wall + wall;
    book_gc_cpu(v, th, st, wall);
    return note_gc(v.last_gc(), now, st);
  }

  /// Emits what the collector has used on this thread since the last report.
  template <class V, class Emit>
  void report_gc(V& v, typename V::lock_type&, typename V::thread_type th, thread_state& st,
                 Emit&& emit) noexcept {
    if (st.gc_wall.count() == 0 && st.gc_cpu.count() == 0 && st.gc_unmeasured.count() == 0) return;
    if (st.gc_unmeasured.count() != 0) resolve_gc(st, read_cpu(v, th, st));
    emit(row{row::place::gc, st.gc_cpu, st.gc_wall, std::max(st.gc_events, 1U), st.gc});
    st.gc_wall = st.gc_cpu = st.gc_unmeasured = nanos{0};
    st.gc_events = 0;
  }

  /// Cost of the collector's hooks since the last call, for the one overhead budget.
  [[nodiscard]] nanos take_hook_cost() noexcept { return ledger_.take_cost(); }

  /// `f(name, value)` for each part of a thread's account, for people who look into a running profiler.
  template <class F>
  static void each_field(const thread_state& st, F&& f) {
    f("wall_booked_until_ns", st.wall.ns);
    f("cpu_booked_until_ns", st.cpu ? st.cpu->count() : std::int64_t{-1});
    f("gc_wall_pending_ns", st.gc_wall.count());
    f("gc_cpu_pending_ns", st.gc_cpu.count());
    f("gc_unmeasured_ns", st.gc_unmeasured.count());
    f("gc_events_pending", std::int64_t{st.gc_events});
  }

  /// `f(name, count)` for each count of this period.
  template <class F>
  void each_statistic(F&& f) const {
    f("cpu_clock_failures", cpu_failures_.get());
    f("cpu_clock_went_back", cpu_back_.get());
    f("gc_unpaired", gc_unpaired_.get());
    f("gc_collections", gc_collections_.get());
    f("gc_cpu_measured_ns", gc_cpu_measured_.get());
    f("gc_cpu_estimated_ns", gc_cpu_estimated_.get());
  }
  void reset_statistics() noexcept {
    for (counter* c : {&cpu_failures_, &cpu_back_, &gc_unpaired_, &gc_collections_,
                       &gc_cpu_measured_, &gc_cpu_estimated_}) {
      (void)c->take();
    }
  }

 private:
  /// A clock that went back by more than this has been set anew: booking starts over from there.
  static constexpr nanos small_step{1'000'000'000};

  static nanos book_wall(thread_state& st, mono due) noexcept {
    const nanos d = due - st.wall;
    if (d.count() >= 0) {
      st.wall = due;
      return d;
    }
    if (-d > small_step) st.wall = due;
    return nanos{0};
  }

  template <class V>
  std::optional<nanos> read_cpu(V& v, typename V::thread_type th, thread_state& st) noexcept {
    const std::optional<nanos> reading = v.cpu_time(th);
    if (!reading) {
      cpu_failures_.add();
      return std::nullopt;
    }
    return note_cpu(*reading, st);
  }

  std::optional<nanos> note_cpu(nanos reading, thread_state& st) noexcept {
    if (reading < st.cpu_reading) cpu_back_.add();
    st.cpu_reading = reading;
    return reading;
  }

  /// Two good readings make a difference: after one that failed, the next only sets the base.
  nanos book_cpu(thread_state& st, std::optional<nanos> reading, nanos lag, nanos most) noexcept {
    if (!reading) {
      st.cpu.reset();
      st.gc_unmeasured = nanos{0};
      return nanos{0};
    }
    if (!st.cpu) {
      st.cpu = reading;
      return nanos{0};
    }
    resolve_gc(st, reading);
    if (*reading <= *st.cpu) {
      if (*st.cpu - *reading > small_step) st.cpu = reading;
      return nanos{0};
    }
    const nanos to = std::clamp(*reading - lag, *st.cpu, *reading);
    nanos d = to - *st.cpu;
    if (d - std::min(d, most) < small_step) d = std::min(d, most);
    *st.cpu += d;
    return d;
  }

  template <class V>
  void book_gc_cpu(V& v, typename V::thread_type th, thread_state& st, nanos wall) noexcept {
    if (!st.gc_measured) {
      st.gc_unmeasured += wall;
      return;
    }
    const std::optional<nanos> at_exit = v.cpu_time(th);
    if (!at_exit || !st.gc_entered_cpu) {  // a broken pair is worth 0, as any reading that fails
      cpu_failures_.add();
      return;
    }
    const nanos cpu = std::clamp(*at_exit - *st.gc_entered_cpu, nanos{0}, wall);
    st.gc_cpu += cpu;
    if (st.cpu) *st.cpu += cpu;
    gc_cpu_measured_.add(static_cast<std::uint64_t>(cpu.count()));
  }

  void resolve_gc(thread_state& st, std::optional<nanos> reading) noexcept {
    if (st.gc_unmeasured.count() == 0) return;
    const nanos whole = reading && st.cpu ? std::max(*reading - *st.cpu, nanos{0}) : nanos{0};
    const nanos cpu = std::min(st.gc_unmeasured, whole);
    st.gc_unmeasured = nanos{0};
    st.gc_cpu += cpu;
    if (st.cpu) *st.cpu += cpu;
    gc_cpu_estimated_.add(static_cast<std::uint64_t>(cpu.count()));
  }

  bool note_gc(const gc_facts& facts, mono now, thread_state& st) noexcept {
    gc_collections_.add();
    const bool major_waits = st.gc_events != 0 && st.gc.major_ended;  // its words are worth more
    if (!major_waits || facts.major_ended) st.gc = facts;
    const bool due = facts.major_ended || now - last_report_ >= options_.gc_report_every;
    if (!due) return false;
    last_report_ = now;
    ++st.gc_events;
    return true;
  }

  thread_times_options options_;
  hook_ledger ledger_;
  mono last_report_;
  counter cpu_failures_, cpu_back_, gc_unpaired_, gc_collections_;
  counter gc_cpu_measured_, gc_cpu_estimated_;
};

}  // namespace context
}  // namespace rbprof::inline v0

#endif  // RBPROF_CONTEXT_THREAD_TIMES_HPP
