// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_SIMULATED_THREAD_HPP
#define RBPROF_VM_SIMULATED_THREAD_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include <rbprof/base/clock.hpp>
#include <rbprof/vm/simulated/program.hpp>
#include <rbprof/vm/simulated/truth.hpp>

namespace rbprof::inline v0 {
namespace vm {

/// A thread of the simulated VM: where it is in its program, its clocks, and the books of its truth.
class simulated_thread {
 public:
  enum class state : std::uint8_t {
    ready,    ///< wants the VM lock
    running,  ///< has it
    waiting,  ///< gave it up for a while
    done,  ///< the first thread, at the end of its program: in the host's code, or joining the others
    ended,
  };
  enum class place : std::uint8_t { stack, gc, overhead, outside };

  simulated_thread(std::uint32_t number, const simulated_program& steps, std::string called,
                   mono now)
      : id(number),
        program(steps.begin(), steps.end()),
        name(std::move(called)),
        known_name(name),
        since_(now) {
    set_stack(now, {{0, 0}});
  }

  [[nodiscard]] bool alive() const noexcept { return begun && is != state::ended; }
  /// True while it runs its program's code.
  [[nodiscard]] bool on_stack() const noexcept { return place_ == place::stack; }
  [[nodiscard]] const simulated_stack& stack() const noexcept { return here_->first; }

  void begin(mono now) {
    begun = true;
    truth.born = now;
    since_ = now;
  }
  void end(mono now) {
    book(now);
    truth.ended = now;
    is = state::ended;
  }

  /// Books the wall time since the last booking to where the thread is.
  void book(mono now) {
    if (!begun || is == state::ended) return;
    const simulated_times spent{nanos{0}, now - since_};
    times() += spent;
    truth.all += spent;
    since_ = now;
  }
  void set_stack(mono now, const simulated_stack& stack) {
    book(now);
    here_ = &*truth.stacks.try_emplace(stack).first;
  }
  /// From now on time goes to `p`; returns where it went before.
  place set_place(mono now, place p) {
    book(now);
    return std::exchange(place_, p);
  }
  void burn(nanos cpu) {
    times().cpu += cpu;
    truth.all.cpu += cpu;
  }
  // The program, and how far it has come.
  std::uint32_t id;
  std::deque<simulated_step> program;  ///< steps that are appended leave the others where they are
  std::size_t at = 0;                  ///< the step it is in
  bool entered = false;                ///< that step has begun
  nanos done{0};                       ///< wall time of that step that has passed
  nanos burned{0};                     ///< cpu time of that step that has passed
  state is = state::ready;
  bool begun = false;               ///< had the VM lock once
  std::uint64_t requests_seen = 0;  ///< safe points asked for when it last had the lock

  // What it shows.
  std::string name;
  std::string known_name;  ///< as last read
  nanos cpu_fault{0};
  std::uint64_t cpu_failures = 0;  ///< readings that are to fail

  simulated_truth truth;

 private:
  [[nodiscard]] simulated_times& times() noexcept {
    switch (place_) {
      case place::gc:
        return truth.gc;
      case place::overhead:
        return truth.overhead;
      case place::outside:
        return truth.outside;
      case place::stack:
        break;
    }
    return here_->second;
  }

  std::pair<const simulated_stack, simulated_times>* here_ = nullptr;  // map nodes do not move
  place place_ = place::stack;
  mono since_;
};

}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_SIMULATED_THREAD_HPP
