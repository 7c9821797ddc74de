// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include <rbprof/mruby.hpp>

#include <mruby/compile.h>

#include <cstdio>
#include <string>

int main() {
  mrb_state* const mrb = mrb_open();
  if (mrb == nullptr) return 1;
  int failed = 0;
  {
    rbprof::mruby::profiler profiler(mrb);
    const absl::Status started = profiler.start();
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", std::string(started.message()).c_str());
      failed = 1;
    }
    mrb_load_string(mrb, "100_000.times { |i| i.to_s }");
    const absl::StatusOr<rbprof::profile> profile = profiler.stop();
    if (mrb->exc != nullptr || !profile.ok()) failed = 1;
  }
  mrb_close(mrb);
  return failed;
}
