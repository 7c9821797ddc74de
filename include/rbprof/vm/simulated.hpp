// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_SIMULATED_HPP
#define RBPROF_VM_SIMULATED_HPP

#include <absl/status/status.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/base/flags.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/vm/simulated/machine.hpp>
#include <rbprof/vm/simulated/machine_steps.hpp>
#include <rbprof/vm/simulated/program.hpp>
#include <rbprof/vm/simulated/thread.hpp>
#include <rbprof/vm/simulated/truth.hpp>

// A VM without a VM: threads run programs of steps on a virtual clock, and what each did is known to the
// nanosecond. It makes tests of everything above an adapter exact and instant, also a host's own.
//
//     vm::simulated v;
//     v.append(v.main_thread, {steps::run({{1, 5}}, 30ms), steps::sleep({{1, 6}}, 70ms)});
//     v.every(10ms, [&] { if (trigger.poll(v.now())) v.request_safe_point(); });
//     v.run();
//     v.truth(v.main_thread).self(1);          // cpu 30 ms, wall 100 ms
//
// Between two runs the driving thread is in the host's code and holds the VM lock, so `with_lock_here` works
// there. Sampling takes no virtual time unless `charge_for_samples` says what it takes.

namespace rbprof::inline v0 {
namespace vm {

/// Which real VM is imitated.
enum class simulated_shape : std::uint8_t {
  full,   ///< tells of its lock, can be asked by any thread, shows every stack: CRuby from 3.3 on
  plain,  ///< none of these three: CRuby 3.1
};

template <simulated_shape Shape>
class basic_simulated;

/// The lock witness of the simulated VM.
class simulated_lock {
 public:
  simulated_lock(const simulated_lock&) = delete;

 private:
  template <simulated_shape Shape>
  friend class basic_simulated;
  simulated_lock() = default;
};

/// Calls from:  the thread that drives it; now, request_safe_point, signal_target, send_signal: any thread
/// Blocks:      never
/// Allocates:   yes
/// On failure:  attach and hook_signal refuse a second time; the rest is what the program scripts
template <simulated_shape Shape>
class basic_simulated : public simulated_machine {
 public:
  using vm_adapter_concept = vm_adapter_tag;
  using thread_type = std::uint32_t;  ///< 1 is the host's own thread; 0 = none
  using frame_type = simulated_frame;
  using lock_type = simulated_lock;
  using object_type = const std::string*;  ///< its class's name

  static constexpr bool is_full = Shape == simulated_shape::full;
  static constexpr role request_from =
      is_full ? role::vm_thread | role::handler | role::foreign : role::vm_thread | role::handler;
  static constexpr event emits =
      is_full ? event::gc | event::thread | event::allocation | event::lock
              : event::gc | event::thread | event::allocation;
  static constexpr bool exclusive_sampler = true;

  explicit basic_simulated(const simulated_options& o = {}) : simulated_machine(o) {}

  // --- for the test that drives it -----------------------------------------------------------------------

  /// From now on a stack that is captured, and a frame that is described, take virtual time.
  void charge_for_samples(simulated_times capture, simulated_times describe = {}) noexcept {
    capture_cost_ = capture;
    describe_cost_ = describe;
  }
  /// From now on a signal takes the stack of the thread that it is sent to, at this cost.
  void capture_in_handler(simulated_times cost = {}) noexcept {
    captures_in_handler_ = true;
    handler_cost_ = cost;
  }
  /// From now on each stack that is captured makes `n` objects, as an adapter's own code may.
  void allocate_in_samples(std::uint64_t n) noexcept { made_in_samples_ = n; }
  /// Words of a function; without, they are made from its number: "function_7" in "file_7.rb".
  void name_function(std::uint32_t function, std::string name, std::string file) {
    names_[function] = {std::move(name), std::move(file)};
  }
  /// The next descriptions of frames fail.
  void fail_describe(std::uint64_t times) noexcept { describe_failures_ = times; }
  /// Frames that were described and not forgotten since.
  [[nodiscard]] std::size_t pinned_frames() const noexcept { return pinned_.size(); }
  [[nodiscard]] bool attached() const noexcept { return attached_.load(std::memory_order_acquire); }
  [[nodiscard]] bool signal_hooked() const noexcept {
    return signal_hooked_.load(std::memory_order_acquire);
  }

  // --- vm_adapter ----------------------------------------------------------------------------------------

  template <event_sink<basic_simulated> S>
  [[nodiscard]] absl::Status attach(S& sink) {
    if (attached()) {
      return absl::FailedPreconditionError(
          "a profiler is attached to this simulated VM already: stop it first");
    }
    sink_ = &sink;
    simulated_events e;
    e.self = this;
    e.safe_point = [](void* self) noexcept {
      basic_simulated& me = *static_cast<basic_simulated*>(self);
      me.safe_points_.add();
      lock_type lk;
      static_cast<S*>(me.sink_)->on_safe_point(lk);
    };
    e.thread = [](void* self, std::uint32_t th, bool begins) noexcept {
      lock_type lk;
      static_cast<S*>(static_cast<basic_simulated*>(self)->sink_)->on_thread(lk, th, begins);
    };
    e.gc = [](void* self, std::uint32_t th, bool enters) noexcept {
      static_cast<S*>(static_cast<basic_simulated*>(self)->sink_)->on_gc(th, enters);
    };
    if constexpr (is_full) {
      e.running = [](void* self, std::uint32_t th) noexcept {
        lock_type lk;
        static_cast<S*>(static_cast<basic_simulated*>(self)->sink_)->on_running(lk, th);
      };
    }
    if constexpr (allocation_sink<S, basic_simulated>) {
      if (sink.wants_allocations()) e.allocation = [](void* self, const std::string& class_name) noexcept {
        lock_type lk;
        static_cast<S*>(static_cast<basic_simulated*>(self)->sink_)->on_allocation(lk, &class_name);
      };
    }
    listen(e);
    attached_.store(true, std::memory_order_release);
    return absl::OkStatus();
  }

  absl::Status detach() noexcept {
    attached_.store(false, std::memory_order_release);
    listen({});
    sink_ = nullptr;
    return absl::OkStatus();
  }

  [[nodiscard]] feature features() const noexcept {
    const feature all = feature::gc | feature::thread_cpu | feature::allocation;
    const feature more = captures_in_handler_ ? all | feature::async_capture : all;
    return is_full ? more | feature::lock | feature::other_stacks | feature::foreign_request : more;
  }
  [[nodiscard]] mono now() const noexcept { return shown(); }

  request_result request_safe_point() noexcept {
    return attached() ? ask() : request_result::refused;
  }

  [[nodiscard]] thread_type current(lock_type&) noexcept { return simulated_machine::current(); }

  [[nodiscard]] captured capture(lock_type&, thread_type th, std::span<frame_type> out) noexcept {
    const simulated_thread* t = of(th);
    if (t == nullptr || !t->alive()) return {};
    if (!is_full && th != simulated_machine::current()) return {};
    const std::size_t n = std::min(t->stack().size(), out.size());
    std::copy_n(t->stack().begin(), n, out.begin());
    const captured got{static_cast<std::uint32_t>(n), n < t->stack().size()};
    tell_allocations("Own", made_in_samples_);
    spend(capture_cost_);
    return got;
  }

  [[nodiscard]] bool describe(lock_type&, frame_type f, frame_text& out) noexcept {
    spend(describe_cost_);
    if (describe_failures_ > 0) {
      --describe_failures_;
      return false;
    }
    pinned_.insert(f);
    const std::string number = std::to_string(f.function);
    const auto known = names_.find(f.function);
    const bool base = f.function == 0;
    out.name = known != names_.end() ? known->second.first : base ? "<main>" : "function_" + number;
    out.file = known != names_.end() ? known->second.second : "file_" + number + ".rb";
    out.line = f.line;
    out.start_line = 1;
    out.native = out.file == "<cfunc>";
    return true;
  }

  [[nodiscard]] bool describe(lock_type&, thread_type th, thread_text& out) noexcept {
    const simulated_thread* t = of(th);
    if (t == nullptr || !t->begun) return false;
    out.main = th == main_thread;
    out.id = std::to_string(native_id(th)) + " (" + std::to_string(8 * th) + ")";
    out.name = t->known_name;
    out.started_at = out.main ? "" : "threads.rb:" + std::to_string(th);
    return true;
  }

  [[nodiscard]] bool describe_object(lock_type&, object_type class_name, frame_text& out) noexcept {
    out.name = *class_name;
    out.file = "T_OBJECT";
    return true;
  }

  static constexpr std::uint64_t object_bytes = 40;
  [[nodiscard]] bool watch(lock_type&, object_type, std::uint64_t number) noexcept {
    watched_[number] = newest_object();
    return true;
  }
  [[nodiscard]] std::optional<std::uint64_t> alive(lock_type&, std::uint64_t number) noexcept {
    const auto at = watched_.find(number);
    return at != watched_.end() && is_alive(at->second) ? std::optional(object_bytes) : std::nullopt;
  }
  [[nodiscard]] std::uint64_t collections(lock_type&) noexcept { return collection_count(); }
  void forget_objects(lock_type&) noexcept { watched_.clear(); }

  [[nodiscard]] std::optional<nanos> cpu_time(thread_type th) noexcept {
    simulated_thread* t = of(th);
    if (t == nullptr || !t->alive()) return std::nullopt;
    if (t->cpu_failures > 0) {
      --t->cpu_failures;
      failed_cpu_readings_.add();
      return std::nullopt;
    }
    return t->truth.all.cpu + t->cpu_fault;
  }

  // --- capabilities --------------------------------------------------------------------------------------

  template <class F>
  void each_thread(lock_type&, F&& f) noexcept {
    for (const auto& t : threads()) {
      if (t->alive()) f(t->id);
    }
  }
  template <class F>
  bool with_lock_here(F&& f) {
    if (!lock_is_ours()) return false;
    lock_type lk;
    f(lk);
    return true;
  }
  void read_thread_names(lock_type&) noexcept {
    for (const auto& t : threads()) t->known_name = t->name;
  }
  void keep_frames(lock_type&, std::span<const frame_type> frames) noexcept {
    pinned_.insert(frames.begin(), frames.end());
  }
  void forget_frames(lock_type&) noexcept { pinned_.clear(); }
  [[nodiscard]] gc_facts last_gc() noexcept { return latest_gc(); }

  /// Kernel ids are as virtual as the threads: `send_signal` delivers to them, and nothing else could.
  [[nodiscard]] std::optional<pid_t> signal_target() noexcept {
    const std::uint32_t th = holder();
    return th == 0 ? std::nullopt : std::optional<pid_t>(native_id(th));
  }
  [[nodiscard]] absl::Status hook_signal() {
    if (signal_hooked_.exchange(true, std::memory_order_acq_rel)) {
      return absl::FailedPreconditionError("the signal of this simulated VM has a handler already");
    }
    return absl::OkStatus();
  }
  void unhook_signal() noexcept { signal_hooked_.store(false, std::memory_order_release); }
  /// What the kernel and the handler do elsewhere. False when there is no such thread, or no handler.
  bool send_signal(pid_t tid) noexcept {
    if (!signal_hooked() || tid <= first_native_id) return false;
    signals_.add();
    if (captures_in_handler_) capture_async(static_cast<thread_type>(tid - first_native_id));
    (void)request_safe_point();
    return true;
  }

  template <class F>
  void each_statistic(F&& f) const {
    f("simulated_safe_points", safe_points_.get());
    f("simulated_signals", signals_.get());
    f("simulated_failed_cpu_readings", failed_cpu_readings_.get());
  }

  [[nodiscard]] std::optional<async_stack> take_async(lock_type&, thread_type th,
                                                      std::span<frame_type> out) noexcept {
    const auto at = async_.find(th);
    if (at == async_.end()) return std::nullopt;
    const auto& [frames, taken] = at->second;
    async_stack a = taken;
    const std::size_t n = std::min(frames.size(), out.size());
    std::copy_n(frames.begin(), n, out.begin());
    a.got = {static_cast<std::uint32_t>(n), n < frames.size()};
    async_.erase(at);
    return a;
  }

 private:
  static constexpr pid_t first_native_id = 1000;
  [[nodiscard]] static pid_t native_id(thread_type th) noexcept {
    return first_native_id + static_cast<pid_t>(th);
  }

  void capture_async(thread_type th) {
    const simulated_thread* t = of(th);
    if (t == nullptr || th != holder() || !t->on_stack() || async_.contains(th)) return;
    async_stack a;
    a.seen = now();
    a.cpu = cpu_time(th);
    a.cost = handler_cost_.cpu;
    async_.emplace(th, std::pair(t->stack(), a));
    spend(handler_cost_);
  }

  void* sink_ = nullptr;
  std::atomic<bool> attached_{false};  // lets any thread ask; attach and detach release
  std::atomic<bool> signal_hooked_{false};
  simulated_times capture_cost_;
  simulated_times describe_cost_;
  simulated_times handler_cost_;
  bool captures_in_handler_ = false;
  std::map<thread_type, std::pair<simulated_stack, async_stack>> async_;
  std::map<std::uint32_t, std::pair<std::string, std::string>> names_;
  std::uint64_t describe_failures_ = 0;
  std::uint64_t made_in_samples_ = 0;
  std::map<std::uint64_t, std::uint64_t> watched_;  // number -> object
  std::set<frame_type> pinned_;
  counter safe_points_;
  counter signals_;
  counter failed_cpu_readings_;
};

using simulated = basic_simulated<simulated_shape::full>;
using simulated_plain = basic_simulated<simulated_shape::plain>;

static_assert(vm_adapter<simulated> && vm_adapter<simulated_plain>);
static_assert(has_lock_events<simulated> && !has_lock_events<simulated_plain>);
static_assert(has_thread_list<simulated> && has_inline_lock<simulated> &&
              has_thread_names<simulated> && has_frame_pins<simulated> &&
              has_signal_target<simulated> && has_allocation_events<simulated> && has_async_capture<simulated> && has_gc_events<simulated> &&
              has_thread_events<simulated> && has_statistics<simulated>);

}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_SIMULATED_HPP
