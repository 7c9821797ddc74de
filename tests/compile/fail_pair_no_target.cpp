// expect: rbprof: this trigger needs a VM whose thread can be signalled
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// Who cannot be told which thread runs the VM cannot signal it.
#include <rbprof/profiler.hpp>

#include "../policy/archetypes.hpp"

struct with_target : archetype::trigger {
  static constexpr bool needs_target = true;
};

#ifdef RBPROF_FIXED
using chosen = archetype::rich_vm;
#else
struct chosen : archetype::vm {
  template <class F>
  bool with_lock_here(F&&) {
    return false;
  }
};
#endif

using profiler = rbprof::basic_profiler<chosen, with_target, archetype::time_sampler,
                                        archetype::gc_context, archetype::recorder>;

absl::Status start(profiler& p) { return p.start(); }
