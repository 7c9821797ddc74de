// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// What a record costs the sampling thread. Frames are 16 bytes, as on a real adapter. The floor is the hash of
// their bytes, which the caller computes; it is inside of what is measured.
//
//   floor   enter and leave
//   seen    64 stacks in rotation, half of the frames differ from the stack before
//   leaf    a stack that is new, by its leaf alone
//   new     a stack that is new from the root on, names known to the tables
//   flush   taking 1000 stacks of 100 frames

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rbprof/base/hash_bytes.hpp>
#include <rbprof/recorder/flip_recorder.hpp>

#include "allocations.hpp"
#include "beside.hpp"

namespace {

using namespace rbprof;

struct handle {  // what an adapter captures for a frame
  std::uint64_t code;
  std::uint64_t line;
};

struct captured_stack {
  std::vector<handle> bytes;          // leaf first
  std::vector<frame_entry*> entries;  // the same
};

class bench_program {
 public:
  [[nodiscard]] frame_entry* entry(std::uint64_t code) {
    while (entries_.size() <= code) {
      frame_entry& e = entries_.emplace_back();
      e.text.name = "Some::Module#method_" + std::to_string(entries_.size());
      e.text.file = "/app/lib/file_" + std::to_string(entries_.size() / 20) + ".rb";
      e.text.line = 17;
    }
    return &entries_[code];
  }
  void set(captured_stack& s, std::size_t i, std::uint64_t code) {
    s.bytes[i] = {code, 17};
    s.entries[i] = entry(code);
  }
  /// `depth` frames; those above `shared`, counted from the root, are this stack's own.
  [[nodiscard]] captured_stack stack(std::size_t depth, std::size_t shared, std::uint64_t own) {
    captured_stack s;
    s.bytes.resize(depth);
    s.entries.resize(depth);
    for (std::size_t i = 0; i < depth; ++i) {
      const std::uint64_t level = depth - 1 - i;
      set(s, i, level < shared ? level : 1000 + own * 7 + level % 128);
    }
    return s;
  }

 private:
  std::deque<frame_entry> entries_;
};

[[nodiscard]] stack_key key_of(const captured_stack& s) {
  const auto bytes = std::as_bytes(std::span(s.bytes));
  return {bytes, hash_bytes(bytes)};
}

void write_once(flip_recorder& r, const record& x) {
  if (!r.enter()) return;
  if (!r.write(x)) std::abort();
  r.leave();
}

[[nodiscard]] values worth() {
  values v;
  v[value_type::cpu_samples] = 1;
  v[value_type::wall_time] = 10'000'000;
  return v;
}

void floor_of_a_record(benchmark::State& state) {
  flip_recorder r;
  r.open(monotonic_now());
  bench::run_beside(
      state, 512, [] { benchmark::ClobberMemory(); },
      [&] {
        if (r.enter()) r.leave();
      });
}

/// Beside the hash of the stack's bytes, which is inside of it: `over_ns` is the rest.
void record_of_a_seen_stack(benchmark::State& state) {
  flip_recorder r;
  r.open(monotonic_now());
  bench_program program;
  thread_entry thread;
  thread.text.id = "1 (8)";
  label_entry labels{&thread, {}, 0, {}};
  path_hint path;
  const auto depth = static_cast<std::size_t>(state.range(0));
  std::vector<captured_stack> all;
  for (std::uint64_t i = 0; i < 64; ++i) all.push_back(program.stack(depth, depth / 2, i));
  for (const captured_stack& s : all) {
    write_once(r, {key_of(s), s.entries, &labels, &path, worth()});
  }
  std::size_t next = 0;
  const auto record_next = [&] {
    const record x{key_of(all[next++ % 64]), {}, &labels, &path, worth()};
    if (!r.knows(x.key)) state.SkipWithError("the stack should be known");
    write_once(r, x);
  };
  std::size_t hashed = 0;
  bench::run_beside(
      state, 64, [&] { benchmark::DoNotOptimize(key_of(all[hashed++ % 64])); }, record_next);
  state.counters["over_ns"] = state.counters["ns"] - state.counters["floor_ns"];
  const std::uint64_t mallocs = bench::heap.calls.load();
  for (int i = 0; i < 1000; ++i) record_next();
  state.counters["mallocs"] = static_cast<double>(bench::heap.calls.load() - mallocs) / 1000;
}

void record_of_a_new_stack(benchmark::State& state, std::size_t changed) {
  bench_program program;
  const auto depth = static_cast<std::size_t>(state.range(0));
  changed = std::min(changed, depth);
  for (std::uint64_t i = 0; i < 4096; ++i) (void)program.entry(i);
  captured_stack s = program.stack(depth, depth, 0);
  auto r = std::make_unique<flip_recorder>();
  r->open(monotonic_now());
  path_hint path;
  write_once(*r, {key_of(s), s.entries, nullptr, &path, worth()});
  std::uint64_t n = 0;
  const auto record_next = [&] {
    // Two frames make it new: the root-most of those that change, 3000 times, then its neighbour as well.
    program.set(s, changed - 1, 1000 + n % 3000);
    program.set(s, changed > 1 ? changed - 2 : 1, 1000 + n / 3000 % 3000);
    ++n;
    write_once(*r, {{}, s.entries, nullptr, &path, worth()});
  };
  // Else "new" would be "(overflow)" after a while.
  const std::uint64_t flush_every = std::max<std::uint64_t>(64, 250'000 / changed);
  std::uint64_t flushed = 0;
  bench::beside both;
  for (auto _ : state) {
    constexpr int block = 64;
    const auto hash = [&] { benchmark::DoNotOptimize(key_of(s)); };
    both.floor_took(bench::time_of(block, hash), block);
    const nanos took = bench::time_of(block, [&] {
      hash();
      record_next();
    });
    both.work_took(took, block);
    state.SetIterationTime(std::chrono::duration<double>(took).count() / block);
    if (n - flushed < flush_every) continue;
    flushed = n;
    profile_builder into(r->types());
    recorded_interval interval;
    if (!r->flush(std::chrono::seconds(1), monotonic_now(), into, interval).ok()) std::abort();
    if (r->last_flush().overflow != 0) state.SkipWithError("it was not new, it was an overflow");
  }
  both.report(state);
}

void flush_of_1000_stacks(benchmark::State& state) {
  flip_recorder r;
  r.open(monotonic_now());
  bench_program program;
  std::vector<captured_stack> all;
  for (std::uint64_t i = 0; i < 1000; ++i) all.push_back(program.stack(100, 50, i));
  for (auto _ : state) {
    state.PauseTiming();
    for (const captured_stack& s : all) write_once(r, {key_of(s), s.entries, nullptr, {}, worth()});
    state.ResumeTiming();
    profile_builder into(r.types());
    recorded_interval interval;
    if (!r.flush(std::chrono::seconds(1), monotonic_now(), into, interval).ok()) std::abort();
    benchmark::DoNotOptimize(std::move(into).build());
  }
}

BENCHMARK(floor_of_a_record)->UseManualTime()->Iterations(1000);
BENCHMARK(record_of_a_seen_stack)->Arg(10)->Arg(100)->Arg(1000)->UseManualTime()->Iterations(1000);
BENCHMARK_CAPTURE(record_of_a_new_stack, at_the_leaf, 1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->UseManualTime()
    ->Iterations(300);
BENCHMARK_CAPTURE(record_of_a_new_stack, from_the_root, 1'000'000)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->UseManualTime()
    ->Iterations(300);
BENCHMARK(flush_of_1000_stacks)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
