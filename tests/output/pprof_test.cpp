// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/pprof.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "pprof_reader.hpp"
#include "support.hpp"

namespace {

using namespace support;
using output::encode_pprof;

const std::vector<std::string> none;

pprof_file parsed(const profile& p, const output::pprof_options& options = {.gzip = false}) {
  auto bytes = encode_pprof(p, options);
  REQUIRE(bytes.ok());
  return read_pprof(options.gzip ? gunzip(*bytes) : *bytes);
}

/// A literal with its zero bytes.
template <std::size_t N>
std::string whole(const char (&text)[N]) {
  return {text, N - 1};
}

std::vector<std::string> type_names(const pprof_file& f) {
  std::vector<std::string> out;
  for (const auto& t : f.types) out.push_back(f.text(t.first) + "/" + f.text(t.second));
  return out;
}

}  // namespace

TEST_CASE("a profile without samples is a whole file with all of its columns") {
  profile_builder b(time_value_types());
  b.set_interval(1'700'000'000'000'000'000, nanos{5});
  b.set_period(nanos{10'000'000});
  const pprof_file f = parsed(std::move(b).build());
  CHECK(problems(f) == none);
  CHECK(f.samples.empty());
  CHECK(type_names(f) == std::vector<std::string>{"cpu-samples/count", "cpu-time/nanoseconds",
                                                  "wall-time/nanoseconds"});
  CHECK(f.time == 1'700'000'000'000'000'000);
  CHECK(f.duration == 5);
  CHECK(f.period == 10'000'000);
}

TEST_CASE("a profile without any column is a whole file too") {
  profile_builder b({});
  CHECK(problems(parsed(std::move(b).build())) == none);
}

TEST_CASE("a sample comes back leaf first with its amounts and labels") {
  profile_builder b(time_value_types());
  const std::vector<label_text> set = {{"thread id", "7 (8)"}, {"zero", {}, 0, "nanoseconds"},
                                       {"many", {}, 42}};
  b.add(stack_of(b, {"<main>", "run", "leaf"}), b.labels(set), worth(1, 2, 3));
  b.set_program("my game");
  const pprof_file f = parsed(std::move(b).build());
  REQUIRE(problems(f) == none);
  REQUIRE(f.samples.size() == 1);
  CHECK(names(f, f.samples[0]) == std::vector<std::string>{"leaf", "run", "<main>"});
  CHECK(f.samples[0].amounts == std::vector<std::int64_t>{1, 2, 3});
  CHECK(f.text(f.mappings[0].filename) == "my game");
  REQUIRE(f.samples[0].labels.size() == 3);
  for (const auto& l : f.samples[0].labels) {
    if (f.text(l.key) == "thread id") CHECK(f.text(l.str) == "7 (8)");
    if (f.text(l.key) == "zero") CHECK((l.num == 0 && f.text(l.unit) == "nanoseconds"));
    if (f.text(l.key) == "many") CHECK((l.num == 42 && l.unit == 0));
  }
}

TEST_CASE("a function at two lines is two locations and one function") {
  profile_builder b(time_value_types());
  const function_id fn = b.function("f", "f.rb", 1);
  b.add(b.stack({}, b.frame(fn, 2)), {}, worth(1, 1, 1));
  b.add(b.stack({}, b.frame(fn, 3)), {}, worth(1, 1, 1));
  const pprof_file f = parsed(std::move(b).build());
  CHECK(problems(f) == none);
  CHECK(f.locations.size() == 2);
  CHECK(f.functions.size() == 1);
}

TEST_CASE("only what a sample uses is written") {
  profile_builder b(time_value_types());
  for (int i = 0; i < 100; ++i) (void)stack_of(b, {"unused" + std::to_string(i)});
  (void)b.labels(std::vector<label_text>{{"unused key", "unused text"}});
  b.add(stack_of(b, {"used"}), {}, worth(1, 0, 0));
  const pprof_file f = parsed(std::move(b).build());
  CHECK(problems(f) == none);
  CHECK(f.functions.size() == 1);
  for (const std::string& s : f.strings) CHECK(s.find("unused") == std::string::npos);
}

TEST_CASE("columns depend on the configuration alone, not on what happened") {
  profile_builder quiet({value_type::cpu_time, value_type::alloc_samples});
  profile_builder busy({value_type::cpu_time, value_type::alloc_samples});
  values v;
  v[value_type::alloc_samples] = 3;
  busy.add(stack_of(busy, {"f"}), {}, v);
  const pprof_file a = parsed(std::move(quiet).build());
  const pprof_file b = parsed(std::move(busy).build());
  CHECK(type_names(a) == type_names(b));
  CHECK(a.text(a.period_type.first) == b.text(b.period_type.first));
}

TEST_CASE("cpu time is shown first, and the period is of the clock that ticks") {
  profile_builder all(time_value_types());
  const pprof_file a = parsed(std::move(all).build());
  CHECK(a.text(a.default_type) == "cpu-time");
  CHECK(a.text(a.period_type.first) == "wall");
  CHECK(a.text(a.period_type.second) == "nanoseconds");
  profile_builder cpu({value_type::cpu_samples, value_type::cpu_time});
  const pprof_file c = parsed(std::move(cpu).build());
  CHECK(c.text(c.period_type.first) == "cpu");
  profile_builder wall({value_type::cpu_samples, value_type::wall_time});
  const pprof_file w = parsed(std::move(wall).build());
  CHECK(w.text(w.default_type) == "wall-time");
}

TEST_CASE("names that are hard for readers come back byte for byte") {
  profile_builder b(time_value_types());
  for (const std::string& name : torture_names()) {
    b.add(b.stack({}, b.frame(b.function(name, name, 1), 1)),
          b.labels(std::vector<label_text>{{"name", name}}), worth(1, 1, 1));
  }
  const pprof_file f = parsed(std::move(b).build());
  CHECK(problems(f) == none);
  REQUIRE(f.samples.size() == torture_names().size());
  for (std::size_t i = 0; i < f.samples.size(); ++i) {
    CHECK(names(f, f.samples[i]) == std::vector<std::string>{torture_names()[i]});
    CHECK(f.text(f.samples[i].labels.at(0).str) == torture_names()[i]);
  }
}

TEST_CASE("names that are not UTF-8 or empty cost no sample") {
  profile_builder b(time_value_types());
  for (int i = 0; i < 10'000; ++i) {
    const auto& all = broken_names();
    const std::string& name = all[static_cast<std::size_t>(i) % all.size()];
    const function_id fn = b.function(name, i % 2 == 0 ? "" : name, i % 3 == 0 ? -5 : i);
    b.add(b.stack({}, b.frame(fn, i % 2 == 0 ? 0 : -5)), {}, worth(1, 0, 0));
  }
  const pprof_file f = parsed(std::move(b).build());
  CHECK(problems(f) == none);
  CHECK(by_thread(f, "cpu-samples").at("") == 10'000);
}

TEST_CASE("a stack of 3000 frames and one of one function come back whole") {
  profile_builder b(time_value_types());
  std::vector<std::string> deep;
  for (int i = 0; i < 3000; ++i) deep.push_back("f" + std::to_string(i));
  b.add(stack_of(b, deep), {}, worth(1, 1, 1));
  b.add(stack_of(b, std::vector<std::string>(3000, "again")), {}, worth(1, 1, 1));
  const pprof_file f = parsed(std::move(b).build());
  CHECK(problems(f) == none);
  std::reverse(deep.begin(), deep.end());
  CHECK(names(f, f.samples.at(0)) == deep);
  CHECK(names(f, f.samples.at(1)) == std::vector<std::string>(3000, "again"));
}

TEST_CASE("stacks that share callers are each written whole") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  profile_builder b({value_type::cpu_samples});
  std::vector<std::vector<std::string>> written;
  std::vector<std::string> at;
  for (std::int64_t i = 1; i <= 2000; ++i) {
    for (auto n = random() % 6; n > 0 && !at.empty(); --n) at.pop_back();
    for (auto n = random() % 6; n > 0; --n) at.push_back("f" + std::to_string(random() % 300));
    if (random() % 50 == 0) at.clear();
    if (at.empty()) at.push_back("root");
    // The label makes each its own sample, so the file has them in this order.
    b.add(stack_of(b, at), b.labels(std::vector<label_text>{{"n", {}, i, "id"}}), worth(1, 0, 0));
    written.emplace_back(at.rbegin(), at.rend());
  }
  const pprof_file f = parsed(std::move(b).build());
  REQUIRE(problems(f) == none);
  REQUIRE(f.samples.size() == written.size());
  std::map<std::uint64_t, std::string> name_of;
  for (const auto& l : f.locations) {
    name_of[l.id] = f.text(f.functions.at(l.lines.at(0).first - 1).name);
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::vector<std::string> got;
    for (const std::uint64_t l : f.samples[i].locations) got.push_back(name_of.at(l));
    REQUIRE(got == written[i]);
  }
}

TEST_CASE("a hundred thousand samples keep their total") {
  profile_builder b(time_value_types());
  for (std::int64_t i = 1; i <= 100'000; ++i) {
    b.add(stack_of(b, {"main", "f" + std::to_string(i % 500), "g" + std::to_string(i % 7)}),
          b.labels(std::vector<label_text>{{"n", {}, i, "id"}}), worth(1, i, 2 * i));
  }
  const pprof_file f = parsed(std::move(b).build(), {});
  CHECK(problems(f) == none);
  CHECK(f.samples.size() == 100'000);
  CHECK(by_thread(f, "cpu-samples").at("") == 100'000);
  CHECK(by_thread(f, "cpu-time").at("") == 100'000LL * 100'001 / 2);
}

TEST_CASE("random profiles are whole files") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 60; ++i) {
    const profile p = random_profile(random, time_value_types());
    const pprof_file f = parsed(p, {});
    REQUIRE(problems(f) == none);
    REQUIRE(f.samples.size() == p.samples().size());
  }
}

TEST_CASE("equal profiles give equal bytes, at any level the same profile") {
  const auto make = [] {
    std::mt19937 random(5);
    return random_profile(random, time_value_types());
  };
  CHECK(*encode_pprof(make()) == *encode_pprof(make()));
  const std::string raw = *encode_pprof(make(), {.gzip = false});
  for (const int level : {-3, 1, 6, 9, 99}) CHECK(gunzip(*encode_pprof(make(), {.level = level})) == raw);
}

TEST_CASE("comments are always in the file, statistics when asked for") {
  const auto make = [] {
    profile_builder b(time_value_types());
    b.add_comment("no cpu clock");
    for (int i = 0; i < 20; ++i) {
      b.add_statistic("ticks" + std::to_string(i), 100U + static_cast<unsigned>(i));
    }
    return std::move(b).build();
  };
  const pprof_file plain = parsed(make());
  REQUIRE(plain.comments.size() == 1);
  CHECK(plain.text(plain.comments[0]) == "no cpu clock");
  const pprof_file full = parsed(make(), {.gzip = false, .statistics = true});
  REQUIRE(full.comments.size() == 21);
  CHECK(full.text(full.comments[1]) == "ticks0 100");
  CHECK(full.text(full.comments[20]) == "ticks19 119");
}

TEST_CASE("a small file keeps its bytes from version to version") {
  profile_builder b({value_type::cpu_samples});
  b.add(stack_of(b, {"f"}), {}, worth(1, 0, 0));
  b.set_program("p");
  const std::string bytes = *encode_pprof(std::move(b).build(), {.gzip = false});
  const std::string golden = whole(
      "\x0A\x04\x08\x01\x10\x02"                          // sample_type: cpu-samples, count
      "\x12\x06\x0A\x01\x01\x12\x01\x01"                  // sample: location 1, amount 1
      "\x1A\x0A\x08\x01\x28\x03\x38\x01\x40\x01\x48\x01"  // mapping: id, file name, has_*
      "\x22\x0A\x08\x01\x10\x01\x22\x04\x08\x01\x10\x0C"  // location: line 12 of function 1
      "\x2A\x08\x08\x01\x10\x04\x20\x05\x28\x0A"          // function: name, file, line 10
      "\x48\x00\x50\x00\x5A\x04\x08\x06\x10\x07\x60\x00"  // time, duration, period
      "\x70\x01"                                          // default_sample_type
      "\x32\x00\x32\x0B" "cpu-samples\x32\x05" "count\x32\x01p\x32\x01" "f\x32\x07game.rb"
      "\x32\x04wall\x32\x0Bnanoseconds");
  CHECK(bytes == golden);
}
