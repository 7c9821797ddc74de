// expect: rbprof: the fifth policy is no recorder
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// A recorder that can't refuse would write where the flusher reads.
#include <rbprof/profiler.hpp>

#include "../policy/archetypes.hpp"

#ifdef RBPROF_FIXED
using chosen = archetype::recorder;
#else
struct chosen : archetype::recorder {
  using archetype::recorder::recorder;
  void enter() noexcept {}
};
#endif

using profiler = rbprof::basic_profiler<archetype::rich_vm, archetype::trigger, archetype::time_sampler,
                                        archetype::gc_context, chosen>;

absl::Status start(profiler& p) { return p.start(); }
