// expect: rbprof: the third policy is no time_sampler
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// A sampler that counts events does not govern samples in time.
#include <rbprof/profiler.hpp>

#include "../policy/archetypes.hpp"

#ifdef RBPROF_FIXED
using chosen = archetype::time_sampler;
#else
using chosen = archetype::event_sampler;
#endif

using profiler = rbprof::basic_profiler<archetype::rich_vm, archetype::trigger, chosen,
                                        archetype::gc_context, archetype::recorder>;

absl::Status start(profiler& p) { return p.start(); }
