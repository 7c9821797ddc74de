// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_CRUBY_HPP
#define RBPROF_CRUBY_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/percent.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/profiler/governed.hpp>
#include <rbprof/trigger/either.hpp>
#include <rbprof/trigger/postponed_job.hpp>
#include <rbprof/trigger/signal.hpp>
#include <rbprof/vm/cruby.hpp>

// What a host that embeds CRuby includes: the adapter, and the composition that most hosts want. Include it before
// or after <ruby.h>; it repairs what that header's macros break.

namespace rbprof::inline v0 {
namespace cruby {

/// Who asks the VM for samples.
enum class trigger_kind : std::uint8_t {
  automatic,      ///< the gentlest sound one: postponed_job where the VM has it, else signal
  postponed_job,  ///< no signals; needs CRuby >= 3.3
  signal,         ///< SIGPROF to the thread that runs Ruby
};

[[nodiscard]] constexpr trigger_kind choose(trigger_kind asked) noexcept {
  if (asked != trigger_kind::automatic) return asked;
  return has(vm::cruby::request_from, role::foreign) ? trigger_kind::postponed_job
                                                     : trigger_kind::signal;
}

[[nodiscard]] constexpr std::string_view to_text(trigger_kind k) noexcept {
  return k == trigger_kind::postponed_job ? "postponed_job"
         : k == trigger_kind::signal      ? "signal"
                                          : "auto";
}

struct options {
  percent overhead_target{2};              ///< of wall time, all sources together; over 0, at most 20
  nanos interval{10'000'000};              ///< between two samples; 20 us to 1 s
  trigger_kind trigger = trigger_kind::automatic;
  bool handler_capture = true;             ///< with `signal`: its handler takes the stacks, where that is sound
  bool unsound_handler_capture = false;    ///< also before CRuby 3.3, where a rare signal may crash the program
  std::size_t max_frames = 400;            ///< of a stack, the leaf side is kept; 5 to 3000
  bool gc = true;                          ///< time the collector, and take its time out of the threads
  bool allocations = false;                ///< sample new objects too, for half of the overhead target
  std::uint32_t allocation_every = 0;      ///< not 0: one of so many on average, at any cost; 1 = each
  bool heap = false;                       ///< which of the sampled objects are alive; every freed object costs a look-up
  std::uint32_t heap_every = 1;            ///< of so many samples one is kept in mind, on average
  std::size_t byte_budget = 32U << 20;     ///< of the recorder
  nanos settle_patience{200'000'000};      ///< how long a flush from outside waits for the VM
  std::string program = "ruby";            ///< shown by viewers as the binary
};

/// The profiler for a host that names no policy.
///
///     rbprof::cruby::profiler profiler{{.overhead_target = 2_percent}};
///     if (auto started = profiler.start(); !started.ok()) report(started.message());
///     run();  // Ruby runs here
///     absl::StatusOr<rbprof::profile> profile = profiler.stop();
///
/// Thread-safe; contracts as in `basic_profiler`.
class profiler
    : public detail::governed_profiler<vm::cruby, trigger::either<trigger::postponed_job, trigger::signal>> {
 public:
  explicit profiler(const options& o = {}) : governed_profiler(o) {
    if (!usable()) return;
    kind_ = choose(o.trigger);
    this->trigger().choose(kind_ == trigger_kind::postponed_job ? 0 : 1);
    this->vm().options = {o.handler_capture, o.unsound_handler_capture, o.max_frames, o.gc};
    this->context().configure({.gc_hook_share = o.overhead_target.value / 100.0 / 4.0});
  }

  [[nodiscard]] trigger_kind trigger_in_force() const noexcept { return kind_; }

 private:
  trigger_kind kind_ = trigger_kind::automatic;
};

}  // namespace cruby
}  // namespace rbprof::inline v0

#endif  // RBPROF_CRUBY_HPP
