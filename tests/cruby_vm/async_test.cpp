// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <rbprof/cruby.hpp>

#include <string>
#include <string_view>

#include "profile_reads.hpp"

// Stacks that the signal's handler takes, in the default composition.

namespace {

using host::statistic;

using rbprof::value_type;
using rbprof::cruby::trigger_kind;
constexpr bool sound = rbprof::has(rbprof::vm::cruby::request_from, rbprof::role::foreign);

void work(const char* ruby) {
  int failed = 0;
  rb_eval_string_protect(ruby, &failed);
  REQUIRE(failed == 0);
}

rbprof::cruby::options fast(bool handler_capture) {
  rbprof::cruby::options o;
  o.interval = rbprof::nanos{1'000'000};
  o.overhead_target = {20};
  o.trigger = trigger_kind::signal;
  o.handler_capture = handler_capture;
  o.unsound_handler_capture = handler_capture;
  return o;
}

/// A C method that calls a short block very often: most of its time is its own, but its only safe points are in the
/// block and at the return from what the block calls.
constexpr const char* gsub = R"(
  text = "lorem ipsum dolor sit amet consectetur " * 3000
  limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 1.2
  GC.disable
  text.gsub(/o/) { |m| m.upcase } while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
  GC.enable
)";

std::string leaf_name(const rbprof::profile& p, const rbprof::profile_sample& s) {
  return s.stack ? std::string(p.string(p.function(p.frame(p.stack(s.stack).leaf).function).name)) : "";
}

double share_of_leaf(const rbprof::profile& p, std::string_view name) {
  std::int64_t of_leaf = 0;
  std::int64_t all = 0;
  for (const rbprof::profile_sample& s : p.samples()) {
    all += s.amount[value_type::cpu_time];
    if (leaf_name(p, s) == name) of_leaf += s.amount[value_type::cpu_time];
  }
  return static_cast<double>(of_leaf) / static_cast<double>(all);
}

bool has_name(const rbprof::profile& p, std::string_view name) {
  for (const rbprof::profile_sample& s : p.samples()) {
    bool found = false;
    p.each_frame(s.stack, [&](rbprof::frame_id f) {
      found = found || p.string(p.function(p.frame(f).function).name) == name;
    });
    if (found) return true;
  }
  return false;
}

rbprof::capability capability(const rbprof::cruby::profiler& p, std::string_view name) {
  for (const rbprof::capability& c : p.capabilities()) {
    if (c.name == name) return c;
  }
  FAIL("no capability of this name");
  return {};
}

}  // namespace

TEST_CASE("a C method that calls a block keeps its own time when the handler takes the stacks") {
  double share[2] = {};
  for (const bool handler : {false, true}) {
    rbprof::cruby::profiler p(fast(handler));
    REQUIRE(p.start().ok());
    work(gsub);
    const auto profile = p.stop();
    REQUIRE(profile.ok());
    share[handler ? 1 : 0] = share_of_leaf(*profile, "String#gsub");
    CHECK((statistic(*profile, "async_samples") > 0) == handler);
    CHECK(has_name(*profile, "String#upcase"));
    CHECK(statistic(*profile, "ticks") == statistic(*profile, "samples") + statistic(*profile, "skipped") +
                                              statistic(*profile, "coalesced") +
                                              statistic(*profile, "missed"));
  }
  CHECK(share[0] < 0.2);
  CHECK(share[1] > 0.4);  // measured by itself: 0.6 to 0.9
}

TEST_CASE("blocks have their names also in the stacks of the handler") {
  rbprof::cruby::profiler p(fast(true));
  REQUIRE(p.start().ok());
  work(R"(
    def named_method(limit)
      x = 0
      1000.times { |i| x ^= i * i; x += 1; x -= i } while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
      x
    end
    named_method(Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.5)
  )");
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(statistic(*profile, "async_samples") > 0);
  CHECK(has_name(*profile, "block in Object#named_method"));
  CHECK(share_of_leaf(*profile, "Object#named_method") < 0.2);
}

TEST_CASE("handler capture is on where it is sound and asked for; else the capability says why not") {
  rbprof::cruby::options o;
  o.trigger = trigger_kind::signal;
  {
    rbprof::cruby::profiler p(o);
    REQUIRE(p.start().ok());
    const rbprof::capability c = capability(p, "async_capture");
    CHECK(c.on == sound);
    if (!sound) CHECK(c.why.find("unsound_handler_capture") != std::string::npos);
    REQUIRE(p.stop().ok());
  }
  o.handler_capture = false;
  {
    rbprof::cruby::profiler p(o);
    REQUIRE(p.start().ok());
    const rbprof::capability c = capability(p, "async_capture");
    CHECK_FALSE(c.on);
    CHECK(c.why.find("safe points") != std::string::npos);
    REQUIRE(p.stop().ok());
  }
}

// On 3.1 Ruby itself would crash, if it told of collections beside a ractor.
TEST_CASE("a ractor ends handler capture before it runs, and the profile says what it takes away") {
  rbprof::cruby::profiler p(fast(true));
  REQUIRE(p.start().ok());
  if (sound) CHECK(capability(p, "async_capture").on);
  const char* const beside_ractors = R"(
    $VERBOSE = nil
    def cpu = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    rs = Array.new(2) { Ractor.new { Array.new(300_000) { |i| i.to_s }.size } }
    limit = cpu + 0.5
    x = 0
    x += 1 while cpu < limit
    20.times { Array.new(10_000) { |i| i.to_s } }
    GC.start
    rs.each { |r| r.respond_to?(:take) ? r.take : r.value }
  )";
  work(beside_ractors);
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK_FALSE(capability(p, "async_capture").on);
  CHECK(capability(p, "async_capture").why.find("Ractor") != std::string::npos);
  if (rbprof::vm::cruby_detail::ruby_abi < 400) {
    bool told = false;
    for (const std::string& c : profile->comments()) told = told || (c.starts_with("gc:") && c.find("Ractor") != std::string::npos);
    CHECK(told);
  }
  REQUIRE(p.start().ok());  // once more, for good
  CHECK_FALSE(capability(p, "async_capture").on);
  work(beside_ractors);
  REQUIRE(p.stop().ok());
}

// Each ractor has a VM lock of its own. Who took one last is not whom the tick is for.
TEST_CASE("beside busy ractors the signal goes to the thread of ours that runs") {
  rbprof::cruby::profiler p(fast(false));
  REQUIRE(p.start().ok());
  work(R"(
    $VERBOSE = nil
    rs = Array.new(2) { Ractor.new { x = 0; x += 1 while x < 8_000_000; x } }
    limit = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.3
    nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < limit
    rs.each { |r| r.respond_to?(:take) ? r.take : r.value }
  )");
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  const auto ours = statistic(*profile, "interrupts_sent") - statistic(*profile, "signals_wrong_thread");
  INFO("sent to the holder " << ours << ", jobs " << statistic(*profile, "jobs") << ", of others "
                             << statistic(*profile, "jobs_other_ractor"));
  CHECK(statistic(*profile, "jobs") >= 30);
  CHECK(statistic(*profile, "jobs_other_ractor") * 2 < statistic(*profile, "jobs"));
}
