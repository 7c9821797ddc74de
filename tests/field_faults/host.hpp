// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_FIELD_FAULTS_HOST_HPP
#define RBPROF_TESTS_FIELD_FAULTS_HOST_HPP

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <rbprof/cruby.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

// What the tests of one process share: Ruby is up, and each test is run in every way of sampling.

namespace host {

inline constexpr bool asks_without_signals = rbprof::has(rbprof::vm::cruby::request_from, rbprof::role::foreign);

struct way {
  const char* name;
  rbprof::cruby::trigger_kind trigger;
  bool handler_capture;
};

/// No signals, signals that ask for a job, signals whose handler takes the stack. The last is not sound on 3.1.
inline std::vector<way> ways() {
  using enum rbprof::cruby::trigger_kind;
  if (!asks_without_signals) return {{"signal", signal, false}};
  return {{"postponed_job", postponed_job, false}, {"signal", signal, false}, {"signal, handler", signal, true}};
}

/// A profiler that samples often. `overhead` is of wall time.
inline rbprof::cruby::options options_of(const way& w, std::int64_t interval_us = 1000, double overhead = 20) {
  rbprof::cruby::options o;
  o.interval = rbprof::nanos{interval_us * 1000};
  o.overhead_target = rbprof::percent{overhead};
  o.trigger = w.trigger;
  o.handler_capture = w.handler_capture;
  return o;
}

/// The error of Ruby code, or nothing.
std::string run(const std::string& code);
/// A number that Ruby code gives. A test fails when it raises.
double number(const std::string& code);
/// What the global Ruby method `native` does.
inline std::function<void()> on_native;
void define_methods();

std::uint64_t statistic(const rbprof::profile& p, std::string_view name);
std::uint64_t statistic(const rbprof::cruby::profiler& p, std::string_view name);
std::string label_of(const rbprof::profile& p, const rbprof::profile_sample& s, std::string_view key);
/// The sum over samples with that value of a label; any value when it is empty.
std::int64_t total(const rbprof::profile& p, rbprof::value_type type, std::string_view key, std::string_view value);

/// Cpu of the thread of this process that has the name, so far.
double cpu_of_native_thread(const std::string& name);

/// Measured facts may be spoiled by what else the machine does: true when one of a few attempts holds.
template <class F>
bool holds_once(int attempts, F&& fact) {
  for (int i = 0; i < attempts; ++i) {
    if (fact()) return true;
  }
  return false;
}

}  // namespace host

#endif  // RBPROF_TESTS_FIELD_FAULTS_HOST_HPP
