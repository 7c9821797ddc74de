// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_ATTACHMENT_HPP
#define RBPROF_VM_MRUBY_ATTACHMENT_HPP

#include <absl/status/status.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/vm/mruby/api.hpp>
#include <rbprof/vm/mruby/capture.hpp>
#include <rbprof/vm/mruby/frame.hpp>
#include <rbprof/vm/mruby/instruction_hook.hpp>
#include <rbprof/vm/mruby/interrupted.hpp>
#include <rbprof/vm/mruby/layout_check.hpp>

// All that an mrb_state knows of rbprof: its allocator and its hook, and the thread that drives it. Lives as long as
// the process, because mruby may call back after any profiler is gone; there is one for each state that was ever
// attached and has not been closed.
//
//   handler ─▶ keep the tick, due = true, set the hook           (thread that drives the state)
//   mruby's next instruction ─▶ hook ─────┐
//   mruby's next allocation  ─▶ due? ─────┴▶ safe point: the lane takes the ticks, what is left is forgotten
//   a handler, where it may (capture.hpp) ┘
//
// Behind a safe point mruby may free what the ticks refer to. So none is left there, whoever has asked for it or not.

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

struct sink_calls {
  void* self = nullptr;
  void (*safe_point)(void*, lock_witness&) noexcept = nullptr;
  void (*thread)(void*, lock_witness&, std::uint32_t, bool) noexcept = nullptr;
  void (*bind)(void*, bool) noexcept = nullptr;
};

struct attach_options {
  backend how = backend::automatic;
  std::size_t max_frames = 400;
  bool gc = true;
};

/// Calls from:  attach, bind, unbind, with_lock_here: the thread that drives the state; interrupted: its handler;
///              request, detach: any thread
/// Blocks:      detach from another thread: until a safe point that runs has ended
/// Allocates:   attach and bind
/// On failure:  attach leaves nothing behind
class attachment {
 public:
  attachment() = default;
  attachment(const attachment&) = delete;

  capturer capture;
  instruction_hook hook;
  counter while_sampling, safe_points, requests;

  [[nodiscard]] mrb_state* state() const noexcept { return mrb_.load(std::memory_order_acquire); }
  [[nodiscard]] bool armed() const noexcept { return armed_.load(std::memory_order_acquire); }
  /// Raised with each attach: whether a profiler is the one that is attached now.
  [[nodiscard]] std::uint64_t owner() const noexcept { return owner_.load(std::memory_order_acquire); }
  /// Who drives the state; raised with each binding. 0 = nobody.
  [[nodiscard]] std::uint32_t driver() const noexcept { return tid() == 0 ? 0 : serial_; }
  [[nodiscard]] pid_t tid() const noexcept { return tid_.load(std::memory_order_acquire); }
  /// Whether the driver is still a thread of this process.
  [[nodiscard]] bool is_driven() const noexcept { return tid() != 0 && syscall(SYS_tgkill, getpid(), tid(), 0) == 0; }

  [[nodiscard]] absl::Status attach(mrb_state* mrb, const sink_calls& calls, const attach_options& o,
                                    void (*at_close)(mrb_state*)) {
    if (armed()) return absl::AlreadyExistsError("another profiler is attached to this mrb_state: stop it first");
    if (absl::Status fits = check_layout(mrb); !fits.ok()) return fits;
    if (absl::Status alone = mark(mrb); !alone.ok()) return alone;
    const backend how = choose(o.how);
    if (how == backend::automatic) {
      return absl::FailedPreconditionError(o.how == backend::hook
          ? "this libmruby was built without MRB_USE_DEBUG_HOOK, so it has no hook: choose another backend"
          : "the stack can't be copied here (the system forbids process_vm_readv, or this mruby's allocator can't be "
            "exchanged): choose another backend");
    }
    if (state() != mrb) mrb_state_atexit(mrb, at_close);
    capture.begin(mrb, how, o.max_frames, o.gc);
    calls_ = calls;
    owner_.fetch_add(1, std::memory_order_acq_rel);
    mrb_.store(mrb, std::memory_order_release);
    due_.store(false, std::memory_order_relaxed);
    guard_memory(mrb);
    drive_here();
    armed_.store(true, std::memory_order_release);  // pairs with armed()
    calls_.bind(calls_.self, true);
    return absl::OkStatus();
  }

  /// No call of the sink begins after it has returned.
  void detach() noexcept {
    if (!armed_.exchange(false, std::memory_order_seq_cst)) return;
    if (is_driver()) {
      let_go();
      calls_.bind(calls_.self, false);
      tid_.store(0, std::memory_order_release);
      return;
    }
    due_.store(true, std::memory_order_release);  // the driver lets go when it next allocates
    while (inside_.load(std::memory_order_seq_cst)) std::this_thread::yield();  // pairs with visit()
    tid_.store(0, std::memory_order_release);
  }

  /// The state is being closed, on the thread that drives it.
  void closed() noexcept {
    if (armed() && capture.any()) safe_point();
    armed_.store(false, std::memory_order_release);
    while (asking_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    let_go();
    tid_.store(0, std::memory_order_release);
    mrb_.store(nullptr, std::memory_order_release);
  }

  [[nodiscard]] absl::Status bind() {
    if (!armed()) return absl::FailedPreconditionError("bind() needs a profiler that runs on this mrb_state");
    if (is_driver()) return absl::OkStatus();
    if (tid() != 0) {
      if (is_driven()) {
        return absl::FailedPreconditionError(
            "another thread drives this mrb_state: call unbind() there before bind() here");
      }
      visit([this](lock_witness& lk) { calls_.thread(calls_.self, lk, serial_, false); });  // it has ended without
    }
    drive_here();
    calls_.bind(calls_.self, true);
    visit([this](lock_witness& lk) { calls_.thread(calls_.self, lk, serial_, true); });
    return absl::OkStatus();
  }
  void unbind() noexcept {
    if (!armed() || !is_driver()) return;
    calls_.bind(calls_.self, false);
    visit([this](lock_witness& lk) { calls_.thread(calls_.self, lk, serial_, false); });
    tid_.store(0, std::memory_order_release);
  }

  template <class F>
  bool with_lock_here(F&& f) {
    if (!armed() || !is_driver() || inside_.load(std::memory_order_relaxed)) return false;
    visit(f);
    return true;
  }

  /// Calls from: signal handler on the thread that drives the state · Blocks: never · Allocates: never
  void interrupted(const void* context) noexcept {
    if (!armed()) return;
    if (inside_.load(std::memory_order_relaxed)) {
      while_sampling.add();
      return;
    }
    (void)capture.keep(context, stack_, is_guarded(state()));
    due_.store(true, std::memory_order_release);
    if (capture.how() == backend::hook) hook.set(state());
    if (!capture.at_quiet_place()) return;
    if (capture.has_several() || asked_.load(std::memory_order_relaxed)) safe_point(true);
  }

  /// Calls from: any thread · Blocks: never · Allocates: never
  [[nodiscard]] request_result request() noexcept {
    asking_.fetch_add(1, std::memory_order_acq_rel);
    request_result result = request_result::refused;
    if (armed()) {
      requests.add();
      result = due_.exchange(true, std::memory_order_acq_rel) ? request_result::pending : request_result::accepted;
      const bool here = is_driver();
      if (!here) asked_.store(true, std::memory_order_relaxed);
      if (capture.how() == backend::hook) {
        if (here) hook.set(state());
        else hook.set_from_outside(state());
      }
    }
    asking_.fetch_sub(1, std::memory_order_acq_rel);
    return result;
  }

  // --- fork ------------------------------------------------------------------------------------------------
  //
  // While one thread forks, recorders take nothing, and the threads of other states run on. So their safe points are put
  // off until it is over: nothing is settled then, and nothing lost.

  [[nodiscard]] static std::atomic<bool>& forking() noexcept {
    static std::atomic<bool> now{false};
    return now;
  }
  /// Until nobody is at a safe point, or `deadline`. Calls from: the forking thread, when forking() is true
  void before_fork(mono deadline) const noexcept {
    while (inside_.load(std::memory_order_seq_cst) && monotonic_now() < deadline) std::this_thread::yield();  // enter()
  }
  /// Whoever was at a safe point does not exist here.
  void after_fork_child() noexcept { inside_.store(false, std::memory_order_relaxed); }

  /// Our hook was called, and is away.
  void at_instruction(mrb_state* mrb) noexcept {
    if (armed() && due_.load(std::memory_order_relaxed) && mrb == state()) safe_point();
  }

 private:
  [[nodiscard]] bool is_driver() const noexcept { return tid() != 0 && pthread_equal(thread_, pthread_self()) != 0; }

  void drive_here() noexcept {
    ++serial_;
    thread_ = pthread_self();
    stack_ = stack_here();
    tid_.store(static_cast<pid_t>(syscall(SYS_gettid)), std::memory_order_release);
  }

  /// Runs `f(witness)`; a signal that comes meanwhile keeps nothing.
  template <class F>
  void visit(F&& f, bool in_handler = false) {
    while (!enter()) std::this_thread::yield();
    if (armed_.load(std::memory_order_seq_cst)) {
      capture.begin_safe_point(in_handler);
      lock_witness lk;
      f(lk);
    }
    leave();
  }
  /// Either detach() and before_fork() see that we are inside, or we see what they have written before.
  [[nodiscard]] bool enter() noexcept {
    inside_.store(true, std::memory_order_seq_cst);
    if (!forking().load(std::memory_order_seq_cst)) return true;
    leave();
    return false;
  }
  void leave() noexcept { inside_.store(false, std::memory_order_release); }

  void safe_point(bool in_handler = false) noexcept {
    if (inside_.load(std::memory_order_relaxed) || !is_driver()) return;
    if (forking().load(std::memory_order_relaxed)) return capture.end_safe_point();  // what it stands for is booked later
    const auto serve = [this](lock_witness& lk) {
      due_.store(false, std::memory_order_relaxed);
      asked_.store(false, std::memory_order_relaxed);
      safe_points.add();
      calls_.safe_point(calls_.self, lk);
      capture.end_safe_point();
    };
    visit(serve, in_handler);
  }

  /// Which backend serves; automatic = none does.
  [[nodiscard]] static backend choose(backend asked) noexcept {
    int from = 1;
    int to = 0;
    const bool copies = has_allocator && guarded_read(getpid(), &to, &from, sizeof to) && to == from;
    switch (asked) {
      case backend::automatic: return has_hook ? backend::hook : copies ? backend::copy : backend::poll;
      case backend::hook: return has_hook ? backend::hook : backend::automatic;
      case backend::copy: return copies ? backend::copy : backend::automatic;
      case backend::poll: break;
    }
    return backend::poll;
  }

  /// Leaves a mark in the state that another copy of this library, in a plug-in, can see.
  [[nodiscard]] absl::Status mark(mrb_state* mrb) {
    static const char own = 0;
    const auto tag = static_cast<mrb_int>(reinterpret_cast<std::uintptr_t>(&own) >> 4U & 0x3FFFFFFFU);
    const mrb_sym name = intern(mrb, "__rbprof__");
    const mrb_value there = mrb_gv_get(mrb, name);
    if (mrb_fixnum_p(there) && mrb_fixnum(there) != tag) {
      return absl::AlreadyExistsError(
          "another copy of rbprof has been attached to this mrb_state: use one of the two alone");
    }
    mrb_gv_set(mrb, name, mrb_fixnum_value(tag));
    return absl::OkStatus();
  }

  template <class State>
  void guard_memory(State* mrb) noexcept {
    if constexpr (has_allocator) {
      if (allocator_is_ours_) return;
      if (capture.how() == backend::poll) return;
      other_allocator_ = mrb->allocf;
      other_data_ = mrb->allocf_ud;
      mrb->allocf = &allocate;
      mrb->allocf_ud = this;
      allocator_is_ours_ = true;
    }
  }

  /// Whether nothing is freed without asking us: not when somebody has exchanged the allocator after us.
  template <class State>
  [[nodiscard]] bool is_guarded(const State* mrb) const noexcept {
    if constexpr (has_allocator) return mrb->allocf == &allocate;
    else return false;
  }

  static void* allocate(mrb_state* mrb, void* p, std::size_t n, void* self) {
    attachment& a = *static_cast<attachment*>(self);
    if (a.due_.load(std::memory_order_acquire)) a.at_allocation();
    return a.other_allocator_(mrb, p, n, a.other_data_);
  }

  void at_allocation() noexcept {
    if (armed()) safe_point();
    else let_go();
  }

  /// Gives back what the state has of us. On its thread.
  void let_go() noexcept {
    due_.store(false, std::memory_order_relaxed);
    mrb_state* const mrb = state();
    if (mrb == nullptr) return;
    release_memory(mrb);
    hook.remove(mrb);
  }
  /// Somebody who has put an allocator around ours keeps it: then it only passes on.
  template <class State>
  void release_memory(State* mrb) noexcept {
    if constexpr (has_allocator) {
      if (!allocator_is_ours_ || mrb->allocf != &allocate) return;
      mrb->allocf = other_allocator_;
      mrb->allocf_ud = other_data_;
      allocator_is_ours_ = false;
    }
  }

  sink_calls calls_;
  std::atomic<mrb_state*> mrb_{nullptr};
  std::atomic<std::uint64_t> owner_{0};
  std::atomic<bool> armed_{false};
  std::atomic<bool> due_{false};         // somebody wants a safe point
  std::atomic<bool> asked_{false};       // another thread does
  std::atomic<bool> inside_{false};      // the driver is at one
  std::atomic<std::uint32_t> asking_{0};  // threads inside request()
  std::atomic<pid_t> tid_{0};            // the driver; release: the fields below are its
  std::uint32_t serial_ = 0;
  pthread_t thread_{};
  stack_range stack_;
  void* (*other_allocator_)(mrb_state*, void*, std::size_t, void*) = nullptr;
  void* other_data_ = nullptr;
  bool allocator_is_ours_ = false;
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_ATTACHMENT_HPP
