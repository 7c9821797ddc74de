// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_PROCESS_HPP
#define RBPROF_VM_CRUBY_PROCESS_HPP

#include <absl/status/status.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/vm/cruby/async_capture.hpp>
#include <rbprof/vm/cruby/claim.hpp>
#include <rbprof/vm/cruby/frames.hpp>
#include <rbprof/vm/cruby/gate.hpp>
#include <rbprof/vm/cruby/gc_words.hpp>
#include <rbprof/vm/cruby/holder.hpp>
#include <rbprof/vm/cruby/interrupted.hpp>
#include <rbprof/vm/cruby/live_objects.hpp>
#include <rbprof/vm/cruby/lock.hpp>
#include <rbprof/vm/cruby/ruby.hpp>
#include <rbprof/vm/cruby/target.hpp>
#include <rbprof/vm/cruby/thread_slot.hpp>
#include <rbprof/vm/cruby/thread_words.hpp>

// All that Ruby knows of us: one job, one set of hooks, two objects. Ruby never gives a job back, has 32
// places for jobs and 8 keys for threads, and before 4.0 a forked child must not add or remove thread hooks.
// So there is one of each a process, made at the first start and never taken away; the hooks look at `armed_`
// and leave. Everything here lives as long as the process.
//
// Who runs what:
//   job              a Ruby thread at a safe point, lock held. Runs no Ruby code.
//   begin, end       the thread itself, lock held
//   resumed          the thread itself, lock held, but the scheduler's mutex too: plain stores only
//   suspended, exited  the thread itself, without the lock: plain stores only
//   collector        the thread that allocates, lock held: no allocation
//   new object       the thread that allocates, lock held: no allocation either, since Ruby tells nobody of what a hook
//                    makes, nor of a collection that it begins
//   handler          any thread, at any instruction
//
// The functions are in process_attach.hpp (cold) and process_hooks.hpp (hot).

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// The sink behind plain function pointers.
struct sink_calls {
  void* self = nullptr;
  void (*safe_point)(void*, lock_witness&) noexcept = nullptr;
  void (*thread)(void*, lock_witness&, thread_handle, bool) noexcept = nullptr;
  void (*gc)(void*, thread_handle, bool) noexcept = nullptr;
  void (*running)(void*, lock_witness&, thread_handle) noexcept = nullptr;
  void (*allocation)(void*, lock_witness&, VALUE) noexcept = nullptr;  // null: nobody wants to hear of new objects
  bool lives = false;                                                  // some of them are to be watched
};

struct process_counters {
  counter signals, wrong_thread, altstack, unarmed, flush_window, enqueued;
  counter jobs, jobs_late, jobs_nested, jobs_other_ractor, heals;
  counter resumed_requests, gc_without_thread, tid_changes, ruby_errors;
};

class process {
 public:
  /// The only one; made at the first use, never destroyed.
  [[nodiscard]] static process& self() noexcept {
    static process* const p = new process;
    return *p;
  }

  // --- coming and going -------------------------------------------------------------------------------

  /// Needs the VM lock. Runs Ruby methods (Thread.list and the like).
  [[nodiscard]] absl::Status attach(const sink_calls& sink, bool gc_events);
  void detach() noexcept;
  [[nodiscard]] bool armed() const noexcept { return armed_.load(std::memory_order_acquire); }
  [[nodiscard]] bool down() const noexcept { return down_.load(std::memory_order_acquire); }

  /// True when the calling thread holds the VM lock. Plain loads: also for a handler.
  [[nodiscard]] bool holds_lock() const noexcept {
    if (down() || !installed_.load(std::memory_order_acquire)) return false;
#if RBPROF_DETAIL_RUBY_HOOKS
    return holder_.load(std::memory_order_relaxed) == self_id();
#else
    return ruby_native_thread_p() != 0 && ruby_thread_has_gvl_p() != 0;
#endif
  }

  template <class F>
  bool with_lock_here(F&& f) {
    if (!holds_lock() || rb_during_gc() != 0 || !in_main_ractor()) return false;
    lock_witness lk;
    const std::size_t used = keep.used();
    tend(lk);
    f(lk);
    keep.release(used);
    return true;
  }

  // --- asking -----------------------------------------------------------------------------------------

  [[nodiscard]] request_result request() noexcept;
  [[nodiscard]] std::optional<pid_t> target() noexcept;
  [[nodiscard]] std::optional<pid_t> idle_target() noexcept;
  /// Signals a thread, unless the program is about to replace itself. Calls from: any thread.
  [[nodiscard]] bool send(pid_t tid) noexcept;
  /// The handler takes stacks too, until the next attach. Runs Ruby code. VM lock held.
  void start_async(lock_witness& lk, std::size_t max_frames, bool unsound);
  /// From now on no signal of ours is on its way while the program calls exec: the new program would be killed
  /// by it. Calls from: VM lock held. Once a process.
  void guard_exec() noexcept;
  [[nodiscard]] static void (*signal_handler() noexcept)(int, siginfo_t*, void*) { return on_signal; }

  // --- threads ----------------------------------------------------------------------------------------

  /// The slot of the running thread, made and announced when it has none; null while it ends.
  [[nodiscard]] thread_slot* current(lock_witness& lk);
  /// Reads names, and what else only Ruby methods tell. Inline only, never in a job. Other threads may run
  /// meanwhile: the sink may be told of their begins and ends, but it gets no safe point.
  void read_threads(lock_witness& lk);
  [[nodiscard]] VALUE main_thread() const noexcept { return main_; }

  thread_table threads;
  holder keep;
  frame_reader frames{keep};
  live_objects lives;
  gc_words gc;
  async_capture async;
  process_counters count;
  cruby_detail::gate gate;
  cruby_detail::gate exec_gate;  // "collecting" is exec here, and a request is a signal

  [[nodiscard]] bool gc_on() const noexcept { return gc_on_; }
  [[nodiscard]] bool allocations_on() const noexcept { return allocations_on_; }
  /// Before 4.0 the hook is the main Ractor's own, and others free objects too.
  [[nodiscard]] bool lives_on() const noexcept { return lives_on_ && (ruby_abi >= 400 || !ractors()); }
  /// The program has made a Ractor since we know of it.
  [[nodiscard]] bool ractors() const noexcept { return ractors_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool many_to_many() const noexcept {
    return many_to_many_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t flush_range() const noexcept { return flush_.size(); }

 private:
  process() = default;

  [[nodiscard]] static std::uintptr_t self_id() noexcept {
    return static_cast<std::uintptr_t>(pthread_self());
  }
  [[nodiscard]] static pid_t self_tid() noexcept {
    return static_cast<pid_t>(syscall(SYS_gettid));
  }

  [[nodiscard]] absl::Status install();
  void adopt_threads();
  void tend(lock_witness& lk);
  thread_slot& add_thread(VALUE thread, pid_t tid, std::uintptr_t native);
  void announce(lock_witness& lk, thread_slot& s) noexcept;
  void end(lock_witness& lk, thread_slot& s) noexcept;
  void trigger() noexcept;
  void go_down() noexcept;
  [[nodiscard]] bool in_main_ractor() const noexcept {
    return rb_ractor_local_storage_ptr(ractor_key_) == this;
  }
  /// Ruby methods may be called on the running thread: nothing waits to be raised in it, which the call
  /// would deliver in our place, where it would be lost.
  [[nodiscard]] static bool calm() noexcept { return rb_thread_interrupted(rb_thread_current()) == 0; }

  static void job(void*) noexcept;
  static void on_thread(rb_event_flag_t event, VALUE, VALUE, ID, VALUE) noexcept;
  static void on_gc(VALUE tracepoint, void*) noexcept;
  static void on_allocation(VALUE, const rb_trace_arg_t* event) noexcept;
  static void on_free(VALUE, const rb_trace_arg_t* event) noexcept;
  void hook_allocations() noexcept;
  void unhook_allocations() noexcept;
  static void on_signal(int, siginfo_t*, void* context) noexcept;
  static void on_fork_child() noexcept;
  /// The running thread is one of ours, whatever was known of the lock. VM lock held.
  void holds_now(pid_t tid) noexcept {
    if (!has_thread_hooks) return;
    holder_tid_.store(tid, std::memory_order_relaxed);
    holder_.store(self_id(), std::memory_order_seq_cst);
  }
  void give_buffer(thread_slot& s);
  static VALUE on_jit(int argc, VALUE* argv, VALUE self);
  static VALUE on_ractor(int argc, VALUE* argv, VALUE self);
  static VALUE on_exec(int argc, VALUE* argv, VALUE self);
#if RBPROF_DETAIL_RUBY_HOOKS
  static void on_switch(rb_event_flag_t event, const rb_internal_thread_event_data_t* data,
                        void*) noexcept;
  void resumed(VALUE thread) noexcept;
  void found_many_to_many() noexcept;
  void suspended(VALUE thread) noexcept;
  void stranger_resumed() noexcept;
  [[nodiscard]] thread_slot* slot_of(VALUE thread) const noexcept {
    return static_cast<thread_slot*>(rb_internal_thread_specific_get(thread, thread_key_));
  }
#endif

  claim claim_;
  sink_calls sink_;  // written with the lock held while armed_ is false
  // release in attach(), acquire in hooks: a hook that sees it true sees the sink.
  std::atomic<bool> armed_{false};
  std::atomic<bool> installed_{false};
  std::atomic<bool> down_{false};
  std::atomic<bool> queued_{false};           // a request was made and no job has run since
  std::atomic<bool> changed_{false};          // tend() has something to do
  std::atomic<bool> forked_{false};           // set in the child, taken by tend()
  std::atomic<bool> many_to_many_{false};
  std::atomic<bool> ractors_{false};
  std::atomic<std::uint64_t> asks_{0};        // requests made so far
  std::atomic<std::uintptr_t> holder_{0};     // pthread_t of the thread that holds the lock; 0 = none
  std::atomic<pid_t> holder_tid_{0};
  std::atomic<pid_t> main_tid_{0};
  bool gc_on_ = false;                        // events go to the sink
  bool allocations_on_ = false;               // the hook is in
  bool lives_on_ = false;
  bool gc_told_ = false;                      // the sink was told of this collection's beginning
  bool in_ruby_ = false;                      // the sink asked for names, and Ruby methods run for it
  bool asked_in_ruby_ = false;
  bool exec_guarded_ = false;
  bool jit_guarded_ = false;
  std::size_t async_frames_ = 0;
  VALUE main_ = Qnil;
  VALUE gc_trace_ = Qnil;
  rb_ractor_local_key_t ractor_key_ = nullptr;
  // Of the function that calls our jobs. Before 3.3 it takes a job out of its queue in steps; a registration from a
  // handler that interrupts it there may overwrite the job (Ruby bug 19991).
  code_range flush_;
  target_chooser chooser_;
#if RBPROF_DETAIL_RUBY_HOOKS
  rb_postponed_job_handle_t job_ = POSTPONED_JOB_HANDLE_INVALID;
  rb_internal_thread_specific_key_t thread_key_ = 0;
#else
  // What Ruby bug 19991 may hand to the VM's own job, the one that finishes finalizers, instead of its own
  // data. That job begins by looking at a flag in it; here it finds "busy already" and leaves.
  alignas(64) unsigned char harmless_[16384];
#endif
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_PROCESS_HPP
