// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/text.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "support.hpp"

namespace {

using namespace support;
using Catch::Matchers::ContainsSubstring;
using output::amount_text;
using output::top_table;

profile small() {
  profile_builder b(time_value_types());
  b.add(stack_of(b, {"<main>", "run", "run", "leaf"}), {}, worth(6, 600'000'000, 0));
  b.add(stack_of(b, {"<main>", "run"}), {}, worth(3, 300'000'000, 0));
  b.add(stack_of(b, {"<main>", std::string(placeholder::gc)}), {}, worth(1, 100'000'000, 0));
  b.set_program("game");
  b.set_interval(0, nanos{2'000'000'000});
  return std::move(b).build();
}

}  // namespace

TEST_CASE("amounts are shown in the unit that fits") {
  CHECK(amount_text(value_type::cpu_time, 0) == "0 ns");
  CHECK(amount_text(value_type::cpu_time, 999) == "999 ns");
  CHECK(amount_text(value_type::cpu_time, 1'500) == "1.50 us");
  CHECK(amount_text(value_type::wall_time, 12'340'000) == "12.34 ms");
  CHECK(amount_text(value_type::wall_time, 90'000'000'000) == "90.00 s");
  CHECK(amount_text(value_type::heap_live_size, 1536) == "1.50 KiB");
  CHECK(amount_text(value_type::heap_live_size, 3LL << 30) == "3.00 GiB");
  CHECK(amount_text(value_type::alloc_samples, 1'234'567) == "1234567");
}

TEST_CASE("the table has the costly functions first, with shares, total and garbage collection") {
  CHECK(top_table(small(), value_type::cpu_time, 10) ==
        "game: 2.00 s\n"
        "total cpu-time: 1.00 s\n"
        "garbage collection: 100.00 ms, 10.0 %\n"
        "\n"
        "        flat   flat%    sum%          cum    cum%  function\n"
        "   600.00 ms   60.0%   60.0%    600.00 ms   60.0%  leaf  game.rb:10\n"
        "   300.00 ms   30.0%   90.0%    900.00 ms   90.0%  run  game.rb:10\n"
        "   100.00 ms   10.0%  100.0%    100.00 ms   10.0%  Garbage Collection  game.rb:10\n"
        "        0 ns    0.0%  100.0%       1.00 s  100.0%  <main>  game.rb:10\n");
}

TEST_CASE("what the table leaves out is counted below it") {
  const std::string text = top_table(small(), value_type::cpu_time, 1);
  CHECK_THAT(text, ContainsSubstring("400.00 ms   40.0%  in 3 more functions"));
  CHECK_THAT(text, !ContainsSubstring("<main>"));
}

TEST_CASE("a profile without samples or without the column says so") {
  profile_builder b(time_value_types());
  const profile p = std::move(b).build();
  CHECK_THAT(top_table(p, value_type::cpu_time, 5), ContainsSubstring("no samples"));
  CHECK_THAT(top_table(p, value_type::timeline, 5), ContainsSubstring("has no timeline"));
}

TEST_CASE("a recursive function counts once a stack, so no share is over 100 %") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 30; ++i) {
    const profile p = random_profile(random, time_value_types());
    for (const value_type t : p.types()) {
      const output::function_costs costs = output::costs_of(p, t);
      CHECK(costs.total == p.total(t));
      CHECK(std::accumulate(costs.flat.begin(), costs.flat.end(), std::int64_t{0}) == costs.total);
      for (std::size_t f = 0; f < costs.cum.size(); ++f) {
        if (costs.cum[f] > costs.total || costs.flat[f] > costs.cum[f]) FAIL("function " << f);
      }
    }
  }
}

TEST_CASE("hostile names take one line each") {
  profile_builder b(time_value_types());
  for (const std::string& name : torture_names()) {
    b.add(b.stack({}, b.frame(b.function(name, name, 1), 1)), {}, worth(1, 1, 1));
  }
  const std::string text = top_table(std::move(b).build(), value_type::cpu_samples, 1000);
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) ==
        torture_names().size() + 4);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(is_valid_utf8(text));
}
