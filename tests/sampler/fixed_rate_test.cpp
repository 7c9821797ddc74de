// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/sampler/fixed_rate.hpp>

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

using namespace std::chrono_literals;
using rbprof::mono;

TEST_CASE("a fixed rate admits every tick, whatever samples cost", "[fixed_rate]") {
  rbprof::sampler::fixed_rate s;
  for (int i = 1; i <= 100; ++i) {
    const mono now{i * 1'000'000};
    REQUIRE(s.admit(now));
    s.charge(now, {50ms, 50ms});
    REQUIRE(s.nap(now) == 0ns);
  }
  CHECK(s.statistics().sampled() == 100);
  CHECK(s.statistics().skipped() == 0);
}

TEST_CASE("the shortest, the longest and the sum of all samples are kept until a reset",
          "[fixed_rate]") {
  rbprof::sampler::fixed_rate s;
  std::map<std::string, std::uint64_t> got;
  const auto read = [&] { s.each_statistic([&](const char* n, std::uint64_t v) { got[n] = v; }); };
  read();
  CHECK(got["cpu_sampling_time_ns_min"] == 0);
  (void)s.admit({1});
  s.charge({1}, {30us, 0ns});
  s.charge({2}, {10us, 0ns});
  s.charge({3}, {-5us, 0ns});  // a clock that went back: 0
  s.charge({4}, {20us, 0ns});
  read();
  CHECK(got["cpu_sampled"] == 1);
  CHECK(got["cpu_sampling_time_ns_min"] == 0);
  CHECK(got["cpu_sampling_time_ns_max"] == 30'000);
  CHECK(got["cpu_sampling_time_ns_total"] == 60'000);
  s.reset({5});
  s.charge({6}, {7us, 0ns});
  read();
  CHECK(got["cpu_sampled"] == 0);
  CHECK(got["cpu_sampling_time_ns_min"] == 7'000);
  CHECK(got["cpu_sampling_time_ns_max"] == 7'000);
}
