// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_STACK_BOOKING_HPP
#define RBPROF_PROFILER_STACK_BOOKING_HPP

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/context.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/lane_statistics.hpp>
#include <rbprof/profiler/row_writer.hpp>
#include <rbprof/profiler/thread_record.hpp>
#include <rbprof/profiler/turns.hpp>

// One thread's time on one stack: the stack is taken now, or was taken by a signal handler before, and the time up to a
// moment is booked on it.

namespace rbprof::inline v0 {
namespace detail {

/// What a handler's stacks had to say.
struct async_result {
  bool is_all = false;  ///< nothing else of this thread is to be booked now
  nanos cost{0};        ///< of the handler, booked on nobody yet
  nanos charged{0};     ///< of the handler, booked already
};

/// Calls from: the sampler, VM lock held · Blocks: never · Allocates: for stacks not seen before · On failure:
/// a record that the recorder refuses is counted there
template <class V, class T, class C, class R>
class stack_booking {
 public:
  using lock = typename V::lock_type;
  using record_type = thread_record<V, C>;

  stack_booking(V& vm, T& trigger, C& context, R& store, lane_statistics& counts)
      : rows(vm, store, counts), vm_(vm), trigger_(trigger), context_(context), counts_(counts) {}

  row_writer<V, C, R> rows;
  bool alone = true;  ///< there is no other thread

  /// Captures a thread's stack and books it up to `m.due`.
  void book(lock& lk, record_type& rec, const moment& m) {
    book(lk, rec, m, vm_.capture(lk, rec.thread, rows.stacks.room()));
  }

  /// Books the stacks that the handler took on a thread, if there are any. Each stands for the time up to where it was
  /// taken; and the last for the time up to `m.due` when the thread has run on since, since it has met no safe point.
  async_result book_async(lock& lk, record_type& rec, const moment& m) {
    async_result all;
    if constexpr (has_async_capture<V>) {
      for (bool more = true; more;) {
        const auto taken = vm_.take_async(lk, rec.thread, rows.stacks.room());
        // A thread that was waiting before must have its wait booked first, where it stands at its first safe point.
        if (!taken || (rec.woke && rec.resumed <= taken->seen)) break;
        more = taken->more;
        counts_.async_samples.add();
        const bool ran_on = rec.resumed <= taken->seen;
        all.is_all = ran_on;
        if (taken->spent > nanos{0}) {
          all.charged += taken->spent;
          context_.overhead(rec.state, {taken->spent, taken->spent},
                            [&](const row& r) { rows.put_other(rec, r); });
        }
        if (!more && m.running && ran_on && !m.in_gc && m.due > taken->seen) {
          book_taken(lk, rec, m, *taken);  // its cost is before `due`: inside the row
        } else {
          book_taken(lk, rec, {taken->seen, taken->seen, taken->cpu, 0, true, false, !taken->cpu}, *taken);
          all.cost += taken->cost;
        }
      }
    }
    return all;
  }

  /// On a VM that tells nothing of its lock: books threads that have burned cpu since they were last looked at, and
  /// leaves the others, so that a wait stays in one piece. A look is a system call, so it is a few threads at a time, in
  /// turn: who runs is sampled anyhow, and what the others burned is booked on their last stack sooner or later.
  void look_at_others(lock& lk, record_type& sampled, const moment& m, turns<record_type>& others) {
    sampled.cpu_looked = m.cpu.value_or(sampled.cpu_looked);
    others.take(looks_a_sample, [&](record_type& rec) {
      const std::optional<nanos> cpu = &rec != &sampled ? vm_.cpu_time(rec.thread) : std::nullopt;
      if (!cpu || *cpu <= rec.cpu_looked) return;
      rec.cpu_looked = *cpu;
      rec.marks.read();
      (void)book_async(lk, rec, {});
      book(lk, rec, {m.due, m.due, cpu, 0, false, false, false});
    });
  }

  /// A stack that nobody will book would keep the next one from being taken.
  void forget_async(lock& lk) {
    if constexpr (has_async_capture<V>) {
      bool more = true;
      while (more) {
        const auto taken = vm_.take_async(lk, vm_.current(lk), rows.stacks.room());
        more = taken && taken->more;
      }
    }
  }

 private:
  static constexpr std::size_t looks_a_sample = 16;

  void book(lock& lk, record_type& rec, const moment& m, const captured& got) {
    rec.booked_due = m.due;
    if constexpr (requires { trigger_.sees_waits(); }) {
      rec.wait_unseen = rec.wait_unseen || !trigger_.sees_waits();
    }
    if (got.count == 0) {
      context_.settle(vm_, lk, rec.thread, rec.state, m, [&](const row& r) { rows.put_unseen(lk, rec, r); });
      return;
    }
    auto stack = rows.stacks.prepare(vm_, lk, rec.thread, got);
    context_.settle(vm_, lk, rec.thread, rec.state, m,
                    [&](const row& r) { rows.put_seen(lk, rec, stack, r, m.running, alone); });
    if (m.running) rec.last_stack.assign(stack.raw.begin(), stack.raw.end());
  }

  void book_taken(lock& lk, record_type& rec, const moment& m, const async_stack& taken) {
    if (!taken.in_gc) {
      book(lk, rec, m, taken.got);
      return;
    }
    rec.booked_due = m.due;
    context_.settle(vm_, lk, rec.thread, rec.state, m, [&](row r) {
      r.where = row::place::gc;
      rows.put_other(rec, r);
    });
  }

  V& vm_;
  T& trigger_;
  C& context_;
  lane_statistics& counts_;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_STACK_BOOKING_HPP
