// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_SIMULATED_MACHINE_STEPS_HPP
#define RBPROF_VM_SIMULATED_MACHINE_STEPS_HPP

#include <algorithm>
#include <cstdint>
#include <utility>

#include <rbprof/base/clock.hpp>
#include <rbprof/vm/simulated/machine.hpp>
#include <rbprof/vm/simulated/program.hpp>
#include <rbprof/vm/simulated/thread.hpp>

// The second half of the machine: what the thread that has the VM lock does in one slice of time. A slice
// ends where the step ends, or earlier, at the next timer, at the end of the quantum or of the run.

namespace rbprof::inline v0 {
namespace vm {

inline void simulated_machine::slice(simulated_thread& t, mono limit) {
  if (t.at == t.program.size()) {
    finish(t);
    return;
  }
  const simulated_step& s = t.program[t.at];
  if (!std::exchange(t.entered, true)) enter(t, s);
  switch (s.what) {
    case kind::run:
    case kind::native:
    case kind::inner:
    case kind::gc:
      timed(t, s, limit);
      break;
    case kind::wait:
      wait(t, s);
      break;
    case kind::end:
      finish(t);
      break;
    default:
      at_once(t, s);
      leave(t, s);
      break;
  }
}

inline void simulated_machine::enter(simulated_thread& t, const simulated_step& s) {
  t.done = nanos{0};
  t.burned = nanos{0};
  if (s.what == kind::gc) {
    t.set_place(clock_.now(), simulated_thread::place::gc);
    if (events_.gc != nullptr) events_.gc(events_.self, t.id, true);
  } else if (!s.stack.empty()) {
    t.set_stack(clock_.now(), s.stack);
  }
}

inline void simulated_machine::timed(simulated_thread& t, const simulated_step& s, mono limit) {
  mono until = std::min(clock_.now() + (s.wall - t.done), clock_.next_timer());
  if (s.what != kind::gc) until = std::min(until, limit);
  if (s.what == kind::run) until = std::min(until, quantum_end_);
  const nanos chunk = std::max(until - clock_.now(), nanos{0});
  t.done += chunk;
  nanos burned = s.cpu;  // exact at the end, in proportion before
  if (t.done < s.wall) {
    const double share = static_cast<double>(s.cpu.count()) / static_cast<double>(s.wall.count());
    burned = nanos{static_cast<std::int64_t>(static_cast<double>(t.done.count()) * share)};
  }
  t.burn(burned - t.burned);
  t.burned = burned;
  pass(chunk);
  if (s.what == kind::run) serve();
  if (t.done == s.wall) {
    leave(t, s);
  } else if (s.what == kind::run && clock_.now() >= quantum_end_) {
    make_way(t);
  }
}

inline void simulated_machine::leave(simulated_thread& t, const simulated_step& s) {
  if (s.what == kind::gc) {
    t.set_place(clock_.now(), simulated_thread::place::stack);
    latest_gc_ = s.gc;
    ++collections_;
    if (events_.gc != nullptr) events_.gc(events_.self, t.id, false);
  }
  const bool safe_point_after = s.what == kind::native || (s.what == kind::gc && s.ends_in_safe_point);
  if (safe_point_after) serve();  // the stack is still on top
  ++t.at;
  t.entered = false;
  if (safe_point_after && clock_.now() >= quantum_end_) make_way(t);
}

inline void simulated_machine::at_once(simulated_thread& t, const simulated_step& s) {
  switch (s.what) {
    case kind::allocate:
      t.truth.allocations[s.text] += s.count;
      tell_allocations(s.text, s.count);
      break;
    case kind::release: {
      auto& lives = living_[s.text];
      const auto n = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(s.count, lives.size()));
      for (auto at = lives.begin(); at != lives.begin() + n; ++at) alive_.erase(*at);
      lives.erase(lives.begin(), lives.begin() + n);
      break;
    }
    case kind::spawn:
      add_thread(s.child, s.text);
      ++unfinished_;
      make_ready(*threads_.back());
      break;
    case kind::rename:
      t.name = s.text;
      break;
    case kind::step_clock:
      clock_.jump(s.wall);
      break;
    case kind::step_cpu_clock:
      t.cpu_fault += s.cpu;
      break;
    case kind::fail_cpu_clock:
      t.cpu_failures += s.count;
      break;
    default:
      break;
  }
}

/// First gives up the lock; then, called again with the lock back, ends the step.
inline void simulated_machine::wait(simulated_thread& t, const simulated_step& s) {
  if (t.done == s.wall) {
    leave(t, s);
    return;
  }
  serve();  // a VM looks before it blocks
  t.done = s.wall;
  t.is = state::waiting;
  asleep_.emplace(clock_.now() + s.wall, t.id);
  give_up_lock(t);
}

inline void simulated_machine::finish(simulated_thread& t) {
  --unfinished_;
  t.at = t.program.size();
  t.entered = false;
  if (t.id == main_thread) {
    t.set_stack(clock_.now(), {{0, 0}});
    t.is = state::done;
    if (unfinished_ > 0) give_up_lock(t);  // joins the others
    return;
  }
  if (events_.thread != nullptr) events_.thread(events_.self, t.id, false);
  t.end(clock_.now());
  give_up_lock(t);
  if (unfinished_ > 0 || main().is != state::done) return;
  holder_.store(main_thread, std::memory_order_relaxed);
  announce(main());
}

}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_SIMULATED_MACHINE_STEPS_HPP
