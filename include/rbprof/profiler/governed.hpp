// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_GOVERNED_HPP
#define RBPROF_PROFILER_GOVERNED_HPP

#include <absl/status/status.h>

#include <cstdint>
#include <type_traits>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/percent.hpp>
#include <rbprof/context/thread_times.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler.hpp>
#include <rbprof/recorder/flip_recorder.hpp>
#include <rbprof/sampler/discrete.hpp>
#include <rbprof/sampler/dynamic_rate.hpp>
#include <rbprof/sampler/with_events.hpp>

namespace rbprof::inline v0 {
namespace detail {

/// Time alone, or with allocations beside it where the VM tells of them.
template <class Vm>
using governor = std::conditional_t<has_allocation_events<Vm>,
                                    sampler::with_events<sampler::dynamic_rate, sampler::discrete>, sampler::dynamic_rate>;

/// What the ready-made profilers of all VMs have in common: the governor with a target, thread times, the flip
/// recorder. The target is one: with allocations on, time and allocations may take half of it each. Contracts as in
/// `basic_profiler`.
template <class Vm, class Trigger>
class governed_profiler : public basic_profiler<Vm, Trigger, governor<Vm>, context::thread_times, flip_recorder> {
  using base = basic_profiler<Vm, Trigger, governor<Vm>, context::thread_times, flip_recorder>;

 public:
  /// As basic_profiler::start; refuses an overhead target that is out of range as well.
  absl::Status start() {
    if (!this->usable()) return base::start();
    if (absl::Status s = this->sampler().configure({overhead_target_.value}); !s.ok()) return s;
    if constexpr (has_allocation_events<Vm>) {
      if (allocations_) {
        const double half = overhead_target_.value / 2;
        absl::Status s = this->sampler().configure({half});
        const auto seed = static_cast<std::uint64_t>(monotonic_now().ns);
        if (s.ok()) s = this->sampler().events.configure({half, seed, allocation_every_}, monotonic_now());
        if (!s.ok()) return s;
      }
    }
    return base::start();
  }

 protected:
  /// `o`: the options of a VM's profiler, of which those are taken that all have.
  template <class Options>
  explicit governed_profiler(const Options& o) : base(to_common(o)), overhead_target_(o.overhead_target) {
    if constexpr (has_allocation_events<Vm>) {
      allocations_ = o.allocations || o.heap;
      allocation_every_ = o.allocation_every;
    }
  }
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
    if constexpr (has_allocation_events<Vm>) {
      if (o.heap) {
        c.types.push_back(value_type::heap_live_samples);
        c.types.push_back(value_type::heap_live_size);
        c.heap_every = o.heap_every;
      }
      if (o.allocations) {
        c.types.push_back(value_type::alloc_samples);
        c.types.push_back(value_type::alloc_samples_unscaled);
      }
    }
    return c;
  }

  percent overhead_target_;
  bool allocations_ = false;
  std::uint32_t allocation_every_ = 0;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_GOVERNED_HPP
