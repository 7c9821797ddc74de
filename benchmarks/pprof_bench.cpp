// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// Writing a profile as pprof, beside copying the same bytes with memcpy. Samples all differ; stacks are 30 to 60
// frames deep and share their callers with others, as those of a program do.
//
//   encode        to a string, not compressed
//   encode_gzip   the same at the default level; the floor copies the bytes before compression
//   write_file    to a file, not compressed: what is in use at the worst moment, `peak_bytes`, does not grow with
//                 the file
//
// All in cpu time of the thread. `mb_per_s` counts bytes before compression; `peak_bytes` is memory beyond the profile itself.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <rbprof/model/profile_builder.hpp>
#include <rbprof/output/pprof.hpp>

#include "allocations.hpp"
#include "beside.hpp"

namespace {

using namespace rbprof;

/// A walk through a program of 5000 functions: from one sample to the next a few frames at the leaf are exchanged.
[[nodiscard]] profile make_profile(std::size_t samples) {
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(random() % n); };
  profile_builder b(time_value_types());
  std::vector<frame_id> frames;
  for (int i = 0; i < 5000; ++i) {
    const std::string number = std::to_string(i);
    const function_id f = b.function("Some::Module" + number + "#method_" + number,
                                     "/app/lib/file_" + std::to_string(i / 20) + ".rb", 10);
    for (int line = 11; line < 15; ++line) frames.push_back(b.frame(f, line));
  }
  std::vector<label_set_id> threads;
  for (int i = 0; i < 8; ++i) {
    const label_text set[] = {{label_key::thread_id, std::to_string(i) + " (8)", 0, {}},
                              {label_key::thread_name, "worker " + std::to_string(i), 0, {}},
                              {label_key::state, "had cpu", 0, {}}};
    threads.push_back(b.labels(set));
  }
  std::vector<stack_id> path;  // root first
  for (std::size_t i = 0; i < samples; ++i) {
    if (path.size() >= 40) path.resize(path.size() - 1 - below(12));
    const std::size_t depth = std::max<std::size_t>(30, path.size() + 1) + below(6);
    while (path.size() < depth) {
      path.push_back(
          b.stack(path.empty() ? stack_id{} : path.back(), frames[below(frames.size())]));
    }
    values v;
    v[value_type::cpu_samples] = 1;
    v[value_type::cpu_time] = static_cast<std::int64_t>(below(20'000'000));
    v[value_type::wall_time] = static_cast<std::int64_t>(below(20'000'000));
    b.add(path.back(), threads[below(threads.size())], v);
  }
  return std::move(b).build();
}

/// The profile of this many samples; one is kept at a time.
const profile& profile_of(std::size_t samples) {
  static std::size_t have = 0;
  static std::unique_ptr<profile> kept;
  if (have != samples) {
    kept.reset();
    kept = std::make_unique<profile>(make_profile(samples));
    have = samples;
  }
  return *kept;
}

[[nodiscard]] std::string encode(const profile& p, bool gzip) {
  absl::StatusOr<std::string> bytes = output::encode_pprof(p, {.gzip = gzip});
  if (!bytes.ok()) std::abort();
  return *std::move(bytes);
}

void encode_to_a_string(benchmark::State& state, bool gzip) {
  const profile& p = profile_of(static_cast<std::size_t>(state.range(0)));
  const std::string bytes = encode(p, false);
  std::string copy(bytes.size(), '\0');
  bench::beside both;
  for (auto _ : state) {
    const nanos least = bench::cpu_time_of([&] {
      std::memcpy(copy.data(), bytes.data(), bytes.size());
      benchmark::ClobberMemory();
    });
    const nanos took = bench::cpu_time_of([&] { benchmark::DoNotOptimize(encode(p, gzip)); });
    both.floor_took(least, 1);
    both.work_took(took, 1);
    state.SetIterationTime(std::chrono::duration<double>(took).count());
  }
  both.report(state);
  const auto size = static_cast<double>(bytes.size());
  state.counters["mb_per_s"] = size * 1000.0 / state.counters["ns"];
  state.counters["bytes"] = size;
  state.counters["peak_bytes"] = bench::peak_of([&] { benchmark::DoNotOptimize(encode(p, gzip)); });
}

void write_to_a_file(benchmark::State& state) {
  const profile& p = profile_of(static_cast<std::size_t>(state.range(0)));
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "rbprof_pprof_bench.pb";
  const auto write = [&] {
    if (!output::write_pprof(p, file, {.gzip = false}).ok()) std::abort();
  };
  nanos best{std::chrono::hours(1)};
  for (auto _ : state) {
    const nanos took = bench::cpu_time_of(write);
    best = std::min(best, took);
    state.SetIterationTime(std::chrono::duration<double>(took).count());
  }
  state.counters["ns"] = static_cast<double>(best.count());
  const auto size = static_cast<double>(std::filesystem::file_size(file));
  state.counters["mb_per_s"] = size * 1000.0 / static_cast<double>(best.count());
  state.counters["bytes"] = size;
  state.counters["peak_bytes"] = bench::peak_of(write);
  std::filesystem::remove(file);
}

BENCHMARK_CAPTURE(encode_to_a_string, plain, false)
    ->Arg(100'000)
    ->UseManualTime()
    ->Iterations(10)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_to_a_string, gzip, true)
    ->Arg(100'000)
    ->UseManualTime()
    ->Iterations(2)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(write_to_a_file)
    ->Arg(100'000)
    ->UseManualTime()
    ->Iterations(5)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_to_a_string, plain, false)
    ->Arg(1'000'000)
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(write_to_a_file)
    ->Arg(1'000'000)
    ->UseManualTime()
    ->Iterations(2)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
