// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TRIGGER_TICKER_HPP
#define RBPROF_TRIGGER_TICKER_HPP

#include <absl/status/status.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <rbprof/base/alarm.hpp>
#include <rbprof/base/clock.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/trigger/schedule.hpp>
#include <rbprof/trigger/tick_ledger.hpp>

// A native thread that keeps an absolute schedule on the monotonic clock and, tick by tick, asks for a
// sample. It holds no VM lock and is no thread of the VM. Each tick ends in one of three ways:
//
//     woke in time, or late for the last of several   that one expires and is asked for
//     woke late                                       the earlier ones are missed
//     the sampler rests                               skipped: they would be refused
//
// Each wake of an idle process costs cpu and battery. Once nobody has run Ruby for a while, one wake serves
// all ticks of a stride; they expire together, and the first sample of new work comes within a stride.
//
// When the sampler rests is asked as late as possible, when a tick is due, because the sample of the tick
// before has been charged only meanwhile.

namespace rbprof::inline v0 {
namespace trigger {

/// Calls from:  start, stop, after_fork_child: any thread but its own, one at a time
/// Blocks:      stop: until the thread has ended, which waits for no tick
/// Allocates:   start: a thread; nothing at a tick
/// On failure:  start refuses; a thread that can't sleep asks too often, never too rarely
class ticker {
 public:
  static constexpr nanos calm_after{200'000'000};  ///< of nobody running, from when on strides are made
  static constexpr nanos longest_stride{30'000'000};
  /// Asks for a sample. `answered`: the ticks before are claimed. Returns whether anybody runs.
  using request_fn = bool (*)(void* self, bool answered) noexcept;

  explicit ticker(tick_ledger& ticks) noexcept : ticks_(ticks) {}
  ticker(const ticker&) = delete;
  ticker& operator=(const ticker&) = delete;
  ~ticker() { stop(); }

  /// Calls `request` on the ticker's thread for each tick, or stride of ticks, that expires.
  [[nodiscard]] absl::Status start(const pace& p, request_fn request, void* self) {
    if (running_) {
      return absl::FailedPreconditionError("this trigger is armed already: disarm it first");
    }
    if (absl::Status s = validate(p); !s.ok()) return s;
    ticks_.abandon_outstanding();
    alarm_.reset();
    pace_ = p;
    request_ = request;
    self_ = self;
    schedule_ = schedule(monotonic_now(), p.period, p.seed);
    const int failed = create_thread();
    if (failed != 0) {
      return absl::ResourceExhaustedError(std::string("no thread for the profiler's ticks: ") +
                                          std::strerror(failed));
    }
    running_ = true;
    return absl::OkStatus();
  }

  void stop() noexcept {
    if (!running_) return;
    alarm_.ring();
    pthread_join(thread_, nullptr);
    running_ = false;
  }

  /// The thread does not exist in the child: forgets it.
  void after_fork_child() noexcept {
    alarm_.after_fork_child();
    running_ = false;
  }

  [[nodiscard]] bool running() const noexcept { return running_; }

 private:
  /// The thread takes no signal of the process: it inherits a full mask from its creator.
  int create_thread() noexcept {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(
        &thread_, nullptr,
        [](void* me) -> void* {
          pthread_setname_np(pthread_self(), "rbprof-ticker");
          static_cast<ticker*>(me)->loop();
          return nullptr;
        },
        this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return failed;
  }

  void loop() noexcept {
    std::uint64_t idle_ticks = 0;
    const auto calm_ticks = static_cast<std::uint64_t>(calm_after / pace_.period);
    const auto calm_stride = static_cast<std::uint64_t>(std::max<std::int64_t>(longest_stride / pace_.period, 1));
    std::uint64_t stride = 1;
    while (!alarm_.wait_until(schedule_.due(schedule_.taken() + stride))) {
      if (pace_.before_tick != nullptr) pace_.before_tick(pace_.self);
      const mono now = monotonic_now();
      const nanos rest = pace_.nap != nullptr ? pace_.nap(pace_.self, now) : nanos{0};
      if (rest > nanos{0}) {
        if (alarm_.wait_until(now + rest)) {
          ticks_.skipped(schedule_.advance(monotonic_now()).ticks);
          return;
        }
        ticks_.skipped(schedule_.advance(now + rest).ticks);
        continue;
      }
      const schedule::expired found = schedule_.advance(now);
      if (found.went_back) ticks_.clock_went_back();
      if (found.ticks == 0) continue;
      const std::uint64_t served = std::min(found.ticks, stride);
      const bool answered = ticks_.outstanding() == 0;
      ticks_.missed(found.ticks - served);
      ticks_.expired(served, found.due);
      idle_ticks = request_(self_, answered) ? 0 : idle_ticks + found.ticks;
      stride = idle_ticks > calm_ticks ? calm_stride : 1;
    }
    ticks_.missed(schedule_.advance(monotonic_now()).ticks);
  }

  tick_ledger& ticks_;
  alarm alarm_;
  schedule schedule_;  // the thread's own while it runs
  pace pace_;
  request_fn request_ = nullptr;
  void* self_ = nullptr;
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace trigger
}  // namespace rbprof::inline v0

#endif  // RBPROF_TRIGGER_TICKER_HPP
