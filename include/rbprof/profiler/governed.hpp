// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_GOVERNED_HPP
#define RBPROF_PROFILER_GOVERNED_HPP

#include <absl/status/status.h>

#include <rbprof/base/percent.hpp>
#include <rbprof/context/thread_times.hpp>
#include <rbprof/profiler.hpp>
#include <rbprof/recorder/flip_recorder.hpp>
#include <rbprof/sampler/dynamic_rate.hpp>

namespace rbprof::inline v0 {
namespace detail {

/// What the ready-made profilers of all VMs have in common: the governor with a target, thread times, the flip
/// recorder. Contracts as in `basic_profiler`.
template <class Vm, class Trigger>
class governed_profiler
    : public basic_profiler<Vm, Trigger, sampler::dynamic_rate, context::thread_times, flip_recorder> {
  using base = basic_profiler<Vm, Trigger, sampler::dynamic_rate, context::thread_times, flip_recorder>;

 public:
  /// As basic_profiler::start; refuses an overhead target that is out of range as well.
  absl::Status start() {
    if (this->usable()) {
      if (absl::Status s = this->sampler().configure({overhead_target_.value}); !s.ok()) return s;
    }
    return base::start();
  }

 protected:
  /// `o`: the options of a VM's profiler, of which those are taken that all have.
  template <class Options>
  explicit governed_profiler(const Options& o) : base(to_common(o)), overhead_target_(o.overhead_target) {}
  ~governed_profiler() = default;

 private:
  template <class Options>
  [[nodiscard]] static profiler_options to_common(const Options& o) {
    profiler_options c;
    c.interval = o.interval;
    c.max_frames = o.max_frames;
    c.byte_budget = o.byte_budget;
    c.settle_patience = o.settle_patience;
    c.program = o.program;
    return c;
  }

  percent overhead_target_;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_GOVERNED_HPP
