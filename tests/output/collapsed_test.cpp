// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/collapsed.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support.hpp"

namespace {

using namespace support;
using output::encode_collapsed;

struct line {
  std::string stack;
  std::int64_t amount;
};

std::vector<line> lines_of(const std::string& text) {
  std::vector<line> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    const std::string one = text.substr(at, end - at);
    const std::size_t space = one.rfind(' ');
    REQUIRE(space != std::string::npos);
    out.push_back({one.substr(0, space), std::stoll(one.substr(space + 1))});
    at = end + 1;
  }
  return out;
}

}  // namespace

TEST_CASE("a line is a stack, root first, and its amount") {
  profile_builder b(time_value_types());
  b.add(stack_of(b, {"<main>", "run", "leaf"}), {}, worth(3, 40, 50));
  const profile p = std::move(b).build();
  CHECK(*encode_collapsed(p) == "<main>;run;leaf 3\n");
  CHECK(*encode_collapsed(p, {.type = value_type::wall_time}) == "<main>;run;leaf 50\n");
}

TEST_CASE("samples of one stack are one line, unless threads are asked for") {
  profile_builder b(time_value_types());
  const stack_id at = stack_of(b, {"main"});
  b.add(at, b.labels(std::vector<label_text>{{"thread id", "1"}, {"thread name", "a;b"}}),
        worth(1, 0, 0));
  b.add(at, b.labels(std::vector<label_text>{{"thread id", "2"}}), worth(2, 0, 0));
  b.add(at, b.labels(std::vector<label_text>{{"thread id", "2"}, {"x", "y"}}), worth(4, 0, 0));
  b.add(at, {}, worth(8, 0, 0));
  const profile p = std::move(b).build();
  CHECK(*encode_collapsed(p) == "main 15\n");
  CHECK(*encode_collapsed(p, {.threads = true}) ==
        "a:b, 1;main 1\n2;main 6\n(no thread);main 8\n");
}

TEST_CASE("a stack that is worth nothing has no line, an empty profile no lines") {
  profile_builder b(time_value_types());
  b.add(stack_of(b, {"idle"}), {}, worth(1, 0, 9));
  const profile p = std::move(b).build();
  CHECK(encode_collapsed(p, {.type = value_type::cpu_time})->empty());
  profile_builder none(time_value_types());
  CHECK(encode_collapsed(std::move(none).build())->empty());
}

TEST_CASE("a column that the profile does not have is refused by name") {
  profile_builder b(time_value_types());
  const auto got = encode_collapsed(std::move(b).build(), {.type = value_type::heap_live_size});
  REQUIRE(absl::IsInvalidArgument(got.status()));
  CHECK(std::string(got.status().message()).find("heap-live-size") != std::string::npos);
}

TEST_CASE("no name can add a frame, a line or an amount") {
  profile_builder b(time_value_types());
  for (const std::string& name : torture_names()) {
    b.add(b.stack(stack_of(b, {"root"}), b.frame(b.function(name, "", 1), 1)), {}, worth(7, 0, 0));
  }
  const std::vector<line> lines = lines_of(*encode_collapsed(std::move(b).build()));
  REQUIRE(lines.size() == torture_names().size());
  for (const line& l : lines) {
    CHECK(l.amount == 7);
    CHECK(std::count(l.stack.begin(), l.stack.end(), ';') == 1);
    CHECK(is_valid_utf8(l.stack));
  }
}

TEST_CASE("the lines of any profile add up to its total") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 30; ++i) {
    const profile p = random_profile(random, time_value_types());
    for (const value_type t : p.types()) {
      for (const bool threads : {false, true}) {
        std::int64_t sum = 0;
        for (const line& l : lines_of(*encode_collapsed(p, {.type = t, .threads = threads}))) {
          sum += l.amount;
        }
        REQUIRE(sum == p.total(t));
      }
    }
  }
}

TEST_CASE("a file of collapsed stacks holds the same text") {
  const scratch_dir dir;
  profile_builder b(time_value_types());
  for (int i = 0; i < 5000; ++i) {
    b.add(stack_of(b, {"main", "method_with_a_long_name_" + std::to_string(i)}), {}, worth(1, 1, 1));
  }
  const profile p = std::move(b).build();
  REQUIRE(output::write_collapsed(p, dir / "a.txt").ok());
  CHECK(read_file(dir / "a.txt") == *encode_collapsed(p));
}
