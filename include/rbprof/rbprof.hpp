// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RBPROF_HPP
#define RBPROF_RBPROF_HPP

// All that needs no VM header and no output library: the policies, their concepts, the profiler that composes them,
// and the simulated VM. A host of CRuby includes <rbprof/cruby.hpp>, one of
// mruby <rbprof/mruby.hpp>; a writer is included by its own name.

#include <rbprof/base/clock.hpp>
#include <rbprof/base/percent.hpp>
#include <rbprof/context/thread_times.hpp>
#include <rbprof/fwd.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/model/profile_builder.hpp>
#include <rbprof/policy/context.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/sampler.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler.hpp>
#include <rbprof/recorder/flip_recorder.hpp>
#include <rbprof/sampler/discrete.hpp>
#include <rbprof/sampler/dynamic_rate.hpp>
#include <rbprof/sampler/fixed_rate.hpp>
#include <rbprof/sampler/with_events.hpp>
#include <rbprof/trigger/either.hpp>
#include <rbprof/trigger/manual.hpp>
#include <rbprof/trigger/postponed_job.hpp>
#include <rbprof/trigger/signal.hpp>
#include <rbprof/trigger/thread_timer.hpp>
#include <rbprof/version.hpp>
#include <rbprof/vm/simulated.hpp>

#endif  // RBPROF_RBPROF_HPP
