// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <rbprof/output/collapsed.hpp>
#include <rbprof/output/flamegraph_html.hpp>
#include <rbprof/output/pprof.hpp>
#include <rbprof/output/speedscope.hpp>
#include <rbprof/output/text.hpp>

#include "flamegraph_reader.hpp"
#include "pprof_reader.hpp"
#include "speedscope_reader.hpp"
#include "support.hpp"

namespace {

using namespace support;

using totals = std::map<std::string, std::int64_t>;  // by thread title, as collapsed stacks write it

std::string plain(std::string title) {
  title = output::one_line(title);
  for (char& c : title) c = c == ';' ? ':' : c;
  return title;
}

totals from_model(const profile& p, value_type type) {
  totals out;
  const output::thread_table threads(p);
  for (const profile_sample& s : p.samples()) {
    if (s.amount[type] != 0) out[plain(threads.titles()[threads.of(s.labels)])] += s.amount[type];
  }
  return out;
}

totals from_collapsed(const std::string& text) {
  totals out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    out[line.substr(0, line.find(';'))] += std::stoll(line.substr(line.rfind(' ') + 1));
    at = end + 1;
  }
  return out;
}

}  // namespace

TEST_CASE("every format has the same total of every value for every thread") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::vector<value_type> all;
  for (std::size_t i = 0; i < value_type_count; ++i) all.push_back(static_cast<value_type>(i));
  for (int round = 0; round < 40; ++round) {
    std::vector<value_type> types;
    for (const value_type t : all) {
      if (random() % 2 == 0) types.push_back(t);
    }
    if (types.empty()) types = time_value_types();
    const profile p = random_profile(random, types);
    const pprof_file pprof = read_pprof(gunzip(*output::encode_pprof(p)));
    const nlohmann::json speedscope = nlohmann::json::parse(*output::encode_speedscope(p));
    const nlohmann::json page = flamegraph_data(*output::encode_flamegraph_html(p));
    for (std::size_t i = 0; i < types.size(); ++i) {
      const value_type t = types[i];
      const totals expected = from_model(p, t);
      REQUIRE(from_collapsed(*output::encode_collapsed(p, {.type = t, .threads = true})) == expected);
      totals in_speedscope;
      for (const auto& [title, amount] : speedscope_totals(speedscope, std::string(info(t).name))) {
        in_speedscope[plain(title)] += amount;
      }
      REQUIRE(in_speedscope == expected);
      totals in_page;
      for (const auto& [title, amount] : by_thread(page, i)) in_page[plain(title)] += amount;
      REQUIRE(in_page == expected);
      REQUIRE(by_thread(pprof, info(t).name) == by_thread(p, t));
      REQUIRE(output::costs_of(p, t).total == p.total(t));
    }
  }
}
