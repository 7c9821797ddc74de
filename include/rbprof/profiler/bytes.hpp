// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_BYTES_HPP
#define RBPROF_PROFILER_BYTES_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <rbprof/base/hash_bytes.hpp>

// Handles of a VM (frames, threads) are opaque bytes to the lane: hashed and compared as such.

namespace rbprof::inline v0 {
namespace detail {

/// For a hash table whose keys are handles. One or two words, as on the real adapters, cost a product.
struct bytes_hash {
  template <class T>
  [[nodiscard]] std::size_t operator()(const T& x) const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(std::span<const T, 1>(&x, 1));
    if constexpr (sizeof(T) == 8 || sizeof(T) == 16) {
      const std::uint64_t last = sizeof(T) == 16 ? load_64(bytes.data() + sizeof(T) - 8) : 0;
      return static_cast<std::size_t>(folded_product(load_64(bytes.data()) ^ 0xA0761D6478BD642FU,
                                                     last ^ 0xE7037ED1A0B428DBU));
    } else {
      return hash_bytes(bytes);
    }
  }
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_BYTES_HPP
