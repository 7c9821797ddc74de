// expect: rbprof: this trigger asks for safe points from where this VM can.t be asked
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// CRuby 3.1 can be asked for a safe point by its own threads and handlers alone; postponed_job asks from
// another thread.
#include <rbprof/profiler.hpp>

#include "../policy/archetypes.hpp"

struct asking_from_outside : archetype::trigger {
  static constexpr rbprof::role needs = rbprof::role::foreign;
};

#ifdef RBPROF_FIXED
using chosen = archetype::rich_vm;
#else
struct chosen : archetype::rich_vm {
  static constexpr rbprof::role request_from = rbprof::role::vm_thread | rbprof::role::handler;
};
#endif

using profiler = rbprof::basic_profiler<chosen, asking_from_outside, archetype::time_sampler,
                                        archetype::gc_context, archetype::recorder>;

absl::Status start(profiler& p) { return p.start(); }
