// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_HPP
#define RBPROF_VM_CRUBY_HPP

#include <absl/status/status.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/signal_disposition.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/vm/cruby/objects.hpp>
#include <rbprof/vm/cruby/process.hpp>
#include <rbprof/vm/cruby/process_attach.hpp>
#include <rbprof/vm/cruby/process_hooks.hpp>

// The adapter for CRuby 3.1 to 4.0, on public API alone. What differs between versions:
//
//                      3.1                                     3.3 and later
//   safe point         signal to the busiest thread, whose     asked for by any thread, no signal
//                      handler registers a job
//   other stacks       none: a thread that waits shows the     all
//                      stack it was last seen with
//   lock events        none                                    when a thread gets the VM lock
//   handler capture    never unasked                           with trigger::signal, where async_capture.hpp allows
//
// The object is a thin handle: all state that Ruby knows of lives as long as the process (process.hpp).

namespace rbprof::inline v0 {
namespace vm {

struct cruby_options {
  /// With trigger::signal: the handler takes the stack, where that is sound. Else the profile says why not.
  bool handler_capture = false;
  bool unsound_handler_capture = false;  ///< also before Ruby 3.3, where a rare signal may crash the program
  std::size_t handler_frames = 400;      ///< of such a stack
  bool gc_events = true;  ///< before Ruby 3.3 they end when the program makes a Ractor, since Ruby 3.1 would crash
};

class cruby {
  using process = cruby_detail::process;

 public:
  using vm_adapter_concept = vm_adapter_tag;
  using thread_type = cruby_detail::thread_handle;
  using frame_type = cruby_detail::frame;
  using lock_type = cruby_detail::lock_witness;
  using object_type = VALUE;

  static constexpr role request_from = cruby_detail::has_thread_hooks
                                           ? role::vm_thread | role::handler | role::foreign
                                           : role::vm_thread | role::handler;
  static constexpr event emits = cruby_detail::has_thread_hooks
                                     ? event::gc | event::thread | event::allocation | event::lock
                                     : event::gc | event::thread | event::allocation;
  static constexpr bool exclusive_sampler = true;  ///< one a process, because there is one VM lock

  cruby() noexcept = default;
  cruby(const cruby&) = delete;
  cruby& operator=(const cruby&) = delete;
  ~cruby() { static_cast<void>(detach()); }

  cruby_options options;  ///< read by attach

  /// Calls from: a thread that runs Ruby, VM lock held, main Ractor · Blocks: no · Allocates: yes, and calls
  /// Thread.list · On failure: a status that says what to do, nothing left behind that is armed
  template <class Sink>
  [[nodiscard]] absl::Status attach(Sink& sink) {
    static_assert(event_sink<Sink, cruby>);
    if (attached_) return absl::FailedPreconditionError("rbprof: this profiler is attached already");
    cruby_detail::sink_calls calls;
    calls.self = &sink;
    calls.safe_point = [](void* s, lock_type& lk) noexcept { of<Sink>(s).on_safe_point(lk); };
    calls.thread = [](void* s, lock_type& lk, thread_type th, bool begins) noexcept {
      of<Sink>(s).on_thread(lk, th, begins);
    };
    calls.gc = [](void* s, thread_type th, bool enter) noexcept { of<Sink>(s).on_gc(th, enter); };
    calls.running = [](void* s, lock_type& lk, thread_type th) noexcept {
      of<Sink>(s).on_running(lk, th);
    };
    if constexpr (allocation_sink<Sink, cruby>) {
      if (sink.wants_allocations()) {
        calls.allocation = [](void* s, lock_type& lk, VALUE o) noexcept { of<Sink>(s).on_allocation(lk, o); };
        if constexpr (requires { sink.wants_live_objects(); }) calls.lives = sink.wants_live_objects();
      }
    }
    absl::Status done = state().attach(calls, options.gc_events);
    attached_ = done.ok();
    return done;
  }

  /// Gates every hook at once. What Ruby lets us remove is removed when the calling thread holds the lock.
  /// Calls from: any thread · Blocks: no · Allocates: no · On failure: FailedPrecondition: was not attached,
  /// or Ruby went down first
  absl::Status detach() noexcept {
    if (!attached_) return absl::FailedPreconditionError("rbprof: the profiler is not attached");
    attached_ = false;
    unhook_signal();
    if (state().down()) {
      return absl::FailedPreconditionError("rbprof: Ruby was shut down before the profiler stopped");
    }
    state().detach();
    return absl::OkStatus();
  }

  [[nodiscard]] feature features() const noexcept {
    const process& p = state();
    if (!p.armed()) return feature::none;
    feature all = feature::block_names;
    if (p.gc_on()) all = all | feature::gc;
    if (p.allocations_on()) all = all | feature::allocation;
    if (p.lives_on()) all = all | feature::live_objects;
    if (!p.many_to_many()) all = all | feature::thread_cpu;
    if (p.async.on() && !p.many_to_many()) all = all | feature::async_capture;
    if (cruby_detail::has_thread_hooks) {
      all = all | feature::other_stacks | feature::lock | feature::foreign_request;
    }
    return all;
  }

  [[nodiscard]] mono now() const noexcept { return monotonic_now(); }
  [[nodiscard]] request_result request_safe_point() noexcept { return state().request(); }
  [[nodiscard]] thread_type current(lock_type& lk) noexcept { return {state().current(lk)}; }

  [[nodiscard]] captured capture(lock_type&, thread_type th, std::span<frame_type> out) noexcept {
    if (th.slot == nullptr || th.slot->exited.load(std::memory_order_relaxed)) return {};
    return state().frames.capture(*th.slot, out);
  }
  [[nodiscard]] std::optional<async_stack> take_async(lock_type&, thread_type th,
                                                      std::span<frame_type> out) noexcept {
    cruby_detail::pending_stack* const left =
        th.slot == nullptr ? nullptr : th.slot->pending.load(std::memory_order_relaxed);
    if (left == nullptr || !left->full()) return std::nullopt;
    async_stack a{{}, left->seen, left->cpu, left->cost};
    a.got = state().frames.adopt(*left, out);
    return a;
  }
  void refine(lock_type&, thread_type th, std::span<frame_type> frames) noexcept {
    if (th.slot != nullptr) state().frames.refine(*th.slot, frames);
  }
  [[nodiscard]] bool describe(lock_type&, frame_type f, frame_text& text) noexcept {
    return state().frames.describe(f, text);
  }
  [[nodiscard]] bool describe(lock_type&, thread_type th, thread_text& text) noexcept {
    return th.slot != nullptr &&
           cruby_detail::describe_thread(*th.slot, state().main_thread(), text);
  }
  void refine_later(lock_type&, thread_type th, std::span<frame_type> frames) noexcept {
    if (th.slot != nullptr) state().frames.refine_later(*th.slot, frames);
  }
  [[nodiscard]] bool describe_object(lock_type&, object_type o, frame_text& text) noexcept {
    return cruby_detail::describe_object(o, text);
  }
  [[nodiscard]] bool watch(lock_type&, object_type o, std::uint64_t number) noexcept {
    if (!state().lives_on() || !cruby_detail::has_class(RB_BUILTIN_TYPE(o)) || RBASIC_CLASS(o) == 0) return false;
    state().lives.watch(o, number);
    return true;
  }
  /// When not every free is told of, nothing is said to be alive.
  [[nodiscard]] std::optional<std::uint64_t> alive(lock_type&, std::uint64_t number) noexcept {
    return state().lives_on() ? state().lives.alive(number) : std::nullopt;
  }
  [[nodiscard]] std::uint64_t collections(lock_type&) noexcept { return rb_gc_count(); }
  void forget_objects(lock_type&) noexcept { state().lives.clear(); }
  void keep_frames(lock_type&, std::span<const frame_type> frames) noexcept { state().frames.keep(frames); }
  void forget_frames(lock_type&) noexcept { state().frames.forget(); }

  /// Calls from: any thread · Blocks: no (a system call, 2 us) · Allocates: no · On failure: none
  [[nodiscard]] std::optional<nanos> cpu_time(thread_type th) noexcept {
    if (th.slot == nullptr || th.slot->exited.load(std::memory_order_acquire)) return std::nullopt;
    const pid_t tid = th.slot->tid.load(std::memory_order_relaxed);
    if (tid == 0 || state().many_to_many()) return std::nullopt;
    return thread_cpu_of(tid);
  }

  template <class F>
  void each_thread(lock_type&, F&& f) noexcept {
    state().threads.each([&](cruby_detail::thread_slot& s) {
      if (s.announced && !s.ended) f(thread_type{&s});
    });
  }
  void read_thread_names(lock_type& lk) noexcept { state().read_threads(lk); }

  template <class F>
  bool with_lock_here(F&& f) {
    return state().with_lock_here(f);
  }

  [[nodiscard]] gc_facts last_gc() noexcept { return state().gc.last(); }

  // --- signals ------------------------------------------------------------------------------------------

  [[nodiscard]] std::optional<pid_t> signal_target() noexcept { return state().target(); }
  [[nodiscard]] std::optional<pid_t> idle_signal_target() noexcept { return state().idle_target(); }
  [[nodiscard]] bool send_signal(pid_t tid) noexcept { return state().send(tid); }
  /// Calls from: as attach. Once a process it also stands before Ruby's exec, so that no signal is under way there.
  [[nodiscard]] absl::Status hook_signal() {
    static_cast<void>(state().with_lock_here([this](lock_type& lk) {
      state().guard_exec();
      if (options.handler_capture || options.unsound_handler_capture) {
        state().start_async(lk, options.handler_frames + 2, options.unsound_handler_capture);
      }
    }));
    return signal_.install(process::signal_handler());
  }
  void unhook_signal() noexcept { signal_.restore(); }

  // --- what people are told -----------------------------------------------------------------------------

  template <class F>
  void each_statistic(F&& f) const {
    const process& p = state();
    const cruby_detail::process_counters& c = p.count;
    f("signals_delivered", c.signals.get());
    f("signals_wrong_thread", c.wrong_thread.get());
    f("signals_altstack", c.altstack.get());
    f("signals_unarmed", c.unarmed.get());
    f("signals_flush_window", c.flush_window.get());
    f("signals_enqueued", c.enqueued.get());
    f("jobs", c.jobs.get());
    f("jobs_late", c.jobs_late.get());
    f("jobs_nested", c.jobs_nested.get());
    f("jobs_other_ractor", c.jobs_other_ractor.get());
    f("gc_gate_waits", p.gate.waits.get());
    f("gc_gate_timeouts", p.gate.timeouts.get());
    f("gc_flag_healed", c.heals.get());
    f("gc_without_thread", c.gc_without_thread.get());
    f("resumed_requests", c.resumed_requests.get());
    f("native_thread_changes", c.tid_changes.get());
    f("ruby_errors", c.ruby_errors.get());
    p.async.each_statistic(f);
    f("backtraces", p.frames.blocks().backtraces());
    f("backtraces_misfit", p.frames.blocks().misfits());
  }

  template <class F>
  void each_remark(F&& f) const {
    const process& p = state();
    if (const std::string_view off = p.async.remark(); !off.empty()) f(off);
    if (!cruby_detail::has_thread_hooks) {
      f("other_stacks: off, this Ruby has no rb_profile_thread_frames (3.3); a waiting thread shows the "
        "stack it was last seen with");
      f("lock: off, this Ruby has no thread events with a thread (3.3)");
      f("foreign_request: off, this Ruby can't be asked by other threads (3.3); it is signalled");
    }
    if (!cruby_detail::has_thread_hooks && p.ractors()) {
      f("gc: off since the program made a Ractor: Ruby before 3.1.4 crashes when it tells of collections beside one");
    } else if (p.armed() && !p.gc_on()) {
      f("gc: off, by option");
    } else if (p.ractors() && cruby_detail::ruby_abi < 400) {
      f("gc: the program made a Ractor, and since then this Ruby may not tell of every collection");
    }
    if (p.armed() && !p.allocations_on()) {
      f(!cruby_detail::has_thread_hooks && p.ractors()
            ? "allocation: off since the program made a Ractor: Ruby before 3.1.4 crashes when it tells of objects beside one"
            : "allocation: off, no column of the profile wants it");
    }
    if (!cruby_detail::has_thread_hooks && p.gc_on()) {
      f("collector events make every allocation slower on this Ruby, which no overhead target counts; without: gc_events = false");
    }
    if (p.many_to_many()) {
      f("thread_cpu: off, Ruby threads move between native threads (RUBY_MN_THREADS)");
      if (p.async.on()) f("async_capture: off, Ruby threads move between native threads (RUBY_MN_THREADS)");
    }
    f("ractors: only threads of the main Ractor are profiled");
  }

 private:
  template <class S>
  [[nodiscard]] static S& of(void* s) noexcept {
    return *static_cast<S*>(s);
  }
  [[nodiscard]] static process& state() noexcept { return process::self(); }

  bool attached_ = false;
  signal_disposition signal_;
};

static_assert(vm_adapter<cruby>);
static_assert(has_thread_list<cruby> && has_inline_lock<cruby> && has_thread_names<cruby>);
static_assert(has_frame_refinement<cruby> && has_frame_pins<cruby> && has_signal_target<cruby>);
static_assert(has_async_capture<cruby> && has_allocation_events<cruby> && has_live_objects<cruby>);
static_assert(has_gc_events<cruby> && has_thread_events<cruby>);
static_assert(has_lock_events<cruby> == cruby_detail::has_thread_hooks);
static_assert(has_statistics<cruby> && has_remarks<cruby>);

}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_HPP
