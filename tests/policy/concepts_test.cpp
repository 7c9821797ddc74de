// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include <catch2/catch_test_macros.hpp>

#include "archetypes.hpp"

// Most of this file is checked by the compiler: an archetype satisfies its concept, and one that misses a
// single thing does not.

namespace frames {

struct dense {
  std::uint64_t method = 0;
  std::uint32_t line = 0;
  std::uint32_t flags = 0;
  friend bool operator==(const dense&, const dense&) = default;
};
/// A stack's bytes are the key of a cache, so bytes between the members would make equal stacks differ.
struct padded {
  std::uint64_t method = 0;
  std::uint32_t line = 0;
  friend bool operator==(const padded&, const padded&) = default;
};
struct incomparable {
  std::uint64_t method = 0;
};

}  // namespace frames

namespace {

namespace rb = rbprof;
using rb::event;
using rb::role;

// --- vm_adapter -----------------------------------------------------------------------------------------

static_assert(rb::vm_adapter<archetype::vm>);
static_assert(rb::vm_adapter<archetype::rich_vm>);
static_assert(rb::event_sink<rb::sink_archetype<archetype::vm>, archetype::vm>);
static_assert(!rb::vm_adapter<int>);
static_assert(!rb::event_sink<int, archetype::vm>);

struct vm_without_tag : archetype::vm {
  using vm_adapter_concept = void;
};
static_assert(!rb::vm_adapter<vm_without_tag>);

template <class Lock>
struct vm_with_lock : archetype::vm {
  using lock_type = Lock;
  thread_type current(lock_type&) noexcept { return 0; }
  rb::captured capture(lock_type&, thread_type, std::span<frame_type>) noexcept { return {}; }
  bool describe(lock_type&, frame_type, rb::frame_text&) noexcept { return false; }
  bool describe(lock_type&, thread_type, rb::thread_text&) noexcept { return false; }
};
struct copyable {};
struct not_copyable {
  not_copyable() = default;
  not_copyable(const not_copyable&) = delete;
};
static_assert(rb::vm_adapter<vm_with_lock<not_copyable>>);
static_assert(!rb::vm_adapter<vm_with_lock<copyable>>);

template <class Frame>
struct vm_with_frame : archetype::vm {
  using frame_type = Frame;
  rb::captured capture(lock_type&, thread_type, std::span<frame_type>) noexcept { return {}; }
  bool describe(lock_type&, frame_type, rb::frame_text&) noexcept { return false; }
  bool describe(lock_type&, thread_type, rb::thread_text&) noexcept { return false; }
};
static_assert(rb::vm_adapter<vm_with_frame<frames::dense>>);
static_assert(!rb::vm_adapter<vm_with_frame<frames::padded>>);
static_assert(!rb::vm_adapter<vm_with_frame<frames::incomparable>>);

struct vm_whose_capture_may_throw : archetype::vm {
  rb::captured capture(lock_type&, thread_type, std::span<frame_type>) { return {}; }
};
static_assert(!rb::vm_adapter<vm_whose_capture_may_throw>);

struct vm_that_captures_without_lock : archetype::vm {
  rb::captured capture(thread_type, std::span<frame_type>) noexcept { return {}; }
};
static_assert(!rb::vm_adapter<vm_that_captures_without_lock>);

struct vm_without_roles : archetype::vm {
  static constexpr int request_from = 0;
};
static_assert(!rb::vm_adapter<vm_without_roles>);

// --- capabilities ---------------------------------------------------------------------------------------

template <class V>
concept has_everything =
    rb::has_thread_list<V> && rb::has_inline_lock<V> && rb::has_thread_names<V> &&
    rb::has_frame_refinement<V> && rb::has_frame_pins<V> && rb::has_signal_target<V> &&
    rb::has_async_capture<V> && rb::has_gc_events<V> && rb::has_lock_events<V> &&
    rb::has_thread_events<V> && rb::has_binding<V> && rb::has_allocation_events<V> &&
    rb::has_live_objects<V> && rb::has_statistics<V> && rb::has_remarks<V>;
template <class V>
concept has_nothing =
    !(rb::has_thread_list<V> || rb::has_inline_lock<V> || rb::has_thread_names<V> ||
      rb::has_frame_refinement<V> || rb::has_frame_pins<V> || rb::has_signal_target<V> ||
      rb::has_async_capture<V> || rb::has_gc_events<V> || rb::has_lock_events<V> ||
      rb::has_thread_events<V> || rb::has_binding<V> || rb::has_allocation_events<V> ||
      rb::has_live_objects<V> || rb::has_statistics<V> || rb::has_remarks<V>);
static_assert(has_everything<archetype::rich_vm>);
static_assert(has_nothing<archetype::vm>);

/// The functions alone are not a capability: the adapter must say that it delivers the events.
struct vm_silent : archetype::rich_vm {
  static constexpr event emits = event::none;
};
static_assert(rb::vm_adapter<vm_silent>);
static_assert(!rb::has_gc_events<vm_silent> && !rb::has_lock_events<vm_silent>);
static_assert(!rb::has_thread_events<vm_silent> && !rb::has_binding<vm_silent>);
static_assert(!rb::has_allocation_events<vm_silent> && !rb::has_live_objects<vm_silent>);

/// Nor are the events: what goes with them must be there.
struct vm_that_promises_too_much : archetype::vm {
  static constexpr event emits = event::gc | event::allocation | event::bind;
};
static_assert(rb::vm_adapter<vm_that_promises_too_much>);
static_assert(!rb::has_gc_events<vm_that_promises_too_much>);
static_assert(!rb::has_allocation_events<vm_that_promises_too_much>);
static_assert(!rb::has_binding<vm_that_promises_too_much>);

// --- trigger --------------------------------------------------------------------------------------------

static_assert(rb::trigger_for<archetype::trigger, archetype::vm>);
static_assert(rb::trigger_for<archetype::trigger, archetype::rich_vm>);
static_assert(!rb::trigger_for<archetype::trigger, int>);

struct trigger_without_tag : archetype::trigger {
  using trigger_concept = void;
};
static_assert(!rb::trigger_for<trigger_without_tag, archetype::vm>);

template <role Needs>
struct trigger_from : archetype::trigger {
  static constexpr role needs = Needs;
};
template <role From>
struct vm_from : archetype::vm {
  static constexpr role request_from = From;
};
static_assert(rb::trigger_for<trigger_from<role::foreign>, archetype::rich_vm>);
static_assert(rb::trigger_for<trigger_from<role::foreign>, vm_from<role::foreign>>);
static_assert(!rb::trigger_for<trigger_from<role::foreign>, vm_from<role::handler | role::vm_thread>>);
static_assert(!rb::trigger_for<trigger_from<role::foreign | role::handler>, vm_from<role::foreign>>);

struct trigger_on_bound_threads : archetype::trigger {
  static constexpr bool needs_binding = true;
};
static_assert(rb::trigger_for<trigger_on_bound_threads, archetype::rich_vm>);
static_assert(!rb::trigger_for<trigger_on_bound_threads, archetype::vm>);

struct trigger_with_target : archetype::trigger {
  static constexpr bool needs_target = true;
};
static_assert(rb::trigger_for<trigger_with_target, archetype::rich_vm>);
static_assert(!rb::trigger_for<trigger_with_target, archetype::vm>);

struct trigger_that_claims_without_lock : archetype::trigger {
  template <class V>
  rb::moment claim(V&) noexcept {
    return {};
  }
};
static_assert(!rb::trigger_for<trigger_that_claims_without_lock, archetype::vm>);

// --- samplers -------------------------------------------------------------------------------------------

static_assert(rb::time_sampler<archetype::time_sampler>);
static_assert(rb::event_sampler<archetype::event_sampler>);
static_assert(!rb::time_sampler<archetype::event_sampler>);
static_assert(!rb::event_sampler<archetype::time_sampler>);

struct time_sampler_without_tag : archetype::time_sampler {
  using sampler_concept = rb::trigger_tag;
};
static_assert(!rb::time_sampler<time_sampler_without_tag>);

struct event_sampler_without_tag : archetype::event_sampler {
  using sampler_concept = void;
};
static_assert(!rb::event_sampler<event_sampler_without_tag>);

/// `nap` is asked by another thread than `admit`: it may not change the sampler.
struct time_sampler_that_naps_and_changes : archetype::time_sampler {
  rb::nanos nap(rb::mono) noexcept { return {}; }
};
static_assert(!rb::time_sampler<time_sampler_that_naps_and_changes>);

/// The skip path knows no time: a sampler that wants one would read a clock at every event.
struct event_sampler_that_wants_the_time : archetype::event_sampler {
  bool count(rb::mono) noexcept { return false; }
};
static_assert(!rb::event_sampler<event_sampler_that_wants_the_time>);

// --- context --------------------------------------------------------------------------------------------

static_assert(rb::context_for<archetype::context, archetype::vm>);
static_assert(rb::context_for<archetype::gc_context, archetype::vm>);
static_assert(rb::context_for<archetype::gc_context, archetype::rich_vm>);
/// With collector events, a context that does not take them would book the collector on Ruby lines.
static_assert(!rb::context_for<archetype::context, archetype::rich_vm>);
static_assert(!rb::context_for<archetype::context, int>);

struct context_without_tag : archetype::context {
  using context_concept = void;
};
static_assert(!rb::context_for<context_without_tag, archetype::vm>);

struct context_without_state : archetype::context {
  struct thread_state {
    explicit thread_state(int) {}
  };
};
static_assert(!rb::context_for<context_without_state, archetype::vm>);

// --- recorder -------------------------------------------------------------------------------------------

static_assert(rb::recorder<archetype::recorder>);
static_assert(!rb::recorder<int>);

struct recorder_without_tag : archetype::recorder {
  using archetype::recorder::recorder;
  using recorder_concept = void;
};
static_assert(!rb::recorder<recorder_without_tag>);

struct recorder_that_may_throw : archetype::recorder {
  using archetype::recorder::recorder;
  bool write(const rb::record&) { return false; }
};
static_assert(!rb::recorder<recorder_that_may_throw>);

/// A refusal must be visible, or the record after it would be written to nowhere.
struct recorder_that_enters_always : archetype::recorder {
  using archetype::recorder::recorder;
  void enter() noexcept {}
};
static_assert(!rb::recorder<recorder_that_enters_always>);

// --- what the compiler can't check ------------------------------------------------------------------------

TEST_CASE("a set of roles contains its parts and nothing else") {
  const role both = role::handler | role::foreign;
  CHECK(rb::has(both, role::handler));
  CHECK(rb::has(both, role::foreign));
  CHECK(rb::has(both, role::none));
  CHECK_FALSE(rb::has(both, role::vm_thread));
  CHECK_FALSE(rb::has(role::handler, both));
}

TEST_CASE("an adapter hands the same lock witness to all that asks for it") {
  archetype::vm vm;
  archetype::vm::lock_type* seen = nullptr;
  vm.with_lock([&](archetype::vm::lock_type& lk) {
    seen = &lk;
    CHECK(vm.current(lk) == 0);
    CHECK(vm.capture(lk, 0, {}).count == 0);
  });
  CHECK(seen != nullptr);
}

}  // namespace
