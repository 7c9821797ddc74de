// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
// rbprof-cruby runs a Ruby program under the profiler: a host that does nothing else.
//
// The program sees its own $0, ARGV, standard streams, signals and exit status. The profile is written when the
// last at_exit block has run, so also when the program raises, calls exit, or gets SIGINT or SIGTERM.
#include <rbprof/cruby.hpp>

#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "../common/report.hpp"
#include "arguments.hpp"

namespace {

using rbprof_cruby::arguments;

struct host {
  arguments asked;
  rbprof::cruby::profiler* profiler = nullptr;
  rbprof_host::collected so_far;
  pid_t pid = 0;
};

host& the_host() {
  static host h;
  return h;
}

void complain(std::string_view text) { rbprof_host::complain("rbprof-cruby", text); }
void complain(const absl::Status& status) { complain(std::string(status.message())); }

/// Runs when the program's own at_exit blocks have run. A forked child leaves the file to its parent.
void finish(VALUE) {
  host& h = the_host();
  if (h.profiler == nullptr || getpid() != h.pid) return;
  const absl::StatusOr<rbprof::profile> profile = h.profiler->stop();
  if (!profile.ok()) {
    complain(profile.status());
    return;
  }
  rbprof_host::report("rbprof-cruby", h.so_far.add(*profile), h.asked);
}

/// rbprof_checkpoint(name), for the program: writes what was recorded so far. The final profile has that too.
VALUE checkpoint(VALUE, VALUE name) {
  host& h = the_host();
  const VALUE text = rb_String(name);  // may raise, before anything is ours to free
  if (h.profiler == nullptr || getpid() != h.pid) return Qfalse;
  const absl::StatusOr<rbprof::profile> profile = h.profiler->flush();
  if (!profile.ok()) {
    complain(profile.status());
    return Qfalse;
  }
  const std::string word(RSTRING_PTR(text), static_cast<std::size_t>(RSTRING_LEN(text)));
  rbprof_host::write_all("rbprof-cruby", h.so_far.add(*profile), h.asked, word);
  return Qtrue;
}

}  // namespace

int main(int argc, char** argv) {
  host& h = the_host();
  if (const std::string wrong = rbprof_cruby::parse(argc, argv, h.asked); !wrong.empty()) {
    complain(wrong + " (see --help)");
    return 2;
  }
  if (h.asked.help) {
    std::fwrite(rbprof_cruby::usage.data(), 1, rbprof_cruby::usage.size(), stdout);
    return 0;
  }
  h.asked.profiler.program = argv[h.asked.script];
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  // Ruby gets "rbprof-cruby -- SCRIPT ARGS", so a script whose name begins with "-" is no option.
  static char dashes[] = "--";
  std::vector<char*> for_ruby{argv[0], dashes};
  for_ruby.insert(for_ruby.end(), argv + h.asked.script, argv + argc);
  const int count = static_cast<int>(for_ruby.size());
  for_ruby.push_back(nullptr);
  void* const program = ruby_options(count, for_ruby.data());
  int status = 0;
  if (ruby_executable_node(program, &status) == 0) {  // a syntax error, said by Ruby already
    ruby_cleanup(0);
    return status;
  }

  rbprof::cruby::profiler profiler(h.asked.profiler);
  if (const absl::Status started = profiler.start(); !started.ok()) {
    complain(started);
    ruby_cleanup(0);
    return 2;
  }
  h.profiler = &profiler;
  h.pid = getpid();
  rb_set_end_proc(finish, Qnil);
  if (h.asked.checkpoints) rb_define_global_function("rbprof_checkpoint", checkpoint, 1);
  return ruby_run_node(program);
}
