// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
// The shortest useful host: runs a Ruby program in this process and leaves game.pb.gz behind.
#include <rbprof/cruby.hpp>
#include <rbprof/output/pprof.hpp>

#include <cstdio>
#include <string>

namespace {

constexpr char program[] = R"ruby(
  def update(n) = n.times.sum { |i| i * i }
  def frame = 20.times { update(10_000) }
  60.times { frame }
)ruby";

int complain(const absl::Status& status) {
  std::fprintf(stderr, "cruby-minimal: %s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rbprof::literals;
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  char name[] = "cruby-minimal", e[] = "-e", nothing[] = "";
  char* ruby_arguments[] = {name, e, nothing};
  ruby_options(3, ruby_arguments);

  rbprof::cruby::profiler profiler{{.overhead_target = 2_percent, .interval = rbprof::nanos{1'000'000}}};
  if (absl::Status started = profiler.start(); !started.ok()) return complain(started);
  int failed = 0;
  rb_eval_string_protect(program, &failed);
  absl::StatusOr<rbprof::profile> profile = profiler.stop();
  if (!profile.ok()) return complain(profile.status());
  if (absl::Status written = rbprof::output::write_pprof(*profile, argc > 1 ? argv[1] : "game.pb.gz");
      !written.ok()) {
    return complain(written);
  }
  return ruby_cleanup(failed);
}
