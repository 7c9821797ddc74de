// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_POLICY_CONTEXT_HPP
#define RBPROF_POLICY_CONTEXT_HPP

#include <concepts>
#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/vm_adapter.hpp>

// The context decides what a sample is worth: it keeps, for each thread, up to where its clocks have been
// booked, and emits rows. docs/policies/context.md has the semantics.

namespace rbprof::inline v0 {

struct context_tag {};

/// An amount to be booked on one stack.
struct row {
  enum class place : std::uint8_t {
    captured,    ///< the stack that was captured for this sample
    gc,          ///< the collector
    overhead,    ///< the profiler itself
    outside_vm,  ///< the host, while no Ruby ran
  };
  place where = place::captured;
  nanos cpu{0};
  nanos wall{0};
  std::uint32_t samples = 0;
  gc_facts gc{};  ///< of the last collection, when `where` is gc
};

/// How rows leave a context. A reference to a callable, called before the expression returns.
using emit_archetype = void (*)(const row&);

template <class C, class V>
concept context_for =
    vm_adapter<V> && std::same_as<typename C::context_concept, context_tag> &&
    std::default_initializable<typename C::thread_state> &&
    requires(C& c, V& v, typename C::thread_state& st, typename V::lock_type& lk,
             typename V::thread_type th, const moment& m, emit_archetype emit, const sample_cost& o,
             mono now) {
      { c.reset(now) } noexcept;          // profiling starts
      { c.reset_statistics() } noexcept;  // a new period of counts starts
      { c.take_hook_cost() } noexcept -> std::same_as<nanos>;  // of its event hooks, since the last call
      { c.begin(v, lk, th, st) } noexcept;
      { c.settle(v, lk, th, st, m, emit) } noexcept;  // all since the last settle, exactly once
      { c.end(v, lk, th, st, emit) } noexcept;
      { c.overhead(st, o, emit) } noexcept;  // the sampler's own cost on this thread
    } &&
    (!has_gc_events<V> ||
     requires(C& c, V& v, typename C::thread_state& st, typename V::lock_type& lk,
              typename V::thread_type th, emit_archetype emit) {
       { c.gc(v, th, st, true) } noexcept -> std::same_as<bool>;  // at exit, true: report soon
       { c.report_gc(v, lk, th, st, emit) } noexcept;
     });

}  // namespace rbprof::inline v0

#endif  // RBPROF_POLICY_CONTEXT_HPP
