// expect: rbprof: the first policy is no vm_adapter
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// Whatever looks like an adapter is none until it says so with its tag.
#include <rbprof/profiler.hpp>

#include "../policy/archetypes.hpp"

#ifdef RBPROF_FIXED
using chosen = archetype::rich_vm;
#else
struct chosen : archetype::rich_vm {
  using vm_adapter_concept = void;
};
#endif

using profiler = rbprof::basic_profiler<chosen, archetype::trigger, archetype::time_sampler,
                                        archetype::gc_context, archetype::recorder>;

absl::Status start(profiler& p) { return p.start(); }
