// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_PROCESS_ATTACH_HPP
#define RBPROF_VM_CRUBY_PROCESS_ATTACH_HPP

#include <absl/status/status.h>

#include <cstring>
#include <string>
#include <vector>

#include <rbprof/base/pin_code.hpp>
#include <rbprof/vm/cruby/heap_probe.hpp>
#include <rbprof/vm/cruby/process.hpp>

// The cold half of `process`: coming, going, and the book of threads.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

inline absl::Status process::attach(const sink_calls& sink, bool gc_events) {
  if (rb_cObject == 0) {
    return absl::FailedPreconditionError(
        "rbprof: Ruby is not up yet; start the profiler after ruby_init() or ruby_setup()");
  }
  if (down() || !ruby_is_there()) {
    return absl::FailedPreconditionError(
        "rbprof: Ruby has been shut down in this process; it can't be profiled any more");
  }
  if (ruby_native_thread_p() == 0 || ruby_thread_has_gvl_p() == 0) {
    return absl::FailedPreconditionError(
        "rbprof: start the profiler on a thread that runs Ruby: the one that called ruby_init(), or "
        "one inside a method called from Ruby");
  }
  if (!claim_.find()) {
    return absl::InternalError(
        "rbprof: can't leave a mark in Ruby's Object; is it frozen? Start before freezing it");
  }
  if (!claim_.take(reinterpret_cast<const void*>(sink.safe_point))) {
    return absl::AlreadyExistsError(
        std::string("rbprof: this process is being profiled already, by ") + claim_.owner() +
        "; stop that profiler first");
  }
  pin_code(sink.safe_point);
  absl::Status made = install();
  if (made.ok() && !in_main_ractor()) {
    made = absl::FailedPreconditionError(
        "rbprof: start the profiler on the main Ractor; only its threads are profiled");
  }
  if (!made.ok()) {
    claim_.give_back();
    return made;
  }
  sink_ = sink;
  async.reset();
  threads.each([](thread_slot& s) {  // what a handler left in an earlier run is nobody's
    if (s.buffer) s.buffer->release();
  });
  adopt_threads();
  gc_on_ = gc_events && (has_thread_hooks || !ractors());
  // The gate needs to know of collections also when nobody wants to hear of them.
  if (has_thread_hooks || gc_on_) {
    auto enable = [this] {
      if (!RTEST(rb_tracepoint_enabled_p(gc_trace_))) rb_tracepoint_enable(gc_trace_);
    };
    if (!protect(enable)) gc_on_ = false;
  }
  if (sink.allocation != nullptr && (has_thread_hooks || !ractors())) hook_allocations();
  armed_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

inline void process::start_async(lock_witness& lk, std::size_t max_frames, bool unsound) {
  if (!jit_guarded_) {
    auto prepend = [] {
      for (const char* name : {"YJIT", "ZJIT"}) {
        const VALUE vm = rb_const_get(rb_cObject, rb_intern("RubyVM"));
        if (!RTEST(rb_const_defined(vm, rb_intern(name)))) continue;
        const VALUE jit = rb_const_get(vm, rb_intern(name));
        if (rb_respond_to(jit, rb_intern("enable")) == 0) continue;
        const VALUE before = rb_module_new();
        rb_gc_register_mark_object(before);
        rb_define_method(before, "enable", on_jit, -1);
        rb_prepend_module(rb_singleton_class(jit), before);
      }
    };
    jit_guarded_ = protect(prepend);
  }
  async_frames_ = max_frames;
  async.start(unsound);
  if (!async.on()) return;
  threads.each([this](thread_slot& s) { give_buffer(s); });
  static_cast<void>(current(lk));
}

/// A handler on the thread of `s` takes stacks from now on.
inline void process::give_buffer(thread_slot& s) {
  if (!s.buffer || s.buffer->room() < async_frames_) {
    s.pending.store(nullptr, std::memory_order_relaxed);
    s.buffer = std::make_unique<pending_stack>(async_frames_);
  }
  s.buffer->release();
  s.pending.store(s.buffer.get(), std::memory_order_relaxed);
}

/// Stands before RubyVM::YJIT.enable: compiled code has no place for our guards.
inline VALUE process::on_jit(int argc, VALUE* argv, VALUE) {
  self().async.refuse(async_capture::state::jit);
  return rb_call_super(argc, argv);
}

/// The cheapest public hook: raw, so Ruby makes no TracePoint of it.
using raw_hook = void (*)(VALUE, const rb_trace_arg_t*) noexcept;
[[nodiscard]] inline bool add_raw_hook(raw_hook f, rb_event_flag_t event) noexcept {
  auto add = [=] {
    rb_add_event_hook2(reinterpret_cast<rb_event_hook_func_t>(reinterpret_cast<void (*)()>(f)), event, Qnil,
                       static_cast<rb_event_hook_flag_t>(RUBY_EVENT_HOOK_FLAG_SAFE | RUBY_EVENT_HOOK_FLAG_RAW_ARG));
  };
  return protect(add);
}
[[nodiscard]] inline bool remove_raw_hook(raw_hook f) noexcept {
  auto remove = [=] { rb_remove_event_hook(reinterpret_cast<rb_event_hook_func_t>(reinterpret_cast<void (*)()>(f))); };
  return protect(remove);
}

inline void process::hook_allocations() noexcept {
  if (!allocations_on_) allocations_on_ = add_raw_hook(on_allocation, RUBY_INTERNAL_EVENT_NEWOBJ);
  lives.clear();  // of an earlier run, whose numbers come again
  if (!sink_.lives || lives_on_ || (ruby_abi < 400 && ractors())) return;
  auto make = [this] { lives.make(); };
  lives_on_ = protect(make) && add_raw_hook(on_free, RUBY_INTERNAL_EVENT_FREEOBJ);
}

inline void process::unhook_allocations() noexcept {
  if (allocations_on_) allocations_on_ = !remove_raw_hook(on_allocation);
  if (lives_on_) lives_on_ = !remove_raw_hook(on_free);
}

inline void process::detach() noexcept {
  if (!armed_.exchange(false, std::memory_order_seq_cst)) return;
  static_cast<void>(with_lock_here([this](lock_witness&) {
    frames.forget();
    auto disable = [this] {
      if (RTEST(rb_tracepoint_enabled_p(gc_trace_))) rb_tracepoint_disable(gc_trace_);
    };
    static_cast<void>(protect(disable));
    unhook_allocations();
  }));
  claim_.give_back();
}

inline absl::Status process::install() {
  if (installed_.load(std::memory_order_relaxed)) return absl::OkStatus();
  pin_code(&process::job);
  auto make = [this] {
    static const rb_ractor_local_storage_type marker = {nullptr, nullptr};
    ractor_key_ = rb_ractor_local_storage_ptr_newkey(&marker);
    rb_ractor_local_storage_ptr_set(ractor_key_, this);
    gc.make();
    keep.make([] { self().go_down(); }, [] {
      if (self().async_frames_ != 0) self().async.mark(self().threads);  // else no handler was ever to take a stack
    });
    main_ = rb_thread_main();
    gc_trace_ = rb_tracepoint_new(
        Qnil, RUBY_INTERNAL_EVENT_GC_ENTER | RUBY_INTERNAL_EVENT_GC_EXIT, on_gc, nullptr);
    rb_gc_register_mark_object(gc_trace_);
    const VALUE before = rb_module_new();
    rb_gc_register_mark_object(before);
    rb_define_method(before, "new", on_ractor, -1);
    rb_prepend_module(rb_singleton_class(rb_cRactor), before);
    rb_add_event_hook(on_thread, RUBY_EVENT_THREAD_BEGIN | RUBY_EVENT_THREAD_END, Qnil);
#if RBPROF_DETAIL_RUBY_HOOKS
    job_ = rb_postponed_job_preregister(0, job, nullptr);
    thread_key_ = rb_internal_thread_specific_key_create();
    // The hooks do not tell of a lock that is held already.
    holder_tid_.store(self_tid(), std::memory_order_relaxed);
    holder_.store(self_id(), std::memory_order_release);
    rb_internal_thread_add_event_hook(on_switch,
                                      RUBY_INTERNAL_THREAD_EVENT_RESUMED |
                                          RUBY_INTERNAL_THREAD_EVENT_SUSPENDED |
                                          RUBY_INTERNAL_THREAD_EVENT_EXITED,
                                      nullptr);
#endif
  };
#if !RBPROF_DETAIL_RUBY_HOOKS
  std::memset(harmless_, 1, sizeof harmless_);
#endif
  if (!protect(make)) {
    return absl::InternalError("rbprof: Ruby raised an error while the hooks were being made");
  }
#if RBPROF_DETAIL_RUBY_HOOKS
  if (job_ == POSTPONED_JOB_HANDLE_INVALID) {
    return absl::ResourceExhaustedError(
        "rbprof: all of Ruby's 32 places for jobs are taken by other extensions");
  }
#endif
  pthread_atfork(nullptr, nullptr, [] { on_fork_child(); });
  ruby_vm_at_exit([](ruby_vm_t*) { self().go_down(); });
  installed_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

/// The threads that are older than we are, with their names. Also those whose end we did not see.
inline void process::adopt_threads() {
  lock_witness lk;
  in_ruby_ = true;
  VALUE list = Qnil;
  auto ask = [&] { list = rb_funcall(rb_cThread, rb_intern("list"), 0); };
  if (!protect(ask) || !RB_TYPE_P(list, T_ARRAY)) {
    count.ruby_errors.add();
    list = Qnil;
  }
  for (thread_slot* s : threads.list()) {
    s->announced = s->ended = false;
    s->id.clear();
  }
  const VALUE me = rb_thread_current();
  for (long i = 0; !NIL_P(list) && i < RARRAY_LEN(list); ++i) {
    const VALUE thread = RARRAY_AREF(list, i);
    pid_t tid = 0;
    auto ask_tid = [&] {
      const VALUE id = rb_funcall(thread, rb_intern("native_thread_id"), 0);
      if (RB_INTEGER_TYPE_P(id)) tid = NUM2INT(id);
    };
    if (thread == me) {
      tid = self_tid();  // Ruby has the parent's in the child of a plain fork()
    } else if (!protect(ask_tid)) {
      count.ruby_errors.add();
    }
    thread_slot* s = threads.find(thread);
    if (s == nullptr) s = &add_thread(thread, tid, thread == me ? self_id() : 0);
    if (tid != 0) s->tid.store(tid, std::memory_order_relaxed);
    if (thread == main_) main_tid_.store(tid, std::memory_order_relaxed);
  }
  in_ruby_ = false;
  RB_GC_GUARD(list);
  read_threads(lk);
  for (thread_slot* s : threads.list()) s->announced = !s->over && !s->exited.load(std::memory_order_acquire);
  changed_.store(true, std::memory_order_relaxed);
}

inline thread_slot& process::add_thread(VALUE thread, pid_t tid, std::uintptr_t native) {
  thread_slot& s = threads.add(thread, tid, native);
  keep.keep_thread(thread);
#if RBPROF_DETAIL_RUBY_HOOKS
  rb_internal_thread_specific_set(thread, thread_key_, &s);
#endif
  if (async.on()) give_buffer(s);
  return s;
}

inline void process::read_threads(lock_witness& lk) {
  if (in_ruby_ || !calm()) return;
  in_ruby_ = true;
  const std::vector<thread_slot*> all = threads.list();  // threads come and go while Ruby runs
  for (thread_slot* s : all) {
    const VALUE thread = s->thread;
    if (thread == 0 || s->exited.load(std::memory_order_acquire)) continue;
    thread_answers answers;
    auto ask = [&] { answers.ask(thread, s->started_at.empty() && thread != main_); };
    const bool good = protect(ask);
    if (s->thread != thread) continue;  // it ended meanwhile, and the slot may be another one's
    if (good) {
      answers.store(*s);
      RB_GC_GUARD(answers.name);
      RB_GC_GUARD(answers.text);
    } else {
      count.ruby_errors.add();
    }
    if (!answers.alive && !has_thread_hooks) {
      s->exited.store(true, std::memory_order_release);
      changed_.store(true, std::memory_order_relaxed);
    }
  }
  in_ruby_ = false;
  tend(lk);
  if (asked_in_ruby_) {
    asked_in_ruby_ = false;
    trigger();
  }
}

/// What happened to threads while nobody was told: births while we were not attached, deaths, a fork.
inline void process::tend(lock_witness& lk) {
  if (forked_.exchange(false, std::memory_order_acquire)) {  // pairs with release in on_fork_child()
    const VALUE me = rb_thread_current();
    main_ = rb_thread_main();
    main_tid_.store(self_tid(), std::memory_order_relaxed);
    threads.each([&](thread_slot& s) {
      if (s.thread != me) {
        s.exited.store(true, std::memory_order_relaxed);
        return;
      }
      s.tid.store(self_tid(), std::memory_order_relaxed);
      s.id.clear();
    });
    changed_.store(true, std::memory_order_relaxed);
  }
  if (!changed_.exchange(false, std::memory_order_acquire)) return;
  const std::vector<thread_slot*> all = threads.list();
  for (thread_slot* s : all) {
    if (s->exited.load(std::memory_order_acquire)) {
      end(lk, *s);
      keep.drop_thread(s->thread);
      threads.remove(*s);
    } else if (!s->ended && !s->over) {
      announce(lk, *s);
    }
  }
}

inline void process::announce(lock_witness& lk, thread_slot& s) noexcept {
  if (s.announced || !armed()) return;
  s.announced = true;
  sink_.thread(sink_.self, lk, {&s}, true);
}

inline void process::end(lock_witness& lk, thread_slot& s) noexcept {
  if (!s.announced || s.ended) return;
  s.ended = true;
  if (armed()) sink_.thread(sink_.self, lk, {&s}, false);
}

inline thread_slot* process::current(lock_witness& lk) {
  const VALUE thread = rb_thread_current();
  thread_slot* s = threads.find(thread);
  if (s == nullptr) {
    // Its begin was not seen: hooks do not run while a TracePoint of the program does.
    s = &add_thread(thread, self_tid(), self_id());
    holds_now(self_tid());
  }
  if (s->ended || s->over || s->exited.load(std::memory_order_relaxed)) return nullptr;
  // Where nobody tells of the lock, a thread that is older than we are is met here for the first time.
  if (!has_thread_hooks) s->native.store(self_id(), std::memory_order_relaxed);
  slot_here.store(s, std::memory_order_relaxed);
  announce(lk, *s);
  return s;
}

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_PROCESS_ATTACH_HPP
