// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/cruby.hpp>

#include <cstdio>
#include <string>

#include "writer.hpp"

// A host that knows no exceptions: it profiles, and has the profile written by a file that knows them.

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string path = argv[1];
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  char name[] = "noexcept_host", flag[] = "-e", code[] = "0";
  char* options[] = {name, flag, code, nullptr};
  ruby_options(3, options);
  rbprof::cruby::profiler profiler{{.interval = rbprof::nanos{1'000'000}}};
  if (!profiler.start().ok()) return 3;
  int failed = 0;
  rb_eval_string_protect(
      "def worker = 2_000_000.times { |i| i ^ 1 }\n"
      "worker; begin; raise 'an exception of Ruby'; rescue; end; Thread.new { worker }.join",
      &failed);
  if (failed != 0) return 4;
  const absl::StatusOr<rbprof::profile> profile = profiler.stop();
  if (!profile.ok()) return 5;
  // What can't be written is refused in words: no exception gets here, where nobody could catch it.
  if (write_profile(*profile, "/nothing/here/p.pb.gz").ok()) return 6;
  if (const absl::Status written = write_profile(*profile, path); !written.ok()) {
    std::fprintf(stderr, "%s\n", std::string(written.message()).c_str());
    return 7;
  }
  return ruby_cleanup(0);
}
