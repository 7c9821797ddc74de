// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/names.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "support.hpp"

namespace {

using namespace support;
using output::one_line;
using output::place;
using output::thread_table;

}  // namespace

TEST_CASE("a name stays on its line and leaves the terminal alone") {
  CHECK(one_line("Foo#bar") == "Foo#bar");
  CHECK(one_line("a\nb\tc") == "a b c");
  CHECK(one_line(std::string_view("a\0b", 3)) == "a b");
  CHECK(one_line("\x1b[31mred\x7f") == " [31mred ");
  CHECK(one_line("a\xC2\x9B" "b") == "a b");              // C1: a terminal's escape in one byte
  CHECK(one_line("a\xE2\x80\xA8" "b\xE2\x80\xA9") == "a b ");  // line and paragraph separator
  CHECK(one_line("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x92\x8E") == "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x92\x8E");
  for (const std::string& name : torture_names()) CHECK(is_valid_utf8(one_line(name)));
}

TEST_CASE("a place is file and line, as far as they are known") {
  CHECK(place("a.rb", 3) == "a.rb:3");
  CHECK(place("a.rb", 0) == "a.rb");
  CHECK(place("", 3).empty());
}

TEST_CASE("threads are told apart by id and shown by name") {
  profile_builder b(time_value_types());
  const auto set = [&](std::vector<label_text> all) { return b.labels(all); };
  const label_set_id named = set({{"thread id", "1 (8)"}, {"thread name", "main"}});
  const label_set_id again = set({{"thread id", "1 (8)"}, {"thread name", "main"}, {"x", "y"}});
  const label_set_id twin = set({{"thread id", "2 (16)"}, {"thread name", "main"}});
  const label_set_id bare = set({{"thread id", "3 (24)"}});
  const label_set_id number = set({{"thread id", {}, 4, "id"}});
  const label_set_id gc = set({{"thread id", "GC"}, {"thread name", "GC"}});
  const label_set_id foreign = set({{"x", "y"}});
  const profile p = std::move(b).build();
  const thread_table threads(p);
  const auto title = [&](label_set_id i) { return threads.titles()[threads.of(i)]; };
  CHECK(title(named) == "main, 1 (8)");
  CHECK(threads.of(named) == threads.of(again));
  CHECK(threads.of(named) != threads.of(twin));
  CHECK(title(bare) == "3 (24)");
  CHECK(title(number) == "4");
  CHECK(title(gc) == "GC");
  CHECK(threads.of(foreign) == 0);
  CHECK(threads.of({}) == 0);
  CHECK(title({}) == "(no thread)");
}
