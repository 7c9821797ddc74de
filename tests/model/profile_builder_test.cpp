// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/model/profile_builder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace rbprof;

values cpu(std::int64_t ns) {
  values v;
  v[value_type::cpu_time] = ns;
  return v;
}

label_set_id labels(profile_builder& b, const std::vector<label_text>& all) {
  return b.labels(all);
}

stack_id stack_of(profile_builder& b, const std::vector<std::string>& root_first) {
  stack_id at;
  for (const std::string& name : root_first) at = b.stack(at, b.frame(b.function(name, "f", 1), 2));
  return at;
}

std::vector<std::string> names(const profile& p, stack_id at) {
  std::vector<std::string> out;
  p.each_frame(at, [&](frame_id f) {
    out.emplace_back(p.string(p.function(p.frame(f).function).name));
  });
  return out;
}

/// What a profile says, whatever its tables are: text of the stack and of the labels -> amounts.
std::map<std::string, values> content(const profile& p) {
  std::map<std::string, values> out;
  for (const profile_sample& s : p.samples()) {
    std::string key;
    p.each_frame(s.stack, [&](frame_id f) {
      const profile_function& fn = p.function(p.frame(f).function);
      key += std::string(p.string(fn.name)) + "|" + std::string(p.string(fn.file)) + "|" +
             std::to_string(fn.start_line) + "|" + std::to_string(p.frame(f).line) + "\n";
    });
    std::set<std::string> set;
    for (const profile_label& l : p.labels(s.labels)) {
      set.insert(std::string(p.string(l.key)) + "=" + std::string(p.string(l.str)) +
                 std::to_string(l.num) + std::string(p.string(l.unit)) + (l.is_num ? "n" : "s"));
    }
    for (const std::string& l : set) key += l + "\n";
    out[key] += s.amount;
  }
  return out;
}

profile random_profile(std::mt19937& random) {
  profile_builder b(time_value_types());
  for (auto n = random() % 60; n > 0; --n) {
    stack_id at;
    for (auto d = 1 + random() % 6; d > 0; --d) {
      const auto pick = static_cast<std::int32_t>(random() % 4);
      at = b.stack(at, b.frame(b.function("f" + std::to_string(pick), "x.rb", pick), pick + 1));
    }
    std::vector<label_text> set;
    if (random() % 2 == 0) set.push_back({"thread id", std::to_string(random() % 3)});
    if (random() % 2 == 0) set.push_back({"n", {}, static_cast<std::int64_t>(random() % 2), "id"});
    values v;
    for (const value_type t : time_value_types()) v[t] = static_cast<std::int64_t>(random() % 1000);
    b.add(at, b.labels(set), v);
  }
  return std::move(b).build();
}

}  // namespace

TEST_CASE("equal names, functions, frames and stacks are one entry each") {
  profile_builder b(time_value_types());
  CHECK(b.string("x") == b.string("x"));
  CHECK(b.string("x") != b.string("y"));
  CHECK(b.string("") == string_id{});
  CHECK(b.function("f", "a", 1) == b.function("f", "a", 1));
  CHECK(b.function("f", "a", 1) != b.function("f", "a", 2));
  CHECK(b.function("f", "a", 1) != b.function("f", "b", 1));
  CHECK(stack_of(b, {"main", "f"}) == stack_of(b, {"main", "f"}));
  CHECK(stack_of(b, {"f", "main"}) != stack_of(b, {"main", "f"}));
}

TEST_CASE("a function at another line is another frame of the same function") {
  profile_builder b(time_value_types());
  const function_id f = b.function("f", "a", 1);
  CHECK(b.frame(f, 2) != b.frame(f, 3));
  const frame_id made = b.frame(f, 2);
  const profile p = std::move(b).build();
  CHECK(p.frame(made).function == f);
}

TEST_CASE("a recursive stack keeps every level") {
  profile_builder b(time_value_types());
  const stack_id deep = stack_of(b, std::vector<std::string>(3000, "f"));
  b.add(deep, {}, cpu(1));
  const profile p = std::move(b).build();
  CHECK(p.stack(deep).depth == 3000);
  CHECK(names(p, deep).size() == 3000);
  CHECK(p.functions().size() == 2);  // the empty one and f
}

TEST_CASE("a stack is read leaf first") {
  profile_builder b(time_value_types());
  const stack_id at = stack_of(b, {"main", "f", "g"});
  const profile p = std::move(b).build();
  CHECK(names(p, at) == std::vector<std::string>{"g", "f", "main"});
}

TEST_CASE("samples of the same stack and labels are added up, others are not") {
  profile_builder b(time_value_types());
  const stack_id at = stack_of(b, {"main"});
  const label_set_id one = labels(b, {{"thread id", "1"}});
  const label_set_id two = labels(b, {{"thread id", "2"}});
  b.add(at, one, cpu(3));
  b.add(at, one, cpu(4));
  b.add(at, two, cpu(5));
  const profile p = std::move(b).build();
  REQUIRE(p.samples().size() == 2);
  CHECK(p.samples()[0].amount[value_type::cpu_time] == 7);
  CHECK(p.samples()[1].amount[value_type::cpu_time] == 5);
  CHECK(p.total(value_type::cpu_time) == 12);
}

TEST_CASE("the order of labels does not matter, and a key has one value: the first") {
  profile_builder b(time_value_types());
  CHECK(labels(b, {{"a", "1"}, {"b", "2"}}) == labels(b, {{"b", "2"}, {"a", "1"}}));
  const label_set_id twice = labels(b, {{"a", "1"}, {"a", "2"}});
  CHECK(twice == labels(b, {{"a", "1"}}));
  CHECK(twice != labels(b, {{"a", "2"}}));
  CHECK(labels(b, {}) == label_set_id{});
}

TEST_CASE("a label is text or a number, never both, and has a key") {
  profile_builder b(time_value_types());
  CHECK(labels(b, {{"k", "text", 5, "bytes"}}) == labels(b, {{"k", "text"}}));
  CHECK(labels(b, {{"", "text"}}) == label_set_id{});
  const label_set_id zero = labels(b, {{"k", {}, 0, "bytes"}});
  const label_set_id plain = labels(b, {{"k", {}, 7}});
  const profile p = std::move(b).build();
  REQUIRE(p.labels(zero).size() == 1);
  CHECK(p.labels(zero)[0].is_num);
  CHECK(p.string(p.labels(zero)[0].unit) == "bytes");
  CHECK(p.labels(plain)[0].is_num);
  CHECK(p.labels(plain)[0].num == 7);
}

TEST_CASE("values that are negative or switched off do not enter a profile") {
  profile_builder b({value_type::cpu_time});
  const stack_id at = stack_of(b, {"main"});
  b.add(at, {}, cpu(-5));
  values wall;
  wall[value_type::wall_time] = 9;
  b.add(at, {}, wall);
  values mixed = cpu(2);
  mixed[value_type::wall_time] = 9;
  b.add(at, {}, mixed);
  const profile p = std::move(b).build();
  REQUIRE(p.samples().size() == 1);
  CHECK(p.samples()[0].amount == cpu(2));
}

TEST_CASE("a sum that is too large stays at the largest number") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  profile_builder b(time_value_types());
  b.add(stack_of(b, {"f"}), {}, cpu(most));
  b.add(stack_of(b, {"f"}), {}, cpu(most));
  b.add(stack_of(b, {"g"}), {}, cpu(most));
  const profile p = std::move(b).build();
  CHECK(p.samples()[0].amount[value_type::cpu_time] == most);
  CHECK(p.total(value_type::cpu_time) == most);
}

TEST_CASE("columns are in the order of the format, each once") {
  profile_builder b({value_type::wall_time, value_type::cpu_samples, value_type::wall_time});
  const profile p = std::move(b).build();
  const std::vector<value_type> got(p.types().begin(), p.types().end());
  CHECK(got == std::vector<value_type>{value_type::cpu_samples, value_type::wall_time});
}

TEST_CASE("an empty stack, a frame without a name and a line below 0 have a stand-in") {
  profile_builder b(time_value_types());
  b.add({}, {}, cpu(1));
  b.add(b.stack({}, {}), {}, cpu(2));
  b.add(b.stack({}, b.frame({}, 7)), {}, cpu(3));
  b.add(b.stack({}, b.frame(b.function("", "", -5), -9)), {}, cpu(4));
  const profile p = std::move(b).build();
  CHECK(p.total(value_type::cpu_time) == 10);
  for (const profile_sample& s : p.samples()) {
    REQUIRE(s.stack);
    for (const std::string& name : names(p, s.stack)) CHECK_FALSE(name.empty());
  }
  CHECK(names(p, p.samples()[0].stack) == std::vector<std::string>{"(unattributed)"});
  CHECK(names(p, p.samples()[1].stack) == std::vector<std::string>{"(unnamed)"});
  for (const profile_function& f : p.functions()) CHECK(f.start_line >= 0);
  for (const profile_frame& f : p.frames()) CHECK(f.line >= 0);
}

TEST_CASE("text that is not UTF-8 is repaired wherever it enters") {
  const std::string bad = "x\xFF";
  const std::string good = "x\xEF\xBF\xBD";
  profile_builder b(time_value_types());
  b.add(b.stack({}, b.frame(b.function(bad, bad, 1), 1)), labels(b, {{bad, bad}}), cpu(1));
  b.add_comment(bad);
  b.add_statistic(bad, 1);
  b.set_program(bad);
  const profile p = std::move(b).build();
  for (const std::string& s : p.strings()) CHECK(is_valid_utf8(s));
  CHECK(names(p, p.samples()[0].stack) == std::vector<std::string>{good});
  CHECK(p.program() == good);
  CHECK(p.comments()[0] == good);
  CHECK(p.statistics()[0].first == good);
}

TEST_CASE("two names that differ in bad bytes alone are one after the repair") {
  profile_builder b(time_value_types());
  CHECK(b.string("x\xFF") == b.string("x\xFE"));
  CHECK(labels(b, {{"k\xFF", "1"}, {"k\xFE", "2"}}) == labels(b, {{"k\xFF", "1"}}));
}

TEST_CASE("an interval never has a negative length and a comment is said once") {
  profile_builder b(time_value_types());
  b.set_interval(5, nanos{-1});
  b.add_comment("no cpu clock");
  b.add_comment("no cpu clock");
  const profile p = std::move(b).build();
  CHECK(p.duration() == nanos{0});
  CHECK(p.comments().size() == 1);
}

TEST_CASE("adding a profile to an empty one gives the same profile") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 50; ++i) {
    const profile one = random_profile(random);
    profile_builder b(time_value_types());
    b.add(one);
    const profile copy = std::move(b).build();
    REQUIRE(content(copy) == content(one));
    REQUIRE(copy.samples().size() == one.samples().size());
  }
}

TEST_CASE("merging is adding: the order of profiles does not matter and nothing is lost") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 50; ++i) {
    const profile one = random_profile(random);
    const profile two = random_profile(random);
    profile_builder forth(time_value_types());
    forth.add(one);
    forth.add(two);
    profile_builder back(time_value_types());
    back.add(two);
    back.add(one);
    const profile a = std::move(forth).build();
    const profile b = std::move(back).build();
    REQUIRE(content(a) == content(b));
    for (const value_type t : time_value_types()) {
      REQUIRE(a.total(t) == one.total(t) + two.total(t));
    }
  }
}

TEST_CASE("merging drops the columns that the target does not have") {
  std::mt19937 random(1);
  const profile one = random_profile(random);
  profile_builder b({value_type::wall_time});
  b.add(one);
  const profile p = std::move(b).build();
  CHECK(p.total(value_type::wall_time) == one.total(value_type::wall_time));
  CHECK(p.total(value_type::cpu_time) == 0);
}

TEST_CASE("in every profile a parent stack comes before its children") {
  std::mt19937 random(2);
  const profile p = random_profile(random);
  for (std::uint32_t i = 1; i < p.stacks().size(); ++i) {
    CHECK(p.stack({i}).parent.value < i);
    CHECK(p.stack({i}).depth == p.stack(p.stack({i}).parent).depth + 1);
  }
}
