// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_ID_HPP
#define RBPROF_BASE_ID_HPP

#include <compare>
#include <cstdint>

namespace rbprof::inline v0 {

/// An index that can't be mistaken for another: `id<struct string_tag>` and `id<struct stack_tag>` do
/// not mix. Zero always means "the empty one" (empty string, empty stack, no labels).
template <class Tag>
struct id {
  std::uint32_t value = 0;

  friend constexpr auto operator<=>(const id&, const id&) noexcept = default;
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return value != 0; }
};

using string_id = id<struct string_tag>;
using function_id = id<struct function_tag>;
using frame_id = id<struct frame_tag>;  ///< a function at a line
using stack_id = id<struct stack_tag>;
using label_set_id = id<struct label_set_tag>;

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_ID_HPP
