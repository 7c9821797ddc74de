// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <rbprof/cruby.hpp>
#include <rbprof/host/label_scope.hpp>

#include <cmath>
#include <cstdint>
#include <string>

#include "profile_reads.hpp"

namespace {

double cpu_now() { return static_cast<double>(rbprof::thread_cpu_now()->count()) / 1e9; }

/// Runs Ruby code for that much cpu time of the thread, and says how much it was.
double work(double seconds) {
  const double began = cpu_now();
  int failed = 0;
  while (cpu_now() - began < seconds) rb_eval_string_protect("1000.times { |i| i.to_s }", &failed);
  return cpu_now() - began;
}

double labelled(const rbprof::profile& p, std::string_view value) {
  std::int64_t ns = 0;
  for (const rbprof::profile_sample& s : p.samples()) {
    for (const rbprof::profile_label& l : p.labels(s.labels)) {
      if (p.string(l.key) == "level" && p.string(l.str) == value) ns += s.amount[rbprof::value_type::cpu_time];
    }
  }
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

TEST_CASE("what Ruby burns under a host's label is in the profile with that label") {
  rbprof::cruby::options o;
  o.interval = rbprof::nanos{1'000'000};
  o.overhead_target = {20};
  o.gc = false;
  rbprof::cruby::profiler p(o);
  REQUIRE(p.start().ok());
  double cave = 0;
  double forest = 0;
  for (int i = 0; i < 10; ++i) {
    {
      const rbprof::label_scope level("level", "cave");
      cave += work(0.06);
    }
    const rbprof::label_scope level("level", "forest");
    forest += work(0.02);
  }
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  const double share = labelled(*profile, "cave") / (labelled(*profile, "cave") + labelled(*profile, "forest"));
  INFO("truth " << cave << " " << forest << ", profile " << labelled(*profile, "cave") << " " << labelled(*profile, "forest"));
  CHECK(std::abs(share - cave / (cave + forest)) <= 0.05);
  CHECK(labelled(*profile, "cave") >= 0.8 * cave);
}
