// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <algorithm>

#include "host.hpp"

using namespace host;

namespace {

rbprof::thread_text describe(adapter& v, lock& lk, thread th) {
  rbprof::thread_text t;
  CHECK(v.describe(lk, th, t));
  return t;
}

}  // namespace

TEST_CASE("Threads are told of as they begin and end, with their names") {
  static adapter v;
  static sink s(v);
  std::vector<rbprof::thread_text> at_end;
  std::vector<bool> had_clock;
  s.at_thread = [&](lock& lk, thread th, bool begins) {
    if (begins) return;
    at_end.push_back(describe(v, lk, th));
    had_clock.push_back(v.cpu_time(th).has_value());
  };
  REQUIRE(v.attach(s).ok());
  CHECK(run("t = Thread.new { Thread.current.name = 'a name of more than fifteen bytes'; 1 + 1 }\n"
            "t.join; Thread.new { }.join") == "");
  s.at_thread = nullptr;
  CHECK(s.begun.size() == 2);
  CHECK(s.ended.size() == 2);
  REQUIRE(at_end.size() == 2);
  CHECK(at_end[0].name == "a name of more than fifteen bytes");
  CHECK(at_end[0].started_at.ends_with(":1"));
  CHECK_FALSE(at_end[0].main);
  CHECK(at_end[0].id.find(" (") != std::string::npos);
  CHECK(at_end[0].id != at_end[1].id);
  CHECK(at_end[1].name.empty());
  CHECK(at_end[1].started_at.ends_with(":2"));
  CHECK(had_clock[0]);
  CHECK(v.detach().ok());
}

TEST_CASE("Threads older than the profiler are listed with their names") {
  static adapter v;
  static sink s(v);
  REQUIRE(run("$t = Thread.new { sleep }; $t.name = 'older than the profiler'; Thread.pass until $t.stop?")
              .empty());
  REQUIRE(v.attach(s).ok());
  std::vector<rbprof::thread_text> all;
  std::vector<bool> clocks;
  v.with_lock_here([&](lock& lk) {
    v.each_thread(lk, [&](thread th) {
      all.push_back(describe(v, lk, th));
      clocks.push_back(v.cpu_time(th).has_value());
    });
  });
  REQUIRE(all.size() == 2);
  CHECK(clocks == std::vector<bool>{true, true});
  std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.main > y.main; });
  CHECK(all[0].main);
  CHECK(all[0].started_at.empty());
  CHECK(all[1].name == "older than the profiler");
  CHECK(all[1].started_at.ends_with(":1"));
  CHECK(s.begun.empty());  // listed, not told of
  CHECK(run("$t.kill; $t.join") == "");
  v.with_lock_here([&](lock& lk) { v.read_thread_names(lk); });
  v.with_lock_here([](lock&) {});
  CHECK(s.ended.size() == 1);
  CHECK(v.detach().ok());
}

TEST_CASE("A thread that dies of an exception, or is killed, ends too") {
  static adapter v;
  static sink s(v);
  REQUIRE(v.attach(s).ok());
  CHECK(run("Thread.report_on_exception = false\n"
            "(Thread.new { raise 'x' }.join) rescue 0\n"
            "t = Thread.new { sleep }; Thread.pass until t.stop?; t.kill; t.join") == "");
  v.with_lock_here([&](lock& lk) { v.read_thread_names(lk); });
  v.with_lock_here([](lock&) {});
  CHECK(s.begun.size() == 2);
  CHECK(s.ended.size() == 2);
  CHECK(v.detach().ok());
}

TEST_CASE("Churned threads begin and end the same number of times, and leave no slot behind") {
  static adapter v;
  static sink s(v);
  points_seen = &s.points;
  s.at_point = [&](lock& lk) { static_cast<void>(read_stack(v, lk, v.current(lk))); };
  REQUIRE(v.attach(s).ok());
  {
    ticker t(v);
    CHECK(run("Thread.report_on_exception = false\n"
              "200.times { |k| 5.times.map { |i| Thread.new { i == 3 ? raise('x') : [k].map { |x| x.to_s } } }"
              ".each { |t| t.join rescue 0 } }") == "");
  }
  v.with_lock_here([&](lock& lk) { v.read_thread_names(lk); });
  v.with_lock_here([](lock&) {});
  s.at_point = nullptr;
  CHECK(s.begun.size() == 1000);
  CHECK(s.ended.size() == 1000);
  std::size_t left = 0;
  v.with_lock_here([&](lock& lk) { v.each_thread(lk, [&](thread) { ++left; }); });
  CHECK(left == 1);
  CHECK(v.detach().ok());
}

TEST_CASE("A program's own name, to_s and alive? are never called") {
  static adapter v;
  static sink s(v);
  REQUIRE(v.attach(s).ok());
  CHECK(run(R"(
    $calls = 0
    class MyThread < Thread
      def name; $calls += 1; 'mine'; end
      def to_s; $calls += 1; 'mine'; end
      def alive?; $calls += 1; true; end
    end
    $mine = MyThread.new { sleep }
    Thread.pass until $mine.stop?
  )") == "");
  v.with_lock_here([&](lock& lk) { v.read_thread_names(lk); });
  CHECK(run("$mine.kill; $mine.join") == "");
  CHECK(number("$calls") == 0);
  CHECK(v.detach().ok());
}

TEST_CASE("A Timeout is not swallowed by what we ask of threads") {
  static adapter v;
  static sink s(v);
  REQUIRE(v.attach(s).ok());
  {
    ticker t(v, 200'000);
    CHECK(number(R"(
      require 'timeout'
      100.times.count do
        begin
          Timeout.timeout(0.005) { loop { [1].each { |x| x.to_s }; Thread.new { }.join } }
          false
        rescue Timeout::Error
          true
        end
      end
    )") == 100);
  }
  CHECK(v.detach().ok());
}

TEST_CASE("A waiting thread shows its stack where the VM can", "[other]") {
  static adapter v;
  static sink s(v);
  REQUIRE(v.attach(s).ok());
  REQUIRE(run("def waits; sleep; end; $w = Thread.new { waits }; Thread.pass until $w.stop?").empty());
  v.with_lock_here([&](lock& lk) {
    const thread me = v.current(lk);
    v.each_thread(lk, [&](thread th) {
      if (th == me) return;
      const stack found = read_stack(v, lk, th);
      if (has(v.features(), rbprof::feature::other_stacks)) {
        CHECK(found.has("Object#waits"));
      } else {
        CHECK(found.frames.empty());
      }
    });
  });
  CHECK(run("$w.kill; $w.join") == "");
  CHECK(v.detach().ok());
}
