// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RECORDER_STACK_CACHE_HPP
#define RBPROF_RECORDER_STACK_CACHE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <rbprof/base/id.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/recorder/chunked.hpp>

// From the bytes of a captured stack to its id, so that a stack that was seen before costs one look-up and
// one compare of its bytes instead of a look-up for each frame: 100 frames of 16 bytes are 1600 bytes,
// which compare in some 40 ns.
//
// Bounded. When full it starts over: a program whose stacks do not fit pays a frame-by-frame walk for each
// of them once a round, no more. Ids belong to one generation of tables, so the recorder clears it when it
// sees another one.
//
// Calls from: the sampler alone · Blocks: never · Allocates: chunks, until it was full once

namespace rbprof::inline v0 {
namespace recording {

class stack_cache {
 public:
  explicit stack_cache(std::size_t byte_limit)
      : purse_(byte_limit), bytes_(purse_), rows_(purse_, byte_limit / 64, byte_limit / 256) {}

  /// The id of these bytes; 0 = not known. Asked twice in a row, it looks once: the same place, size and
  /// hash is the same stack, since a buffer that was filled anew has another hash.
  [[nodiscard]] stack_id find(const stack_key& key) const noexcept {
    if (last_.stack && last_.hash == key.hash && last_.data == key.bytes.data() &&
        last_.size == key.bytes.size()) {
      return last_.stack;
    }
    const std::uint32_t at = rows_.find(key.hash, [&](const row& r) {
      return r.hash == key.hash && r.size == key.bytes.size() &&
             std::memcmp(r.data, key.bytes.data(), r.size) == 0;
    });
    last_ = {key.bytes.data(), key.bytes.size(), key.hash, rows_[at].stack};  // row 0 says 0
    return last_.stack;
  }

  /// Remembers bytes that find() does not know. True when it was full and started over.
  bool insert(const stack_key& key, stack_id stack) noexcept {
    if (key.bytes.size() > bytes_.longest() || try_insert(key, stack)) return false;
    clear();
    (void)try_insert(key, stack);
    return true;
  }

  void clear() noexcept {
    last_ = {};
    rows_.clear([](const row& r) { return r.hash; });
    bytes_.clear();
  }

 private:
  struct row {
    std::size_t hash = 0;
    const char* data = nullptr;
    std::uint32_t size = 0;
    stack_id stack;
    std::uint32_t next = 0;
  };
  struct found {
    const std::byte* data = nullptr;
    std::size_t size = 0;
    std::size_t hash = 0;
    stack_id stack;
  };

  [[nodiscard]] bool try_insert(const stack_key& key, stack_id stack) noexcept {
    const char* const kept = bytes_.keep(key.bytes.data(), key.bytes.size());
    return kept != nullptr &&
           rows_.insert(key.hash,
                        {key.hash, kept, static_cast<std::uint32_t>(key.bytes.size()), stack}) != 0;
  }

  byte_purse purse_;
  byte_arena bytes_;
  chained<row> rows_;
  mutable found last_;
};

}  // namespace recording
}  // namespace rbprof::inline v0

#endif  // RBPROF_RECORDER_STACK_CACHE_HPP
