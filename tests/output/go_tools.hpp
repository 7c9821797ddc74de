// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_OUTPUT_GO_TOOLS_HPP
#define RBPROF_TESTS_OUTPUT_GO_TOOLS_HPP

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support.hpp"

// The format owner's own code as the judge of a file: `go tool pprof`, and pprof_facts, a small program
// around its package. Both are optional; a test says what is missing and is skipped.

namespace support {

inline bool have_go() {
  static const bool have = run("go tool -n pprof").status == 0;
  return have;
}

/// Path of pprof_facts, built once a process; empty when it can't be built here.
inline const std::string& pprof_facts_path() {
  static const scratch_dir dir;
  static const std::string path = [] {
    const std::filesystem::path source =
        std::filesystem::path(RBPROF_TEST_SOURCE_DIR) / "tests" / "tools" / "pprof_facts.go";
    const std::string made = (dir / "pprof_facts").string();
    const outcome built = run("GO111MODULE=off GOPATH=/usr/share/gocode go build -o " + made + " " +
                              source.string());
    return built.status == 0 ? made : std::string();
  }();
  return path;
}

/// What Go's package says of a file; a string of the reason when it refuses it.
inline nlohmann::json pprof_facts(const std::filesystem::path& file) {
  const outcome got = run(pprof_facts_path() + " " + file.string());
  if (got.status != 0) return got.text;
  return nlohmann::json::parse(got.text);
}

}  // namespace support

#endif  // RBPROF_TESTS_OUTPUT_GO_TOOLS_HPP
