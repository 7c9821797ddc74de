// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/flamegraph_html.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "flamegraph_reader.hpp"
#include "support.hpp"

namespace {

using namespace support;
using output::encode_flamegraph_html;

const std::vector<std::string> none;

/// Scripts that a browser would find in the page.
std::size_t count_of(const std::string& page, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a page of an empty profile is whole") {
  profile_builder b(time_value_types());
  const std::string page = *encode_flamegraph_html(std::move(b).build());
  const nlohmann::json data = flamegraph_data(page);
  CHECK(problems(data) == none);
  CHECK(data["types"].size() == 3);
  CHECK(data["types"][data["shown"].get<std::size_t>()]["name"] == "cpu-time");
  CHECK(data["rows"].empty());
  CHECK(page.rfind("</html>") != std::string::npos);
}

TEST_CASE("a stack can be followed from its row to its names") {
  profile_builder b(time_value_types());
  (void)stack_of(b, {"unused", "unused too"});
  b.add(stack_of(b, {"<main>", "leaf"}),
        b.labels(std::vector<label_text>{{"thread id", "1"}, {"thread name", "main"}}),
        worth(1, 2, 3));
  b.set_program("game");
  b.set_interval(1'700'000'000'123'456'789, nanos{5});
  const nlohmann::json data = flamegraph_data(*encode_flamegraph_html(std::move(b).build()));
  REQUIRE(problems(data) == none);
  CHECK(data["program"] == "game");
  CHECK(data["start_ms"] == 1'700'000'000'123);
  CHECK(data["rows"] == nlohmann::json({2, 1, 1, 2, 3}));
  CHECK(data["threads"] == nlohmann::json({"(no thread)", "main, 1"}));
  CHECK(data["stacks"] == nlohmann::json({0, 0, 1, 1}));
  CHECK(data["frames"] == nlohmann::json({0, 12, 1, 12}));
  CHECK(data["functions"] == nlohmann::json({0, 1, 10, 2, 1, 10}));
  CHECK(data["strings"] == nlohmann::json({"<main>", "game.rb", "leaf"}));
}

TEST_CASE("no name gets out of the data, and every name is in it") {
  profile_builder b(time_value_types());
  for (const std::string& name : torture_names()) {
    b.add(b.stack({}, b.frame(b.function(name, name, 1), 1)),
          b.labels(std::vector<label_text>{{"thread id", name}, {"thread name", name}}),
          worth(1, 1, 1));
    b.add_comment(name);
  }
  b.set_program("</script><script>alert(1)</script>");
  const std::string page = *encode_flamegraph_html(std::move(b).build());
  CHECK(count_of(page, "<script") == 2);
  CHECK(count_of(page, "</script") == 2);
  CHECK(count_of(page, "<!--") == 0);
  const std::string json = flamegraph_json(page);
  CHECK(count_of(json, "\xE2\x80\xA8") + count_of(json, "\xE2\x80\xA9") == 0);
  const nlohmann::json data = nlohmann::json::parse(json);
  CHECK(problems(data) == none);
  for (const std::string& name : torture_names()) {
    const auto& all = data["strings"];
    CHECK(std::find(all.begin(), all.end(), name) != all.end());
  }
}

TEST_CASE("the page loads nothing from anywhere") {
  profile_builder b(time_value_types());
  const std::string page = *encode_flamegraph_html(std::move(b).build());
  CHECK(page.find("default-src 'none'") != std::string::npos);
  for (const char* load : {"http://", "https://", "@import", "url(", " src=", "<link", "fetch("}) {
    CHECK(page.find(load) == std::string::npos);
  }
}

TEST_CASE("random profiles keep their totals in the page") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 20; ++i) {
    const profile p = random_profile(random, time_value_types());
    const nlohmann::json data = flamegraph_data(*encode_flamegraph_html(p));
    REQUIRE(problems(data) == none);
    for (std::size_t t = 0; t < p.types().size(); ++t) {
      std::int64_t sum = 0;
      for (const auto& [thread, amount] : by_thread(data, t)) sum += amount;
      REQUIRE(sum == p.total(p.types()[t]));
    }
  }
}

TEST_CASE("fifty thousand stacks are written to a file as to memory") {
  const scratch_dir dir;
  profile_builder b({value_type::cpu_samples});
  for (int i = 0; i < 50'000; ++i) {
    b.add(stack_of(b, {"main", "f" + std::to_string(i / 100), "g" + std::to_string(i)}), {},
          worth(1, 0, 0));
  }
  const profile p = std::move(b).build();
  REQUIRE(output::write_flamegraph_html(p, dir / "a.html").ok());
  const std::string page = read_file(dir / "a.html");
  CHECK(page == *encode_flamegraph_html(p));
  const nlohmann::json data = flamegraph_data(page);
  CHECK(problems(data) == none);
  CHECK(data["stacks"].size() == 2 * (1 + 500 + 50'000));
}
