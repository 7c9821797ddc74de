// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_CACHE_LINE_HPP
#define RBPROF_BASE_CACHE_LINE_HPP

#include <cstddef>

namespace rbprof::inline v0 {

/// Two 64-byte lines, because x86 prefetches them in pairs. std::hardware_destructive_interference_size
/// is absent from clang 14 and changes with -mtune under g++, which would break the layout between TUs.
inline constexpr std::size_t cache_line = 128;

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_CACHE_LINE_HPP
