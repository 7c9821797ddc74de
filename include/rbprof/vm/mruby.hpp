// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_HPP
#define RBPROF_VM_MRUBY_HPP

#include <absl/status/status.h>
#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <rbprof/base/clock.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/vm/mruby/api.hpp>
#include <rbprof/vm/mruby/attachment.hpp>
#include <rbprof/vm/mruby/frame.hpp>
#include <rbprof/vm/mruby/registry.hpp>

// The adapter for mruby 3.1 and later, unmodified, on its public headers. One adapter for each mrb_state. mruby tells
// nothing of itself, so the stack is read in the handler of a timer's signal, under guards, as far as this library
// allows (capture.hpp): the profile says which way was taken.
//
// A state has no lock: at any time one thread drives it. It is the thread that starts the profiler, until it calls
// unbind() and another one calls bind(). A stretch between the two is a thread of the profile. What a thread does while
// no Ruby runs in it is "(outside VM)".
//
// Never used: mrb->ud, SIGALRM, ITIMER_REAL. The allocator and the hook are put back at detach.

namespace rbprof::inline v0 {
namespace vm {

using mruby_backend = mruby_detail::backend;

struct mruby_options {
  mrb_state* state = nullptr;
  mruby_backend backend = mruby_backend::automatic;
  std::size_t max_frames = 400;  ///< of a stack that the handler copies
  bool gc = true;                ///< a tick inside the collector is the collector's
};

class mruby {
  using attachment = mruby_detail::attachment;
  using registry = mruby_detail::registry;

 public:
  using vm_adapter_concept = vm_adapter_tag;
  using thread_type = std::uint32_t;  ///< a stretch between bind and unbind
  using frame_type = mruby_detail::frame;
  using lock_type = mruby_detail::lock_witness;

  static constexpr role request_from = role::vm_thread | role::handler;
  static constexpr event emits = event::thread | event::bind;
  static constexpr bool exclusive_sampler = true;

  mruby() noexcept = default;
  mruby(const mruby&) = delete;
  mruby& operator=(const mruby&) = delete;
  ~mruby() { static_cast<void>(detach()); }

  mruby_options options;  ///< read by attach

  /// Calls from: the thread that drives the state · Blocks: no · Allocates: yes, a little in mruby · On failure: a
  /// status that says what to do, nothing left behind
  template <class Sink>
  [[nodiscard]] absl::Status attach(Sink& sink) {
    static_assert(event_sink<Sink, mruby>);
    if (is_attached()) return absl::FailedPreconditionError("this profiler is attached already");
    if (options.state == nullptr) return absl::InvalidArgumentError("there is no mrb_state to attach to");
    mruby_detail::sink_calls calls;
    calls.self = &sink;
    calls.safe_point = [](void* s, lock_type& lk) noexcept { static_cast<Sink*>(s)->on_safe_point(lk); };
    calls.thread = [](void* s, lock_type& lk, thread_type th, bool begins) noexcept {
      static_cast<Sink*>(s)->on_thread(lk, th, begins);
    };
    calls.bind = [](void* s, bool on) noexcept { static_cast<Sink*>(s)->on_bind(on); };
    absl::Status done =
        registry::self().attach(options.state, calls, {options.backend, options.max_frames, options.gc}, to_);
    owner_ = done.ok() ? to_->owner() : 0;
    return done;
  }

  /// Calls from: any thread · Blocks: from another than the driving one, until a sample ends · Allocates: no ·
  /// On failure: FailedPrecondition: was not attached, or the state was closed first
  absl::Status detach() noexcept {
    if (owner_ == 0) return absl::FailedPreconditionError("the profiler is not attached");
    const bool up = is_attached();
    owner_ = 0;
    if (!up) return absl::FailedPreconditionError("the mrb_state was closed before the profiler stopped");
    to_->detach();
    return absl::OkStatus();
  }

  [[nodiscard]] feature features() const noexcept {
    if (!is_attached()) return feature::none;
    feature all = feature::thread_cpu | feature::block_names;
    if (to_->capture.tells_gc()) all = all | feature::gc;
    if (how() != mruby_backend::poll) all = all | feature::async_capture;
    return all;
  }

  [[nodiscard]] mono now() const noexcept { return monotonic_now(); }
  [[nodiscard]] request_result request_safe_point() noexcept {
    return is_attached() ? to_->request() : request_result::refused;
  }
  /// As request_safe_point, from the handler of a signal that has interrupted the driving thread: what it ran is kept.
  /// Calls from: that handler · Blocks: never · Allocates: never
  void interrupted(const void* context) noexcept {
    if (is_attached()) to_->interrupted(context);
  }

  [[nodiscard]] thread_type current(lock_type&) noexcept { return to_->driver(); }
  [[nodiscard]] captured capture(lock_type&, thread_type th, std::span<frame_type> out) noexcept {
    return th != 0 && th == to_->driver() ? to_->capture.live(out) : captured{};
  }
  [[nodiscard]] std::optional<async_stack> take_async(lock_type&, thread_type th,
                                                      std::span<frame_type> out) noexcept {
    return th != 0 && th == to_->driver() ? to_->capture.take(out) : std::nullopt;
  }
  [[nodiscard]] bool describe(lock_type&, frame_type f, frame_text& text) noexcept {
    return to_->capture.describe(f, text);
  }
  [[nodiscard]] bool describe(lock_type&, thread_type th, thread_text& text) noexcept {
    if (th == 0 || th != to_->driver()) return false;
    text.id = std::to_string(to_->tid()) + " (" + std::to_string(th) + ")";
    text.main = to_->tid() == getpid();
    std::array<char, 16> name{};
    if (!text.main && pthread_getname_np(pthread_self(), name.data(), name.size()) == 0) text.name = name.data();
    return true;
  }
  void forget_frames(lock_type&) noexcept { to_->capture.forget_words(); }

  /// Calls from: any thread · Blocks: no (a system call) · Allocates: no
  [[nodiscard]] std::optional<nanos> cpu_time(thread_type th) noexcept {
    return is_attached() && th != 0 && th == to_->driver() ? thread_cpu_of(to_->tid()) : std::nullopt;
  }

  template <class F>
  bool with_lock_here(F&& f) {
    return is_attached() && to_->with_lock_here(f);
  }

  /// The calling thread drives the state from now on, until unbind(). The one that calls start() does so without.
  [[nodiscard]] absl::Status bind() {
    if (!is_attached()) return absl::FailedPreconditionError("bind() needs a profiler that runs on this mrb_state");
    return to_->bind();
  }
  void unbind() noexcept {
    if (is_attached()) to_->unbind();
  }

  /// Whether another profiler holds our state, and no thread drives it there any more.
  [[nodiscard]] bool is_blocked_by(const mruby& other) const noexcept {
    return other.is_attached() && other.to_->state() == options.state && !other.to_->is_driven();
  }

  /// The backend in force; `automatic` while not attached.
  [[nodiscard]] mruby_backend how() const noexcept {
    return is_attached() ? to_->capture.how() : mruby_backend::automatic;
  }

  template <class F>
  void each_statistic(F&& f) const {
    if (to_ == nullptr) return;
    to_->capture.count.each(f);
    f("mruby_ticks_while_sampling", to_->while_sampling.get());
    f("mruby_safe_points", to_->safe_points.get());
    f("mruby_requests", to_->requests.get());
  }

  template <class F>
  void each_remark(F&& f) const {
    if (!is_attached()) return;
    switch (how()) {
      case mruby_backend::hook:
        f("mruby backend: hook; stacks are read at the next instruction, with the C methods that ran at the tick on top");
        break;
      case mruby_backend::copy:
        f("mruby backend: copy; stacks are copied in the signal handler, and named before mruby frees memory");
        break;
      default:
        f("mruby backend: poll; stacks are those of the places where the host polls, not of the ticks");
        f("async_capture: off, this libmruby has neither a hook nor an allocator that can be exchanged");
    }
    f("foreign_request: off, mruby can't be asked by other threads; they are served at a tick");
    f("other_stacks: off, an mrb_state has one thread at a time");
    f("lock: off, an mrb_state has no lock");
    if (!to_->capture.tells_gc()) {
      f(to_->capture.knows_collector() ? "gc: off, by option"
                                       : "gc: off, the collector's functions are not found in this program");
    }
  }

 private:
  [[nodiscard]] bool is_attached() const noexcept {
    return owner_ != 0 && to_->owner() == owner_ && to_->armed();
  }

  attachment* to_ = nullptr;
  std::uint64_t owner_ = 0;
};

static_assert(vm_adapter<mruby>);
static_assert(has_inline_lock<mruby> && has_frame_pins<mruby> && has_async_capture<mruby>);
static_assert(has_binding<mruby> && has_thread_events<mruby> && !has_lock_events<mruby> && !has_gc_events<mruby>);
static_assert(has_statistics<mruby> && has_remarks<mruby>);

}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_HPP
