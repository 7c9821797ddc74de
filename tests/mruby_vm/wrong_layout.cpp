// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// A host that was compiled with other settings than its libmruby: an attach must refuse, and must not have touched what
// is not where the headers say. The state still works afterwards.
#include <cstdio>
#include <string>

#include <mruby/compile.h>

#include <rbprof/mruby.hpp>

int main() {
  mrb_state* const mrb = mrb_open();
  bool good = false;
  {
    rbprof::mruby::profiler profiler(mrb);
    const absl::Status started = profiler.start();
    const std::string text(started.message());
    std::printf("%s\n", text.c_str());
    good = absl::IsFailedPrecondition(started) && text.find("mruby-config --cflags") != std::string::npos &&
           !profiler.stop().ok();
  }
  mrb_load_string(mrb, "x = (1..1000).map { |i| [i, i.to_s] }; GC.start; puts x.size");
  mrb_close(mrb);
  return good ? 0 : 1;
}
