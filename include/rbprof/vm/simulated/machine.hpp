// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_SIMULATED_MACHINE_HPP
#define RBPROF_VM_SIMULATED_MACHINE_HPP

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/vm/simulated/clock.hpp>
#include <rbprof/vm/simulated/program.hpp>
#include <rbprof/vm/simulated/thread.hpp>
#include <rbprof/vm/simulated/truth.hpp>

// The engine of the simulated VM: it runs programs of steps on a virtual clock, one thread at a time.
//
//            ┌── quantum over, others are ready ──┐
//            ▼                                    │
//   ready (first in, first out) ──takes lock──▶ running ──wait──▶ waiting (ordered by instant)
//            ▲                                                       │
//            └───────────────────────── its time is over ────────────┘
//
// A thread that gets the lock back is announced, and a safe point that was asked for meanwhile is served
// before anything else, while the stack that it waited with is still on top; so real VMs do it. All is
// deterministic: the same programs give the same nanoseconds. What each step does is in machine_steps.hpp.

namespace rbprof::inline v0 {
namespace vm {

/// What the machine tells its adapter; all may be null.
struct simulated_events {
  void* self = nullptr;
  void (*safe_point)(void*) noexcept = nullptr;
  void (*thread)(void*, std::uint32_t, bool) noexcept = nullptr;
  void (*gc)(void*, std::uint32_t, bool) noexcept = nullptr;
  void (*running)(void*, std::uint32_t) noexcept = nullptr;
  void (*allocation)(void*, const std::string& class_name) noexcept = nullptr;
};

struct simulated_options {
  mono start{1'000'000'000};
  nanos quantum{100'000'000};  ///< after which a running thread makes way for one that is ready
};

/// Calls from:  the thread that drives it; `ask` and `holder` also from any other
/// Blocks:      never
/// Allocates:   yes
/// On failure:  cannot fail
class simulated_machine {
 public:
  static constexpr std::uint32_t main_thread = 1;  ///< the host's own: it lives as long as the VM

  explicit simulated_machine(const simulated_options& o = {}) : options_(o), clock_(o.start) {
    add_thread({}, "");
    main().begin(o.start);
    main().is = simulated_thread::state::done;
  }
  simulated_machine(const simulated_machine&) = delete;

  // --- driving -------------------------------------------------------------------------------------------

  /// Appends to the program of a thread that has not ended.
  void append(std::uint32_t th, simulated_program program);
  /// Runs until every program is at its end.
  void run() { run_until({std::numeric_limits<std::int64_t>::max()}); }
  void run_for(nanos d) { run_until(clock_.now() + d); }
  /// Runs until the true time is `limit`, or every program is at its end. May end inside a step, also inside
  /// a native call, since that may be the host's own; not inside a collection.
  void run_until(mono limit);
  /// The host runs code of its own on the first thread, between two runs; the VM can't see it.
  void run_outside(nanos cpu, nanos wall);
  /// Calls `fn` each `period` of true time from now on, as if the thread that runs were interrupted.
  std::uint64_t every(nanos period, std::function<void()> fn) {
    return clock_.add(clock_.now() + period, period, std::move(fn));
  }
  /// Calls `fn` once, at the true time `t`.
  std::uint64_t at(mono t, std::function<void()> fn) {
    return clock_.add(t, nanos{0}, std::move(fn));
  }
  void cancel(std::uint64_t timer) { clock_.remove(timer); }

  void step_clock(nanos by) noexcept { clock_.jump(by); }
  void fail_cpu_clock(std::uint32_t th, std::uint64_t readings) {
    of(th)->cpu_failures += readings;
  }
  void step_cpu_clock(std::uint32_t th, nanos by) { of(th)->cpu_fault += by; }

  // --- looking -------------------------------------------------------------------------------------------

  [[nodiscard]] mono true_now() const noexcept { return clock_.now(); }
  [[nodiscard]] bool finished() const noexcept {
    return unfinished_ == 0 && main().is == simulated_thread::state::done;
  }
  /// Ids of threads are 1, 2, 3... in the order of their spawning; 1 is the host's.
  [[nodiscard]] std::uint32_t thread_count() const noexcept {
    return static_cast<std::uint32_t>(threads_.size());
  }
  /// What a thread did up to now.
  [[nodiscard]] const simulated_truth& truth(std::uint32_t th) {
    of(th)->book(clock_.now());
    return of(th)->truth;
  }

 protected:
  ~simulated_machine() = default;

  void listen(const simulated_events& e) noexcept { events_ = e; }
  [[nodiscard]] mono shown() const noexcept { return clock_.shown(); }
  /// Null when there is no such thread.
  [[nodiscard]] simulated_thread* of(std::uint32_t th) noexcept {
    return th == 0 || th > threads_.size() ? nullptr : threads_[th - 1].get();
  }
  [[nodiscard]] const std::vector<std::unique_ptr<simulated_thread>>& threads() const noexcept {
    return threads_;
  }
  /// Who has the VM lock; 0 = nobody.
  [[nodiscard]] std::uint32_t holder() const noexcept {
    return holder_.load(std::memory_order_relaxed);  // a snapshot: it may be old when it arrives
  }
  [[nodiscard]] std::uint32_t current() const noexcept {
    return holder() == 0 ? main_thread : holder();
  }
  /// Asks for a safe point.
  [[nodiscard]] request_result ask() noexcept {
    requests_.fetch_add(1, std::memory_order_relaxed);
    if (wanted_.exchange(true, std::memory_order_acq_rel)) return request_result::pending;
    const bool runs = active_.load(std::memory_order_relaxed) && holder() != 0;
    return runs ? request_result::accepted : request_result::idle;
  }
  /// True when the calling thread drives the VM and the VM may be called right now.
  [[nodiscard]] bool lock_is_ours() const noexcept {
    return std::this_thread::get_id() == driver_ && !active_.load(std::memory_order_relaxed);
  }
  void tell_allocations(const std::string& class_name, std::uint64_t n) {
    if (events_.allocation == nullptr) return;
    for (std::uint64_t i = 0; i < n; ++i) {
      living_[class_name].push_back(++newest_object_);
      alive_.insert(newest_object_);
      events_.allocation(events_.self, class_name);
    }
  }
  /// Time passes for the profiler, on the thread that has the lock.
  void spend(const simulated_times& cost);
  /// Of the object that is being told of; whether it lives; collections so far.
  [[nodiscard]] std::uint64_t newest_object() const noexcept { return newest_object_; }
  [[nodiscard]] bool is_alive(std::uint64_t object) const noexcept { return alive_.contains(object); }
  [[nodiscard]] std::uint64_t collection_count() const noexcept { return collections_; }
  [[nodiscard]] const gc_facts& latest_gc() const noexcept { return latest_gc_; }

 private:
  using state = simulated_thread::state;
  using kind = simulated_step::kind;

  [[nodiscard]] simulated_thread& main() const noexcept { return *threads_.front(); }
  void add_thread(const simulated_program& program, std::string name);
  void make_ready(simulated_thread& t) {
    t.is = state::ready;
    ready_.push_back(t.id);
  }
  void give_up_lock(simulated_thread& t) {
    t.requests_seen = requests_.load(std::memory_order_relaxed);
    holder_.store(0, std::memory_order_relaxed);
  }
  void make_way(simulated_thread& t);
  void take_lock();
  void announce(simulated_thread& t);
  void idle(mono limit);
  void pass(nanos by);
  void pass_at(const simulated_times& time, simulated_thread::place where);
  void serve();
  void slice(simulated_thread& t, mono limit);
  void enter(simulated_thread& t, const simulated_step& s);
  void timed(simulated_thread& t, const simulated_step& s, mono limit);
  void leave(simulated_thread& t, const simulated_step& s);
  void at_once(simulated_thread& t, const simulated_step& s);
  void wait(simulated_thread& t, const simulated_step& s);
  void finish(simulated_thread& t);

  simulated_options options_;
  simulated_clock clock_;
  simulated_events events_;
  std::vector<std::unique_ptr<simulated_thread>> threads_;
  std::deque<std::uint32_t> ready_;
  std::set<std::pair<mono, std::uint32_t>> asleep_;
  std::uint32_t unfinished_ = 0;  // threads whose program is not at its end
  mono quantum_end_;
  gc_facts latest_gc_;
  std::uint64_t collections_ = 0;
  std::uint64_t newest_object_ = 0;  // numbers of objects that were told of
  std::map<std::string, std::vector<std::uint64_t>> living_;
  std::set<std::uint64_t> alive_;
  std::thread::id driver_ = std::this_thread::get_id();
  std::atomic<std::uint32_t> holder_{main_thread};
  std::atomic<bool> active_{false};  // inside run_until
  std::atomic<bool> wanted_{false};  // a safe point was asked for; set by ask(), taken by serve()
  std::atomic<std::uint64_t> requests_{0};
};

inline void simulated_machine::add_thread(const simulated_program& program, std::string name) {
  const auto id = static_cast<std::uint32_t>(threads_.size() + 1);
  threads_.push_back(
      std::make_unique<simulated_thread>(id, program, std::move(name), clock_.now()));
}

inline void simulated_machine::append(std::uint32_t th, simulated_program program) {
  simulated_thread* t = of(th);
  if (t == nullptr || t->is == state::ended || program.empty()) return;
  std::move(program.begin(), program.end(), std::back_inserter(t->program));
  if (t->is != state::done) return;
  ++unfinished_;
  if (holder() == t->id) {
    t->is = state::running;
    quantum_end_ = clock_.now() + options_.quantum;
  } else {
    make_ready(*t);
  }
}

inline void simulated_machine::run_until(mono limit) {
  driver_ = std::this_thread::get_id();
  active_.store(true, std::memory_order_relaxed);
  if (const simulated_thread* t = of(holder()); t != nullptr && t->is == state::running) {
    if (!t->entered || t->program[t->at].what != kind::native) serve();
  }
  while (!finished() && clock_.now() < limit) {
    if (holder() == 0 && ready_.empty()) {
      idle(limit);
    } else if (holder() == 0) {
      take_lock();
    } else {
      slice(*of(holder()), limit);
    }
  }
  active_.store(false, std::memory_order_relaxed);
}

inline void simulated_machine::run_outside(nanos cpu, nanos wall) {
  pass_at({cpu, wall}, simulated_thread::place::outside);
}

inline void simulated_machine::spend(const simulated_times& cost) {
  pass_at(cost, simulated_thread::place::overhead);
}

/// Time passes for the current thread, at a place that is not in its program.
inline void simulated_machine::pass_at(const simulated_times& time, simulated_thread::place where) {
  simulated_thread& t = *of(current());
  const simulated_thread::place before = t.set_place(clock_.now(), where);
  t.burn(time.cpu);
  const mono end = clock_.now() + std::max(time.wall, time.cpu);
  while (clock_.now() < end) pass(std::min(end, clock_.next_timer()) - clock_.now());
  t.set_place(clock_.now(), before);
}

/// Moves the clock, at most to the next timer, and wakes who has slept enough.
inline void simulated_machine::pass(nanos by) {
  clock_.pass(by);
  while (!asleep_.empty() && asleep_.begin()->first <= clock_.now()) {
    const std::uint32_t id = asleep_.begin()->second;
    asleep_.erase(asleep_.begin());
    make_ready(*of(id));
  }
}

inline void simulated_machine::idle(mono limit) {
  mono next = std::min(limit, clock_.next_timer());
  if (!asleep_.empty()) next = std::min(next, asleep_.begin()->first);
  pass(next - clock_.now());
}

inline void simulated_machine::serve() {
  if (events_.safe_point == nullptr) return;
  if (wanted_.exchange(false, std::memory_order_acq_rel)) events_.safe_point(events_.self);
}

inline void simulated_machine::take_lock() {
  simulated_thread& t = *of(ready_.front());
  ready_.pop_front();
  holder_.store(t.id, std::memory_order_relaxed);
  t.is = state::running;
  quantum_end_ = clock_.now() + options_.quantum;
  if (!t.begun) {
    t.begin(clock_.now());
    if (events_.thread != nullptr) events_.thread(events_.self, t.id, true);
    serve();
  } else {
    announce(t);
  }
}

/// The thread has the lock back. Where lock events are on, it asks for a safe point itself when one was
/// asked for meanwhile, as others may have served that one.
inline void simulated_machine::announce(simulated_thread& t) {
  if (events_.running != nullptr) {
    if (requests_.load(std::memory_order_relaxed) != t.requests_seen) (void)ask();
    events_.running(events_.self, t.id);
  }
  serve();
}

/// The quantum is over: others come first.
inline void simulated_machine::make_way(simulated_thread& t) {
  quantum_end_ = clock_.now() + options_.quantum;
  if (ready_.empty()) return;
  give_up_lock(t);
  make_ready(t);
}

}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_SIMULATED_MACHINE_HPP
