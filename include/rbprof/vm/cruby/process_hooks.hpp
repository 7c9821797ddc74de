// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_PROCESS_HOOKS_HPP
#define RBPROF_VM_CRUBY_PROCESS_HOOKS_HPP

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rbprof/vm/cruby/process.hpp>

// The hot half of `process`: what Ruby, the kernel and the ticker call.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// Asks Ruby for the job. From 3.3 on with the gate held or the lock held; before, with the lock held or from
/// a handler on the thread that holds it.
inline void process::trigger() noexcept {
  queued_.store(true, std::memory_order_relaxed);
#if RBPROF_DETAIL_RUBY_HOOKS
  rb_postponed_job_trigger(job_);
#else
  static_cast<void>(rb_postponed_job_register_one(0, job, harmless_));
#endif
}

/// Calls from: any thread from 3.3 on; before, a thread or handler that holds the lock · Blocks: never ·
/// Allocates: never · On failure: refused
inline request_result process::request() noexcept {
  if (!armed() || down()) return request_result::refused;
  const bool was_queued = queued_.load(std::memory_order_relaxed);
#if RBPROF_DETAIL_RUBY_HOOKS
  // seq_cst: pairs with the loads in suspended() and resumed(). A thread that gets the lock after this sees
  // the new number and asks for its own job.
  asks_.fetch_add(1, std::memory_order_seq_cst);
  if (holder_.load(std::memory_order_seq_cst) == 0) return request_result::idle;
  if (!gate.enter([this] { trigger(); })) return request_result::pending;  // made when the collector ends
#else
  if (!holds_lock()) return request_result::refused;
  trigger();
#endif
  return was_queued ? request_result::pending : request_result::accepted;
}

/// Calls from: the ticker · Blocks: never · Allocates: never · On failure: none = nobody runs Ruby
inline std::optional<pid_t> process::target() noexcept {
  if (!armed() || down()) return std::nullopt;
  asks_.fetch_add(1, std::memory_order_seq_cst);
#if RBPROF_DETAIL_RUBY_HOOKS
  const pid_t tid = holder_tid_.load(std::memory_order_seq_cst);
  return tid != 0 ? std::optional(tid) : std::nullopt;
#else
  const auto tid = chooser_.choose(threads);
  if (chooser_.saw_deaths()) changed_.store(true, std::memory_order_relaxed);
  return tid;
#endif
}

/// As `target`. On 3.1 waits are seen by being asked only: the main thread of an idle VM sleeps in Ruby and takes
/// its job at once there. Later versions tell when a wait ends.
inline std::optional<pid_t> process::idle_target() noexcept {
#if RBPROF_DETAIL_RUBY_HOOKS
  return std::nullopt;
#else
  if (!armed() || down()) return std::nullopt;
  const pid_t tid = main_tid_.load(std::memory_order_relaxed);
  return tid != 0 ? std::optional(tid) : std::nullopt;
#endif
}

inline bool process::send(pid_t tid) noexcept {
  bool sent = false;
  const bool open =
      exec_gate.enter([&] { sent = syscall(SYS_tgkill, getpid(), tid, SIGPROF) == 0; });
  return open && sent;
}

/// Stands before Kernel#exec, Kernel.exec and Process.exec. A signal that is pending survives exec, while its
/// handler does not, and the default action of SIGPROF ends the new program.
inline VALUE process::on_exec(int argc, VALUE* argv, VALUE) {
  struct call {
    int argc;
    VALUE* argv;
  } c{argc, argv};
  self().exec_gate.begin(nanos{100'000'000});
  sched_yield();  // what was sent before is delivered on the way back from the kernel
  return rb_ensure(
      [](VALUE arg) -> VALUE {
        const call& me = *reinterpret_cast<call*>(arg);
        return rb_call_super(me.argc, me.argv);
      },
      reinterpret_cast<VALUE>(&c),
      [](VALUE) -> VALUE {  // there was nothing to run: the program goes on, and so do we
        static_cast<void>(self().exec_gate.end());
        return Qnil;
      },
      Qnil);
}

/// Stands before Ractor.new. Beside other Ractors a collection may begin on another core, of which we are not told. Where
/// Ruby itself crashes when it tells of a collection there (before 3.1.4), it tells us no more.
inline VALUE process::on_ractor(int argc, VALUE* argv, VALUE) {
  process& p = self();
  p.ractors_.store(true, std::memory_order_relaxed);
  p.async.refuse(async_capture::state::ractors);
  if (!has_thread_hooks && RTEST(rb_tracepoint_enabled_p(p.gc_trace_))) rb_tracepoint_disable(p.gc_trace_);
  if (!has_thread_hooks) p.unhook_allocations();
  return rb_call_super_kw(argc, argv, RB_PASS_CALLED_KEYWORDS);
}

inline void process::guard_exec() noexcept {
  if (exec_guarded_) return;
  auto prepend = [] {
    const VALUE own = rb_module_new();     // of objects, where exec is private
    const VALUE shared = rb_module_new();  // of the modules themselves
    rb_gc_register_mark_object(own);
    rb_gc_register_mark_object(shared);
    rb_define_private_method(own, "exec", on_exec, -1);
    rb_define_method(shared, "exec", on_exec, -1);
    rb_prepend_module(rb_mKernel, own);
    rb_prepend_module(rb_singleton_class(rb_mKernel), shared);
    rb_prepend_module(rb_singleton_class(rb_mProcess), shared);
  };
  exec_guarded_ = protect(prepend);
}

inline void process::job(void*) noexcept {
  process& p = self();
  p.queued_.store(false, std::memory_order_relaxed);
  p.count.jobs.add();
  if (!p.in_main_ractor()) {  // jobs do run in other ractors, whose threads are not ours
    p.count.jobs_other_ractor.add();
    if (ruby_abi < 400) p.async.refuse(async_capture::state::ractors);
    return;
  }
#if !RBPROF_DETAIL_RUBY_HOOKS
  p.flush_.learn(__builtin_return_address(0));
#endif
  if (p.gate.collecting()) {
    // A job never runs inside a collection, so its end was lost, as ractors make it happen.
    p.count.heals.add();
    static_cast<void>(p.gate.end());
    p.gc_told_ = false;
  }
  if (!p.armed() || p.down()) {
    p.count.jobs_late.add();
    return;
  }
  if (p.in_ruby_) {
    p.count.jobs_nested.add();
    p.asked_in_ruby_ = true;
    return;
  }
  lock_witness lk;
  const std::size_t used = p.keep.used();
  p.tend(lk);
  if (p.current(lk) != nullptr) p.sink_.safe_point(p.sink_.self, lk);
  p.keep.release(used);
}

/// Begins and ends, on the thread itself. Ruby 3.1 does not tell of an end by an exception: then the next
/// thread on the same native thread proves that the one before is dead.
inline void process::on_thread(rb_event_flag_t event, VALUE, VALUE, ID, VALUE) noexcept {
  process& p = self();
  if (p.down() || !p.in_main_ractor()) return;
  const VALUE thread = rb_thread_current();
  lock_witness lk;
  if (event == RUBY_EVENT_THREAD_BEGIN) {
    const pid_t tid = self_tid();
    p.holds_now(tid);
    if (!has_thread_hooks) {
      p.threads.each([&](thread_slot& old) {
        if (old.thread == thread || old.tid.load(std::memory_order_relaxed) != tid) return;
        old.exited.store(true, std::memory_order_relaxed);
        p.changed_.store(true, std::memory_order_relaxed);
      });
    }
    if (p.threads.find(thread) == nullptr) static_cast<void>(p.add_thread(thread, tid, self_id()));
    if (!p.armed()) {
      p.changed_.store(true, std::memory_order_relaxed);
      return;
    }
  }
  thread_slot* const s = p.threads.find(thread);
  if (event == RUBY_EVENT_THREAD_BEGIN || s == nullptr) slot_here.store(s, std::memory_order_relaxed);
  if (s == nullptr) return;
  if (p.armed()) {
    if (calm()) {
      // Other threads may run meanwhile, and come here too: nothing of ours is half done.
      thread_answers answers;
      auto ask = [&] { answers.ask(thread, event == RUBY_EVENT_THREAD_BEGIN); };
      if (protect(ask)) {
        answers.store(*s);
      } else {
        p.count.ruby_errors.add();
      }
      RB_GC_GUARD(answers.name);
      RB_GC_GUARD(answers.text);
    }
    p.tend(lk);
    if (event == RUBY_EVENT_THREAD_BEGIN) {
      p.announce(lk, *s);
    } else {
      p.end(lk, *s);
    }
  }
  if (event == RUBY_EVENT_THREAD_BEGIN) return;
  // Last, since what was asked above may have run a job, which opens the thread to the handler. From here on none does.
  s->over = true;
  slot_here.store(nullptr, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!has_thread_hooks) {
    s->exited.store(true, std::memory_order_relaxed);
    p.changed_.store(true, std::memory_order_relaxed);
  }
}

inline void process::on_gc(VALUE tracepoint, void*) noexcept {
  process& p = self();
  const bool enter =
      rb_tracearg_event_flag(rb_tracearg_from_tracepoint(tracepoint)) == RUBY_INTERNAL_EVENT_GC_ENTER;
  if (enter) p.gate.begin();
  if (p.armed() && p.gc_on_ && enter != p.gc_told_) {
    thread_slot* const s = p.threads.find(rb_thread_current());
    if (s != nullptr && s->announced && !s->ended) {
      p.gc_told_ = enter;
      p.sink_.gc(p.sink_.self, {s}, enter);
    } else {
      p.count.gc_without_thread.add();
      p.gc_told_ = false;
    }
  }
  if (!enter && p.gate.end() && p.armed() && has_thread_hooks) p.trigger();
}

/// Where threads have locks of their own (4.0), other Ractors come here too, in parallel; before, only the one that
/// made the hook. What is captured here is marked for as long as the call lasts.
inline void process::on_allocation(VALUE, const rb_trace_arg_t* event) noexcept {
  process& p = self();
  if (!p.armed() || p.sink_.allocation == nullptr) return;
  if (ruby_abi >= 400 && !p.in_main_ractor()) return;
  lock_witness lk;
  const std::size_t used = p.keep.used();
  p.sink_.allocation(p.sink_.self, lk, rb_tracearg_object(const_cast<rb_trace_arg_t*>(event)));
  p.keep.release(used);
}

/// Inside of the collector. Also while nobody is attached, until the hook goes: a table with a hole would be wrong.
inline void process::on_free(VALUE, const rb_trace_arg_t* event) noexcept {
  self().lives.freed(rb_tracearg_object(const_cast<rb_trace_arg_t*>(event)));
}

/// Guards, in this order: not on the alternate stack; armed; this thread holds the VM lock; and, where
/// registering writes into a queue, not inside the function that empties it. What it takes to read the stack here
/// as well is in async_capture.hpp.
inline void process::on_signal(int, siginfo_t*, void* context) noexcept {
  const int saved = errno;
  process& p = self();
  p.count.signals.add();
  if (on_alternate_stack(context, &saved)) {
    p.count.altstack.add();
  } else if (!p.armed()) {
    p.count.unarmed.add();
  } else if (!p.holds_lock()) {
    p.count.wrong_thread.add();
  } else if (!has_thread_hooks && p.flush_.holds(interrupted_pc(context))) {
    p.count.flush_window.add();
  } else {
    if (!p.many_to_many()) p.async.capture(self_id(), interrupted_pc(context), p.gate.collecting());
    p.trigger();
    p.count.enqueued.add();
  }
  errno = saved;
}

/// The VM takes itself down: the last Ruby code has run.
inline void process::go_down() noexcept {
  if (down_.exchange(true, std::memory_order_seq_cst)) return;
  armed_.store(false, std::memory_order_seq_cst);
  gate.begin();  // and never ends: waits for a requester that is inside
}

/// One thread is left. It may have been any thread, also one that Ruby does not know.
inline void process::on_fork_child() noexcept {
  process& p = self();
  p.gate.after_fork();
  p.exec_gate.after_fork();
  const bool mine = p.holder_.load(std::memory_order_relaxed) == self_id();
  if (has_thread_hooks && !mine) p.holder_.store(0, std::memory_order_relaxed);
  p.holder_tid_.store(mine ? self_tid() : 0, std::memory_order_relaxed);
  p.forked_.store(true, std::memory_order_release);  // pairs with acquire in tend()
}

#if RBPROF_DETAIL_RUBY_HOOKS

inline void process::on_switch(rb_event_flag_t event, const rb_internal_thread_event_data_t* data,
                               void*) noexcept {
  process& p = self();
  if (event == RUBY_INTERNAL_THREAD_EVENT_RESUMED) {
    p.resumed(data->thread);
  } else if (event == RUBY_INTERNAL_THREAD_EVENT_SUSPENDED) {
    p.suspended(data->thread);
  } else {
    thread_slot* const s = p.slot_of(data->thread);
    if (s == nullptr) return;
    s->exited.store(true, std::memory_order_release);  // pairs with acquire in tend(); last touch
    p.changed_.store(true, std::memory_order_release);
  }
}

/// The slot that this native thread ran for last.
inline thread_local thread_slot* ran_here = nullptr;

inline void process::found_many_to_many() noexcept {
  many_to_many_.store(true, std::memory_order_relaxed);
  count.tid_changes.add();
}

/// A thread without a slot is on its way to its begin, was born while no hook ran, or is another Ractor's, which has a
/// lock of its own. So it is the holder only while nobody is: one of ours may be running beside it.
inline void process::stranger_resumed() noexcept {
  pid_t no_tid = 0;
  std::uintptr_t nobody = 0;
  if (holder_tid_.compare_exchange_strong(no_tid, self_tid(), std::memory_order_relaxed)) {
    holder_.compare_exchange_strong(nobody, self_id(), std::memory_order_seq_cst);
  }
}

inline void process::resumed(VALUE thread) noexcept {
  thread_slot* const s = slot_of(thread);
  const std::uintptr_t me = self_id();
  if (ran_here != s) {
    if (ran_here != nullptr && ran_here->native.load(std::memory_order_relaxed) == me && !ran_here->over &&
        !ran_here->exited.load(std::memory_order_relaxed)) {
      found_many_to_many();  // two threads that live on the same native one
    }
    ran_here = s;
    slot_here.store(nullptr, std::memory_order_relaxed);  // which was the other one's
  }
  if (s == nullptr) return stranger_resumed();
  pid_t tid = s->tid.load(std::memory_order_relaxed);
  if (tid == 0 || s->native.load(std::memory_order_relaxed) != me) {
    tid = self_tid();
    // The same thread on another native one: N threads of Ruby share M. Cpu clocks mean nothing then.
    if (s->native.exchange(me, std::memory_order_relaxed) != 0) found_many_to_many();
    s->tid.store(tid, std::memory_order_relaxed);
  }
  holder_tid_.store(tid, std::memory_order_relaxed);
  holder_.store(me, std::memory_order_seq_cst);  // pairs with request(): it sees the holder, or we its ask
  if (s->ended || !s->announced || !armed()) return;
  const std::uint64_t asks = asks_.load(std::memory_order_seq_cst);
  if (s->asks.load(std::memory_order_relaxed) != asks) {
    count.resumed_requests.add();
    trigger();
  }
  lock_witness lk;
  sink_.running(sink_.self, lk, {s});
}

inline void process::suspended(VALUE thread) noexcept {
  thread_slot* const s = slot_of(thread);
  if (s != nullptr) s->asks.store(asks_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  // Only what is ours: the next holder may have stored itself already.
  pid_t tid = s != nullptr ? s->tid.load(std::memory_order_relaxed) : self_tid();
  std::uintptr_t me = self_id();
  holder_tid_.compare_exchange_strong(tid, 0, std::memory_order_relaxed);
  holder_.compare_exchange_strong(me, 0, std::memory_order_seq_cst);
}

#endif

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_PROCESS_HOOKS_HPP
