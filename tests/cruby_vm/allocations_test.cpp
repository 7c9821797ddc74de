// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <rbprof/cruby.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "profile_reads.hpp"

// New objects of a real Ruby, beside what Ruby itself counts.

namespace {

using host::statistic;
using rbprof::value_type;

void run(const char* ruby) {
  int failed = 0;
  rb_eval_string_protect(ruby, &failed);
  REQUIRE(failed == 0);
}

/// The first call makes the symbols of Ruby's answer.
std::uint64_t made_so_far() {
  static const VALUE name = ID2SYM(rb_intern("total_allocated_objects"));
  return rb_gc_stat(name);
}

std::string label_of(const rbprof::profile& p, const rbprof::profile_sample& s, std::string_view key) {
  for (const auto& l : p.labels(s.labels)) {
    if (p.string(l.key) == key) return std::string(p.string(l.str));
  }
  return {};
}

std::map<std::string, std::int64_t> by_label(const rbprof::profile& p, std::string_view key, std::string_view frame = {}) {
  std::map<std::string, std::int64_t> all;
  for (const rbprof::profile_sample& s : p.samples()) {
    if (s.amount[value_type::alloc_samples] == 0) continue;
    bool there = frame.empty();
    p.each_frame(s.stack, [&](rbprof::frame_id f) {
      there = there || p.string(p.function(p.frame(f).function).name).find(frame) != std::string_view::npos;
    });
    if (there) all[label_of(p, s, key)] += s.amount[value_type::alloc_samples];
  }
  return all;
}

constexpr const char* program = R"(
  class Foo; end
  class Bar; def initialize; @s = +""; end; end
  def make_foo(n) = n.times { Foo.new }
  def make_bar(n) = n.times { Bar.new }
  100.times { make_foo(300); make_bar(100) }
)";

}  // namespace

TEST_CASE("with every object sampled a profile has what Ruby counts, each class at its place") {
  rbprof::cruby::profiler p{{.allocations = true, .allocation_every = 1}};
  REQUIRE(p.start().ok());
  run("def make_nothing(n) = n.times { }; make_nothing(3)");
  (void)made_so_far();
  REQUIRE(p.flush().ok());
  const std::uint64_t before = made_so_far();
  run(program);
  const auto profile = p.flush();
  const std::uint64_t made = made_so_far() - before;
  REQUIRE(profile.ok());
  CHECK(static_cast<std::uint64_t>(profile->total(value_type::alloc_samples)) == made);
  auto classes = by_label(*profile, "allocation class");
  CHECK(classes["Foo"] == 30'000);
  CHECK(classes["Bar"] == 10'000);
  CHECK(by_label(*profile, "allocation class", "make_foo")["Foo"] == 30'000);
  CHECK(by_label(*profile, "allocation class", "make_bar")["Bar"] == 10'000);
  CHECK(by_label(*profile, "allocation class", "Bar#initialize")["String"] == 10'000);
  CHECK(by_label(*profile, "ruby vm type", "make_foo")["T_OBJECT"] == 30'000);
  CHECK(classes["(rbprof)"] > 0);  // words for the stacks that are new
  CHECK(statistic(*profile, "allocations_not_sampled") == 0);
  CHECK(p.stop().ok());
}

TEST_CASE("with a part of the objects sampled the sum is what Ruby counts") {
  rbprof::cruby::profiler p{{.allocations = true, .allocation_every = 50}};
  REQUIRE(p.start().ok());
  (void)made_so_far();
  REQUIRE(p.flush().ok());
  const std::uint64_t before = made_so_far();
  run(program);
  const auto profile = p.flush();
  const std::uint64_t made = made_so_far() - before;
  REQUIRE(profile.ok());
  CHECK(static_cast<std::uint64_t>(profile->total(value_type::alloc_samples)) == made);
  const auto taken = profile->total(value_type::alloc_samples_unscaled);
  CHECK(taken > 40'000 / 50 / 2);
  CHECK(taken < 80'000 / 50 * 2);
  const std::int64_t foo = by_label(*profile, "allocation class")["Foo"];
  CHECK(foo > 20'000);  // 600 samples of about 50: seven standard deviations are 10 000
  CHECK(foo < 40'000);
  CHECK(p.stop().ok());
}

TEST_CASE("a class can't lie about itself, and is not asked") {
  run(R"(
    $asked = 0
    class Liar
      def self.name = ($asked += 1; "Honest")
      def self.to_s = ($asked += 1; "Honest")
      def self.inspect = ($asked += 1; "Honest")
      def class = ($asked += 1; String)
    end
    Odd = Class.new { def self.hash = raise("never") }
    Single = Object.new
  )");
  run("$anonymous = [Class.new, Class.new(Array)]");
  rbprof::cruby::profiler p{{.allocations = true, .allocation_every = 1}};
  REQUIRE(p.start().ok());
  run(R"(
    def make_liars = 70.times { Liar.new }
    def make_anonymous = 60.times { $anonymous[0].new; $anonymous[1].new }
    def make_odd = 50.times { Odd.new }
    def make_classes = 20.times { Class.new }
    def make_singletons = 40.times { Single.clone.singleton_class }
    def make_internal = 30.times { |i| eval("lambda { #{i} }") }
    make_liars; make_anonymous; make_odd; make_classes; make_singletons; make_internal
  )");
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(by_label(*profile, "allocation class", "make_liars")["Liar"] == 70);
  CHECK(by_label(*profile, "allocation class", "make_anonymous")["Object"] == 60);
  CHECK(by_label(*profile, "allocation class", "make_anonymous")["Array"] == 60);
  CHECK(by_label(*profile, "allocation class", "make_odd")["Odd"] == 50);
  CHECK(by_label(*profile, "allocation class", "make_classes")["Class"] >= 20);
  CHECK(by_label(*profile, "allocation class", "make_singletons")["Object"] == 40);
  CHECK(by_label(*profile, "allocation class", "make_internal")["(VM Internal, T_IMEMO)"] > 0);
  CHECK(by_label(*profile, "ruby vm type", "make_liars")["T_OBJECT"] == 70);
  for (const auto& [name, n] : by_label(*profile, "allocation class")) {
    CAPTURE(name);
    CHECK(name.find("0x") == std::string::npos);
    CHECK_FALSE(name.empty());
  }
  run("raise 'asked' unless $asked == 0");
}

TEST_CASE("without the option there is no hook and no column") {
  rbprof::cruby::profiler p;
  REQUIRE(p.start().ok());
  run("1000.times { Object.new }");
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(profile->total(value_type::alloc_samples) == 0);
  CHECK(p.sampler().events.events() == 0);
  for (const value_type t : profile->types()) CHECK(rbprof::info(t).name.find("alloc") == std::string_view::npos);
}

TEST_CASE("threads, exceptions, finalizers and collections keep the sum") {
  rbprof::cruby::profiler p{{.interval = rbprof::nanos{1'000'000}, .allocations = true, .allocation_every = 3}};
  REQUIRE(p.start().ok());
  (void)made_so_far();
  REQUIRE(p.flush().ok());
  const std::uint64_t before = made_so_far();
  run(R"(
    8.times do
      ts = 4.times.map { |t| Thread.new { 2000.times { |i| [i, i.to_s, { t => i }] }; (raise "x" rescue nil) } }
      500.times { ObjectSpace.define_finalizer(Object.new, proc { "gone".dup }) }
      GC.start
      def deep(n) = n == 0 ? Object.new : deep(n - 1)
      begin; deep(1 << 20); rescue SystemStackError; end
      ts.each(&:join)
    end
  )");
  const auto profile = p.flush();
  const std::uint64_t made = made_so_far() - before;
  REQUIRE(profile.ok());
  CHECK(static_cast<std::uint64_t>(profile->total(value_type::alloc_samples)) == made);
  CHECK(p.stop().ok());
}

TEST_CASE("after a stop no object is told of, and a second run begins anew") {
  rbprof::cruby::profiler p{{.allocations = true, .allocation_every = 1}};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(p.start().ok());
    run("def make_objects = 100.times { Object.new }; make_objects");
    const auto profile = p.stop();
    REQUIRE(profile.ok());
    CHECK(by_label(*profile, "allocation class", "make_objects")["Object"] == 100);
    const std::uint64_t events = p.sampler().events.events();
    run("1000.times { 'y'.dup }");
    CHECK(p.sampler().events.events() == events);
  }
}

namespace {

std::int64_t alive(const rbprof::profile& p, std::string_view name, std::string_view frame = {}) {
  std::int64_t sum = 0;
  for (const rbprof::profile_sample& s : p.samples()) {
    if (label_of(p, s, "allocation class") != name) continue;
    bool there = frame.empty();
    p.each_frame(s.stack, [&](rbprof::frame_id f) {
      there = there || p.string(p.function(p.frame(f).function).name).find(frame) != std::string_view::npos;
    });
    if (there) sum += s.amount[value_type::heap_live_samples];
  }
  return sum;
}

constexpr const char* keep_a_tenth = R"(
  class Kept; def initialize(i); @s = "k#{i}"; end; end
  class Dropped; def initialize(i); @i = i; end; end
  $kept = []
  def fill(n) = n.times { |i| i % 10 == 0 ? $kept << Kept.new(i) : Dropped.new(i) }
  def in_a_deep_frame(n) = n == 0 ? fill(30_000) : in_a_deep_frame(n - 1)
  in_a_deep_frame(50)
  def scrub(n) = n == 0 ? 0 : scrub(n - 1) + 1
  3.times { GC.start; scrub(200) }
)";

}  // namespace

TEST_CASE("what is alive is told exactly with every object sampled, also after compactions") {
  rbprof::cruby::profiler p{{.allocations = true, .allocation_every = 1, .heap = true}};
  REQUIRE(p.start().ok());
  run(keep_a_tenth);
  const auto full = p.flush();
  REQUIRE(full.ok());
  CHECK(alive(*full, "Kept") == 3000);
  CHECK(alive(*full, "Kept", "fill") == 3000);
  const std::int64_t strings = alive(*full, "String", "Kept#initialize");
  CHECK(strings >= 3000);
  CHECK(strings <= 3010);  // the collector takes what an old machine frame holds for alive
  CHECK(alive(*full, "Dropped") <= 10);
  run(R"(
    begin
      GC.auto_compact = true if GC.respond_to?(:auto_compact=)
      6.times { junk = Array.new(8000) { Object.new }; junk.select!.with_index { |_, i| i.odd? }; GC.compact }
    rescue NotImplementedError
      GC.start
    end
  )");
  const auto moved = p.flush();
  REQUIRE(moved.ok());
  CHECK(alive(*moved, "Kept") == 3000);
  CHECK(alive(*moved, "String", "Kept#initialize") >= 3000);
  CHECK(alive(*moved, "String", "Kept#initialize") <= 3010);
  CHECK(alive(*moved, "Dropped") <= 10);
  run("GC.auto_compact = false if GC.respond_to?(:auto_compact=); $kept.clear; 3.times { GC.start; scrub(200) }");
  const auto released = p.stop();
  REQUIRE(released.ok());
  CHECK(alive(*released, "Kept") <= 30);
}

TEST_CASE("a tenth of the objects kept in mind stands for all that live") {
  rbprof::cruby::profiler p{{.allocations = true, .allocation_every = 1, .heap = true, .heap_every = 10}};
  REQUIRE(p.start().ok());
  run(keep_a_tenth);
  const auto full = p.stop();
  REQUIRE(full.ok());
  CHECK(alive(*full, "Kept") > 2000);  // 300 weights of about 10: six standard deviations
  CHECK(alive(*full, "Kept") < 4000);
}

TEST_CASE("to be watched keeps nothing alive") {
  rbprof::cruby::profiler p{{.allocations = true, .allocation_every = 1, .heap = true}};
  REQUIRE(p.start().ok());
  run(R"(
    require "weakref"
    def make(n) = n.times.map { ObjectSpace::WeakMap.new.tap { |m| o = Object.new; m[o] = o } }
    def deep(n, &b) = n == 0 ? b.call : deep(n - 1, &b)
    $maps = nil
    deep(60) { $maps = make(500) }
    def wipe(n) = n == 0 ? 0 : wipe(n - 1) + 1
    4.times { GC.start; wipe(200) }
    raise "held" if $maps.sum(&:size) > 5
  )");
  CHECK(p.stop().ok());
}
