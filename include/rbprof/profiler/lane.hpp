// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_LANE_HPP
#define RBPROF_PROFILER_LANE_HPP

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <atomic>
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
#include <rbprof/profiler/bytes.hpp>
#include <rbprof/profiler/lane_statistics.hpp>
#include <rbprof/profiler/row_writer.hpp>
#include <rbprof/profiler/thread_record.hpp>

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

  template <class RecorderOptions>
  explicit lane(const RecorderOptions& options) : store(options), rows_(vm, store, counts) {}
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
    const inside here(*this);
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
        forget_async(lk);
      }
    } else {
      sample_late(lk);
      if constexpr (has_lock_events<V>) sample_woken(lk);
    }
    report_collections(lk);
    drop_caches_if_stale(lk);
  }

  void on_thread(lock& lk, thread th, bool begins) noexcept {
    if (!open_.load(std::memory_order_acquire)) return;
    const inside here(*this);
    if (begins) {
      (void)record_of(lk, th);
      return;
    }
    const auto at = threads_.find(th);
    if (at == threads_.end()) return;
    record_type& rec = *at->second;
    refresh_words(lk, rec);
    (void)book_async(lk, rec, {});
    context.end(vm, lk, th, rec.state, [&](const row& r) {
      if (r.where == row::place::captured) rows_.put_unseen(lk, rec, r);
      else rows_.put_other(rec, r);
    });
    if (latest_ == &rec) latest_ = nullptr;
    threads_.erase(at);
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

  void on_bind(bool on) noexcept { trigger.bound(vm, on); }

  // --- what the profiler calls ---------------------------------------------------------------------------

  /// Lets events in. `others`: threads that are older than the profiler.
  void open(lock& lk, std::size_t max_frames, nanos period) {
    const inside here(*this);
    threads_.clear();
    latest_ = nullptr;
    drop_caches(lk);  // of a run that ended without the VM lock
    rows_.period = period;
    rows_.stacks.resize(max_frames);
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
    const inside here(*this);
    counts.settles.add();
    if (inline_) {
      counts.settles_inline.add();
      if constexpr (has_thread_names<V>) vm.read_thread_names(lk);
    }
    static_cast<void>(trigger.claim(vm, lk));  // this settle is their sample
    const std::uint64_t wanted = settle_wanted_.load(std::memory_order_acquire);
    const mono now = vm.now();
    const thread running = vm.current(lk);
    for (const auto& [th, rec] : threads_) {
      refresh_words(lk, *rec);
      moment m{now, now, std::nullopt, 0, th == running, false, false};
      if (th == running) m.running = rec->resumed <= m.due;
      (void)book_async(lk, *rec, {});
      book(lk, *rec, m);
      report_collections_of(lk, *rec, true);
    }
    collections_pending_ = false;
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
    const inside here(*this);
    threads_.clear();
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
    broken_ = inside_.load(std::memory_order_relaxed) != 0;
    store.after_fork();
    if constexpr (requires { trigger.after_fork_child(vm); }) trigger.after_fork_child(vm);
  }
  /// In a child: the parent was forked in the middle of a sample, by a thread that did not hold the VM lock.
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }

  [[nodiscard]] std::size_t thread_count() const noexcept { return threads_.size(); }
  [[nodiscard]] std::uint64_t describe_failures() const noexcept {
    return rows_.stacks.names().failures();
  }
  /// `f(words, state)` for each thread.
  template <class F>
  void each_thread(lock&, F&& f) const {
    for (const auto& [th, rec] : threads_) f(rec->entry.text, rec->state);
  }

 private:
  /// Says that the lane's tables may be half-changed. Nests: a settle that reads names runs Ruby code.
  class inside {
   public:
    explicit inside(lane& l) noexcept : lane_(l) { lane_.inside_.fetch_add(1, std::memory_order_relaxed); }
    ~inside() { lane_.inside_.fetch_sub(1, std::memory_order_relaxed); }
    inside(const inside&) = delete;

   private:
    lane& lane_;
  };

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
    refresh_words(lk, rec);
    threads_.emplace(th, std::move(made));
    counts.threads_begun.add();
    return rec;
  }

  /// The words of a thread's labels: its own name, else "main", else where it was started.
  void refresh_words(lock& lk, record_type& rec) {
    thread_text t;
    if (!vm.describe(lk, rec.thread, t)) return;
    if (t.name.empty()) t.name = t.main ? "main" : t.started_at;
    thread_text& have = rec.entry.text;
    if (have.id == t.id && have.name == t.name && have.started_at == t.started_at) return;
    have = std::move(t);
    ++rec.entry.version;
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
    m.seen = began;
    m.cpu = vm.cpu_time(running);
    m.cpu_failed = !m.cpu;
    m = rec.ticks.adjust(m, rec.booked_due, rec.resumed);
    if (rec.resumed > m.due) {  // at that tick it waited, where it stands now
      const nanos since = rec.resumed - m.due;
      if (since * 2 > rows_.period * 3) m.due = m.due + since / rows_.period * rows_.period;  // some fell into a rest
      m.running = false;
    }
    const nanos cpu_began = m.cpu.value_or(nanos{0});
    const async_result async = book_async(lk, rec, m);
    if (!async.is_all && !m.in_gc) book(lk, rec, m);
    rec.woke = false;
    if constexpr (!has_lock_events<V>) look_at_others(lk, rec, m);
    const std::optional<nanos> cpu_ended = m.cpu ? vm.cpu_time(running) : std::nullopt;
    const mono ended = vm.now();
    sample_cost cost{std::max(ended - began, nanos{0}),
                     cpu_ended ? std::max(*cpu_ended - cpu_began, nanos{0}) : nanos{0}};
    cost.wall += async.cost;
    cost.cpu += async.cost;
    context.overhead(rec.state, cost, [&](const row& r) { rows_.put_other(rec, r); });
    cost.wall += async.charged;
    cost.cpu += async.charged;
    counts.sampling_cpu_ns.add(static_cast<std::uint64_t>(cost.cpu.count()));
    const nanos hooks = context.take_hook_cost();
    sampler.charge(ended, {cost.wall + hooks, cost.cpu + hooks});
  }

  struct async_result {
    bool is_all = false;  ///< nothing else of this thread is to be booked now
    nanos cost{0};        ///< of the handler, booked on nobody yet
    nanos charged{0};     ///< of the handler, booked already
  };

  /// Books the stacks that the handler took on a thread, if there are any. Each stands for the time up to where it was
  /// taken; and the last for the time up to `m.due` when the thread has run on since, since it has met no safe point.
  async_result book_async(lock& lk, record_type& rec, const moment& m) {
    async_result all;
    if constexpr (has_async_capture<V>) {
      for (bool more = true; more;) {
        const auto taken = vm.take_async(lk, rec.thread, rows_.stacks.room());
        // A thread that was waiting before must have its wait booked first, where it stands at its first safe point.
        if (!taken || (rec.woke && rec.resumed <= taken->seen)) break;
        more = taken->more;
        counts.async_samples.add();
        const bool ran_on = rec.resumed <= taken->seen;
        all.is_all = ran_on;
        if (taken->spent > nanos{0}) {
          all.charged += taken->spent;
          context.overhead(rec.state, {taken->spent, taken->spent}, [&](const row& r) { rows_.put_other(rec, r); });
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

  void book_taken(lock& lk, record_type& rec, const moment& m, const async_stack& taken) {
    if (!taken.in_gc) {
      book(lk, rec, m, taken.got);
      return;
    }
    rec.booked_due = m.due;
    context.settle(vm, lk, rec.thread, rec.state, m, [&](row r) {
      r.where = row::place::gc;
      rows_.put_other(rec, r);
    });
  }

  /// A handler's stack whose tick was claimed before, by the sample of another thread.
  void sample_late(lock& lk) {
    if constexpr (has_async_capture<V>) {
      if (record_type* const rec = find(vm.current(lk))) (void)book_async(lk, *rec, {});
    }
  }

  /// A stack that nobody will book would keep the next one from being taken.
  void forget_async(lock& lk) {
    if constexpr (has_async_capture<V>) {
      bool more = true;
      while (more) {
        const auto taken = vm.take_async(lk, vm.current(lk), rows_.stacks.room());
        more = taken && taken->more;
      }
    }
  }

  /// Captures a thread's stack and books it up to `m.due`.
  void book(lock& lk, record_type& rec, const moment& m) {
    book(lk, rec, m, vm.capture(lk, rec.thread, rows_.stacks.room()));
  }

  void book(lock& lk, record_type& rec, const moment& m, const captured& got) {
    rec.booked_due = m.due;
    if constexpr (requires { trigger.sees_waits(); }) rec.wait_unseen = rec.wait_unseen || !trigger.sees_waits();
    if (got.count == 0) {
      context.settle(vm, lk, rec.thread, rec.state, m,
                     [&](const row& r) { rows_.put_unseen(lk, rec, r); });
      return;
    }
    auto stack = rows_.stacks.prepare(vm, lk, rec.thread, got);
    context.settle(vm, lk, rec.thread, rec.state, m, [&](const row& r) {
      rows_.put_seen(lk, rec, stack, r, m.running, threads_.size() == 1);
    });
    if (m.running) rec.last_stack.assign(stack.raw.begin(), stack.raw.end());
  }

  /// On a VM that tells nothing of its lock: books the threads that have burned cpu since they were last
  /// looked at, and leaves the others, so that a wait stays in one piece.
  void look_at_others(lock& lk, const record_type& sampled, const moment& m) {
    for (const auto& [th, rec] : threads_) {
      if (rec.get() == &sampled) {
        rec->cpu_looked = m.cpu.value_or(rec->cpu_looked);
        continue;
      }
      const std::optional<nanos> cpu = vm.cpu_time(th);
      if (!cpu || *cpu <= rec->cpu_looked) continue;
      rec->cpu_looked = *cpu;
      (void)book_async(lk, *rec, {});
      book(lk, *rec, {m.due, m.due, cpu, 0, false, false, false});
    }
  }

  void report_collections(lock& lk) {
    if (!std::exchange(collections_pending_, false)) return;
    for (const auto& [th, rec] : threads_) report_collections_of(lk, *rec, false);
  }

  void report_collections_of(lock& lk, record_type& rec, bool always) {
    if constexpr (has_gc_events<V>) {
      if (!std::exchange(rec.gc_pending, false) && !always) return;
      context.report_gc(vm, lk, rec.thread, rec.state, [&](const row& r) { rows_.put_other(rec, r); });
    }
  }

  /// The recorder writes to other tables than before: frames of the old ones are let go.
  void drop_caches_if_stale(lock& lk) noexcept {
    if (!rows_.stacks.moved_on()) return;
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
    rows_.stacks.forget(vm, lk);
  }

  row_writer<V, C, R> rows_;
  absl::flat_hash_map<thread, std::unique_ptr<record_type>, bytes_hash> threads_;
  record_type* latest_ = nullptr;  // the thread that last collected
  bool collections_pending_ = false;
  alignas(cache_line) std::atomic<bool> open_{false};
  std::atomic<std::uint64_t> settle_wanted_{0}, settle_done_{0};
  std::atomic<std::uint32_t> inside_{0};  // relaxed: read by the lone thread of a forked child alone
  bool broken_ = false;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_LANE_HPP
