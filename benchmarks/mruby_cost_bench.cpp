// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// What a program in mruby pays, in cpu time of its thread: a fixed piece of work (calls, blocks, strings, fibers,
// garbage) with a profiler and without, in turns, in one process and one state. Start and stop are outside of what is
// timed. Counters beside those of beside.hpp: the median of the pairs.
#include <benchmark/benchmark.h>
#include <mruby/compile.h>

#include <algorithm>
#include <string>
#include <vector>

#include <rbprof/mruby.hpp>

#include "beside.hpp"

namespace {

constexpr const char* program = R"ruby(
def leaf(n); i = 0; i += 1 while i < n; i; end
def calls(n); n.times { |i| leaf(i % 50) }; end
def strings(n); (1..n).map { |i| i.to_s * 2 }.join(",").size; end
def fibers(n); f = Fiber.new { n.times { |i| Fiber.yield i }; nil }; nil while f.resume; end
def work; calls(12_000); strings(4_000); fibers(3_000); leaf(400_000); end
)ruby";

class state {
 public:
  state() : mrb(mrb_open()) { mrb_load_string(mrb, program); }
  state(const state&) = delete;
  ~state() { mrb_close(mrb); }
  void work() const {
    const int arena = mrb_gc_arena_save(mrb);
    for (int i = 0; i < 4; ++i) mrb_funcall(mrb, mrb_top_self(mrb), "work", 0);
    mrb_gc_arena_restore(mrb, arena);
  }
  mrb_state* const mrb;
};

void measure(benchmark::State& turns, const rbprof::mruby::options& options) {
  const state s;
  rbprof::mruby::profiler profiler(s.mrb, options);
  bench::beside both;
  std::vector<double> pairs;
  s.work();
  for (auto _ : turns) {
    const auto without = bench::cpu_time_of([&] { s.work(); });
    if (!profiler.start().ok()) return turns.SkipWithError("the profiler does not start");
    const auto with = bench::cpu_time_of([&] { s.work(); });
    if (!profiler.stop().ok()) return turns.SkipWithError("the profiler does not stop");
    both.floor_took(without, 1);
    both.work_took(with, 1);
    pairs.push_back(static_cast<double>(with.count()) / static_cast<double>(without.count()));
    turns.SetIterationTime(static_cast<double>(with.count()) / 1e9);
  }
  both.report(turns);
  std::nth_element(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(pairs.size() / 2), pairs.end());
  turns.counters["median_ratio"] = pairs[pairs.size() / 2];
}

rbprof::mruby::options each_10ms(rbprof::mruby::timer_clock clock) {
  rbprof::mruby::options o;
  o.clock = clock;
  return o;
}

void mruby_100_hz(benchmark::State& turns) { measure(turns, each_10ms(rbprof::mruby::timer_clock::cpu)); }
void mruby_100_hz_wall(benchmark::State& turns) { measure(turns, each_10ms(rbprof::mruby::timer_clock::wall)); }
/// Attached, and nobody asks for samples.
void mruby_no_ticks(benchmark::State& turns) {
  rbprof::mruby::options o;
  o.trigger = rbprof::mruby::trigger_kind::manual;
  measure(turns, o);
}

}  // namespace

BENCHMARK(mruby_100_hz)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK(mruby_100_hz_wall)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK(mruby_no_ticks)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(20);

BENCHMARK_MAIN();
