// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/pprof.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <random>
#include <string>
#include <vector>

#include "go_tools.hpp"
#include "support.hpp"

namespace {

using namespace support;
using Catch::Matchers::ContainsSubstring;
using output::write_pprof;

#define NEEDS_GO() \
  if (!have_go()) SKIP("go is not installed (Debian: golang-go)")
#define NEEDS_FACTS() \
  NEEDS_GO();         \
  if (pprof_facts_path().empty()) SKIP("Go's pprof package is missing (golang-github-google-pprof-dev)")

outcome pprof(const std::string& arguments) { return run("go tool pprof " + arguments); }

/// A game with two threads, in two runs that differ in one method.
profile game(std::int64_t update_cost) {
  profile_builder b(time_value_types());
  const label_set_id main =
      b.labels(std::vector<label_text>{{"thread id", "1 (8)"}, {"thread name", "main"}});
  const label_set_id loader =
      b.labels(std::vector<label_text>{{"thread id", "2 (16)"}, {"thread name", "loader"}});
  b.add(stack_of(b, {"<main>", "Scene#update"}), main, worth(2, update_cost, update_cost));
  b.add(stack_of(b, {"<main>", "Scene#draw"}), main, worth(1, 5'000'000, 6'000'000));
  b.add(stack_of(b, {"block in <main>", "Loader#read"}), loader, worth(1, 1'000'000, 9'000'000));
  b.set_program("game");
  b.set_interval(1'700'000'000'000'000'000, nanos{1'000'000'000});
  b.set_period(nanos{10'000'000});
  return std::move(b).build();
}

}  // namespace

TEST_CASE("Go's reader finds random profiles valid, with our totals") {
  NEEDS_FACTS();
  const scratch_dir dir;
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 10; ++i) {
    const profile p = random_profile(random, time_value_types());
    REQUIRE(write_pprof(p, dir / "p.pb.gz").ok());
    const nlohmann::json facts = pprof_facts(dir / "p.pb.gz");
    CAPTURE(facts.is_string() ? facts.get<std::string>() : "");
    REQUIRE(facts.is_object());
    CHECK(facts["samples"] == p.samples().size());
    CHECK(facts["strings_bad"].empty());
    CHECK(facts["period"]["value"] == 10'000'000);
    CHECK(facts["duration_nanos"] == 2'000'000'000);
    for (const value_type t : p.types()) {
      CHECK(facts["totals"][std::string(info(t).name)] == p.total(t));
      for (const auto& [thread, sum] : by_thread(p, t)) {
        if (thread.empty()) continue;
        CHECK(facts["labels"]["thread id"][thread][std::string(info(t).name)] == sum);
      }
    }
  }
}

TEST_CASE("Go's reader takes empty files, tiny ones and deep stacks") {
  NEEDS_FACTS();
  const scratch_dir dir;
  profile_builder empty(time_value_types());
  REQUIRE(write_pprof(std::move(empty).build(), dir / "empty.pb.gz").ok());
  CHECK(pprof_facts(dir / "empty.pb.gz")["samples"] == 0);
  CHECK(pprof_facts(dir / "empty.pb.gz")["sample_types"].size() == 3);
  profile_builder deep(time_value_types());
  deep.add(stack_of(deep, std::vector<std::string>(3000, "f")), {}, worth(1, 1, 1));
  REQUIRE(write_pprof(std::move(deep).build(), dir / "deep.pb.gz", {.gzip = false}).ok());
  CHECK(pprof_facts(dir / "deep.pb.gz")["max_depth"] == 3000);
}

TEST_CASE("Go's reader keeps a number 0 that has a unit") {
  NEEDS_FACTS();
  const scratch_dir dir;
  profile_builder b(time_value_types());
  b.add(stack_of(b, {"f"}), b.labels(std::vector<label_text>{{"frame", {}, 0, "id"}}),
        worth(1, 1, 1));
  REQUIRE(write_pprof(std::move(b).build(), dir / "p.pb.gz").ok());
  const nlohmann::json facts = pprof_facts(dir / "p.pb.gz");
  CHECK(facts["labels"]["frame"]["0"]["cpu-samples"] == 1);
  CHECK(facts["num_units"]["frame"][0] == "id");
}

TEST_CASE("go tool pprof shows every name as it is") {
  NEEDS_GO();
  const scratch_dir dir;
  profile_builder b(time_value_types());
  std::vector<std::string> expected;
  for (const std::string& name : torture_names()) {
    b.add(b.stack({}, b.frame(b.function(name, "f.rb", 1), 1)), {}, worth(1, 1'000'000, 1));
    // What has a line break or a zero byte in it is shown over two lines, or is cut by the pipe.
    if (name.find_first_of(std::string("\n\r\0", 3)) == std::string::npos) expected.push_back(name);
  }
  REQUIRE(write_pprof(std::move(b).build(), dir / "p.pb.gz").ok());
  const outcome top = pprof("-top -nodecount=1000 " + (dir / "p.pb.gz").string());
  REQUIRE(top.status == 0);
  for (const std::string& name : expected) CHECK_THAT(top.text, ContainsSubstring(name));
}

TEST_CASE("go tool pprof reads a file by every command that people use") {
  NEEDS_GO();
  const scratch_dir dir;
  REQUIRE(write_pprof(game(7'000'000), dir / "a.pb.gz").ok());
  const std::string file = (dir / "a.pb.gz").string();
  const outcome top = pprof("-top " + file);
  CHECK(top.status == 0);
  CHECK_THAT(top.text, ContainsSubstring("File: game") && ContainsSubstring("Type: cpu-time"));
  CHECK_THAT(top.text, ContainsSubstring("13ms total"));
  CHECK_THAT(top.text, !ContainsSubstring("not available"));
  const outcome wall = pprof("-top -sample_index=wall-time " + file);
  CHECK_THAT(wall.text, ContainsSubstring("22ms total"));
  const outcome raw = pprof("-raw " + file);
  CHECK(raw.status == 0);
  CHECK_THAT(raw.text, ContainsSubstring("PeriodType: wall nanoseconds"));
  CHECK_THAT(raw.text, ContainsSubstring("Scene#update game.rb:12"));
  const outcome tags = pprof("-tags " + file);
  CHECK(tags.status == 0);
  CHECK_THAT(tags.text, ContainsSubstring("thread name") && ContainsSubstring("loader"));
  const outcome one = pprof("-top -tagfocus=loader " + file);
  CHECK_THAT(one.text, ContainsSubstring("Loader#read") && !ContainsSubstring("Scene#draw"));
}

TEST_CASE("go tool pprof compares two runs and shows what changed alone") {
  NEEDS_GO();
  const scratch_dir dir;
  REQUIRE(write_pprof(game(7'000'000), dir / "a.pb.gz").ok());
  REQUIRE(write_pprof(game(9'000'000), dir / "b.pb.gz").ok());
  const outcome diff = pprof("-top -diff_base=" + (dir / "a.pb.gz").string() + " " +
                             (dir / "b.pb.gz").string());
  CHECK(diff.status == 0);
  CHECK_THAT(diff.text, ContainsSubstring("2ms") && ContainsSubstring("Scene#update"));
  // A profile without samples is comparable too.
  profile_builder none(time_value_types());
  REQUIRE(write_pprof(std::move(none).build(), dir / "none.pb.gz").ok());
  CHECK(pprof("-top -diff_base=" + (dir / "none.pb.gz").string() + " " + (dir / "b.pb.gz").string())
            .status == 0);
}
