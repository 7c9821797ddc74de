// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include "host.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

using namespace host;
using rbprof::value_type;

namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

/// What a forked child does with the profiler of its parent; its exit status.
int use_in_child(rbprof::cruby::profiler& p, int what) {
  const rbprof::mono began = rbprof::monotonic_now();
  if (p.is_running()) return 101;
  if (what % 4 == 1 && (p.stop().ok() || p.flush().ok())) return 102;
  if (what % 4 == 2) {
    if (!p.start().ok() || !run("spin(0.02)").empty()) return 103;
    const auto own = p.stop();
    if (!own.ok() || own->total(value_type::cpu_time) <= 0) return 104;
  }
  if (what % 4 == 3 && !p.start().ok()) return 105;  // and forgets to stop
  return rbprof::monotonic_now() - began < rbprof::nanos{5'000'000'000} ? 0 : 106;
}

}  // namespace

TEST_CASE("a forked child ends in time with its own status, whatever it does, and its parent is sampled on") {
  const way w = GENERATE(from_range(ways()));
  CAPTURE(w.name);
  rbprof::cruby::profiler p{options_of(w)};
  REQUIRE(p.start().ok());
  CHECK(run("spin(0.4)") == "");
  const auto before = p.flush();
  REQUIRE(before.ok());
  int what = 0;
  on_native = [&] {
    const int failed = use_in_child(p, what);
    if (failed != 0) _exit(failed);
  };
  for (what = 0; what < 4; ++what) {
    CAPTURE(what);
    CHECK(run(R"ruby(
      statuses = []
      ends = ->(pid) { Process.wait(pid); statuses << ($?.exitstatus || 1000 + $?.termsig) }
      ends[fork { native; exit 3 }]
      pid = fork
      unless pid
        native
        exit! 4
      end
      ends[pid]
      ends[fork { inner = fork { native; exit 5 }; Process.wait(inner); exit!($?.exitstatus || 99) }]
      Thread.new { ends[fork { native; exit 6 }] }.join
      raise statuses.inspect unless statuses == [3, 4, 5, 6]
    )ruby") == "");
  }
  on_native = nullptr;
  REQUIRE(p.flush().ok());
  CHECK(run("spin(0.4)") == "");
  const auto after = p.stop();
  REQUIRE(after.ok());
  // Ticks are of the schedule, whatever else the machine does: how many of them become samples depends on that.
  const auto rate = [](const rbprof::profile& q) {
    return static_cast<double>(statistic(q, "ticks")) / seconds(q.duration().count());
  };
  CHECK(rate(*after) > rate(*before) * 0.9);
  CHECK(statistic(*after, "samples") > 0);
}

TEST_CASE("finalizers all run while samples are taken at the shortest interval") {
  const way w = GENERATE(from_range(ways()));
  CAPTURE(w.name);
  for (int round = 0; round < 3; ++round) {
    rbprof::cruby::profiler p{options_of(w, 20)};
    REQUIRE(p.start().ok());
    const double ran = number(R"ruby(
      $ran = 0
      count = ->(_) { $ran += 1 }
      8_000.times do |i|
        ObjectSpace.define_finalizer(Object.new, count)
        GC.start(full_mark: i % 2_000 == 0) if i % 500 == 0
        i.to_s * 3 if i % 3 == 0
      end
      spin(0.05)
      3.times { GC.start; spin(0.01) }
      $ran
    )ruby");
    CHECK(ran >= 8'000 - 50);
    REQUIRE(p.flush().ok());
    CHECK(holds_once(20, [&] { return run("spin(0.05)").empty() && statistic(p, "samples") > 0; }));
    CHECK(p.stop().ok());
  }
}

TEST_CASE("threads of a millisecond cost their own samples and nothing else") {
  const way w = GENERATE(from_range(ways()));
  CAPTURE(w.name);
  rbprof::cruby::profiler p{options_of(w, 200)};
  REQUIRE(p.start().ok());
  CHECK(run(R"ruby(
    3_000.times do |i|
      t = Thread.new { spin(0.0001) }
      i % 3 == 0 ? t.join : Thread.pass
    end
    (Thread.list - [Thread.current]).each(&:join)
    spin(0.2)
  )ruby") == "");
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(statistic(*profile, "threads_begun") >= 3'000);
  CHECK(statistic(*profile, "threads_ended") == statistic(*profile, "threads_begun") - 1);
  for (const rbprof::profile_sample& s : profile->samples()) {
    CHECK(s.amount[value_type::cpu_time] >= 0);
    CHECK(s.amount[value_type::wall_time] >= 0);
    // No reading of a thread that has gone becomes a whole life in one sample.
    if (label_of(*profile, s, "thread name") != "main") {
      CHECK(seconds(s.amount[value_type::cpu_time]) < seconds(profile->duration().count()) / 2);
    }
  }
  CHECK(total(*profile, value_type::cpu_time, "thread name", "main") > 150'000'000);
}

/// What a thread costs that does nothing but wake up once a millisecond, as a share of a core.
double cpu_of_waking_up() {
  double share = 0;
  std::thread([&] {
    const auto cpu = [] { return seconds(rbprof::thread_cpu_now().value_or(rbprof::nanos{0}).count()); };
    const double began = cpu();
    for (int i = 0; i < 300; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    share = (cpu() - began) / 0.3;
  }).join();
  return share;
}

TEST_CASE("deep stacks of many threads at 1 kHz cost the target's share, and the ticker little") {
  const way w = GENERATE(from_range(ways()));
  CAPTURE(w.name);
  CHECK(run(R"ruby(
    def down(n, &b) = n.zero? ? b.call : down(n - 1, &b)
    $parked = 200.times.map { Thread.new { down(350) { sleep } } }
    Thread.pass until $parked.all?(&:stop?)
  )ruby") == "");
  double share = 0, ticker = 0, bare = 0;
  const bool held = holds_once(4, [&] {
    bare = cpu_of_waking_up();
    rbprof::cruby::profiler p{options_of(w, 1000, 2)};
    REQUIRE(p.start().ok());
    CHECK(run("down(350) { 100.times { spin(0.02); Thread.pass } }") == "");
    const double ticker_cpu = cpu_of_native_thread("rbprof-ticker");
    const auto profile = p.stop();
    REQUIRE(profile.ok());
    const double wall = seconds(profile->duration().count());  // the target is of wall time
    ticker = ticker_cpu / wall;
    share = static_cast<double>(statistic(*profile, "sampling_cpu_ns")) / 1e9 / wall;
    CHECK(statistic(*profile, "ticks") == statistic(*profile, "samples") + statistic(*profile, "skipped") +
                                              statistic(*profile, "coalesced") + statistic(*profile, "missed"));
    CHECK(statistic(*profile, "jobs") > 0);
    return share < 0.03 && ticker < 0.02 + 2.5 * bare;
  });
  CAPTURE(share, ticker, bare);
  CHECK(held);
  CHECK(run("$parked.each(&:kill).each(&:join)") == "");
}

TEST_CASE("the collector's time is in the profile once, on its own frame, under signals too") {
  const way w = GENERATE(from_range(ways()));
  CAPTURE(w.name);
  CHECK(run("$live = Array.new(60_000) { |i| [i] }") == "");
  double gc_off = 0, all_off = 0;
  CHECK(holds_once(4, [&] {
    rbprof::cruby::profiler p{options_of(w, 1000)};
    const double began = number("cpu_now"), gc_began = number("GC.stat(:time)");
    const double collections_began = number("GC.count");
    REQUIRE(p.start().ok());
    CHECK(run("60.times { GC.start; spin(0.004); 500.times { |i| i.to_s } }\n"
              "Thread.new { GC.start }.join") == "");  // a thread that was never sampled before
    const auto profile = p.stop();
    REQUIRE(profile.ok());
    const double cpu = number("cpu_now") - began;
    const double gc = (number("GC.stat(:time)") - gc_began) / 1e3;
    const double collections = number("GC.count") - collections_began;
    const double booked_gc = seconds(total(*profile, value_type::cpu_time, "thread id", "GC"));
    gc_off = booked_gc / gc;
    all_off = seconds(profile->total(value_type::cpu_time)) / cpu;
    CHECK(collections >= 61);
    CHECK(static_cast<double>(statistic(*profile, "gc_collections") +
                              statistic(*profile, "gc_samples_missed_due_to_missing_context")) >= collections);
    std::int64_t reports = 0;
    for (const rbprof::profile_sample& s : profile->samples()) {
      if (label_of(*profile, s, "thread id") != "GC") continue;
      reports += s.amount[value_type::cpu_samples];
      CHECK(s.stack);
      CHECK_FALSE(label_of(*profile, s, "gc thread id").empty());
    }
    CHECK(reports >= 60);
    return gc_off > 0.75 && gc_off < 1.25 && all_off > 0.95 && all_off < 1.08;
  }));
  CAPTURE(gc_off, all_off);
}
