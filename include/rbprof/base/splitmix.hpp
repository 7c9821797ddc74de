// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_SPLITMIX_HPP
#define RBPROF_BASE_SPLITMIX_HPP

#include <cstdint>

namespace rbprof::inline v0 {

/// Number `k` of the sequence of splitmix64 that begins at `seed`: every bit depends on every bit of both.
[[nodiscard]] constexpr std::uint64_t splitmix(std::uint64_t seed, std::uint64_t k) noexcept {
  std::uint64_t x = seed + k * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_SPLITMIX_HPP
