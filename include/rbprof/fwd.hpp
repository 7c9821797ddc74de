// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_FWD_HPP
#define RBPROF_FWD_HPP

// Names for headers of a host that only pass them on.

namespace rbprof::inline v0 {

class profile;
class profile_builder;
class flip_recorder;
struct profiler_options;

template <class Vm, class Trigger, class Sampler, class Context, class Recorder>
class basic_profiler;

namespace trigger {
class manual;
class postponed_job;
class signal;
class thread_timer;
}  // namespace trigger

namespace sampler {
class discrete;
class dynamic_rate;
class fixed_rate;
}  // namespace sampler

namespace context {
class thread_times;
}

namespace vm {
class cruby;
class mruby;
}  // namespace vm

namespace cruby {
class profiler;
struct options;
}  // namespace cruby

namespace mruby {
class profiler;
struct options;
}  // namespace mruby

}  // namespace rbprof::inline v0

#endif  // RBPROF_FWD_HPP
