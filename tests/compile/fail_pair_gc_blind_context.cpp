// expect: rbprof: the fourth policy is no context for this VM
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// A context that does not take the events of a collector would book the collector on Ruby lines.
#include <rbprof/profiler.hpp>

#include "../policy/archetypes.hpp"

#ifdef RBPROF_FIXED
using chosen = archetype::gc_context;
#else
using chosen = archetype::context;
#endif

using profiler = rbprof::basic_profiler<archetype::rich_vm, archetype::trigger, archetype::time_sampler,
                                        chosen, archetype::recorder>;

absl::Status start(profiler& p) { return p.start(); }
