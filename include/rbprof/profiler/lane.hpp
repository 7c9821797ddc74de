// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_LANE_HPP
#define RBPROF_PROFILER_LANE_HPP

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/base/cache_line.hpp>
#include <rbprof/base/clock.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/context.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/sampler.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/allocation_booking.hpp>
#include <rbprof/profiler/bytes.hpp>
#include <rbprof/profiler/lane_statistics.hpp>
#include <rbprof/profiler/occupancy.hpp>
#include <rbprof/profiler/stack_booking.hpp>
#include <rbprof/profiler/thread_record.hpp>
#include <rbprof/profiler/turns.hpp>

// A lane is one VM lock: one writer at a time, with its own policies, threads, caches and recorder. It is what
// an adapter calls back, and it lives as long as the process, because hooks and jobs of a VM may come late.
//
//   ticker ──asks──▶ VM ──▶ on_safe_point: claim ticks ─▶ admit? ─▶ sample the thread that runs
//   VM ──▶ on_gc, on_thread, on_running: keep the clocks of that thread right
//   flusher ──asks──▶ on_safe_point or inline ──▶ settle: book every thread up to now
//
// Who is sampled at a tick: the thread that runs. A thread that does not run still has the stack at which it
// stopped; its time up to the last tick is booked when it gets the lock again (the adapter asks for a safe point then,
// if a tick has expired meanwhile) or at the next settle. Where a VM tells nothing of its lock, every other thread is
// looked at: what cpu it burned is booked on the stack it was last seen with.
//
// Every `on_` function: Calls from: the VM, lock held (on_gc: inside the collector) · Blocks: never ·
// Allocates: for what is new, never in on_gc · On failure: counts

namespace rbprof::inline v0 {
namespace detail {

// Unconstrained: policy_check has told what does not fit, and one line is enough.
template <class V, class T, class S, class C, class R>
class lane {
 public:
  using lock = typename V::lock_type;
  using thread = typename V::thread_type;
  static constexpr bool samples_allocations = has_allocation_events<V> && has_event_sampler<S>;

  template <class RecorderOptions>
  explicit lane(const RecorderOptions& options)
      : store(options), booking_(vm, trigger, context, store, counts), allocations_(vm, booking_.rows.stacks) {}
  lane(const lane&) = delete;

  V vm;
  [[no_unique_address]] T trigger;
  [[no_unique_address]] S sampler;
  [[no_unique_address]] C context;
  R store;
  lane_statistics counts;

  // --- what the adapter calls ----------------------------------------------------------------------------

  void on_safe_point(lock& lk) noexcept {
    if (!open_.load(std::memory_order_acquire)) return;  // pairs with open(), shut()
    const inside here(inside_);
    counts.safe_points.add();
    if (settle_wanted_.load(std::memory_order_acquire) !=  // pairs with ask_settle()
        settle_done_.load(std::memory_order_relaxed)) {
      settle(lk);
      return;
    }
    const moment m = trigger.claim(vm, lk);
    if (m.ticks != 0) {
      if (sampler.admit(vm.now())) {
        sample(lk, m);
      } else {
        counts.refused.add();
        booking_.forget_async(lk);
      }
    } else {
      sample_late(lk);
      if constexpr (has_lock_events<V>) sample_woken(lk);
    }
    report_collections(lk);
    put_rest_of_allocations(lk);
    drop_caches_if_stale(lk);
  }

  void on_thread(lock& lk, thread th, bool begins) noexcept {
    if (!open_.load(std::memory_order_acquire)) return;
    const inside here(inside_);
    if (begins) {
      (void)record_of(lk, th);
      return;
    }
    const auto at = threads_.find(th);
    if (at == threads_.end()) return;
    record_type& rec = *at->second;
    put_rest_of_allocations(lk);  // takes time of this thread, and names its labels
    refresh_words(vm, lk, rec);
    (void)booking_.book_async(lk, rec, {});
    context.end(vm, lk, th, rec.state, [&](const row& r) {
      if (r.where == row::place::captured) booking_.rows.put_unseen(lk, rec, r);
      else booking_.rows.put_other(rec, r);
    });
    if (latest_ == &rec) latest_ = nullptr;
    others_.remove(rec);
    threads_.erase(at);
    booking_.alone = threads_.size() <= 1;
    counts.threads_ended.add();
    drop_caches_if_stale(lk);
  }

  void on_gc(thread th, bool enters) noexcept {
    if constexpr (has_gc_events<V>) {
      if (!open_.load(std::memory_order_acquire)) return;
      record_type* rec = latest_ != nullptr && latest_->thread == th ? latest_ : find(th);
      if (rec == nullptr) {
        counts.gc_samples_missed_due_to_missing_context.add(enters ? 1 : 0);
        return;
      }
      latest_ = rec;
      if (enters) rec->ticks.enter(trigger.last_due(), rec->booked_due, vm.now());
      else rec->ticks.exit(trigger.last_due(), vm.now());
      if (context.gc(vm, th, rec->state, enters)) {
        rec->gc_pending = true;
        collections_pending_ = true;
        (void)vm.request_safe_point();
      }
    }
  }

  void on_running(lock&, thread th) noexcept {
    record_type* const rec = find(th);
    if (rec == nullptr || trigger.last_due() <= rec->booked_due) return;
    rec->resumed = vm.now();  // while it waited a tick expired, which another thread may have taken
    rec->woke = true;
    (void)vm.request_safe_point();
  }

  /// A new object of the running thread. One that is no sample costs two loads and a countdown. No caches are dropped
  /// here: what is deferred still needs its frames.
  template <class Object> requires(samples_allocations)
  void on_allocation(lock& lk, Object object) noexcept {
    if (!allocations_.is_on() || !is_open()) return;
    if (inside_.here()) return allocations_.count_own();
    if (!sampler.events.count()) return;
    if (inside_.any()) return allocations_.count_unsampled();  // another thread, while names are read for a settle
    const inside here(inside_);
    allocations_.sample(lk, find(vm.current(lk)), object, sampler.events);
  }
  /// False: the adapter may leave its hook out.
  [[nodiscard]] bool wants_allocations() const noexcept requires(samples_allocations) { return allocations_.is_on(); }
  [[nodiscard]] bool wants_live_objects() const noexcept { return allocations_.heap() != nullptr; }

  void on_bind(bool on) noexcept { trigger.bound(vm, on); }

  // --- what the profiler calls ---------------------------------------------------------------------------

  /// Lets events in. `others`: threads that are older than the profiler.
  void open(lock& lk, std::size_t max_frames, nanos period) {
    const inside here(inside_);
    clear(lk);  // what a run that ended without the VM lock has left
    booking_.rows.period = period;
    booking_.rows.stacks.resize(max_frames);
    context.reset(vm.now());
    sampler.reset(vm.now());
    counts.reset();
    open_.store(true, std::memory_order_release);
    if constexpr (has_thread_list<V>) {
      vm.each_thread(lk, [&](thread th) { (void)record_of(lk, th); });
    }
    (void)record_of(lk, vm.current(lk));
  }
  void shut() noexcept { open_.store(false, std::memory_order_release); }
  [[nodiscard]] bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }

  /// Books every thread up to now. `inline_`: the host itself called, so names may be read anew.
  void settle(lock& lk, bool inline_ = false) noexcept {
    const inside here(inside_);
    counts.settles.add();
    if (inline_) {
      counts.settles_inline.add();
      if constexpr (has_thread_names<V>) vm.read_thread_names(lk);
    }
    static_cast<void>(trigger.claim(vm, lk));  // this settle is their sample
    const std::uint64_t wanted = settle_wanted_.load(std::memory_order_acquire);
    const mono now = vm.now();
    const thread running = vm.current(lk);
    put_rest_of_allocations(lk);  // before the cpu of its thread is read
    for (const auto& [th, rec] : threads_) {
      refresh_words(vm, lk, *rec);
      if (th != running) rec->marks.read();
      else rec->marks.read_here();
      moment m{now, now, std::nullopt, 0, th == running, false, false};
      if (th == running) m.running = rec->resumed <= m.due;
      (void)booking_.book_async(lk, *rec, {});
      booking_.book(lk, *rec, m);
      report_collections_of(lk, *rec, true);
    }
    collections_pending_ = false;
    if constexpr (samples_allocations) allocations_.end_period(lk, sampler.events);
    drop_caches_if_stale(lk);
    settle_done_.store(wanted, std::memory_order_release);  // pairs with settled()
  }

  /// Asks that the next safe point settles; the number to wait for with `settled`.
  [[nodiscard]] std::uint64_t ask_settle() noexcept {
    return settle_wanted_.fetch_add(1, std::memory_order_release) + 1;  // pairs with on_safe_point
  }
  [[nodiscard]] bool settled(std::uint64_t number) const noexcept {
    return settle_done_.load(std::memory_order_acquire) >= number;  // pairs with on_safe_point
  }

  /// Drops every thread and name. After `shut` and a detach.
  void clear(lock& lk) noexcept {
    const inside here(inside_);
    put_rest_of_allocations(lk);
    threads_.clear();
    others_.clear();
    latest_ = nullptr;
    drop_caches(lk);
  }

  // --- fork: docs at lane_pool ---------------------------------------------------------------------------

  void before_fork(nanos patience) noexcept {
    if constexpr (requires { store.before_fork(patience); }) (void)store.before_fork(patience);
  }
  void after_fork_parent() noexcept {
    if constexpr (requires { store.after_fork_parent(); }) store.after_fork_parent();
  }
  void after_fork_child() noexcept {
    shut();
    settle_done_.store(settle_wanted_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    broken_ = inside_.any();
    store.after_fork();
    if constexpr (requires { trigger.after_fork_child(vm); }) trigger.after_fork_child(vm);
  }
  /// In a child: the parent was forked in the middle of a sample, by a thread that did not hold the VM lock.
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }

  [[nodiscard]] allocation_booking<V, C, R>& allocations() noexcept { return allocations_; }
  [[nodiscard]] std::size_t thread_count() const noexcept { return threads_.size(); }
  [[nodiscard]] std::uint64_t describe_failures() const noexcept {
    return booking_.rows.stacks.names().failures();
  }
  /// `f(words, state)` for each thread.
  template <class F>
  void each_thread(lock&, F&& f) const {
    for (const auto& [th, rec] : threads_) f(rec->entry.text, rec->state);
  }

 private:
  using inside = occupancy::hold;  // the lane's tables may be half-changed
  using record_type = thread_record<V, C>;

  [[nodiscard]] record_type* find(thread th) noexcept {
    const auto at = threads_.find(th);
    return at == threads_.end() ? nullptr : at->second.get();
  }

  record_type& record_of(lock& lk, thread th) {
    if (record_type* known = find(th)) return *known;
    auto made = std::make_unique<record_type>(th);
    record_type& rec = *made;
    context.begin(vm, lk, th, rec.state);
    refresh_words(vm, lk, rec);
    if constexpr (!has_lock_events<V>) others_.add(rec);
    threads_.emplace(th, std::move(made));
    booking_.alone = threads_.size() == 1;
    counts.threads_begun.add();
    return rec;
  }

  /// A thread that has just woken still stands where it waited: its wait is booked there.
  void sample_woken(lock& lk) {
    record_type* const rec = find(vm.current(lk));
    if (rec == nullptr || !rec->woke) return;
    if (!sampler.admit_wake(vm.now())) {
      rec->wait_unseen = true;
      return;
    }
    counts.woken_samples.add();
    sample(lk, {trigger.last_due(), {}, std::nullopt, 0, false, false, false});
  }

  void sample(lock& lk, moment m) {
    const mono began = vm.now();
    const thread running = vm.current(lk);
    record_type& rec = record_of(lk, running);
    rec.marks.read_here();
    m.seen = began;
    m.cpu = vm.cpu_time(running);
    m.cpu_failed = !m.cpu;
    m = rec.ticks.adjust(m, rec.booked_due, rec.resumed);
    if (rec.resumed > m.due) {  // at that tick it waited, where it stands now
      const nanos since = rec.resumed - m.due;
      const nanos period = booking_.rows.period;
      if (since * 2 > period * 3) m.due = m.due + since / period * period;  // some fell into a rest
      m.running = false;
    }
    const nanos cpu_began = m.cpu.value_or(nanos{0});
    const async_result async = booking_.book_async(lk, rec, m);
    if (!async.is_all && !m.in_gc) booking_.book(lk, rec, m);
    rec.woke = false;
    if constexpr (!has_lock_events<V>) booking_.look_at_others(lk, rec, m, others_);
    const std::optional<nanos> cpu_ended = m.cpu ? vm.cpu_time(running) : std::nullopt;
    const mono ended = vm.now();
    sample_cost cost{std::max(ended - began, nanos{0}),
                     cpu_ended ? std::max(*cpu_ended - cpu_began, nanos{0}) : nanos{0}};
    cost.wall += async.cost;
    cost.cpu += async.cost;
    context.overhead(rec.state, cost, [&](const row& r) { booking_.rows.put_other(rec, r); });
    cost.wall += async.charged;
    cost.cpu += async.charged;
    counts.sampling_cpu_ns.add(static_cast<std::uint64_t>(cost.cpu.count()));
    const nanos hooks = context.take_hook_cost();
    sampler.charge(ended, {cost.wall + hooks, cost.cpu + hooks});
  }

  /// A handler's stack whose tick was claimed before, by the sample of another thread.
  void sample_late(lock& lk) {
    if constexpr (has_async_capture<V>) {
      if (record_type* const rec = find(vm.current(lk))) (void)booking_.book_async(lk, *rec, {});
    }
  }

  void put_rest_of_allocations(lock& lk) {
    if constexpr (samples_allocations) allocations_.put_rest(lk, sampler.events);
  }

  void report_collections(lock& lk) {
    if (!std::exchange(collections_pending_, false)) return;
    for (const auto& [th, rec] : threads_) report_collections_of(lk, *rec, false);
  }

  void report_collections_of(lock& lk, record_type& rec, bool always) {
    if constexpr (has_gc_events<V>) {
      if (!std::exchange(rec.gc_pending, false) && !always) return;
      context.report_gc(vm, lk, rec.thread, rec.state, [&](const row& r) { booking_.rows.put_other(rec, r); });
    }
  }

  /// The recorder writes to other tables than before: frames of the old ones are let go.
  void drop_caches_if_stale(lock& lk) noexcept {
    if (!booking_.rows.stacks.moved_on()) return;
    drop_caches(lk);
    counts.caches_dropped.add();
  }

  /// Everything that refers to a frame of the VM goes at once: a handle that is not kept alive may be that of
  /// another frame the next time it is seen.
  void drop_caches(lock& lk) noexcept {
    for (const auto& [th, rec] : threads_) {
      rec->path.steps.clear();
      rec->last_stack.clear();
    }
    allocations_.forget_keys();
    booking_.rows.stacks.forget(vm, lk);
  }

  stack_booking<V, T, C, R> booking_;
  allocation_booking<V, C, R> allocations_;
  absl::flat_hash_map<thread, std::unique_ptr<record_type>, bytes_hash> threads_;
  turns<record_type> others_;  // all threads, where each must be looked at
  record_type* latest_ = nullptr;  // the thread that last collected
  bool collections_pending_ = false;
  alignas(cache_line) std::atomic<bool> open_{false};
  std::atomic<std::uint64_t> settle_wanted_{0}, settle_done_{0};
  occupancy inside_;
  bool broken_ = false;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_LANE_HPP
