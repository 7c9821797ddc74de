// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
// A batch tool's shape: a script runs to its end in phases and calls GC.start between its operations. The collector has a
// stack of its own, so what it costs is one line, and not a part of whatever allocated.
//
//     batch-gc [FILE]      FILE gets the profile, as pprof
#include <rbprof/cruby.hpp>
#include <rbprof/output/pprof.hpp>
#include <rbprof/output/text.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace {

constexpr char program[] = R"ruby(
  KEPT = (1..200_000).map { |i| [i] }
  def polygons(n) = n.times.map { |i| [i, i * 2] }
  def merge(shapes) = shapes.sum { |x, y| x * y }
  60.times { merge(polygons(5_000)); GC.start }
)ruby";

int complain(const absl::Status& status) {
  std::fprintf(stderr, "batch-gc: %s\n", std::string(status.message()).c_str());
  return 1;
}

/// Cpu time on stacks whose leaf is the collector's.
double collector_share(const rbprof::profile& p) {
  std::int64_t ns = 0;
  for (const auto& sample : p.samples()) {
    bool leaf = true;
    p.each_frame(sample.stack, [&](rbprof::frame_id f) {
      if (std::exchange(leaf, false) && p.string(p.function(p.frame(f).function).name) == "Garbage Collection") {
        ns += sample.amount[rbprof::value_type::cpu_time];
      }
    });
  }
  return static_cast<double>(ns) / static_cast<double>(p.total(rbprof::value_type::cpu_time));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rbprof::literals;
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  char name[] = "batch-gc", e[] = "-e", nothing[] = "";
  char* ruby_arguments[] = {name, e, nothing};
  ruby_options(3, ruby_arguments);

  rbprof::cruby::profiler profiler{{.overhead_target = 2_percent, .interval = rbprof::nanos{2'000'000}}};
  if (absl::Status started = profiler.start(); !started.ok()) return complain(started);
  int failed = 0;
  rb_eval_string_protect(program, &failed);
  absl::StatusOr<rbprof::profile> profile = profiler.stop();
  if (!profile.ok()) return complain(profile.status());
  std::printf("%s\n", rbprof::output::top_table(*profile, rbprof::value_type::cpu_time, 8).c_str());
  std::printf("the collector's share of cpu time: %.0f %%\n", 100 * collector_share(*profile));
  if (argc > 1) {
    if (absl::Status written = rbprof::output::write_pprof(*profile, argv[1]); !written.ok()) return complain(written);
  }
  return ruby_cleanup(failed);
}
