// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include <rbprof/cruby.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  // From Ruby 3.3 on, Integer#times and others are there only after this.
  static char name[] = "consumer";
  static char flag[] = "-e";
  static char nothing[] = "0";
  char* options[] = {name, flag, nothing};
  ruby_options(3, options);
  int failed = 0;
  {
    rbprof::cruby::profiler profiler;
    const absl::Status started = profiler.start();
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.ToString().c_str());
      failed = 1;
    }
    int state = 0;
    rb_eval_string_protect("100_000.times { |i| i.to_s }", &state);
    const absl::StatusOr<rbprof::profile> profile = profiler.stop();
    if (state != 0 || !profile.ok()) failed = 1;
  }
  return ruby_cleanup(failed);
}
