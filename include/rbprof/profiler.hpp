// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_HPP
#define RBPROF_PROFILER_HPP

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/fork_mutex.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/model/profile_builder.hpp>
#include <rbprof/policy/context.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/sampler.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/lane.hpp>
#include <rbprof/profiler/lane_pool.hpp>
#include <rbprof/profiler/options.hpp>
#include <rbprof/profiler/policy_check.hpp>
#include <rbprof/profiler/reports.hpp>
#include <rbprof/profiler/window.hpp>

// basic_profiler composes five policies into a profiler. It is a handle: the lane that the VM calls back
// comes from a pool that lives as long as the process, so a handle may be a static object, a local, or leaked.
//
//   start ──▶ attach the VM, open the lane, arm the trigger
//   flush ──▶ settle (book every thread up to now, with the VM lock) + flip + build the profile since the last one
//   stop  ──▶ disarm, settle, detach, close, build the rest
//
// Thread-safe. No function raises; what fails says what to do. `start` wants the VM lock; `stop` and `flush` work
// from any thread, best from one that holds it: elsewhere they ask for a safe point and wait a stated time, and
// a profile whose threads could not be settled says so.

namespace rbprof::inline v0 {

template <class V, class T, class S, class C, class R>
class basic_profiler : private detail::policy_check<V, T, S, C, R> {
  using lane_type = detail::lane<V, T, S, C, R>;
  using pool_type = detail::lane_pool<lane_type>;

 public:
  using vm_type = V;
  using trigger_type = T;
  using sampler_type = S;
  using context_type = C;
  using recorder_type = R;

  explicit basic_profiler(profiler_options options = {});
  basic_profiler(const basic_profiler&) = delete;
  basic_profiler& operator=(const basic_profiler&) = delete;
  /// Stops when running; what was recorded is lost then.
  ~basic_profiler();

  /// Starts sampling. Needs the VM lock. Fails when this or another profiler is running, when the VM is not up,
  /// when an option is out of range, when the process has no lane left, and, once, when `stop` came first.
  absl::Status start();

  /// Stops sampling and returns what was recorded since the last flush. Calls from: any thread, also while the
  /// VM is down (an error then; `flush` still has the data). Blocks: two intervals + the patience.
  absl::StatusOr<profile> stop();

  /// What was recorded since the last flush. On DeadlineExceeded nothing is lost: the next one has it.
  /// Calls from: any thread. Blocks: the settle patience + the flush patience.
  absl::StatusOr<profile> flush();

  /// For trigger::manual: a place where the host may be sampled. Holding the VM lock it samples at once, elsewhere
  /// it asks for a safe point. Calls from: one thread at a time. True when a tick had expired.
  bool poll() requires requires(T& t, mono now) { t.poll(now); };

  [[nodiscard]] bool is_running() const {
    const fork_mutex_hold hold(control_);
    return running_;
  }
  /// What this VM can do in this process, and why not. Much of it is off until the first start.
  [[nodiscard]] std::vector<capability> capabilities() const;
  /// Every count, by name. Those of time start over at each flush; see docs/statistics.md.
  [[nodiscard]] std::vector<profile_statistic> stats() const;
  /// The account of a thread: its words, and how far its clocks are booked. `id` as in the label `thread id`; empty
  /// = the calling thread's. Needs the VM lock.
  [[nodiscard]] absl::StatusOr<detail::thread_account> inspect(std::string_view id = {});

  /// False when the process had no lane left: then the policies can't be had and `start` says so.
  [[nodiscard]] bool usable() const noexcept { return place_ != nullptr; }
  /// The policies, to be set up before `start`.
  [[nodiscard]] V& vm() noexcept { return lane().vm; }
  [[nodiscard]] T& trigger() noexcept { return lane().trigger; }
  [[nodiscard]] S& sampler() noexcept { return lane().sampler; }
  [[nodiscard]] C& context() noexcept { return lane().context; }
  [[nodiscard]] profiler_options& settings() noexcept { return options_; }

 private:
  enum class settled : std::uint8_t { yes, no };
  static constexpr bool can_ask_from_outside = has(V::request_from, role::foreign);

  [[nodiscard]] lane_type& lane() const noexcept { return *place_->lane; }
  absl::Status attach() ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_);
  [[nodiscard]] bool settle_inline();
  settled settle_from_outside() ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_);
  absl::StatusOr<profile> take(settled state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_);
  void learn_capabilities() ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_);
  void finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_);

  void forked() noexcept;

  template <class F>
  void each_count(const tick_counters& now, F&& f) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_);

  profiler_options options_;
  typename pool_type::place* place_;
  mutable fork_mutex control_;
  bool running_ ABSL_GUARDED_BY(control_) = false;
  bool ever_started_ ABSL_GUARDED_BY(control_) = false;
  bool attached_in_parent_ ABSL_GUARDED_BY(control_) = false;  // and not let go of in this child yet
  bool stop_came_first_ ABSL_GUARDED_BY(control_) = false;
  bool hooks_are_gone_ ABSL_GUARDED_BY(control_) = true;
  detail::window window_ ABSL_GUARDED_BY(control_);
  std::vector<capability> capabilities_ ABSL_GUARDED_BY(control_);  // as last known while attached
  tick_counters ticks_at_flush_ ABSL_GUARDED_BY(control_);
  std::uint64_t flush_successes_ ABSL_GUARDED_BY(control_) = 0;
  std::uint64_t flush_failures_ ABSL_GUARDED_BY(control_) = 0;
};

// --- definitions ------------------------------------------------------------------------------------------

template <class V, class T, class S, class C, class R>
basic_profiler<V, T, S, C, R>::basic_profiler(profiler_options options)
    : options_(std::move(options)),
      place_(pool_type::instance().acquire(
          this, [](void* self) noexcept { static_cast<basic_profiler*>(self)->forked(); },
          typename R::options_type{options_.types, options_.byte_budget})) {}

/// The lone thread of a forked child: whoever ran in the parent does not run here.
template <class V, class T, class S, class C, class R>
void basic_profiler<V, T, S, C, R>::forked() noexcept ABSL_NO_THREAD_SAFETY_ANALYSIS {
  control_.renew_in_child();
  attached_in_parent_ = attached_in_parent_ || running_;
  running_ = false;
  window_.shut();
}

template <class V, class T, class S, class C, class R>
basic_profiler<V, T, S, C, R>::~basic_profiler() {
  if (place_ == nullptr) return;
  if (is_running()) (void)stop();
  const fork_mutex_hold hold(control_);
  pool_type::instance().release(place_, hooks_are_gone_);
}

template <class V, class T, class S, class C, class R>
absl::Status basic_profiler<V, T, S, C, R>::start() {
  const fork_mutex_hold hold(control_);
  if (running_) return absl::FailedPreconditionError("this profiler is running already");
  if (std::exchange(stop_came_first_, false)) {
    return absl::CancelledError("stop() was called before start(); start again to profile");
  }
  if (place_ == nullptr) {
    return absl::ResourceExhaustedError(
        "too many profilers in this process: destroy one that is stopped");
  }
  if (absl::Status valid = validate(options_); !valid.ok()) return valid;
  lane_type& l = lane();
  if (absl::Status fit = detail::check_columns<lane_type::samples_allocations>(options_.types); !fit.ok()) return fit;
  if (l.is_broken()) {
    return absl::FailedPreconditionError(
        "this process was forked while a sample was being taken: make a new profiler for it");
  }
  if (std::exchange(attached_in_parent_, false)) (void)l.vm.detach();
  l.allocations().reset(options_.types, options_.heap_every);
  if (absl::Status attached = attach(); !attached.ok()) return attached;
  const bool opened = l.vm.with_lock_here([&](typename V::lock_type& lk) {
    l.open(lk, options_.max_frames, options_.interval);
  });
  if (!opened) {
    hooks_are_gone_ = l.vm.detach().ok();
    return absl::FailedPreconditionError(
        "start() must be called on a thread that holds the VM lock, outside of blocking regions");
  }
  const mono now = l.vm.now();
  window_.open(options_.types, now, epoch_now_ns());
  l.store.open(now);
  ticks_at_flush_ = detail::next_period(l.trigger.counters());
  pace p;
  p.period = options_.interval;
  p.seed = options_.seed != 0 ? options_.seed : static_cast<std::uint64_t>(now.ns);
  p.nap = [](void* self, mono at) noexcept { return static_cast<lane_type*>(self)->sampler.nap(at); };
  p.before_tick = options_.before_tick;
  p.self = &l;
  if (absl::Status armed = l.trigger.arm(l.vm, p); !armed.ok()) {
    finish();
    return armed;
  }
  learn_capabilities();
  pool_type::instance().set_owner(place_, detail::current_tid());
  running_ = ever_started_ = true;
  return absl::OkStatus();
}

/// Attaches; a profiler that runs for a thread that has ended, or ran in the parent of this process, is taken over.
template <class V, class T, class S, class C, class R>
absl::Status basic_profiler<V, T, S, C, R>::attach() {
  lane_type& l = lane();
  absl::Status attached = l.vm.attach(l);
  if (absl::IsAlreadyExists(attached)) {
    const auto in_the_way = [&](const lane_type& other) {
      if constexpr (requires { l.vm.is_blocked_by(other.vm); }) return l.vm.is_blocked_by(other.vm);
      else return true;  // there is one VM in a process
    };
    if (lane_type* orphan = pool_type::instance().take_over_orphan(in_the_way)) {
      orphan->trigger.disarm(orphan->vm);
      orphan->shut();
      (void)orphan->vm.detach();
      attached = l.vm.attach(l);
    }
  }
  return attached;
}

template <class V, class T, class S, class C, class R>
absl::StatusOr<profile> basic_profiler<V, T, S, C, R>::stop() {
  settled before = settled::no;
  {
    const fork_mutex_hold hold(control_);
    if (!running_) {
      stop_came_first_ = !ever_started_;
      return absl::FailedPreconditionError("this profiler is not running");
    }
    if (!pool_type::instance().was_taken_over(place_)) {
      // A VM that can't be asked from here settles at a tick, so while there are any.
      if constexpr (!can_ask_from_outside) {
        if (!lane().vm.with_lock_here([](typename V::lock_type&) {})) before = settle_from_outside();
      }
      lane().trigger.disarm(lane().vm);
    }
  }
  const bool settled_here = settle_inline();
  const fork_mutex_hold hold(control_);
  if (!running_) return absl::FailedPreconditionError("this profiler was stopped meanwhile");
  const settled state = settled_here           ? settled::yes
                        : can_ask_from_outside ? settle_from_outside()
                                               : before;
  learn_capabilities();
  finish();
  running_ = false;
  if (!hooks_are_gone_) {
    return absl::FailedPreconditionError(
        "the VM went down before stop(); flush() returns what was recorded until then");
  }
  return take(state);
}

template <class V, class T, class S, class C, class R>
absl::StatusOr<profile> basic_profiler<V, T, S, C, R>::flush() {
  const bool settled_here = settle_inline();  // before the lock: who waits for the VM may hold it
  const fork_mutex_hold hold(control_);
  if (!running_) {
    if (!window_.is_open()) return absl::FailedPreconditionError("this profiler is not running");
    return take(settled::no);
  }
  return take(settled_here ? settled::yes : settle_from_outside());
}

template <class V, class T, class S, class C, class R>
bool basic_profiler<V, T, S, C, R>::poll() requires requires(T& t, mono now) { t.poll(now); }
{
  lane_type& l = lane();
  if (!l.is_open() || !l.trigger.poll(l.vm.now())) return false;
  const bool here =
      l.vm.with_lock_here([&](typename V::lock_type& lk) { l.on_safe_point(lk); });
  if (!here) (void)l.vm.request_safe_point();
  return true;
}

template <class V, class T, class S, class C, class R>
bool basic_profiler<V, T, S, C, R>::settle_inline() {
  if (place_ == nullptr || !lane().is_open()) return false;
  lane_type& l = lane();
  return l.vm.with_lock_here([&](typename V::lock_type& lk) { l.settle(lk, true); });
}

/// Asks for a safe point and naps until it has settled, for as long as the patience lasts.
template <class V, class T, class S, class C, class R>
auto basic_profiler<V, T, S, C, R>::settle_from_outside() -> settled {
  lane_type& l = lane();
  if (!l.is_open()) return settled::no;
  const std::uint64_t number = l.ask_settle();
  const mono deadline = monotonic_now() + options_.settle_patience;
  nanos nap{50'000};
  for (;;) {
    const request_result asked = l.vm.request_safe_point();
    // A VM that can't be asked from here settles at its next tick, unless it is down.
    if (asked == request_result::refused && (can_ask_from_outside || l.vm.features() == feature::none)) {
      return settled::no;
    }
    if (l.settled(number)) return settled::yes;
    if (monotonic_now() >= deadline) return settled::no;
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, nanos{1'000'000});
    if (l.settled(number)) return settled::yes;
  }
}

/// Ends what start began. The recorder keeps its data.
template <class V, class T, class S, class C, class R>
void basic_profiler<V, T, S, C, R>::finish() {
  lane_type& l = lane();
  l.shut();
  (void)l.vm.with_lock_here([&](typename V::lock_type& lk) { l.clear(lk); });
  hooks_are_gone_ = l.vm.detach().ok();
  (void)l.store.close(options_.flush_patience);
  pool_type::instance().set_owner(place_, 0);
}

template <class V, class T, class S, class C, class R>
absl::StatusOr<profile> basic_profiler<V, T, S, C, R>::take(settled state) {
  recorded_interval interval;
  learn_capabilities();
  const absl::Status flushed =
      lane().store.flush(options_.flush_patience, lane().vm.now(), window_.builder(), interval);
  if (!flushed.ok()) {
    ++flush_failures_;
    return flushed;
  }
  ++flush_successes_;
  window_.took(interval);
  profile_builder& b = window_.builder();
  if (auto* heap = lane().allocations().heap()) {
    if (const auto picture = heap->objects.take()) b.add(*picture);
  }
  b.set_period(options_.interval);
  b.set_program(options_.program);
  detail::add_remarks(b, lane(), capabilities_, state == settled::yes);
  b.add_statistic("records", window_.records());
  const tick_counters ticks = lane().trigger.counters();
  each_count(ticks, [&](std::string_view name, std::uint64_t value) { b.add_statistic(name, value); });
  ticks_at_flush_ = detail::next_period(ticks);
  lane().counts.reset();
  lane().context.reset_statistics();
  profile made = window_.take(options_.types);
  if (!running_) window_.shut();
  return made;
}

/// What the VM can do is known while it is attached and up; afterwards the last answer stands.
template <class V, class T, class S, class C, class R>
void basic_profiler<V, T, S, C, R>::learn_capabilities() {
  if (lane().vm.features() == feature::none && !capabilities_.empty()) return;
  capabilities_ = detail::list_capabilities(lane().vm);
}

template <class V, class T, class S, class C, class R>
std::vector<capability> basic_profiler<V, T, S, C, R>::capabilities() const {
  if (place_ == nullptr) return {};
  const fork_mutex_hold hold(control_);
  return capabilities_.empty() ? detail::list_capabilities(lane().vm) : capabilities_;
}

template <class V, class T, class S, class C, class R>
std::vector<profile_statistic> basic_profiler<V, T, S, C, R>::stats() const {
  const fork_mutex_hold hold(control_);
  std::vector<profile_statistic> all;
  if (place_ == nullptr) return all;
  each_count(lane().trigger.counters(), [&](std::string_view name, std::uint64_t value) {
    all.emplace_back(std::string(name), value);
  });
  return all;
}

template <class V, class T, class S, class C, class R>
template <class F>
void basic_profiler<V, T, S, C, R>::each_count(const tick_counters& now, F&& f) const {
  detail::each_count(lane(), now, ticks_at_flush_, f);
  f("lifetime_flush_successes", flush_successes_);
  f("lifetime_flush_failures", flush_failures_);
}

template <class V, class T, class S, class C, class R>
absl::StatusOr<detail::thread_account> basic_profiler<V, T, S, C, R>::inspect(
    std::string_view id) {
  if (place_ == nullptr || !lane().is_open()) {
    return absl::FailedPreconditionError("this profiler is not running");
  }
  detail::thread_account found;
  const bool here = lane().vm.with_lock_here(
      [&](typename V::lock_type& lk) { found = detail::inspect(lane(), lk, id); });
  if (!here) return absl::FailedPreconditionError("inspect() needs the VM lock");
  if (found.empty()) return absl::NotFoundError("no such thread is alive");
  return found;
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_HPP
