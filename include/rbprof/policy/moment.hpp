// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_POLICY_MOMENT_HPP
#define RBPROF_POLICY_MOMENT_HPP

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/flags.hpp>

// Words that all policies share: when a sample was due, who may ask for one, what a VM can do.

namespace rbprof::inline v0 {

/// When a sample was due and when its stack was seen. Clocks are read where the stack is taken, not where
/// it is booked, so a capture that is drained later keeps its time.
struct moment {
  mono due;                  ///< the last tick that expired: time is booked up to here
  mono seen;                 ///< when the stack was read; never before `due` on a sound clock
  std::optional<nanos> cpu;  ///< the thread's cpu clock at `seen`; none = not read there, or see below
  std::uint32_t ticks = 0;   ///< ticks that this sample stands for; 0 = none expired
  bool running = false;      ///< the thread ran from `due` to `seen`, so its cpu clock did too
  bool in_gc = false;        ///< the collector ran at `due`
  bool cpu_failed = false;   ///< the cpu clock was tried at `seen` and could not be read
};

/// A role that may ask a VM for a safe point.
enum class role : std::uint8_t {
  none = 0,
  vm_thread = 1,  ///< a thread that holds the VM lock
  handler = 2,    ///< a signal handler on a thread that runs the VM
  foreign = 4,    ///< any thread, also one that the VM does not know
};

/// Events that an adapter type can deliver to its sink.
enum class event : std::uint8_t {
  none = 0,
  gc = 1,
  allocation = 2,
  lock = 4,    ///< a thread waits for, gets, gives up the VM lock
  thread = 8,  ///< a thread begins and ends
  bind = 16,   ///< a native thread starts or stops driving the VM
};

/// What is on in this process. A type may support more than a process can have.
enum class feature : std::uint16_t {
  none = 0,
  other_stacks = 1,   ///< stacks of threads that do not run
  async_capture = 2,  ///< stacks taken in the signal handler
  gc = 4,
  allocation = 8,
  lock = 16,          ///< lock events, so waits are known
  live_objects = 32,
  thread_cpu = 64,
  foreign_request = 128,  ///< a safe point can be asked for without a signal
  block_names = 256,      ///< blocks are told apart from their methods
};

/// Every feature by its name, in the order of its bits.
inline constexpr std::array<std::pair<feature, std::string_view>, 9> feature_names{{
    {feature::other_stacks, "other_stacks"},
    {feature::async_capture, "async_capture"},
    {feature::gc, "gc"},
    {feature::allocation, "allocation"},
    {feature::lock, "lock"},
    {feature::live_objects, "live_objects"},
    {feature::thread_cpu, "thread_cpu"},
    {feature::foreign_request, "foreign_request"},
    {feature::block_names, "block_names"},
}};

enum class request_result : std::uint8_t {
  accepted,  ///< queued
  pending,   ///< one was queued already
  idle,      ///< nobody runs VM code: it will run when somebody does
  refused,   ///< not attached, or going down
};

/// What `capture` found. 0 frames: the thread is dead, foreign, or its stack can't be read here.
struct captured {
  std::uint32_t count = 0;
  bool truncated = false;  ///< at least one frame, on the root side, did not fit
};

/// A stack that a signal handler took on the thread that ran, before the safe point came.
struct async_stack {
  captured got;
  mono seen;                 ///< when it was taken; the thread ran
  std::optional<nanos> cpu;  ///< the thread's cpu clock then; none = could not be read
  nanos cost{0};             ///< what taking it cost the thread
  nanos spent{0};            ///< what taking earlier ones cost within the time that it stands for
  bool in_gc = false;        ///< the collector ran, on a VM that has no events of it: the time is the collector's
  bool more = false;         ///< later ones wait
};

/// The collector's last run, in the words of its labels. All text is static.
struct gc_facts {
  const char* reason = nullptr;  ///< null = not a major collection
  const char* cause = nullptr;
  const char* type = nullptr;
  bool major_ended = false;  ///< a major collection has just come to its end
};

/// What one sample cost its thread.
struct sample_cost {
  nanos wall{0};
  nanos cpu{0};
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_POLICY_MOMENT_HPP
