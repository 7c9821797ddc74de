// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/model/value_type.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

using rbprof::value_type;

TEST_CASE("a sum that does not fit stays at the largest number") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(rbprof::saturating_sum(1, 2) == 3);
  CHECK(rbprof::saturating_sum(most, 0) == most);
  CHECK(rbprof::saturating_sum(most, 1) == most);
  CHECK(rbprof::saturating_sum(most - 1, 1) == most);
  CHECK(rbprof::saturating_sum(most, most) == most);
}

TEST_CASE("viewers show cpu time first, then wall time, then what there is") {
  using types = std::vector<value_type>;
  CHECK(rbprof::default_type(rbprof::time_value_types()) == value_type::cpu_time);
  CHECK(rbprof::default_type(types{value_type::cpu_samples, value_type::wall_time}) ==
        value_type::wall_time);
  CHECK(rbprof::default_type(types{value_type::alloc_samples}) == value_type::alloc_samples);
  CHECK(rbprof::default_type({}) == std::nullopt);
}

TEST_CASE("columns are named as dashboards know them") {
  CHECK(rbprof::info(value_type::cpu_samples).name == "cpu-samples");
  CHECK(rbprof::info(value_type::cpu_time).unit == "nanoseconds");
  CHECK(rbprof::info(value_type::alloc_samples).unit == "count");
  CHECK(rbprof::info(value_type::heap_live_size).unit == "bytes");
  CHECK(rbprof::info(value_type::timeline).name == "timeline");
}
