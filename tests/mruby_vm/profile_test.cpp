// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <signal.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "host.hpp"

using namespace host;
using Catch::Matchers::WithinRel;

namespace {

/// The ways in which this libmruby can be sampled at ticks.
std::vector<backend> ways() {
  std::vector<backend> all;
  if (rbprof::vm::mruby_detail::has_hook) all.push_back(backend::hook);
  if (rbprof::vm::mruby_detail::has_allocator) all.push_back(backend::copy);
  return all;
}

/// A share that was measured: on a busy machine few ticks find the thread running, so it has three chances.
template <class F>
bool in_one_of_three(F&& measured, double low, double high) {
  for (int i = 0; i < 3; ++i) {
    const double value = measured();
    UNSCOPED_INFO("measured " << value);
    if (value > low && value < high) return true;
  }
  return false;
}

rbprof::profile profile_of(state& s, backend how, std::string_view code, rbprof::nanos interval = fine().interval) {
  rbprof::mruby::options o = fine(how);
  o.interval = interval;
  rbprof::mruby::profiler p(s.mrb, o);
  const absl::Status started = p.start();
  INFO(started.message());
  REQUIRE(started.ok());
  CHECK(p.stacks_in_force() == how);
  CHECK(s.run(code) == "");
  absl::StatusOr<rbprof::profile> made = p.stop();
  INFO(made.status().message());
  REQUIRE(made.ok());
  return *std::move(made);
}

}  // namespace

TEST_CASE("Cpu time is split between methods as they burned it, and adds up") {
  const backend how = GENERATE(from_range(ways()));
  state s;
  const std::string_view code = R"(
    def big(n); i = 0; i += 1 while i < n; end
    def small(n); i = 0; i += 1 while i < n; end
    400.times { big(60_000); small(20_000) }
  )";
  const auto ratio = [](const rbprof::profile& x) { return leaf(x, "Object#big") / leaf(x, "Object#small"); };
  CHECK(in_one_of_three([&] { return ratio(profile_of(s, how, code)); }, 2.4, 3.7));
  const auto p = profile_of(s, how, code);
  CHECK(leaf(p, "Object#big") + leaf(p, "Object#small") > 0.85 * (total(p) - leaf(p, "sampling")));
  CHECK_THAT(under(p, "Integer#times"), WithinRel(under(p, "block in <main>"), 0.05));
  // Nothing of it allocates, so there was hardly a safe point: yet every tick has its stack.
  CHECK(statistic(p, "mruby_ticks_without_room") == 0);
  CHECK_THAT(total(p, rbprof::value_type::wall_time), WithinRel(static_cast<double>(p.duration().count()) / 1e9, 0.05));
  CHECK(statistic(p, "ticks") == statistic(p, "samples") + statistic(p, "skipped") + statistic(p, "coalesced") +
                                     statistic(p, "missed") + statistic(p, "outstanding"));
}

TEST_CASE("A method in C is the leaf of what it burns, on the line that calls it") {
  const backend how = GENERATE(from_range(ways()));
  state s;
  const std::string_view code = R"(
    def burner
      spin(4)
    end
    def loops(n); i = 0; i += 1 while i < n; end
    60.times { burner; loops(1000) }
  )";
  const auto spun = [&] { return leaf(profile_of(s, how, code), "Kernel#spin") / (60 * 0.004); };
  CHECK(in_one_of_three(spun, 0.9, 1.2));
  const auto p = profile_of(s, how, code);
  CHECK_THAT(under(p, "Object#burner"), WithinRel(leaf(p, "Kernel#spin"), 0.1));
  CHECK(leaf(p, "Object#burner") < 0.1 * leaf(p, "Kernel#spin"));
  int lines = 0;
  for (const auto& f : p.frames()) {
    if (p.string(p.function(f.function).name) == "Object#burner" && f.line == 3) ++lines;
  }
  CHECK(lines == 1);
}

TEST_CASE("The share of a method in C is what the thread's clock says, within 5 points") {
  const backend how = GENERATE(from_range(ways()));
  const long ms = GENERATE(2L, 6L);
  state s;
  const std::string code = "def loops(n); i = 0; i += 1 while i < n; end\n" "120.times { spin(" + std::to_string(ms) +
                           "); loops(80_000) }";
  const auto points_off = [&] {
    const rbprof::nanos began = *rbprof::thread_cpu_now();
    // Sampled so seldom that the sampler need not rest: it begins to at safe points, which are not in a method in C.
    const auto p = profile_of(s, how, code, rbprof::nanos{1'000'000});
    const auto all = static_cast<double>((*rbprof::thread_cpu_now() - began).count()) / 1e9;
    return 100 * (leaf(p, "Kernel#spin") / total(p) - 0.12 * static_cast<double>(ms) / all);
  };
  CHECK(in_one_of_three(points_off, -5, 5));
}

TEST_CASE("The collector's share is what the clock around collections says, within 12 %, over 10000 samples") {
  const backend how = GENERATE(from_range(ways()));
  state s;
  REQUIRE(s.run("KEEP = (1..20_000).map { |i| [i] }\ndef turn; i = 0; i += 1 while i < 30_000; collect; end").empty());
  rbprof::mruby::options o = fine(how);
  o.interval = rbprof::nanos{100'000};
  const auto beside_truth = [&] {
    rbprof::mruby::profiler p(s.mrb, o);
    const rbprof::nanos began = *rbprof::thread_cpu_now();
    s.collecting = rbprof::nanos{0};
    REQUIRE(p.start().ok());
    const auto taken = [&] {
      std::uint64_t n = 0;
      for (const auto& [name, value] : p.stats()) {
        if (name == "samples" || name == "coalesced") n += value;
      }
      return n;
    };
    const auto deadline = rbprof::monotonic_now() + rbprof::nanos{60'000'000'000};
    while (taken() < 10'000 && rbprof::monotonic_now() < deadline) REQUIRE(s.run("20.times { turn }").empty());
    CHECK(taken() >= 10'000);
    const auto made = *p.stop();
    const rbprof::nanos all = *rbprof::thread_cpu_now() - began;
    const double truth = static_cast<double>(s.collecting.count()) / static_cast<double>(all.count());
    UNSCOPED_INFO("the truth is " << truth);
    return leaf(made, "Garbage Collection") / total(made) / truth;
  };
  CHECK(in_one_of_three(beside_truth, 0.88, 1.12));
}

TEST_CASE("The collector's time is its own, and not that of whoever allocates") {
  const backend how = GENERATE(from_range(ways()));
  state s;
  const auto p = profile_of(s, how, R"(
    KEEP = (1..30_000).map { |i| [i] }
    def spinning; i = 0; i += 1 while i < 60_000; end
    40.times { GC.start; spinning }
  )");
  const double gc = leaf(p, "Garbage Collection");
  CHECK(gc > 0.02);
  CHECK(leaf(p, "Object#spinning") > 0.02);
  CHECK(leaf(p, "GC.start") < 0.2 * gc);  // what it does beside collecting
  rbprof::mruby::options off = fine(how);
  off.gc = false;
  rbprof::mruby::profiler without(s.mrb, off);
  REQUIRE(without.start().ok());
  REQUIRE(s.run("20.times { GC.start }").empty());
  const auto q = *without.stop();
  CHECK(leaf(q, "Garbage Collection") == 0.0);
  CHECK(leaf(q, "GC.start") > 0.5 * total(q));
  CHECK(says(q, "gc: off, by option"));
}

TEST_CASE("No sample has frames of two fibers") {
  const backend how = GENERATE(from_range(ways()));
  state s;
  const std::string_view code = R"(
    def work_a(n); i = 0; i += 1 while i < n; end
    def work_b(n); i = 0; i += 1 while i < n; end
    a = Fiber.new { loop { work_a(20_000); Fiber.yield } }
    b = Fiber.new { loop { work_b(10_000); Fiber.yield } }
    600.times { a.resume; b.resume }
  )";
  const auto ratio = [](const rbprof::profile& x) { return leaf(x, "Object#work_a") / leaf(x, "Object#work_b"); };
  CHECK(in_one_of_three([&] { return ratio(profile_of(s, how, code)); }, 1.6, 2.5));
  const auto p = profile_of(s, how, code);
  for (const auto& names : stacks(p)) {
    const bool has_a = std::find(names.begin(), names.end(), "Object#work_a") != names.end();
    const bool has_b = std::find(names.begin(), names.end(), "Object#work_b") != names.end();
    CHECK_FALSE((has_a && has_b));
  }
}

TEST_CASE("Time outside of Ruby is the host's") {
  const backend how = GENERATE(from_range(ways()));
  state s;
  REQUIRE(s.run("def a(n); i = 0; i += 1 while i < n; end").empty());
  const auto outside = [&] {
    rbprof::mruby::profiler p(s.mrb, fine(how));
    REQUIRE(p.start().ok());
    REQUIRE(s.run("10.times { a(100_000) }").empty());
    const auto until = *rbprof::thread_cpu_now() + rbprof::nanos{100'000'000};
    while (*rbprof::thread_cpu_now() < until) {
    }
    REQUIRE(s.run("10.times { a(100_000) }").empty());
    return leaf(*p.stop(), "(outside VM)");
  };
  CHECK(in_one_of_three(outside, 0.09, 0.13));
}

TEST_CASE("Where the host polls, it is sampled there, and the profile says so") {
  state s;
  rbprof::mruby::profiler p(s.mrb, fine(backend::poll));
  REQUIRE(p.start().ok());
  int sampled = 0;
  s.on_native = [&] { sampled += p.poll() ? 1 : 0; };
  REQUIRE(s.run("def busy(n); i = 0; i += 1 while i < n; native; end\n100.times { busy(40_000) }").empty());
  s.on_native = nullptr;
  const auto made = *p.stop();
  CHECK(sampled > 0);
  CHECK(under(made, "Object#busy") > 0.5 * total(made));
  CHECK(says(made, "mruby backend: poll"));
  CHECK(says(made, "async_capture: off"));
}

TEST_CASE("Without signals the host polls") {
  state s;
  rbprof::mruby::options o = fine();
  o.trigger = rbprof::mruby::trigger_kind::manual;
  rbprof::mruby::profiler p(s.mrb, o);
  REQUIRE(p.start().ok());
  struct sigaction now {};
  REQUIRE(sigaction(SIGPROF, nullptr, &now) == 0);
  CHECK((now.sa_flags & SA_SIGINFO) == 0);
  s.on_native = [&] { (void)p.poll(); };
  REQUIRE(s.run("def busy(n); i = 0; i += 1 while i < n; native; end\n100.times { busy(40_000) }").empty());
  s.on_native = nullptr;
  const auto made = *p.stop();
  CHECK(under(made, "Object#busy") > 0.5 * total(made));
}
