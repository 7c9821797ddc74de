// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// What one sample costs inside a real CRuby: from the safe point, with the VM lock held, to the records. Beside
// it the floor, taken in turns with it: rb_profile_frames with lines at the same place, two readings of the
// monotonic clock and one of the thread's cpu clock, which no profiler of cpu and wall time goes without.
//
//   seen         a stack that was seen before, by depth. 6000 frames are more than the limit of 3000, so the
//                sample, and its floor, read the 3000 nearest to the leaf
//   paced        the same with trigger::manual and a tick every 20 us: time for caches to get cold
//   new_stack    known frames in an order that was never seen, from the root on
//   new_leaf     a method that was never seen, on top of known callers
//   new_frames   100 methods none of which was ever seen
//   sleeping     one thread that runs, and others that wait at a Queue
//   allocation   not a sample: Object.new while the profiler runs, its floor is the same without a profiler. `empty` is a
//                hook of Ruby's that does nothing; `counted` the profiler with allocations on and nothing sampled;
//                `live` the same with live objects, which also looks at each object that is freed
//
// `mallocs` and `objects` are allocations in one sample, of memory and of Ruby objects.

#include <benchmark/benchmark.h>

#include <rbprof/cruby.hpp>
#include <rbprof/sampler/dynamic_rate.hpp>
#include <rbprof/trigger/manual.hpp>
#include <rbprof/trigger/tick_ledger.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "beside.hpp"

namespace {

using namespace rbprof;

/// trigger::manual whose every poll finds a tick that has just expired.
class tick_at_every_poll {
 public:
  using trigger_concept = trigger_tag;
  static constexpr role needs = role::vm_thread;
  static constexpr bool needs_binding = false;
  static constexpr bool needs_target = false;

  template <vm_adapter V>
  absl::Status arm(V&, const pace&) {
    return absl::OkStatus();
  }
  template <vm_adapter V>
  void disarm(V&) noexcept {}
  template <vm_adapter V>
  void bound(V&, bool) noexcept {}
  [[nodiscard]] bool poll(mono now) noexcept {
    ticks_.expired(1, now);
    return true;
  }
  template <vm_adapter V>
  [[nodiscard]] moment claim(V& v, typename V::lock_type&) noexcept {
    return ticks_.claim(v);
  }
  [[nodiscard]] tick_counters counters() const noexcept { return ticks_.counters(); }
  [[nodiscard]] mono last_due() const noexcept { return ticks_.last_due(); }

 private:
  trigger::tick_ledger ticks_;
};

/// Does the work of the governor and does not heed it: it would stop sampling after a moment of this.
class unheeded_rate {
 public:
  using sampler_concept = sampler_tag;
  [[nodiscard]] bool admit(mono t) noexcept {
    (void)governor_.admit(t);
    return true;
  }
  [[nodiscard]] bool admit_wake(mono t) noexcept {
    (void)governor_.admit_wake(t);
    return true;
  }
  void charge(mono t, const sample_cost& cost) noexcept { governor_.charge(t, cost); }
  [[nodiscard]] nanos nap(mono) const noexcept { return nanos{0}; }
  void reset(mono t) noexcept { governor_.reset(t); }

 private:
  sampler::dynamic_rate governor_;
};

template <class Trigger>
using profiler_with =
    basic_profiler<vm::cruby, Trigger, unheeded_rate, context::thread_times, flip_recorder>;
using profiler = profiler_with<tick_at_every_poll>;

constexpr int frame_limit = 3000;

profiler_options options() {
  profiler_options o;
  o.max_frames = frame_limit;
  o.interval = nanos{20'000};
  o.byte_budget = 256U << 20;
  return o;
}

void run(const std::string& code) {
  int state = 0;
  rb_eval_string_protect(code.c_str(), &state);
  if (state == 0) return;
  VALUE message = rb_funcall(rb_errinfo(), rb_intern("full_message"), 0);
  std::fprintf(stderr, "%s\n", StringValueCStr(message));
  std::exit(1);
}

/// `here` in Ruby code calls this. It is the leaf of every stack.
std::function<void()> at_here;
VALUE here(VALUE) {
  at_here();
  return Qnil;
}

/// A program at whose every `here` there are as many frames as it says.
void define_program() {
  rb_define_global_function("here", here, 0);
  run(R"(
    module Bench
      module_function
      # `depth` frames with <main> and `here`.
      def go_down(depth) = down(depth - 4)
      def down(n)
        if n > 0 then down(n - 1) else here end
      end
      # Two methods that call each other in the order of the bits of a number, lowest at the root.
      def a(bits, n)
        if n == 0 then here
        elsif bits.even? then a(bits >> 1, n - 1)
        else b(bits >> 1, n - 1)
        end
      end
      def b(bits, n)
        if n == 0 then here
        elsif bits.even? then a(bits >> 1, n - 1)
        else b(bits >> 1, n - 1)
        end
      end
      def new_methods(prefix, count)
        count.times { |i| module_eval "def self.#{prefix}#{i} = here" }
      end
      # A chain of methods: the first calls the second, and so on, and the last calls `here`.
      def new_chain(prefix, count)
        count.times { |i| module_eval "def self.#{prefix}#{i} = #{i + 1 < count ? "#{prefix}#{i + 1}" : "here"}" }
      end
      def leaves_at(n, prefix, count)
        if n > 0 then leaves_at(n - 1, prefix, count)
        else
          i = 0
          while i < count
            __send__("#{prefix}#{i}")
            i += 1
          end
        end
      end
      def allocate(count)
        i = 0
        while i < count
          Object.new
          i += 1
        end
      end
      def park(count)
        @queue = Thread::Queue.new
        @parked = Array.new(count) { Thread.new { @queue.pop } }
        sleep 0.001 until @parked.all? { |t| t.status == "sleep" }
      end
      def unpark
        @queue.close
        @parked.each(&:join)
      end
    end
  )");
}

/// What no profiler goes without.
class floor_of_a_sample {
 public:
  floor_of_a_sample() : handles_(frame_limit + 2), lines_(frame_limit + 2) {}
  void operator()() {
    mono t = monotonic_now();
    benchmark::DoNotOptimize(t);
    got_ = rb_profile_frames(0, frame_limit + 1, handles_.data(), lines_.data());
    auto cpu = thread_cpu_now();
    benchmark::DoNotOptimize(cpu);
    t = monotonic_now();
    benchmark::DoNotOptimize(t);
  }
  /// Frames of the program: 3.1 has a further one at the bottom.
  [[nodiscard]] int frames() const noexcept {
    return std::min(frame_limit, got_ - (vm::cruby_detail::ruby_abi < 303 ? 1 : 0));
  }

 private:
  std::vector<VALUE> handles_;
  std::vector<int> lines_;
  int got_ = 0;
};

std::uint64_t objects_made() {
  static const VALUE key = ID2SYM(rb_intern("total_allocated_objects"));
  return rb_gc_stat(key);
}

/// Started, and stopped at the end of the benchmark.
template <class Profiler>
class running {
 public:
  explicit running(Profiler& p) : profiler_(p) {
    if (const absl::Status s = p.start(); !s.ok()) {
      std::fprintf(stderr, "%s\n", std::string(s.message()).c_str());
      std::exit(1);
    }
  }
  running(const running&) = delete;
  ~running() {
    if (!profiler_.stop().ok()) std::exit(1);
  }

 private:
  Profiler& profiler_;
};

/// Allocations in `f`, as counters for each of `units`.
template <class F>
void count_allocations(benchmark::State& state, double units, F&& f) {
  const std::uint64_t mallocs = bench::heap.calls.load();
  const std::uint64_t objects = objects_made();
  f();
  const std::uint64_t mallocs_now = bench::heap.calls.load();
  state.counters["objects"] = static_cast<double>(objects_made() - objects) / units;
  state.counters["mallocs"] = static_cast<double>(mallocs_now - mallocs) / units;
}

void seen_at_here(benchmark::State& state, profiler& p) {
  floor_of_a_sample floor;
  const auto sample = [&] {
    if (!p.poll()) std::exit(1);
  };
  for (int i = 0; i < 3; ++i) sample();
  bench::run_beside(state, 32, floor, sample);
  count_allocations(state, 100, [&] {
    for (int i = 0; i < 100; ++i) sample();
  });
  state.counters["frames"] = floor.frames();
}

void sample_of_a_seen_stack(benchmark::State& state) {
  profiler p(options());
  const running<profiler> on(p);
  at_here = [&] { seen_at_here(state, p); };
  run("Bench.go_down(" + std::to_string(state.range(0)) + ")");
}

void sample_beside_sleeping_threads(benchmark::State& state) {
  run("Bench.park(" + std::to_string(state.range(0)) + ")");
  {
    profiler p(options());
    const running<profiler> on(p);
    at_here = [&] { seen_at_here(state, p); };
    run("Bench.go_down(100)");
  }
  at_here = nullptr;
  run("Bench.unpark");
}

void paced_sample_of_a_seen_stack(benchmark::State& state) {
  using paced = profiler_with<trigger::manual>;
  paced p(options());
  const running<paced> on(p);
  at_here = [&] {
    floor_of_a_sample floor;
    bench::beside both;
    floor();
    nanos reading{1'000'000};  // of the clock, which is inside of both figures
    for (int i = 0; i < 100; ++i) reading = std::min(reading, bench::time_of(0, [] {}));
    for (auto _ : state) {
      while (monotonic_now() < p.trigger().next_due()) {
      }
      both.floor_took(bench::time_of(1, floor) - reading, 1);
      while (!p.trigger().poll(monotonic_now())) {
      }
      const nanos took = bench::time_of(1, [&] { (void)p.poll(); }) - reading;
      both.work_took(took, 1);
      state.SetIterationTime(std::chrono::duration<double>(took).count());
    }
    both.report(state);
    state.counters["frames"] = floor.frames();
  };
  run("Bench.go_down(" + std::to_string(state.range(0)) + ")");
}

/// Calls of `here`, each of which is a sample that never was. The first `warm` are not counted.
void each_here_is_new(benchmark::State& state, int warm,
                      const std::function<std::string(int)>& code, int most) {
  profiler p(options());
  const running<profiler> on(p);
  floor_of_a_sample floor;
  bench::beside both;
  nanos all{0};
  int samples = 0;
  at_here = [&] {
    const nanos least = bench::time_of(1, floor);
    const nanos took = bench::time_of(1, [&] { (void)p.poll(); });
    if (samples++ < warm) return;
    both.floor_took(least, 1);
    both.work_took(took, 1);
    all += took;
  };
  int n = 0;
  for (auto _ : state) {
    const int before = samples;
    const nanos all_before = all;
    run(code(n++));
    const int counted = std::max(1, samples - std::max(before, warm));
    state.SetIterationTime(std::chrono::duration<double>(all - all_before).count() / counted);
    if (n > most) state.SkipWithError("too many");
  }
  both.report(state);
  state.counters["mean_ns"] = static_cast<double>(all.count()) / std::max(1, samples - warm);
  state.counters["frames"] = floor.frames();
}

void sample_of_a_new_stack(benchmark::State& state) {
  const auto code = [](int n) {
    // A hundred stacks a call; the multiplier spreads the number over all levels.
    return "n = " + std::to_string(n) +
           " * 100; 100.times { |i| Bench.a((n + i) * 0x9E3779B97F4A7C15F39CC0605CEDC835, 95) }";
  };
  each_here_is_new(state, 200, code, 1 << 20);
}

int generation = 0;  // names are used once a process

void sample_of_a_new_leaf(benchmark::State& state) {
  const std::string prefix = "leaf" + std::to_string(++generation) + "_";
  const auto code = [&](int n) {
    const std::string name = prefix + std::to_string(n) + "_";
    return "Bench.new_methods(:" + name + ", 20); Bench.leaves_at(94, :" + name + ", 20)";
  };
  each_here_is_new(state, 20, code, 1 << 20);
}

void sample_of_new_frames(benchmark::State& state) {
  const std::string prefix = "chain" + std::to_string(++generation) + "_";
  const auto code = [&](int n) {
    const std::string name = prefix + std::to_string(n) + "_";
    return "Bench.new_chain(:" + name + ", 98); Bench." + name + "0";
  };
  each_here_is_new(state, 3, code, 1 << 20);
}

/// An allocation while the collector's events are on, beside one without a profiler.
void allocation_while_profiled(benchmark::State& state, bool gc_events) {
  profiler p(options());
  p.vm().options.gc_events = gc_events;
  constexpr int block = 200'000;
  const auto allocate = [] { run("Bench.allocate(" + std::to_string(block) + ")"); };
  bench::beside both;
  for (auto _ : state) {
    both.floor_took(bench::cpu_time_of(allocate), block);
    nanos took{0};
    {
      const running<profiler> on(p);
      took = bench::cpu_time_of(allocate);
    }
    both.work_took(took, block);
    state.SetIterationTime(std::chrono::duration<double>(took).count() / block);
  }
  both.report(state);
}

enum class hook { empty, counted, live };

/// An allocation that is no sample, beside one that nobody is told of.
void allocation_with_hook(benchmark::State& state, hook kind) {
  cruby::options o;
  o.interval = nanos{1'000'000'000};
  o.gc = false;
  o.allocations = true;
  o.allocation_every = 1'000'000'000;
  o.heap = kind == hook::live;
  cruby::profiler p(o);
  constexpr int block = 200'000;
  const auto allocate = [] { run("Bench.allocate(" + std::to_string(block) + ")"); };
  const auto nothing = [](VALUE, const rb_trace_arg_t*) noexcept {};
  void (*const told)(VALUE, const rb_trace_arg_t*) noexcept = nothing;
  const auto raw = reinterpret_cast<rb_event_hook_func_t>(reinterpret_cast<void (*)()>(told));
  bench::beside both;
  for (auto _ : state) {
    both.floor_took(bench::cpu_time_of(allocate), block);
    if (kind == hook::empty) {
      rb_add_event_hook2(raw, RUBY_INTERNAL_EVENT_NEWOBJ, Qnil,
                         static_cast<rb_event_hook_flag_t>(RUBY_EVENT_HOOK_FLAG_SAFE | RUBY_EVENT_HOOK_FLAG_RAW_ARG));
    } else if (!p.start().ok()) {
      state.SkipWithError("the profiler did not start");
      return;
    }
    const nanos took = bench::cpu_time_of(allocate);
    if (kind == hook::empty) rb_remove_event_hook(raw);
    else (void)p.stop();
    both.work_took(took, block);
    state.SetIterationTime(std::chrono::duration<double>(took).count() / block);
  }
  both.report(state);
}

BENCHMARK(sample_of_a_seen_stack)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(6000)
    ->UseManualTime()
    ->Iterations(200);
BENCHMARK(paced_sample_of_a_seen_stack)->Arg(100)->UseManualTime()->Iterations(3000);
BENCHMARK(sample_of_a_new_stack)->UseManualTime()->Iterations(20);
BENCHMARK(sample_of_a_new_leaf)->UseManualTime()->Iterations(20);
BENCHMARK(sample_of_new_frames)->UseManualTime()->Iterations(30);
BENCHMARK(sample_beside_sleeping_threads)
    ->Arg(0)
    ->Arg(100)
    ->Arg(1000)
    ->UseManualTime()
    ->Iterations(100);
BENCHMARK_CAPTURE(allocation_while_profiled, gc_events, true)->UseManualTime()->Iterations(15);
BENCHMARK_CAPTURE(allocation_while_profiled, no_gc_events, false)->UseManualTime()->Iterations(15);
BENCHMARK_CAPTURE(allocation_with_hook, empty, hook::empty)->UseManualTime()->Iterations(15);
BENCHMARK_CAPTURE(allocation_with_hook, counted, hook::counted)->UseManualTime()->Iterations(15);
BENCHMARK_CAPTURE(allocation_with_hook, live, hook::live)->UseManualTime()->Iterations(15);

}  // namespace

// Ruby's stack begins in this frame.
int main(int argc, char** argv) {
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  char name[] = "cruby_sample_bench";
  char flag[] = "-e";
  char code[] = "0";
  char* for_ruby[] = {name, flag, code, nullptr};
  ruby_options(3, for_ruby);
  define_program();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("ruby", ruby_version);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return ruby_cleanup(0);
}
