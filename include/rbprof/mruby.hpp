// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_MRUBY_HPP
#define RBPROF_MRUBY_HPP

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
#include <rbprof/trigger/manual.hpp>
#include <rbprof/trigger/thread_timer.hpp>
#include <rbprof/vm/mruby.hpp>

// What a host that embeds mruby includes: the adapter, and the composition that most hosts want.

namespace rbprof::inline v0 {
namespace mruby {

using backend = vm::mruby_backend;
using timer_clock = trigger::timer_clock;

/// Who asks for samples.
enum class trigger_kind : std::uint8_t {
  automatic,     ///< thread_timer
  thread_timer,  ///< SIGPROF from a timer of the kernel, to the thread that drives the state
  manual,        ///< no signals: the host calls poll(), and is sampled where it stands then
};

[[nodiscard]] constexpr std::string_view to_text(trigger_kind k) noexcept {
  return k == trigger_kind::manual ? "manual" : k == trigger_kind::thread_timer ? "thread_timer" : "auto";
}

struct options {
  percent overhead_target{2};              ///< of wall time, all sources together; over 0, at most 20
  nanos interval{10'000'000};              ///< between two samples; 20 us to 1 s
  trigger_kind trigger = trigger_kind::automatic;
  timer_clock clock = timer_clock::cpu;    ///< of thread_timer; wall sees waits, and may end them early
  backend stacks = backend::automatic;     ///< how they are read; the profile says which way was taken
  std::size_t max_frames = 400;            ///< of a stack, the leaf side is kept; 5 to 3000
  bool gc = true;                          ///< a tick inside the collector is the collector's
  std::size_t byte_budget = 32U << 20;     ///< of the recorder
  nanos settle_patience{200'000'000};      ///< how long a flush from outside waits for the VM
  std::string program = "mruby";           ///< shown by viewers as the binary
};

/// The profiler for one mrb_state of a host that names no policy.
///
///     rbprof::mruby::profiler profiler{mrb, {.overhead_target = 2_percent}};
///     if (auto started = profiler.start(); !started.ok()) report(started.message());
///     run(mrb);  // Ruby runs here
///     absl::StatusOr<rbprof::profile> profile = profiler.stop();
///
/// `start` is called on the thread that drives the state. When another thread takes over, the old one calls unbind()
/// and the new one bind(). Stop before mrb_close(); else the state stops it, and `flush` returns what there was.
/// Contracts as in `basic_profiler`.
class profiler
    : public detail::governed_profiler<vm::mruby, trigger::either<trigger::thread_timer, trigger::manual>> {
 public:
  explicit profiler(mrb_state* state, const options& o = {})
      : governed_profiler(o) {
    if (!usable()) return;
    kind_ = o.trigger == trigger_kind::manual ? trigger_kind::manual : trigger_kind::thread_timer;
    this->trigger().choose(kind_ == trigger_kind::thread_timer ? 0 : 1);
    this->trigger().first().choose(o.clock);
    this->vm().options = {state, o.stacks, o.max_frames, o.gc};
  }

  /// The calling thread drives the state from now on. Calls from: that thread · On failure: another one still does
  absl::Status bind() {
    return usable() ? this->vm().bind() : absl::FailedPreconditionError("this profiler is not running");
  }
  /// The calling thread drives the state no more; its time is booked up to here.
  void unbind() noexcept {
    if (usable()) this->vm().unbind();
  }

  [[nodiscard]] trigger_kind trigger_in_force() const noexcept { return kind_; }
  /// How stacks are read; `automatic` while not running.
  [[nodiscard]] backend stacks_in_force() { return usable() ? this->vm().how() : backend::automatic; }

 private:
  trigger_kind kind_ = trigger_kind::automatic;
};

}  // namespace mruby
}  // namespace rbprof::inline v0

#endif  // RBPROF_MRUBY_HPP
