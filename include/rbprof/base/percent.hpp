// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_PERCENT_HPP
#define RBPROF_BASE_PERCENT_HPP

namespace rbprof::inline v0 {

/// A share in hundredths, so that "2" can't be read as 200 %.
struct percent {
  double value = 0;
};

inline namespace literals {

/// `2_percent`
[[nodiscard]] constexpr percent operator""_percent(unsigned long long n) noexcept {
  return {static_cast<double>(n)};
}
/// `0.5_percent`
[[nodiscard]] constexpr percent operator""_percent(long double x) noexcept {
  return {static_cast<double>(x)};
}

}  // namespace literals
}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_PERCENT_HPP
