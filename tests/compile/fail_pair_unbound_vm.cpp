// expect: rbprof: this trigger needs a VM that is bound to threads
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// A timer on each bound thread has nothing to do where no thread is ever bound.
#include <rbprof/profiler.hpp>

#include "../policy/archetypes.hpp"

struct on_bound_threads : archetype::trigger {
  static constexpr bool needs_binding = true;
};

#ifdef RBPROF_FIXED
using chosen = archetype::rich_vm;
#else
struct chosen : archetype::rich_vm {
  static constexpr rbprof::event emits = rbprof::event::gc;
};
#endif

using profiler = rbprof::basic_profiler<chosen, on_bound_threads, archetype::time_sampler,
                                        archetype::gc_context, archetype::recorder>;

absl::Status start(profiler& p) { return p.start(); }
