// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/speedscope.hpp>

#include <catch2/catch_test_macros.hpp>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "speedscope_reader.hpp"
#include "support.hpp"

namespace {

using namespace support;
using nlohmann::json;
using output::encode_speedscope;

}  // namespace

TEST_CASE("speedscope: a stack is root first, with its weight, in a profile of its thread and value") {
  profile_builder b(time_value_types());
  const auto labels = b.labels(std::vector<label_text>{{"thread id", "7"}, {"thread name", "worker"}});
  b.add(stack_of(b, {"<main>", "run", "leaf"}), labels, worth(3, 40, 50));
  b.add(stack_of(b, {"<main>", "run"}), labels, worth(1, 2, 3));
  const profile p = std::move(b).build();
  const json file = json::parse(*encode_speedscope(p, {.title = "a title"}));
  check_speedscope(file);
  CHECK(file["name"] == "a title");
  REQUIRE(file["profiles"].size() == 3);
  const json& wall = file["profiles"][2];
  CHECK(wall["name"] == "worker, 7: wall-time");
  CHECK(wall["unit"] == "nanoseconds");
  CHECK(wall["endValue"] == 53);
  CHECK(wall["weights"] == json{3, 50});
  std::vector<std::string> names;
  for (const json& f : wall["samples"][1]) names.push_back(file["shared"]["frames"][f.get<std::size_t>()]["name"]);
  CHECK(names == std::vector<std::string>{"<main>", "run", "leaf"});
  CHECK(file["profiles"][0]["unit"] == "none");
}

TEST_CASE("speedscope: stacks that differ in labels alone are one sample") {
  profile_builder b(time_value_types());
  const stack_id at = stack_of(b, {"main"});
  b.add(at, b.labels(std::vector<label_text>{{"thread id", "2"}}), worth(2, 0, 0));
  b.add(at, b.labels(std::vector<label_text>{{"thread id", "2"}, {"x", "y"}}), worth(4, 0, 0));
  const json file = json::parse(*encode_speedscope(std::move(b).build()));
  check_speedscope(file);
  REQUIRE(file["profiles"].size() == 1);
  CHECK(file["profiles"][0]["weights"] == json{6});
}

TEST_CASE("speedscope: a profile without samples is a file that opens") {
  profile_builder b(time_value_types());
  const json file = json::parse(*encode_speedscope(std::move(b).build()));
  check_speedscope(file);
  CHECK(file["profiles"].size() == 1);
}

TEST_CASE("speedscope: random profiles with hostile names are valid files") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    const profile p = random_profile(random, time_value_types());
    check_speedscope(json::parse(*encode_speedscope(p)));
  }
}
