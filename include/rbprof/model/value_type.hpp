// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_MODEL_VALUE_TYPE_HPP
#define RBPROF_MODEL_VALUE_TYPE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rbprof::inline v0 {

/// What a sample is worth, in the order of a file's columns. The set that a profile has is fixed by its
/// configuration, never by what happened, so that two profiles can always be compared.
enum class value_type : std::uint8_t {
  cpu_samples,             ///< count: samples taken of a thread
  cpu_time,                ///< ns of the thread's cpu clock
  wall_time,               ///< ns of the monotonic clock
  alloc_samples,           ///< count: allocations, weighted by the sampler
  alloc_samples_unscaled,  ///< count: allocation samples taken
  heap_live_samples,       ///< count: objects alive, weighted
  heap_live_size,          ///< bytes of objects alive, weighted
  timeline,                ///< ns: length of an interval on the timeline
};

inline constexpr std::size_t value_type_count = 8;

struct value_type_info {
  std::string_view name;
  std::string_view unit;
};

/// Name and unit as dashboards for dd-trace-rb's profiles know them.
[[nodiscard]] constexpr value_type_info info(value_type t) noexcept {
  constexpr std::array<value_type_info, value_type_count> all{{
      {"cpu-samples", "count"},
      {"cpu-time", "nanoseconds"},
      {"wall-time", "nanoseconds"},
      {"alloc-samples", "count"},
      {"alloc-samples-unscaled", "count"},
      {"heap-live-samples", "count"},
      {"heap-live-size", "bytes"},
      {"timeline", "nanoseconds"},
  }};
  return all[static_cast<std::size_t>(t)];
}

/// Sum of two values that are not negative; what is too large stays at the largest.
[[nodiscard]] constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return b > 0 && a > most - b ? most : a + b;
}

/// One value a type; a type that is switched off stays 0 and has no column in a file.
class values {
 public:
  [[nodiscard]] constexpr std::int64_t& operator[](value_type t) noexcept {
    return all_[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] constexpr std::int64_t operator[](value_type t) const noexcept {
    return all_[static_cast<std::size_t>(t)];
  }
  constexpr values& operator+=(const values& other) noexcept {
    for (std::size_t i = 0; i < value_type_count; ++i) all_[i] += other.all_[i];
    return *this;
  }
  friend constexpr bool operator==(const values&, const values&) noexcept = default;

 private:
  std::array<std::int64_t, value_type_count> all_{};
};

/// The columns of a profile that measures time alone.
[[nodiscard]] inline std::vector<value_type> time_value_types() {
  return {value_type::cpu_samples, value_type::cpu_time, value_type::wall_time};
}

/// The column that a viewer shows first: cpu time, else wall time, else the first; none when there is none.
[[nodiscard]] constexpr std::optional<value_type> default_type(
    std::span<const value_type> types) noexcept {
  if (types.empty()) return std::nullopt;
  for (const value_type wanted : {value_type::cpu_time, value_type::wall_time}) {
    for (const value_type t : types) {
      if (t == wanted) return t;
    }
  }
  return types.front();
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_MODEL_VALUE_TYPE_HPP
