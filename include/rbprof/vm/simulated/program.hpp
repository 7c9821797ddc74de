// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_SIMULATED_PROGRAM_HPP
#define RBPROF_VM_SIMULATED_PROGRAM_HPP

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/policy/moment.hpp>

// What a thread of the simulated VM does: a list of steps, written with the functions in `vm::steps`.
//
//     using namespace rbprof::vm::steps;
//     const simulated_stack work{{2, 10}, {1, 3}};           // leaf first: function 2 at line 10, in 1 at 3
//     simulated_program p{run(work, 30ms), gc_minor(2ms, 2ms, "newobj"), sleep(work, 100ms)};

namespace rbprof::inline v0 {
namespace vm {

/// A function, by a number that a test chooses, at a line. Function 0 is the base of every thread.
struct simulated_frame {
  std::uint32_t function = 0;
  std::int32_t line = 0;

  friend constexpr auto operator<=>(const simulated_frame&,
                                    const simulated_frame&) noexcept = default;
};

/// Leaf first.
using simulated_stack = std::vector<simulated_frame>;

/// One step. Only `vm::steps` makes them, so that each has just what its kind needs.
struct simulated_step {
  enum class kind : std::uint8_t {
    run,       ///< Ruby code: safe points everywhere, may lose the lock at the end of a quantum
    native,    ///< one C call: no safe point until its end, where its stack is still on top
    inner,     ///< a part of a C call that shows a stack of its own: no safe point, not even at its end
    gc,        ///< a collection on this thread, below the stack that is on top; no safe point in it, may be one after
    wait,      ///< gives up the VM lock, waits, queues for the lock
    fiber,     ///< another fiber of this thread: the stack changes at once, and no time passes
    allocate,  ///< objects of one class; no time passes
    release,   ///< the oldest objects of one class die
    spawn,     ///< a new thread
    rename,    ///< this thread gets a name
    step_clock,      ///< the monotonic clock jumps
    step_cpu_clock,  ///< this thread's cpu clock jumps
    fail_cpu_clock,  ///< the next readings of this thread's cpu clock fail
    end,             ///< the thread ends here
  };
  kind what = kind::run;
  simulated_stack stack;
  nanos cpu{0};
  nanos wall{0};
  std::uint64_t count = 0;
  std::string text;
  gc_facts gc;
  bool ends_in_safe_point = true;  // of a collection
  std::vector<simulated_step> child;
};

using simulated_program = std::vector<simulated_step>;

namespace steps {

using kind = simulated_step::kind;

namespace detail {
[[nodiscard]] inline simulated_step timed(kind what, simulated_stack stack, nanos cpu, nanos wall) {
  simulated_step s;
  s.what = what;
  s.stack = std::move(stack);
  s.cpu = std::max(cpu, nanos{0});
  s.wall = std::max(wall, s.cpu);
  return s;
}
[[nodiscard]] inline simulated_step counted(kind what, std::uint64_t count, std::string text = {}) {
  simulated_step s;
  s.what = what;
  s.count = count;
  s.text = std::move(text);
  return s;
}
}  // namespace detail

/// Runs Ruby code: `cpu` of its cpu clock within `wall`, which is never less.
[[nodiscard]] inline simulated_step run(simulated_stack stack, nanos cpu, nanos wall = nanos{0}) {
  return detail::timed(kind::run, std::move(stack), cpu, wall);
}
/// One C call that can't be interrupted.
[[nodiscard]] inline simulated_step native(simulated_stack stack, nanos cpu,
                                           nanos wall = nanos{0}) {
  return detail::timed(kind::native, std::move(stack), cpu, wall);
}
/// A part of a C call, with no safe point at its end either: only a signal handler sees it.
[[nodiscard]] inline simulated_step inner(simulated_stack stack, nanos cpu, nanos wall = nanos{0}) {
  return detail::timed(kind::inner, std::move(stack), cpu, wall);
}
/// Sleeps, or waits for something outside, without the VM lock.
[[nodiscard]] inline simulated_step sleep(simulated_stack stack, nanos wall) {
  return detail::timed(kind::wait, std::move(stack), nanos{0}, wall);
}
/// Waits for a lock of the program, without the VM lock. To the VM this is a sleep.
[[nodiscard]] inline simulated_step wait_lock(simulated_stack stack, nanos wall) {
  return sleep(std::move(stack), wall);
}
/// A minor collection. `cause` is static text.
[[nodiscard]] inline simulated_step gc_minor(nanos cpu, nanos wall, const char* cause) {
  simulated_step s = detail::timed(kind::gc, {}, cpu, wall);
  s.gc = {nullptr, cause, "minor", false};
  return s;
}
/// A major collection, from its begin to its end. Both texts are static.
[[nodiscard]] inline simulated_step gc_major(nanos cpu, nanos wall, const char* cause,
                                             const char* reason) {
  simulated_step s = detail::timed(kind::gc, {}, cpu, wall);
  s.gc = {reason, cause, "major", true};
  return s;
}
/// A minor collection in the middle of a C call: no safe point follows.
[[nodiscard]] inline simulated_step inner_gc(nanos cpu, nanos wall, const char* cause) {
  simulated_step s = gc_minor(cpu, wall, cause);
  s.ends_in_safe_point = false;
  return s;
}
[[nodiscard]] inline simulated_step switch_fiber(simulated_stack stack) {
  return detail::timed(kind::fiber, std::move(stack), nanos{0}, nanos{0});
}
[[nodiscard]] inline simulated_step allocate(std::string class_name, std::uint64_t count) {
  return detail::counted(kind::allocate, count, std::move(class_name));
}
/// The oldest objects of a class, as many, are freed.
[[nodiscard]] inline simulated_step release(std::string class_name, std::uint64_t count) {
  return detail::counted(kind::release, count, std::move(class_name));
}
[[nodiscard]] inline simulated_step spawn(simulated_program program, std::string name = {}) {
  simulated_step s = detail::counted(kind::spawn, 0, std::move(name));
  s.child = std::move(program);
  return s;
}
[[nodiscard]] inline simulated_step rename(std::string name) {
  return detail::counted(kind::rename, 0, std::move(name));
}
/// The monotonic clock jumps by `by`, which may be negative.
[[nodiscard]] inline simulated_step step_clock(nanos by) {
  simulated_step s = detail::counted(kind::step_clock, 0);
  s.wall = by;
  return s;
}
/// This thread's cpu clock jumps by `by`, which may be negative.
[[nodiscard]] inline simulated_step step_cpu_clock(nanos by) {
  simulated_step s = detail::counted(kind::step_cpu_clock, 0);
  s.cpu = by;
  return s;
}
[[nodiscard]] inline simulated_step fail_cpu_clock(std::uint64_t readings) {
  return detail::counted(kind::fail_cpu_clock, readings);
}
/// Ends the thread. The first thread only ends its program: it lives as long as the VM.
[[nodiscard]] inline simulated_step end() { return detail::counted(kind::end, 0); }

}  // namespace steps
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_SIMULATED_PROGRAM_HPP
