// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_POLICY_ARCHETYPES_HPP
#define RBPROF_TESTS_POLICY_ARCHETYPES_HPP

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <rbprof/policy/context.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/sampler.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>

// An archetype is the least that satisfies a concept. If a concept starts to ask for more, these stop
// compiling; if code that takes a policy uses more than its concept names, it stops compiling with these.

namespace archetype {

namespace rb = rbprof;

struct vm {
  using vm_adapter_concept = rb::vm_adapter_tag;
  using thread_type = std::uint32_t;
  using frame_type = std::uint64_t;

  /// The lock witness: nobody but the adapter makes one, and it can't be copied.
  class lock_type {
   public:
    lock_type(const lock_type&) = delete;
    lock_type& operator=(const lock_type&) = delete;

   private:
    friend struct vm;
    lock_type() = default;
  };

  static constexpr rb::role request_from = rb::role::none;
  static constexpr rb::event emits = rb::event::none;
  static constexpr bool exclusive_sampler = true;

  /// Calls everything that an adapter may call.
  template <class Sink>
  absl::Status attach(Sink& sink) {
    lock_type lk;
    sink.on_safe_point(lk);
    sink.on_thread(lk, thread_type{}, true);
    sink.on_gc(thread_type{}, true);
    sink.on_running(lk, thread_type{});
    sink.on_bind(true);
    return absl::OkStatus();
  }
  absl::Status detach() noexcept { return absl::OkStatus(); }
  [[nodiscard]] rb::feature features() const noexcept { return rb::feature::none; }
  [[nodiscard]] rb::mono now() const noexcept { return {}; }
  rb::request_result request_safe_point() noexcept { return rb::request_result::refused; }
  thread_type current(lock_type&) noexcept { return 0; }
  rb::captured capture(lock_type&, thread_type, std::span<frame_type>) noexcept { return {}; }
  bool describe(lock_type&, frame_type, rb::frame_text&) noexcept { return false; }
  bool describe(lock_type&, thread_type, rb::thread_text&) noexcept { return false; }
  std::optional<rb::nanos> cpu_time(thread_type) noexcept { return std::nullopt; }

  /// How a program gets a witness in these tests.
  template <class F>
  void with_lock(F&& f) {
    lock_type lk;
    f(lk);
  }
};

/// An adapter that has every capability.
struct rich_vm : vm {
  using object_type = std::uint64_t;
  static constexpr rb::role request_from =
      rb::role::vm_thread | rb::role::handler | rb::role::foreign;
  static constexpr rb::event emits = rb::event::gc | rb::event::allocation | rb::event::lock |
                                     rb::event::thread | rb::event::bind;

  template <class F>
  void each_thread(lock_type&, F&&) noexcept {}
  template <class F>
  bool with_lock_here(F&&) {
    return false;
  }
  void read_thread_names(lock_type&) noexcept {}
  void refine(lock_type&, thread_type, std::span<frame_type>) noexcept {}
  void forget_frames(lock_type&) noexcept {}
  std::optional<pid_t> signal_target() noexcept { return std::nullopt; }
  absl::Status hook_signal() { return absl::OkStatus(); }
  void unhook_signal() noexcept {}
  std::optional<rb::async_stack> take_async(lock_type&, thread_type, std::span<frame_type>) noexcept {
    return std::nullopt;
  }
  rb::gc_facts last_gc() noexcept { return {}; }
  absl::Status bind() { return absl::OkStatus(); }
  void unbind() noexcept {}
  bool describe_object(lock_type&, object_type, rb::frame_text&) noexcept { return false; }
  bool watch(lock_type&, object_type, std::uint64_t) noexcept { return false; }
  std::uint64_t collections(lock_type&) noexcept { return 0; }
  void forget_objects(lock_type&) noexcept {}
  std::optional<std::uint64_t> alive(lock_type&, std::uint64_t) noexcept { return std::nullopt; }
  template <class F>
  void each_statistic(F&&) {}
  template <class F>
  void each_remark(F&&) {}
};

/// A trigger that needs nothing of its adapter.
struct trigger {
  using trigger_concept = rb::trigger_tag;
  static constexpr rb::role needs = rb::role::none;
  static constexpr bool needs_binding = false;
  static constexpr bool needs_target = false;

  template <class V>
  absl::Status arm(V&, const rb::pace&) {
    return absl::OkStatus();
  }
  template <class V>
  void disarm(V&) noexcept {}
  void bound(auto&, bool) noexcept {}
  template <class V>
  rb::moment claim(V&, typename V::lock_type&) noexcept {
    return {};
  }
  [[nodiscard]] rb::tick_counters counters() const noexcept { return {}; }
  [[nodiscard]] rb::mono last_due() const noexcept { return {}; }
};

struct time_sampler {
  using sampler_concept = rb::sampler_tag;
  bool admit(rb::mono) noexcept { return true; }
  bool admit_wake(rb::mono) noexcept { return true; }
  void charge(rb::mono, const rb::sample_cost&) noexcept {}
  [[nodiscard]] rb::nanos nap(rb::mono) const noexcept { return {}; }
  void reset(rb::mono) noexcept {}
};

struct event_sampler {
  using sampler_concept = rb::sampler_tag;
  bool count() noexcept { return false; }
  std::uint64_t weight(rb::mono) noexcept { return 0; }
  void charge(rb::mono, rb::nanos) noexcept {}
  void reset(rb::mono) noexcept {}
  [[nodiscard]] std::uint64_t pending() const noexcept { return 0; }
  std::uint64_t take_pending() noexcept { return 0; }
};

/// A context for an adapter that has no collector events.
struct context {
  using context_concept = rb::context_tag;
  struct thread_state {};
  void reset(rb::mono) noexcept {}
  void reset_statistics() noexcept {}
  rb::nanos take_hook_cost() noexcept { return {}; }
  template <class V>
  void begin(V&, typename V::lock_type&, typename V::thread_type, thread_state&) noexcept {}
  template <class V, class Emit>
  void settle(V&, typename V::lock_type&, typename V::thread_type, thread_state&, const rb::moment&,
              Emit&&) noexcept {}
  template <class V, class Emit>
  void end(V&, typename V::lock_type&, typename V::thread_type, thread_state&, Emit&&) noexcept {}
  template <class Emit>
  void overhead(thread_state&, const rb::sample_cost&, Emit&&) noexcept {}
};

/// A context for every adapter.
struct gc_context : context {
  template <class V>
  bool gc(V&, typename V::thread_type, thread_state&, bool) noexcept {
    return false;
  }
  template <class V, class Emit>
  void report_gc(V&, typename V::lock_type&, typename V::thread_type, thread_state&,
                 Emit&&) noexcept {}
};

struct recorder {
  using recorder_concept = rb::recorder_tag;
  struct options_type {
    std::vector<rb::value_type> types;
    std::size_t byte_budget = 0;
  };
  explicit recorder(const options_type&) {}
  [[nodiscard]] bool knows(const rb::stack_key&) const noexcept { return false; }
  bool enter() noexcept { return false; }
  bool write(const rb::record&) noexcept { return false; }
  void leave() noexcept {}
  void forget_keys() noexcept {}
  [[nodiscard]] std::uint32_t generation() const noexcept { return 0; }
  absl::Status flush(rb::nanos, rb::mono, rb::profile_builder&, rb::recorded_interval&) {
    return absl::OkStatus();
  }
  bool close(rb::nanos) noexcept { return true; }
  void open(rb::mono) noexcept {}
  void after_fork() noexcept {}
};

}  // namespace archetype

#endif  // RBPROF_TESTS_POLICY_ARCHETYPES_HPP
