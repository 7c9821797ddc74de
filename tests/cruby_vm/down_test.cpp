// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>

#include "host.hpp"

using namespace host;

namespace {

/// Runs a hidden test in a process of its own; its exit code, or 1000 + the signal that ended it.
int in_process(const char* test) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    execl("/proc/self/exe", "cruby_vm_test", test, "-o", "/dev/null", nullptr);
    _exit(100);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int go_down_while_profiled() {
  static adapter v;
  static sink s(v);
  points_seen = &s.points;
  if (!v.attach(s).ok()) return 1;
  ticker t(v, 100'000);
  if (!run("$threads = 3.times.map { Thread.new { loop { 'x'.dup } } }; at_exit { 1000.times { |i| i.to_s } "
           "}; busy_until(20)")
           .empty()) {
    return 2;
  }
  if (ruby_cleanup(0) != 0) return 3;
  timespec nap{0, 20'000'000};
  nanosleep(&nap, nullptr);
  if (v.request_safe_point() != rbprof::request_result::refused) return 4;
  if (v.signal_target()) return 5;
  if (v.with_lock_here([](lock&) {})) return 6;
  if (v.features() != rbprof::feature::none) return 7;
  if (v.detach().code() != absl::StatusCode::kFailedPrecondition) return 8;
  adapter again;
  sink s2(again);
  if (again.attach(s2).code() != absl::StatusCode::kFailedPrecondition) return 9;
  return 0;
}

int signals_after_the_end() {
  static adapter v;
  static sink s(v);
  if (!v.attach(s).ok() || !v.hook_signal().ok()) return 1;
  if (ruby_cleanup(0) != 0) return 2;
  for (int i = 0; i < 100; ++i) kill(getpid(), SIGPROF);
  if (statistics(v).at("signals_unarmed") != 100) return 3;
  v.unhook_signal();
  kill(getpid(), SIGPROF);  // ignored, not deadly
  return 0;
}

}  // namespace

TEST_CASE("Child: down", "[.child]") { _exit(go_down_while_profiled()); }
TEST_CASE("Child: signals", "[.child]") { _exit(signals_after_the_end()); }

TEST_CASE("Ruby goes down while it is being profiled, and calls after that fail in words") {
  for (int i = 0; i < 10; ++i) CHECK(in_process("Child: down") == 0);
}

TEST_CASE("A signal that comes after Ruby is down does no harm") {
  CHECK(in_process("Child: signals") == 0);
}

TEST_CASE("The status of a program that exits while it is being profiled is its own") {
  static adapter v;
  static sink s(v);
  REQUIRE(v.attach(s).ok());
  ticker t(v);
  CHECK(run("pid = fork { Thread.new { loop { 1 + 1 } }; exit 3 }; Process.wait(pid); "
            "raise \"#{$?}\" unless $?.exitstatus == 3") == "");
  CHECK(run("pid = fork { exit! 4 }; Process.wait(pid); raise \"#{$?}\" unless $?.exitstatus == 4") == "");
  CHECK(v.detach().ok());
}

TEST_CASE("A forked child goes on by itself, with its own thread alone") {
  static adapter v;
  static sink s(v);
  points_seen = &s.points;
  REQUIRE(v.attach(s).ok());
  REQUIRE(run("$others = 3.times.map { Thread.new { sleep } }; Thread.pass until $others.all?(&:stop?)")
              .empty());
  on_native = [&] {  // in the child
    int code = 0;
    bool good = v.with_lock_here([&](lock& lk) {
      int threads = 0;
      v.each_thread(lk, [&](thread) { ++threads; });
      rbprof::thread_text me;
      if (threads != 1) code = 10 + threads;
      if (!v.describe(lk, v.current(lk), me) || !me.main) code = 2;
      if (me.id.find(std::to_string(getpid()) + " (") != 0) code = 3;
      if (!v.cpu_time(v.current(lk))) code = 4;
    });
    if (!good) code = 5;
    if (code == 0) {
      s.points = 0;
      ticker t(v);
      if (!run("busy_until(10)").empty() || s.points < 10) code = 6;
    }
    _exit(code);
  };
  CHECK(number("pid = fork { native }; Process.wait(pid); $?.exitstatus || 1000 + $?.termsig") == 0);
  CHECK(number("pid = nil; Thread.new { pid = fork { native } }.join; Process.wait(pid); $?.exitstatus || "
               "1000 + $?.termsig") == 0);
  on_native = nullptr;
  CHECK(run("$others.each(&:kill).each(&:join)") == "");
  CHECK(v.detach().ok());
}
