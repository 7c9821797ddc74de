// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
// rbprof-mruby runs a Ruby program, or the bytecode of one, in mruby under the profiler: a host that does nothing else.
//
// The program sees its own $0, ARGV, standard streams and exit status. The profile is written when the program has
// come to its end, also when it raises, calls exit, or gets SIGINT or SIGTERM.
#include <rbprof/mruby.hpp>

#include <mruby/compile.h>
#include <mruby/error.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "../common/report.hpp"
#include "arguments.hpp"

namespace {

struct host {
  rbprof_mruby::arguments asked;
  rbprof::mruby::profiler* profiler = nullptr;
  pid_t pid = 0;
  std::atomic<bool> finished{false};
  std::array<int, 2> signals{-1, -1};  // a pipe from the handler
};

host& the_host() {
  static host* const h = new host;  // never destroyed: atexit functions and a thread use it
  return *h;
}

void complain(std::string_view text) { rbprof_host::complain("rbprof-mruby", text); }

/// Once, by whoever comes first. A forked child leaves the file to its parent.
void finish() {
  host& h = the_host();
  if (h.profiler == nullptr || getpid() != h.pid || h.finished.exchange(true)) return;
  const absl::StatusOr<rbprof::profile> profile = h.profiler->stop();
  if (!profile.ok()) {
    complain(std::string(profile.status().message()));
    return;
  }
  rbprof_host::report("rbprof-mruby", *profile, h.asked);
}

/// mruby leaves signals to the system. One that ends the program is held up until the profile is written, by a thread
/// that does not drive the state.
void write_before_signals() {
  host& h = the_host();
  if (pipe(h.signals.data()) != 0) return;
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction a {};
    if (sigaction(number, nullptr, &a) != 0 || a.sa_handler == SIG_IGN) continue;
    a.sa_handler = [](int n) {
      const int error = errno;
      const auto byte = static_cast<unsigned char>(n);
      if (write(the_host().signals[1], &byte, 1) != 1) _exit(128 + n);
      errno = error;
    };
    a.sa_flags = SA_RESTART;
    sigemptyset(&a.sa_mask);
    sigaction(number, &a, nullptr);
  }
  std::thread([] {
    unsigned char number = 0;
    while (read(the_host().signals[0], &number, 1) != 1) {
    }
    finish();
    signal(number, SIG_DFL);
    kill(getpid(), number);
  }).detach();
}

/// What the program sees of its command line.
void give_arguments(mrb_state* mrb, int argc, char** argv, int script) {
  const mrb_value all = mrb_ary_new_capa(mrb, argc);
  for (int i = script + 1; i < argc; ++i) mrb_ary_push(mrb, all, mrb_str_new_cstr(mrb, argv[i]));
  mrb_define_global_const(mrb, "ARGV", all);
  mrb_gv_set(mrb, (mrb_intern_cstr)(mrb, "$0"), mrb_str_new_cstr(mrb, argv[script]));
}

/// Exit status of the program.
int run(mrb_state* mrb, const char* script) {
  std::FILE* const file = std::fopen(script, "rb");
  if (file == nullptr) {
    complain(std::string("can't read the script ") + script);
    return 2;
  }
  mrbc_context* const c = mrbc_context_new(mrb);
  mrbc_filename(mrb, c, script);
  mrb_load_detect_file_cxt(mrb, file, c);
  std::fclose(file);
  mrbc_context_free(mrb, c);
  if (mrb->exc == nullptr) return 0;
#ifdef MRB_EXC_EXIT_P
  // The program called exit.
  if (MRB_EXC_EXIT_P(mrb->exc)) {
    const mrb_value status = mrb_obj_iv_get(mrb, mrb->exc, (mrb_intern_cstr)(mrb, "status"));
    return mrb_fixnum_p(status) ? static_cast<int>(mrb_fixnum(status)) : 0;
  }
#endif
  mrb_print_error(mrb);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  host& h = the_host();
  if (const std::string wrong = rbprof_mruby::parse(argc, argv, h.asked); !wrong.empty()) {
    complain(wrong + " (see --help)");
    return 2;
  }
  if (h.asked.help) {
    std::fwrite(rbprof_mruby::usage.data(), 1, rbprof_mruby::usage.size(), stdout);
    return 0;
  }
  h.asked.profiler.program = argv[h.asked.script];
  mrb_state* const mrb = mrb_open();
  if (mrb == nullptr) {
    complain("mruby does not start: out of memory");
    return 2;
  }
  give_arguments(mrb, argc, argv, h.asked.script);
  static rbprof::mruby::profiler profiler(mrb, h.asked.profiler);
  if (const absl::Status started = profiler.start(); !started.ok()) {
    complain(std::string(started.message()));
    mrb_close(mrb);
    return 2;
  }
  h.profiler = &profiler;
  h.pid = getpid();
  std::atexit(finish);
  write_before_signals();
  const int status = run(mrb, argv[h.asked.script]);
  finish();
  mrb_close(mrb);
  return status;
}
