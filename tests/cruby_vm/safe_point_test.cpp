// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "host.hpp"

using namespace host;

TEST_CASE("A safe point that is asked for comes, on the thread that runs Ruby") {
  static adapter v;
  static sink s(v);
  points_seen = &s.points;
  int with_busy = 0;
  pthread_t on{};
  s.at_point = [&](lock& lk) {
    on = pthread_self();
    const stack found = read_stack(v, lk, v.current(lk));
    if (found.has("Object#busy_until")) ++with_busy;
  };
  REQUIRE(v.attach(s).ok());
  {
    ticker t(v);
    REQUIRE(t.hooked.ok());
    CHECK(run("busy_until(50)") == "");
  }
  CHECK(s.points >= 50);
  CHECK(with_busy >= 40);
  CHECK(pthread_equal(on, pthread_self()));
  s.at_point = nullptr;
  CHECK(v.detach().ok());
}

TEST_CASE("Of several busy threads, the one that holds the VM lock gets the safe point") {
  static adapter v;
  static sink s(v);
  points_seen = &s.points;
  std::map<void*, int> by_thread;
  s.at_point = [&](lock& lk) {
    const thread th = v.current(lk);
    if (read_stack(v, lk, th).has("Object#busy_until")) ++by_thread[th.slot];
  };
  REQUIRE(v.attach(s).ok());
  {
    ticker t(v);
    CHECK(run("3.times.map { Thread.new { busy_until(700) } }.each(&:join)") == "");
  }
  s.at_point = nullptr;
  CHECK(by_thread.size() == 3);
  CHECK(s.begun.size() == 3);
  CHECK(s.ended.size() == 3);
  CHECK(v.detach().ok());
}

TEST_CASE("Nothing is asked of a VM that nobody is attached to") {
  adapter v;
  CHECK(v.request_safe_point() == rbprof::request_result::refused);
  CHECK_FALSE(v.signal_target().has_value());
  CHECK(v.features() == rbprof::feature::none);
  CHECK_FALSE(v.detach().ok());
}

TEST_CASE("A job that runs after detach does nothing") {
  static adapter v;
  static sink s(v);
  REQUIRE(v.attach(s).ok());
  const auto before = statistics(v);
  on_native = [&] {
    CHECK(v.request_safe_point() == rbprof::request_result::accepted);
    CHECK(v.detach().ok());
  };
  CHECK(run("native; 1000.times { |i| i.to_s }") == "");
  on_native = nullptr;
  CHECK(s.points == 0);
  CHECK(statistics(v).at("jobs_late") == before.at("jobs_late") + 1);
}

TEST_CASE("A second profiler is refused by name, until the first one stops") {
  static adapter first;
  static sink s(first);
  REQUIRE(first.attach(s).ok());
  adapter second;
  sink s2(second);
  const absl::Status refused = second.attach(s2);
  CHECK(refused.code() == absl::StatusCode::kAlreadyExists);
  CHECK(std::string(refused.message()).find("rbprof 0.") != std::string::npos);

  // Another copy of the library finds the same mark, though it shares no variable with this one.
  rbprof::vm::cruby_detail::claim copy;
  REQUIRE(copy.find());
  CHECK_FALSE(copy.take(nullptr));
  CHECK(std::string(copy.owner()).find("cruby_vm_test") != std::string::npos);

  CHECK(first.detach().ok());
  CHECK(second.attach(s2).ok());
  CHECK(second.detach().ok());
}

TEST_CASE("A thread that Ruby does not know can neither attach nor get the lock") {
  static adapter v;
  static sink s(v);
  std::thread([&] {
    CHECK(v.attach(s).code() == absl::StatusCode::kFailedPrecondition);
  }).join();
  REQUIRE(v.attach(s).ok());
  std::thread([&] {
    CHECK_FALSE(v.with_lock_here([](lock&) { FAIL("ran without the lock"); }));
  }).join();
  CHECK(v.with_lock_here([](lock&) {}));
  // Detaching is for any thread.
  std::thread([&] { CHECK(v.detach().ok()); }).join();
  CHECK(v.attach(s).ok());
  CHECK(v.detach().ok());
}

TEST_CASE("A thread that has given up the lock does not have it") {
  static adapter v;
  static sink s(v);
  REQUIRE(v.attach(s).ok());
  bool had = true;
  on_native = [&] {
    rb_thread_call_without_gvl(
        [](void* out) -> void* {
          *static_cast<bool*>(out) = v.with_lock_here([](lock&) {});
          return nullptr;
        },
        &had, nullptr, nullptr);
  };
  CHECK(run("native") == "");
  on_native = nullptr;
  CHECK_FALSE(had);
  CHECK(v.detach().ok());
}

TEST_CASE("Every signal that is delivered is counted once, whatever thread it hits") {
  static adapter v;
  static sink s(v);
  points_seen = &s.points;
  REQUIRE(v.attach(s).ok());
  REQUIRE(v.hook_signal().ok());
  std::atomic<bool> stop{false};
  std::vector<std::thread> strangers;
  for (int i = 0; i < 4; ++i) {
    strangers.emplace_back([&] {
      while (!stop) sched_yield();
    });
  }
  std::thread storm([&] {
    for (int i = 0; i < 2000; ++i) {
      kill(getpid(), SIGPROF);
      if (i % 4 == 0) pthread_kill(strangers[static_cast<std::size_t>(i / 4 % 4)].native_handle(), SIGPROF);
      timespec nap{0, 20'000};
      nanosleep(&nap, nullptr);
    }
  });
  CHECK(run("x = 0; 3_000_000.times { |i| x ^= i }") == "");
  storm.join();
  stop = true;
  for (auto& t : strangers) t.join();
  auto n = statistics(v);
  CHECK(n["signals_delivered"] > 100);
  CHECK(n["signals_wrong_thread"] > 0);
  CHECK(n["signals_delivered"] == n["signals_wrong_thread"] + n["signals_enqueued"] +
                                      n["signals_altstack"] + n["signals_unarmed"] +
                                      n["signals_flush_window"]);
  v.unhook_signal();
  CHECK(v.detach().ok());
}

TEST_CASE("A program that overflows its stack under signals gets its SystemStackError") {
  static adapter v;
  static sink s(v);
  REQUIRE(v.attach(s).ok());
  REQUIRE(v.hook_signal().ok());
  {
    ticker t(v);
    CHECK(text("def deep(n) = deep(n + 1)\n 20.times.map { begin; deep(0); rescue SystemStackError; 1; "
               "end }.sum") == "20");
  }
  v.unhook_signal();
  CHECK(v.detach().ok());
}
