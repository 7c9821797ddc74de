// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_FLAGS_HPP
#define RBPROF_BASE_FLAGS_HPP

#include <concepts>
#include <type_traits>

// Enumerations that are sets of bits. An enum opts in by having a member `none`.

namespace rbprof::inline v0 {

template <class E>
concept flag_set = std::is_enum_v<E> && requires { E::none; };

template <flag_set E>
[[nodiscard]] constexpr E operator|(E a, E b) noexcept {
  using bits = std::underlying_type_t<E>;
  return static_cast<E>(static_cast<bits>(a) | static_cast<bits>(b));
}

template <flag_set E>
[[nodiscard]] constexpr E operator&(E a, E b) noexcept {
  using bits = std::underlying_type_t<E>;
  return static_cast<E>(static_cast<bits>(a) & static_cast<bits>(b));
}

/// True when every bit of `some` is in `all`; `has(x, none)` is true.
template <flag_set E>
[[nodiscard]] constexpr bool has(E all, E some) noexcept {
  return (all & some) == some;
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_FLAGS_HPP
