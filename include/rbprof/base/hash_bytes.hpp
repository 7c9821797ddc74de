// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_HASH_BYTES_HPP
#define RBPROF_BASE_HASH_BYTES_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// A hash of a captured stack's bytes. A stack is one to a hundred kilobytes and is hashed for every sample,
// under the VM lock, so this is the largest part of a sample that was seen before; a general string hash
// took three quarters of it (benchmarks/recorder_bench, hash_of_a_stack). The idea is that of the wyhash
// family: a 64 x 64 bit product folded into 64 bits, in four independent lanes so that products overlap.
//
// The order of frames matters to it, and who uses it compares the bytes as well. Not for anything that an
// adversary may choose, not stable between versions or byte orders: never store it.
//
// Calls from: any thread, signal handler · Blocks: never · Allocates: never

namespace rbprof::inline v0 {

namespace detail {

[[nodiscard]] inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
#ifdef __SIZEOF_INT128__
  __extension__ using wide = unsigned __int128;
  const wide p = static_cast<wide>(a) * b;
  return static_cast<std::uint64_t>(p) ^ static_cast<std::uint64_t>(p >> 64U);
#else
  const std::uint64_t a1 = a >> 32U, a0 = a & 0xFFFFFFFFU, b1 = b >> 32U, b0 = b & 0xFFFFFFFFU;
  const std::uint64_t mid = a1 * b0 + ((a0 * b0) >> 32U);
  const std::uint64_t mid2 = (mid & 0xFFFFFFFFU) + a0 * b1;
  return (a * b) ^ (a1 * b1 + (mid >> 32U) + (mid2 >> 32U));
#endif
}

[[nodiscard]] inline std::uint64_t load_64(const std::byte* at) noexcept {
  std::uint64_t v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

}  // namespace detail

[[nodiscard]] inline std::size_t hash_bytes(std::span<const std::byte> bytes) noexcept {
  using detail::folded_product;
  using detail::load_64;
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;
  std::array<std::uint64_t, 4> lane{0xA0761D6478BD642FU, 0xE7037ED1A0B428DBU, 0x8EBC6AF09C88C6E3U,
                                    0x589965CC75374CC3U};
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 64; left -= 64, at += 64) {
    lane[0] = folded_product(load_64(at) ^ lane[0], load_64(at + 8) ^ odd);
    lane[1] = folded_product(load_64(at + 16) ^ lane[1], load_64(at + 24) ^ odd);
    lane[2] = folded_product(load_64(at + 32) ^ lane[2], load_64(at + 40) ^ odd);
    lane[3] = folded_product(load_64(at + 48) ^ lane[3], load_64(at + 56) ^ odd);
  }
  std::uint64_t all = bytes.size();
  for (const std::uint64_t l : lane) all = folded_product(all ^ l, odd);
  while (left != 0) {
    std::array<std::byte, 16> last{};
    const std::size_t n = std::min(left, last.size());
    std::memcpy(last.data(), at, n);
    all = folded_product(all ^ load_64(last.data()), load_64(last.data() + 8) ^ odd);
    at += n;
    left -= n;
  }
  return static_cast<std::size_t>(folded_product(all, odd));
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_HASH_BYTES_HPP
