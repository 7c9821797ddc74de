// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_MODEL_UTF8_HPP
#define RBPROF_MODEL_UTF8_HPP

#include <cstddef>
#include <string>
#include <string_view>

// Names come from programs and may hold any bytes. They are repaired here, once, when they enter a
// profile, so that every writer may take valid UTF-8 for granted.

namespace rbprof::inline v0 {

namespace detail {

/// Length of the well-formed sequence at `at` (Unicode table 3-7), or 0.
[[nodiscard]] constexpr std::size_t utf8_sequence(std::string_view s, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < s.size() ? static_cast<unsigned char>(s[at + i]) : 0U;
  };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned b0 = byte(0);
  const unsigned b1 = byte(1);
  if (b0 < 0x80U) return 1;
  if (b0 >= 0xC2U && b0 <= 0xDFU) return tail(1) ? 2 : 0;
  if (b0 >= 0xE0U && b0 <= 0xEFU) {
    const bool overlong = b0 == 0xE0U && b1 < 0xA0U;
    const bool surrogate = b0 == 0xEDU && b1 > 0x9FU;
    return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (b0 >= 0xF0U && b0 <= 0xF4U) {
    const bool overlong = b0 == 0xF0U && b1 < 0x90U;
    const bool beyond = b0 == 0xF4U && b1 > 0x8FU;
    return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace detail

[[nodiscard]] constexpr bool is_valid_utf8(std::string_view s) noexcept {
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = detail::utf8_sequence(s, i);
    if (n == 0) return false;
    i += n;
  }
  return true;
}

/// Each byte that is part of no well-formed sequence becomes U+FFFD; good text comes back byte for byte.
/// "caf\xE9" becomes "caf\xEF\xBF\xBD".
[[nodiscard]] inline std::string repair_utf8(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = detail::utf8_sequence(s, i);
    if (n == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else {
      out.append(s.substr(i, n));
      i += n;
    }
  }
  return out;
}

/// At most `limit` bytes of `s`, cut on a character border.
[[nodiscard]] constexpr std::string_view cut_utf8(std::string_view s, std::size_t limit) noexcept {
  if (s.size() <= limit) return s;
  while (limit > 0 && (static_cast<unsigned char>(s[limit]) & 0xC0U) == 0x80U) --limit;
  return s.substr(0, limit);
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_MODEL_UTF8_HPP
