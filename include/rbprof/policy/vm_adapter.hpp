// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_POLICY_VM_ADAPTER_HPP
#define RBPROF_POLICY_VM_ADAPTER_HPP

#include <absl/status/status.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <rbprof/base/clock.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/moment.hpp>

// The vm_adapter decides what a thread, a frame and a safe point are. It is all that the library knows of
// a VM. docs/policies/vm_adapter.md says what each expression means; the essentials:
//
// * `lock_type&` is the lock witness: only the adapter makes one, and having it proves that the VM lock is
//   held, at a place where the VM may be read. What needs the lock takes it as an argument.
// * `event_sink` is what the adapter calls back. It is not virtual: `attach` is a template that keeps a
//   pointer and a few thunks.
// * A capability has two halves: the concept says that it compiles, `features()` says that it is on in this
//   process.

namespace rbprof::inline v0 {

struct vm_adapter_tag {};

/// What an adapter of type V calls. The lane of `basic_profiler` is the real one. Nothing in it raises,
/// blocks, or calls a Ruby method.
template <class S, class V>
concept event_sink = requires(S& s, typename V::lock_type& lk, typename V::thread_type th) {
  { s.on_safe_point(lk) } noexcept;        // a safe point that somebody asked for
  { s.on_thread(lk, th, true) } noexcept;  // begins / ends, on the thread itself where the VM can
  { s.on_gc(th, true) } noexcept;          // enters / leaves a collection: allocate nothing, call no VM
  { s.on_running(lk, th) } noexcept;       // got the VM lock after it had given it up
  { s.on_bind(true) } noexcept;            // this native thread drives the VM from now on / no more
};

/// A sink that does nothing; the concepts below are checked with it.
template <class V>
struct sink_archetype {
  void on_safe_point(typename V::lock_type&) noexcept {}
  void on_thread(typename V::lock_type&, typename V::thread_type, bool) noexcept {}
  void on_gc(typename V::thread_type, bool) noexcept {}
  void on_running(typename V::lock_type&, typename V::thread_type) noexcept {}
  void on_bind(bool) noexcept {}
};

template <class V>
concept vm_adapter =
    std::same_as<typename V::vm_adapter_concept, vm_adapter_tag> &&
    std::regular<typename V::thread_type> &&
    std::is_trivially_copyable_v<typename V::thread_type> &&
    std::equality_comparable<typename V::frame_type> &&
    std::is_trivially_copyable_v<typename V::frame_type> &&
    std::has_unique_object_representations_v<typename V::frame_type> &&  // a stack's bytes are its key
    !std::copyable<typename V::lock_type> &&
    std::same_as<std::remove_cvref_t<decltype(V::request_from)>, role> &&
    std::same_as<std::remove_cvref_t<decltype(V::emits)>, event> &&
    std::same_as<std::remove_cvref_t<decltype(V::exclusive_sampler)>, bool> &&
    requires(V& v, const V& cv, sink_archetype<V>& sink, typename V::lock_type& lk,
             typename V::thread_type th, typename V::frame_type f,
             std::span<typename V::frame_type> out, frame_text& ft, thread_text& tt) {
      { v.attach(sink) } -> std::same_as<absl::Status>;
      { v.detach() } noexcept -> std::same_as<absl::Status>;
      { cv.features() } noexcept -> std::same_as<feature>;
      { cv.now() } noexcept -> std::same_as<mono>;
      { v.request_safe_point() } noexcept -> std::same_as<request_result>;
      { v.current(lk) } noexcept -> std::same_as<typename V::thread_type>;
      { v.capture(lk, th, out) } noexcept -> std::same_as<captured>;
      { v.describe(lk, f, ft) } noexcept -> std::same_as<bool>;
      { v.describe(lk, th, tt) } noexcept -> std::same_as<bool>;
      { v.cpu_time(th) } noexcept -> std::same_as<std::optional<nanos>>;
    };

// --- capabilities ---------------------------------------------------------------------------------------

/// Threads that are older than the profiler can be listed. May call Ruby methods: only from `start`.
template <class V>
concept has_thread_list = vm_adapter<V> && requires(V& v, typename V::lock_type& lk,
                                                    void (*f)(typename V::thread_type)) {
  { v.each_thread(lk, f) } noexcept;
};

/// The calling thread can be asked whether it holds the VM lock at a place where the VM may be called.
/// `f` then runs with the witness, inline, outside of any safe point.
template <class V>
concept has_inline_lock = vm_adapter<V> && requires(V& v, void (*f)(typename V::lock_type&)) {
  { v.with_lock_here(f) } -> std::same_as<bool>;
};

/// Names of threads can be read anew, which may call Ruby methods: never from a safe point that was asked
/// for, only inline.
template <class V>
concept has_thread_names = vm_adapter<V> && requires(V& v, typename V::lock_type& lk) {
  { v.read_thread_names(lk) } noexcept;
};

/// Frames of a freshly captured stack can be told apart further (a block from its method) before they are
/// described. `frames` is changed in place; needs the thread still at the place of its capture.
template <class V>
concept has_frame_refinement =
    vm_adapter<V> && requires(V& v, typename V::lock_type& lk, typename V::thread_type th,
                              std::span<typename V::frame_type> frames) {
      { v.refine(lk, th, frames) } noexcept;
    };

/// Frames that were described are kept alive until they are forgotten.
template <class V>
concept has_frame_pins = vm_adapter<V> && requires(V& v, typename V::lock_type& lk) {
  { v.forget_frames(lk) } noexcept;
};

/// Who is to be signalled now: the kernel id of the thread that runs the VM; none = nobody runs it. An adapter
/// that sees waits only by asking also has `idle_signal_target()`: who is asked, seldom, while nobody runs.
/// `hook_signal` installs the adapter's handler, which asks for the safe point; `unhook_signal` leaves the
/// handler that was there before, else one that ignores, never the default action.
template <class V>
concept has_signal_target = vm_adapter<V> && requires(V& v) {
  { v.signal_target() } noexcept -> std::same_as<std::optional<pid_t>>;
  { v.hook_signal() } -> std::same_as<absl::Status>;
  { v.unhook_signal() } noexcept;
};

/// The signal handler takes the stack, one a thread, into storage that the adapter owns and marks; it stays the
/// first one until it is taken from there.
template <class V>
concept has_async_capture =
    vm_adapter<V> && requires(V& v, typename V::lock_type& lk, typename V::thread_type th,
                              std::span<typename V::frame_type> out) {
      { v.take_async(lk, th, out) } noexcept -> std::same_as<std::optional<async_stack>>;
    };

template <class V>
concept has_gc_events = vm_adapter<V> && has(V::emits, event::gc) && requires(V& v) {
  { v.last_gc() } noexcept -> std::same_as<gc_facts>;  // from inside on_gc(th, false)
};

/// `on_running` is called, so a thread that was not running since its last sample has its old stack still.
template <class V>
concept has_lock_events = vm_adapter<V> && has(V::emits, event::lock);

template <class V>
concept has_thread_events = vm_adapter<V> && has(V::emits, event::thread);

template <class V>
concept has_binding = vm_adapter<V> && has(V::emits, event::bind) && requires(V& v) {
  { v.bind() } -> std::same_as<absl::Status>;
  { v.unbind() } noexcept;
};

template <class V>
concept has_allocation_events =
    vm_adapter<V> && has(V::emits, event::allocation) &&
    requires(V& v, typename V::lock_type& lk, typename V::object_type o, frame_text& t) {
      { v.describe_object(lk, o, t) } noexcept -> std::same_as<bool>;
    };

/// A sink that takes new objects. An adapter whose sink does not, or does not want any at attach, leaves its hook out.
/// `o` is the running thread's. From inside of on_allocation the sink calls `current`, `capture`, `describe_object`,
/// `request_safe_point` and, where there is one, `keep_frames(lk, frames)`, which keeps captured frames until
/// forget_frames: none of these may make an object.
template <class S, class V>
concept allocation_sink =
    event_sink<S, V> && requires(S& s, const S& cs, typename V::lock_type& lk, typename V::object_type o) {
      { cs.wants_allocations() } noexcept -> std::same_as<bool>;
      { s.on_allocation(lk, o) } noexcept;  // may come inside of other calls of the sink: call no Ruby method
    };

template <class V>
concept has_live_objects =
    has_allocation_events<V> &&
    requires(V& v, typename V::lock_type& lk, typename V::object_type o, std::uint64_t key) {
      { v.watch(lk, o, key) } noexcept -> std::same_as<bool>;  // from inside of on_allocation; keeps nothing alive
      { v.collections(lk) } noexcept -> std::same_as<std::uint64_t>;
      { v.forget_objects(lk) } noexcept;
      { v.alive(lk, key) } noexcept -> std::same_as<std::optional<std::uint64_t>>;  // bytes
    };

/// Counts of its own: `f(name, value)` for each; `reset` starts a new period.
template <class P>
concept has_statistics =
    requires(P& p, void (*f)(const char*, std::uint64_t)) { p.each_statistic(f); };

/// Remarks for people about what is off in this process: `f(line)` for each.
template <class V>
concept has_remarks = requires(V& v, void (*f)(const char*)) { v.each_remark(f); };

}  // namespace rbprof::inline v0

#endif  // RBPROF_POLICY_VM_ADAPTER_HPP
