// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <unordered_set>
#include <vector>

#include <rbprof/base/hash_bytes.hpp>

using namespace rbprof;

namespace {

[[nodiscard]] std::size_t hash_of(std::span<const std::uint64_t> words) {
  return hash_bytes(std::as_bytes(words));
}

TEST_CASE("equal bytes have equal hashes wherever they are", "[hash_bytes]") {
  for (std::size_t n = 0; n < 200; ++n) {
    std::vector<std::byte> a(n + 1);
    std::vector<std::byte> b(n + 1);
    for (std::size_t i = 0; i < n; ++i) a[i] = b[i + 1] = static_cast<std::byte>(i * 7);
    CHECK(hash_bytes({a.data(), n}) == hash_bytes({b.data() + 1, n}));
  }
}

TEST_CASE("the length, the order and every bit of a stack change its hash", "[hash_bytes]") {
  std::unordered_set<std::size_t> seen;
  std::size_t made = 0;
  for (std::size_t n = 0; n <= 40; ++n) {  // nothing but zeroes
    seen.insert(hash_of(std::vector<std::uint64_t>(n)));
    ++made;
  }
  std::vector<std::uint64_t> words(24);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0x5500'0000'1000 + i * 40;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      words[i] ^= std::uint64_t{1} << bit;
      seen.insert(hash_of(words));
      words[i] ^= std::uint64_t{1} << bit;
      ++made;
    }
    for (std::size_t j = 0; j < i; ++j) {
      std::swap(words[i], words[j]);
      seen.insert(hash_of(words));
      std::swap(words[i], words[j]);
      ++made;
    }
  }
  CHECK(seen.size() == made);
}

TEST_CASE("low bits, which pick a bucket, are spread evenly", "[hash_bytes]") {
  const std::uint64_t seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> stack(40);
  for (auto& w : stack) w = 0x7f00'0000'0000 + (random() % 4096) * 40;
  std::vector<unsigned> buckets(256);
  for (std::uint64_t i = 0; i < 256 * 64; ++i) {
    stack[0] = 0x7f00'0000'0000 + i * 40;  // as handles differ: at the leaf, in multiples of 40
    ++buckets[hash_of(stack) % buckets.size()];
  }
  for (const unsigned n : buckets) {
    CHECK(n > 16);  // 64 expected, deviation 8
    CHECK(n < 128);
  }
}

}  // namespace
