// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_ROW_WRITER_HPP
#define RBPROF_PROFILER_ROW_WRITER_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <rbprof/base/clock.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/context.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/booker.hpp>
#include <rbprof/profiler/lane_statistics.hpp>
#include <rbprof/profiler/thread_record.hpp>
#include <rbprof/profiler/thread_status.hpp>

// From a row of the context to records: on which stack an amount goes, and with which labels.

namespace rbprof::inline v0 {
namespace detail {

/// Calls from: the sampler, VM lock held · Blocks: never · Allocates: for stacks not seen before · On failure:
/// a record that the recorder refuses is counted there
template <class V, class C, class R>
class row_writer {
 public:
  using lock = typename V::lock_type;
  using record_type = thread_record<V, C>;

  row_writer(V& vm, R& store, lane_statistics& counts) : stacks(store), vm_(vm), counts_(counts) {
    gc_thread_.text = {"GC", std::string(placeholder::gc), {}, false};
    own_thread_.text = {"0", "rbprof", {}, false};
  }

  booker<V, R> stacks;
  nanos period{10'000'000};  ///< between two ticks: a longer wait was one

  /// A row whose stack was seen. A thread that has stopped meanwhile has two: what it burned before, on the
  /// stack that it ran with, and the wait, on the stack that it stopped at.
  void put_seen(lock& lk, record_type& rec, typename booker<V, R>::stack& stack, const row& r,
                bool running, bool alone) {
    counts_.thread_samples.add();
    const nanos waited = r.wall - r.cpu;
    const bool long_wait = waited > period;
    if (running && !long_wait) {
      const thread_status s = r.cpu.count() > 0 ? thread_status::had_cpu : stack.waits;
      stacks.put(vm_, lk, rec.thread, stack, labels(rec, s), &rec.path, to_values(r));
      return;
    }
    const bool wait_unseen = std::exchange(rec.wait_unseen, false);
    const bool stack_waits =
        !wait_unseen && (has_lock_events<V> || stack.waits != thread_status::unknown);
    if (waited.count() > 0) {
      const row wait{r.where, nanos{0}, waited, r.samples, {}};
      if (long_wait && !stack_waits && (wait_unseen || !alone)) {
        stacks.put(stand_in::not_running, labels(rec, thread_status::unknown), to_values(wait));
      } else {
        stacks.put(vm_, lk, rec.thread, stack, labels(rec, stack.waits), &rec.path,
                    to_values(wait));
      }
    }
    if (r.cpu.count() == 0) return;
    const row ran{r.where, r.cpu, std::min(r.cpu, r.wall), waited.count() > 0 ? 0 : r.samples, {}};
    label_entry& had_cpu = labels(rec, thread_status::had_cpu);
    if ((running && stack.waits == thread_status::unknown) || rec.last_stack.empty()) {
      stacks.put(vm_, lk, rec.thread, stack, had_cpu, &rec.path, to_values(ran));
    } else {
      auto before = stacks.again(vm_, lk, rec.thread, rec.last_stack);
      stacks.put(vm_, lk, rec.thread, before, had_cpu, nullptr, to_values(ran));
    }
  }

  /// A row of a thread whose stack can't be read now, or never again: what is less than a tick goes where it was
  /// last seen, and so does the cpu of more; what it waited, nobody saw where.
  void put_unseen(lock& lk, record_type& rec, const row& r) {
    counts_.thread_samples.add();
    const nanos ran = std::min(r.cpu, r.wall);
    const nanos waited = r.wall - ran;
    if (waited <= period) {
      put_last(lk, rec, r);
      return;
    }
    const bool hidden = !has(vm_.features(), feature::other_stacks) || rec.wait_unseen;
    stacks.put(hidden ? stand_in::not_running : stand_in::unattributed,
                labels(rec, thread_status::unknown),
                to_values({r.where, nanos{0}, waited, r.samples, {}}));
    if (r.cpu.count() != 0) put_last(lk, rec, {r.where, r.cpu, ran, 0, {}});
  }

  /// A row on the stack that the thread was last seen running with.
  void put_last(lock& lk, record_type& rec, const row& r) {
    label_entry& l = labels(rec, r.cpu.count() > 0 ? thread_status::had_cpu : thread_status::unknown);
    if (rec.last_stack.empty()) {
      stacks.put(stand_in::unattributed, l, to_values(r));
      return;
    }
    auto stack = stacks.again(vm_, lk, rec.thread, rec.last_stack);
    stacks.put(vm_, lk, rec.thread, stack, l, nullptr, to_values(r));
  }

  void put_other(record_type& rec, const row& r) {
    if (r.where == row::place::gc) {
      counts_.gc_samples.add();
      stacks.put(stand_in::gc, gc_labels_of(rec, gc_thread_, r.gc), to_values(r));
    } else if (r.where == row::place::overhead) {
      stacks.put(stand_in::overhead, overhead_labels_of(rec, own_thread_), to_values(r));
    } else {
      stacks.put(stand_in::outside_vm, labels(rec, thread_status::waiting), to_values(r));
    }
  }

 private:
  static label_entry& labels(record_type& rec, thread_status s) {
    return rec.marks.over(rec.by_status[static_cast<std::size_t>(s)]);
  }

  V& vm_;
  lane_statistics& counts_;
  thread_entry gc_thread_, own_thread_;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_ROW_WRITER_HPP
