// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_CRUBY_VM_PROFILE_READS_HPP
#define RBPROF_TESTS_CRUBY_VM_PROFILE_READS_HPP

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <string_view>

#include <rbprof/model/profile.hpp>

namespace host {

/// A counter of a profile; a test fails when there is none of this name.
[[nodiscard]] inline std::uint64_t statistic(const rbprof::profile& p, std::string_view name) {
  for (const auto& [known, value] : p.statistics()) {
    if (known == name) return value;
  }
  FAIL("no statistic of this name");
  return 0;
}

}  // namespace host

#endif  // RBPROF_TESTS_CRUBY_VM_PROFILE_READS_HPP
