// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <ruby.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "plugin.hpp"

// A host of Ruby that includes nothing of rbprof, and loads plug-ins that each do:
//
//   two_copies_host CASE local|global FIRST.so SECOND.so
//
// The case is run once for each way of sampling, in a process of its own, because what a plug-in leaves in Ruby stays.

namespace {

struct way {
  const char* name;
  int trigger;  // of rbprof::cruby::trigger_kind
  bool handler_capture;
};
constexpr way ways[] = {{"automatic", 0, true}, {"signal and job", 2, false}, {"signal, handler", 2, true}};

const way* in_force = nullptr;
std::string first;  // of the files

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", in_force != nullptr ? in_force->name : "host", what.c_str());
  std::_Exit(1);
}

struct plugin {
  std::string file;
  int flags = RTLD_LOCAL;
  void* handle = nullptr;
  const plugin_calls* calls = nullptr;

  void load() {
    handle = dlopen(file.c_str(), RTLD_NOW | flags);
    if (handle == nullptr) fail(dlerror());
    auto* const entry = reinterpret_cast<plugin_entry*>(dlsym(handle, "two_copies_plugin"));
    if (entry == nullptr) fail(dlerror());
    calls = entry();
    calls->make(in_force->trigger, in_force->handler_capture);
  }
  void start() const {
    if (const char* why = calls->start()) fail(file + " does not start: " + why);
  }
  /// It must be refused, by the file of the other.
  void start_is_refused(const plugin& other) const {
    const char* const why = calls->start();
    if (why == nullptr) fail(file + " starts while " + other.file + " samples");
    const std::string& named = flags == RTLD_GLOBAL ? first : other.file;  // whose code both run
    if (std::strstr(why, named.c_str()) == nullptr) fail("the refusal does not name " + named + ": " + why);
  }
  void stop() const {
    if (calls->stop() <= 0) fail(file + " has no profile");
  }
  void unload() {
    if (dlclose(handle) != 0) fail(dlerror());
    handle = nullptr;
    calls = nullptr;
  }
};

/// Everything that could make Ruby or the kernel call what a plug-in left behind.
void work() {
  int failed = 0;
  rb_eval_string_protect(R"ruby(
    3.times do
      x = 0
      200_000.times { |i| x ^= i }
      8.times.map { Thread.new { 2_000.times { |i| x ^= i }; sleep 0.002; Thread.pass } }.each(&:join)
      50_000.times { |i| i.to_s }
      GC.start
      Process.wait(fork { 1_000.times { |i| x ^= i }; exit! 0 })
      raise "a child ended with #{$?}" unless $?.success?
    end
    begin
      exec "/nothing/here"
    rescue Errno::ENOENT
    end
  )ruby", &failed);
  if (failed != 0) {
    VALUE words = rb_obj_as_string(rb_errinfo());
    fail("the program failed: " + std::string(StringValueCStr(words)));
  }
}

/// SIGPROF of others, where it does not end the process by its default action.
void work_under_signals() {
  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  const bool deadly = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
  for (int i = 0; i < 50 && !deadly; ++i) kill(getpid(), SIGPROF);
  work();
  for (int i = 0; i < 50 && !deadly; ++i) kill(getpid(), SIGPROF);
}

void second_is_refused(plugin& a, plugin& b) {
  a.load();
  b.load();
  for (int i = 0; i < 3; ++i) {
    a.start();
    work_under_signals();
    b.start_is_refused(a);
    a.stop();
    b.start();
    work_under_signals();
    a.start_is_refused(b);
    b.stop();
  }
}

void unloaded_after_its_stop(plugin& a, plugin& b) {
  for (plugin* p : {&a, &b}) {
    p->load();
    p->start();
    work();
    p->stop();
    p->unload();
    work_under_signals();
  }
  a.load();  // and once more, as plug-ins do
  a.start();
  work_under_signals();
  a.stop();
}

/// Both have been started before, so that the second finds what the first has left in Ruby.
void unloaded_while_it_runs(plugin& a, plugin& b) {
  a.load();
  a.start();
  work();
  a.stop();
  b.load();
  b.start();
  b.unload();
  work_under_signals();
  a.start_is_refused(b);
  work_under_signals();
}

void unloaded_before_its_start(plugin& a, plugin& b) {
  a.load();
  b.load();
  b.unload();
  a.unload();
  work();
  a.load();
  a.start();
  work();
  a.stop();
}

using test = void(plugin&, plugin&);

test* find(const std::string& name) {
  if (name == "refused") return second_is_refused;
  if (name == "unloaded-after-stop") return unloaded_after_its_stop;
  if (name == "unloaded-while-running") return unloaded_while_it_runs;
  if (name == "unloaded-before-start") return unloaded_before_its_start;
  fail("no case " + name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) fail("use: two_copies_host CASE local|global FIRST.so SECOND.so");
  test* const chosen = find(argv[1]);
  const int flags = std::string(argv[2]) == "global" ? RTLD_GLOBAL : RTLD_LOCAL;
  first = argv[3];
  int failures = 0;
  for (const way& w : ways) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      in_force = &w;
      ruby_sysinit(&argc, &argv);
      RUBY_INIT_STACK;
      ruby_init();
      char name[] = "two_copies_host", flag[] = "-e", code[] = "0";
      char* options[] = {name, flag, code, nullptr};
      ruby_options(3, options);
      plugin a{argv[3], flags}, b{argv[4], flags};
      chosen(a, b);
      std::exit(ruby_cleanup(0));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    if (status == 0) continue;
    ++failures;
    std::fprintf(stderr, "%s: ended with %s %d\n", w.name, WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  return failures == 0 ? 0 : 1;
}
