// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>
#include <vector>

#include "../trigger/observations.hpp"
#include "host.hpp"

using namespace host;
using rbprof_test::sigprof_is_ignored;

namespace {

constexpr std::string_view loops = "def loops(n); i = 0; i += 1 while i < n; end\n";

#ifdef MRB_USE_DEBUG_HOOK
std::atomic<long> hook_calls{0};
void own_hook(mrb_state*, const mrb_irep*, const mrb_code*, mrb_value*) { ++hook_calls; }
#endif

}  // namespace

TEST_CASE("After stop nothing of ours is in the state, and the signal is ignored") {
  state s;
  void* const data = s.mrb->ud = &s;
#if MRUBY_RELEASE_MAJOR < 4
  const auto allocator = s.mrb->allocf;
  void* const allocator_data = s.mrb->allocf_ud;
#endif
  rbprof::mruby::profiler p(s.mrb, fine());
  for (int round = 0; round < 3; ++round) {
    REQUIRE(p.start().ok());
    CHECK(s.mrb->ud == data);
    REQUIRE(s.run(std::string(loops) + "20.times { loops(50_000) }").empty());
    const auto made = p.stop();
    REQUIRE(made.ok());
    CHECK(leaf(*made, "Object#loops") > 0.0);
    CHECK(sigprof_is_ignored());
#if MRUBY_RELEASE_MAJOR < 4
    CHECK(s.mrb->allocf == allocator);
    CHECK(s.mrb->allocf_ud == allocator_data);
#endif
#ifdef MRB_USE_DEBUG_HOOK
    CHECK(s.mrb->code_fetch_hook == nullptr);
#endif
  }
  CHECK(s.mrb->ud == data);
  CHECK_FALSE(p.is_running());
}

TEST_CASE("The host's pointer in the state, its SIGALRM and its ITIMER_REAL stay the host's") {
  static std::atomic<int> alarms{0};
  state s;
  s.mrb->ud = &s;
  struct sigaction own {};
  own.sa_handler = [](int) { ++alarms; };
  struct sigaction old {};
  REQUIRE(sigaction(SIGALRM, &own, &old) == 0);
  const itimerval every{{0, 20'000}, {0, 20'000}};
  REQUIRE(setitimer(ITIMER_REAL, &every, nullptr) == 0);
  const auto is_untouched = [&] {
    struct sigaction now {};
    itimerval ticking{};
    return s.mrb->ud == &s && sigaction(SIGALRM, nullptr, &now) == 0 && now.sa_handler == own.sa_handler &&
           getitimer(ITIMER_REAL, &ticking) == 0 && ticking.it_interval.tv_usec == 20'000 && ticking.it_interval.tv_sec == 0;
  };
  for (const auto clock : {rbprof::mruby::timer_clock::cpu, rbprof::mruby::timer_clock::wall}) {
    rbprof::mruby::options o = fine();
    o.clock = clock;
    rbprof::mruby::profiler p(s.mrb, o);
    REQUIRE(p.start().ok());
    CHECK(is_untouched());
    const int before = alarms;
    const auto end = rbprof::monotonic_now() + rbprof::nanos{5'000'000'000};
    while (alarms < before + 3 && rbprof::monotonic_now() < end) {
      REQUIRE(s.run(std::string(loops) + "5.times { loops(50_000); [1] }").empty());
    }
    CHECK(alarms >= before + 3);
    const auto made = p.stop();
    REQUIRE(made.ok());
    CHECK(leaf(*made, "Object#loops") > 0.0);
    CHECK(is_untouched());
  }
  const itimerval none{};
  REQUIRE(setitimer(ITIMER_REAL, &none, nullptr) == 0);
  REQUIRE(sigaction(SIGALRM, &old, nullptr) == 0);
}

TEST_CASE("A hook that is there already is called for every instruction, and there afterwards") {
#ifdef MRB_USE_DEBUG_HOOK
  state s;
  REQUIRE(s.run(loops).empty());
  s.mrb->code_fetch_hook = own_hook;
  hook_calls = 0;
  REQUIRE(s.run("loops(200_000)").empty());
  const long alone = hook_calls;
  rbprof::mruby::profiler p(s.mrb, fine(backend::hook));
  REQUIRE(p.start().ok());
  hook_calls = 0;
  REQUIRE(s.run("loops(200_000)").empty());
  CHECK(hook_calls == alone);
  const auto made = p.stop();
  REQUIRE(made.ok());
  CHECK(leaf(*made, "Object#loops") > 0.0);
  CHECK(s.mrb->code_fetch_hook == &own_hook);
  s.mrb->code_fetch_hook = nullptr;
#else
  SKIP("this libmruby has no hook");
#endif
}

TEST_CASE("What this libmruby lacks is refused by name") {
  state s;
  if (!rbprof::vm::mruby_detail::has_hook) {
    rbprof::mruby::profiler p(s.mrb, fine(backend::hook));
    CHECK(p.start().message().find("MRB_USE_DEBUG_HOOK") != std::string_view::npos);
  }
  rbprof::mruby::profiler none(nullptr);
  CHECK(absl::IsInvalidArgument(none.start()));
}

TEST_CASE("A state has one profiler at a time") {
  state s;
  rbprof::mruby::profiler first(s.mrb, fine());
  rbprof::mruby::profiler second(s.mrb, fine());
  REQUIRE(first.start().ok());
  CHECK(absl::IsAlreadyExists(second.start()));
  REQUIRE(first.stop().ok());
  REQUIRE(second.start().ok());
  REQUIRE(second.stop().ok());
}

TEST_CASE("A profiler whose thread has ended gives way, to one for the same state alone") {
  state left;
  state busy;
  rbprof::mruby::profiler orphan(left.mrb, fine());
  std::thread([&] { CHECK(orphan.start().ok()); }).join();
  rbprof::mruby::profiler runs(busy.mrb, fine());
  REQUIRE(runs.start().ok());
  rbprof::mruby::profiler refused(busy.mrb, fine());
  CHECK(absl::IsAlreadyExists(refused.start()));
  REQUIRE(runs.stop().ok());
  rbprof::mruby::profiler next(left.mrb, fine());
  CHECK(next.start().ok());
  CHECK(next.stop().ok());
}

TEST_CASE("A state that is closed under a profiler stops it; what was recorded is still to be had") {
  state s;
  rbprof::mruby::profiler p(s.mrb, fine());
  REQUIRE(p.start().ok());
  REQUIRE(s.run(std::string(loops) + "20.times { loops(50_000); 'x' * 5 }").empty());
  s.close();
  const auto stopped = p.stop();
  CHECK(absl::IsFailedPrecondition(stopped.status()));
  const auto rest = p.flush();
  REQUIRE(rest.ok());
  CHECK(leaf(*rest, "Object#loops") > 0.0);
  state next;
  rbprof::mruby::profiler q(next.mrb, fine());
  REQUIRE(q.start().ok());
  REQUIRE(q.stop().ok());
}

TEST_CASE("States in several threads are profiled at once, each by itself") {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      state s;
      rbprof::mruby::profiler p(s.mrb, fine());
      if (!p.start().ok()) return;
      const std::string own = "own_" + std::to_string(i);
      const std::string code = "def " + own + "(n); i = 0; i += 1 while i < n; end\n100.times { " + own + "(30_000); [1] }";
      if (!s.run(code).empty()) return;
      const auto made = p.stop();
      if (!made.ok()) return;
      bool strange = false;
      for (const auto& names : stacks(*made)) {
        for (const std::string& n : names) {
          if (n.starts_with("Object#own_") && n != "Object#" + own) strange = true;
        }
      }
      if (!strange && leaf(*made, "Object#" + own) > 0.7 * (total(*made) - leaf(*made, "sampling"))) ++right;
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(right == 4);
  CHECK(sigprof_is_ignored());
}

TEST_CASE("A state that moves to another thread is profiled there, as another thread") {
  state s;
  rbprof::mruby::profiler p(s.mrb, fine());
  REQUIRE(p.start().ok());
  REQUIRE(s.run(std::string(loops) + "def first; 30.times { loops(50_000); [1] }; end; first").empty());
  std::string refused;
  std::thread([&] { refused = std::string(p.bind().message()); }).join();
  CHECK(refused.find("unbind") != std::string::npos);
  p.unbind();
  std::thread other([&] {
    CHECK(p.bind().ok());
    CHECK(s.run("def second; 30.times { loops(50_000); [1] }; end; second").empty());
    p.unbind();
  });
  other.join();
  REQUIRE(p.bind().ok());
  const auto made = p.stop();
  REQUIRE(made.ok());
  const double here = under(*made, "Object#first");
  const double there = under(*made, "Object#second");
  CHECK(here > 0.0);
  CHECK(there > 0.5 * here);
  CHECK(there < 2.0 * here);
  CHECK(statistic(*made, "threads_ended") == 2);
}

TEST_CASE("A profile can be had from a thread that does not drive the state") {
  state s;
  rbprof::mruby::profiler p(s.mrb, fine());
  REQUIRE(p.start().ok());
  std::atomic<bool> over{false};
  absl::StatusOr<rbprof::profile> flushed = absl::UnknownError("");
  absl::StatusOr<rbprof::profile> stopped = absl::UnknownError("");
  std::thread outside([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    flushed = p.flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stopped = p.stop();
    over = true;
  });
  REQUIRE(s.run(loops).empty());
  while (!over) REQUIRE(s.run("10.times { loops(20_000); [1] }").empty());
  outside.join();
  REQUIRE(flushed.ok());
  REQUIRE(stopped.ok());
  CHECK(leaf(*flushed, "Object#loops") > 0.0);
  CHECK_FALSE(says(*flushed, "not settled"));
  REQUIRE(s.run("loops(10)").empty());  // the last of ours leaves the state
#if MRUBY_RELEASE_MAJOR < 4
  REQUIRE(p.start().ok());
  REQUIRE(p.stop().ok());
#endif
}

TEST_CASE("A forked child is not profiled, and may start again") {
  state s;
  rbprof::mruby::profiler p(s.mrb, fine());
  REQUIRE(p.start().ok());
  REQUIRE(s.run(loops).empty());
  const pid_t child = fork();
  if (child == 0) {
    bool good = !p.is_running() && s.run("20.times { loops(20_000); [1] }").empty();
    good = good && p.start().ok() && s.run("20.times { loops(50_000); [1] }").empty();
    const auto made = p.stop();
    good = good && made.ok() && leaf(*made, "Object#loops") > 0.0;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  REQUIRE(p.stop().ok());
}

TEST_CASE("On the cpu clock a thread that waits is left alone") {
  state s;
  rbprof::mruby::options o = fine();
  o.clock = rbprof::mruby::timer_clock::cpu;
  rbprof::mruby::profiler p(s.mrb, o);
  REQUIRE(p.start().ok());
  int interrupted = 0;
  for (int i = 0; i < 5; ++i) {
    timespec nap{0, 30'000'000};
    interrupted += nanosleep(&nap, nullptr) != 0 ? 1 : 0;
  }
  REQUIRE(s.run(std::string(loops) + "40.times { loops(50_000); [1] }").empty());
  const auto made = *p.stop();
  CHECK(interrupted == 0);
  CHECK(leaf(made, "Object#loops") > 0.7 * (total(made) - leaf(made, "sampling")));
}
