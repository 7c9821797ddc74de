// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <rbprof/cruby.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "profile_reads.hpp"

// The default composition inside a real Ruby: its life, seen from a host.

namespace {

using host::statistic;

using rbprof::value_type;

void work(const char* ruby = "x = 0; 3_000_000.times { |i| x ^= i }") {
  int failed = 0;
  rb_eval_string_protect(ruby, &failed);
  REQUIRE(failed == 0);
}

std::string message(const absl::Status& s) { return std::string(s.message()); }

}  // namespace

TEST_CASE("a profiler starts and stops many times, and each profile has its own time") {
  rbprof::cruby::profiler p{{.interval = rbprof::nanos{1'000'000}}};
  for (int i = 0; i < 5; ++i) {
    REQUIRE(p.start().ok());
    work();
    const auto profile = p.stop();
    REQUIRE(profile.ok());
    CHECK(profile->total(value_type::cpu_time) > 0);
    CHECK(profile->total(value_type::wall_time) <= profile->duration().count() * 21 / 20);
    CHECK(statistic(*profile, "ticks") == statistic(*profile, "samples") + statistic(*profile, "skipped") +
                                              statistic(*profile, "coalesced") +
                                              statistic(*profile, "missed"));
  }
}

TEST_CASE("a second profiler is refused by name while the first runs") {
  rbprof::cruby::profiler first;
  rbprof::cruby::profiler second;
  REQUIRE(first.start().ok());
  const absl::Status refused = second.start();
  CHECK(refused.code() == absl::StatusCode::kAlreadyExists);
  CHECK(message(refused).find("rbprof") != std::string::npos);
  REQUIRE(first.stop().ok());
  REQUIRE(second.start().ok());
  CHECK(second.stop().ok());
}

TEST_CASE("a profiler whose owner has ended is taken over, and keeps what it had") {
  rbprof::cruby::profiler first{{.interval = rbprof::nanos{1'000'000}}};
  struct starter {
    static VALUE run(void* p) {
      auto* const profiler = static_cast<rbprof::cruby::profiler*>(p);
      return profiler->start().ok() ? Qtrue : Qfalse;
    }
  };
  const VALUE thread = rb_thread_create(&starter::run, &first);
  CHECK(RTEST(rb_funcall(thread, rb_intern("value"), 0)));
  work();
  // Ruby keeps native threads for a while after their Ruby threads have ended; a sleep lets it go.
  rbprof::cruby::profiler second;
  absl::Status started = second.start();
  for (int i = 0; i < 100 && !started.ok(); ++i) {
    work("sleep 0.1");
    started = second.start();
  }
  REQUIRE(started.ok());
  CHECK(second.stop().ok());
  const auto kept = first.stop();
  CHECK(kept.ok() == false);  // it says so: what it hooked is not its own any more
  const auto data = first.flush();
  REQUIRE(data.ok());
  CHECK(data->total(value_type::cpu_time) > 0);
}

TEST_CASE("a flush from a thread that Ruby does not know settles while Ruby runs") {
  rbprof::cruby::profiler p{{.interval = rbprof::nanos{1'000'000}, .settle_patience = rbprof::nanos{5'000'000'000}}};
  REQUIRE(p.start().ok());
  std::atomic<bool> done{false};
  std::atomic<int> settled{0};
  std::thread flusher([&] {
    for (int i = 0; i < 3; ++i) {
      const auto profile = p.flush();
      if (!profile.ok()) continue;
      const auto comments = profile->comments();
      const bool late = std::any_of(comments.begin(), comments.end(), [](const std::string& c) {
        return c.starts_with("not settled");
      });
      if (!late) settled.fetch_add(1);
    }
    done = true;
  });
  while (!done) work();
  flusher.join();
  CHECK(settled == 3);
  CHECK(p.stop().ok());
}

TEST_CASE("a stop from a thread that Ruby does not know settles while Ruby runs") {
  rbprof::cruby::profiler p{{.interval = rbprof::nanos{1'000'000}, .settle_patience = rbprof::nanos{5'000'000'000}}};
  REQUIRE(p.start().ok());
  std::atomic<bool> done{false};
  std::thread stopper([&] {
    const auto profile = p.stop();
    CHECK(profile.ok());
    if (profile.ok()) {
      const auto comments = profile->comments();
      CHECK(std::none_of(comments.begin(), comments.end(),
                         [](const std::string& c) { return c.starts_with("not settled"); }));
    }
    done = true;
  });
  while (!done) work();
  stopper.join();
}

TEST_CASE("a child of fork has stopped, may start again, and has none of its parent's time") {
  rbprof::cruby::profiler p{{.interval = rbprof::nanos{1'000'000}}};
  REQUIRE(p.start().ok());
  work();
  const pid_t child = fork();
  if (child == 0) {
    if (p.is_running() || p.stop().ok() || p.flush().ok()) _exit(1);
    if (!p.start().ok()) _exit(2);
    int failed = 0;
    rb_eval_string_protect("x = 0; 1_000_000.times { |i| x ^= i }", &failed);
    const auto own = p.stop();
    if (!own.ok()) _exit(3);
    if (own->total(value_type::cpu_time) <= 0) _exit(4);
    if (own->total(value_type::wall_time) > own->duration().count() * 21 / 20) _exit(5);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  work();
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(statistic(*profile, "samples") > 0);
}

TEST_CASE("a thread's account can be looked into while it is profiled") {
  rbprof::cruby::profiler p;
  CHECK_FALSE(p.inspect().ok());
  REQUIRE(p.start().ok());
  const auto own = p.inspect();
  REQUIRE(own.ok());
  CHECK(own->front().first == "thread id");
  CHECK((*own)[1].second == "main");
  CHECK(p.inspect("1 (2)").status().code() == absl::StatusCode::kNotFound);
  REQUIRE(p.stop().ok());
}

TEST_CASE("what this Ruby can do is listed, with reasons for what it cannot") {
  rbprof::cruby::profiler p;
  REQUIRE(p.start().ok());
  bool gc = false;
  for (const rbprof::capability& c : p.capabilities()) {
    if (c.name == "gc") gc = c.on;
    if (c.name == "other_stacks") CHECK((c.on || !c.why.empty()));
  }
  CHECK(gc);
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  const auto comments = profile->comments();
  CHECK(std::any_of(comments.begin(), comments.end(), [](const std::string& c) {
    return c.starts_with("capabilities:") && c.find(" gc") != std::string::npos;
  }));
}
