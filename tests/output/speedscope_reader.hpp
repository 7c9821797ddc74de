// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_OUTPUT_SPEEDSCOPE_READER_HPP
#define RBPROF_TESTS_OUTPUT_SPEEDSCOPE_READER_HPP

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

// What speedscope itself wants of a file: its schema's required members and types, and what its importer checks.

namespace support {

inline void check_speedscope(const nlohmann::json& file) {
  REQUIRE(file.at("$schema") == "https://www.speedscope.app/file-format-schema.json");
  REQUIRE(file.at("exporter").is_string());
  REQUIRE(file.at("name").is_string());
  const auto& frames = file.at("shared").at("frames");
  REQUIRE(frames.is_array());
  for (const auto& f : frames) {
    REQUIRE(f.at("name").is_string());
    if (f.contains("file")) REQUIRE(f["file"].is_string());
    if (f.contains("line")) REQUIRE(f["line"].is_number_integer());
  }
  const auto& profiles = file.at("profiles");
  REQUIRE(profiles.size() > file.at("activeProfileIndex").get<std::size_t>());
  static const std::set<std::string> units{"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"};
  for (const auto& p : profiles) {
    REQUIRE(p.at("type") == "sampled");
    REQUIRE(p.at("name").is_string());
    REQUIRE(units.contains(p.at("unit").get<std::string>()));
    REQUIRE(p.at("samples").size() == p.at("weights").size());
    std::int64_t sum = p.at("startValue").get<std::int64_t>();
    for (const auto& w : p["weights"]) sum += w.get<std::int64_t>();
    REQUIRE(sum == p.at("endValue").get<std::int64_t>());
    for (const auto& stack : p["samples"]) {
      for (const auto& f : stack) REQUIRE(f.get<std::size_t>() < frames.size());
    }
  }
}

/// Totals by thread of one kind of value, as the profiles' names say.
inline std::map<std::string, std::int64_t> speedscope_totals(const nlohmann::json& file, const std::string& type) {
  std::map<std::string, std::int64_t> all;
  for (const auto& p : file.at("profiles")) {
    const std::string name = p.at("name");
    const std::string end = ": " + type;
    if (name.ends_with(end)) {
      all[name.substr(0, name.size() - end.size())] += p.at("endValue").get<std::int64_t>();
    }
  }
  return all;
}

}  // namespace support

#endif  // RBPROF_TESTS_OUTPUT_SPEEDSCOPE_READER_HPP
