// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_BYTES_HPP
#define RBPROF_PROFILER_BYTES_HPP

#include <absl/hash/hash.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

// Handles of a VM (frames, threads) are opaque bytes to the lane: hashed and compared as such.

namespace rbprof::inline v0 {
namespace detail {

[[nodiscard]] inline std::size_t hash_bytes(std::span<const std::byte> bytes) noexcept {
  return absl::HashOf(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

struct bytes_hash {
  template <class T>
  [[nodiscard]] std::size_t operator()(const T& x) const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return hash_bytes(std::as_bytes(std::span<const T, 1>(&x, 1)));
  }
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_BYTES_HPP
