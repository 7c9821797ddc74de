// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_TRIGGER_OBSERVATIONS_HPP
#define RBPROF_TESTS_TRIGGER_OBSERVATIONS_HPP

#include <signal.h>

#include <cstdint>
#include <map>
#include <string>

// What tests of triggers look at.

namespace rbprof_test {

template <class Trigger>
[[nodiscard]] std::map<std::string, std::uint64_t> statistics(const Trigger& t) {
  std::map<std::string, std::uint64_t> all;
  t.each_statistic([&](const char* n, std::uint64_t value) { all[n] = value; });
  return all;
}

[[nodiscard]] inline bool sigprof_is_ignored() {
  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace rbprof_test

#endif  // RBPROF_TESTS_TRIGGER_OBSERVATIONS_HPP
