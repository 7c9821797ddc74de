// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RECORDER_CHUNKED_HPP
#define RBPROF_RECORDER_CHUNKED_HPP

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

// Append-only storage with one writer. What was appended never moves and never changes, so a reader that
// learnt an index in an ordered way (here: through the flip) reads it without a lock while the writer goes
// on appending.
//
// Not std::vector and not a node or flat hash map, for three reasons: their growth moves what others read,
// a rehash of a million entries is a pause of tens of milliseconds under the VM lock, and a failed
// allocation ends the process. Here everything that grows comes in pieces of a few kilobytes out of a
// purse, a refusal is an ordinary result, and clearing keeps the memory.

namespace rbprof::inline v0 {
namespace recording {

/// Bytes that one owner may take up. One writer; `used` may be read by any thread.
class byte_purse {
 public:
  explicit byte_purse(std::size_t limit) noexcept : limit_(limit) {}

  [[nodiscard]] bool take(std::size_t n) noexcept {
    const std::size_t used = used_.load(std::memory_order_relaxed);
    if (n > limit_ || used > limit_ - n) return false;
    used_.store(used + n, std::memory_order_relaxed);  // relaxed: a figure, publishes nothing
    return true;
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }

 private:
  std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

/// Rows in chunks that never move, found through a directory of fixed size.
template <class Row>
class chunked {
 public:
  static constexpr std::uint32_t per_chunk = 256;

  /// At most `most` rows, of bytes out of `purse`. Makes the first chunk, so that its rows may always be
  /// read.
  chunked(byte_purse& purse, std::size_t most)
      : purse_(purse), directory_(std::max<std::size_t>(1, most / per_chunk)) {
    (void)purse_.take(sizeof(Row) * per_chunk);
    directory_[0] = std::make_unique<Row[]>(per_chunk);
  }

  [[nodiscard]] Row& operator[](std::uint32_t i) noexcept {
    return directory_[i / per_chunk][i % per_chunk];
  }
  [[nodiscard]] const Row& operator[](std::uint32_t i) const noexcept {
    return directory_[i / per_chunk][i % per_chunk];
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Rows that a new one has room for, if nobody else takes from the purse.
  [[nodiscard]] std::size_t most() const noexcept {
    const std::size_t left = purse_.limit() - purse_.used();
    return std::min(directory_.size(), 1 + left / (sizeof(Row) * per_chunk)) * per_chunk;
  }

  /// A row at index size() - 1 afterwards, to be filled in; null when it does not fit.
  [[nodiscard]] Row* append() noexcept {
    const std::uint32_t chunk = size_ / per_chunk;
    if (chunk == directory_.size()) return nullptr;
    if (!directory_[chunk]) {
      if (!purse_.take(sizeof(Row) * per_chunk)) return nullptr;
      directory_[chunk].reset(new (std::nothrow) Row[per_chunk]());
      if (!directory_[chunk]) return nullptr;
    }
    return &directory_[chunk][size_++ % per_chunk];
  }

  /// Keeps the first `n` rows, and all memory.
  void shrink_to(std::uint32_t n) noexcept { size_ = n; }

 private:
  byte_purse& purse_;
  std::vector<std::unique_ptr<Row[]>> directory_;
  std::uint32_t size_ = 0;
};

/// A hash table over chunked rows that have a member `next`: fixed heads, chains through the rows, the
/// newest first. Row 0 stands for "none". With more rows than heads it gets slower, never larger.
template <class Row>
class chained {
 public:
  /// `heads` is rounded up to a power of two.
  chained(byte_purse& purse, std::size_t most, std::size_t heads)
      : rows_(purse, most), mask_(std::bit_ceil(std::max<std::size_t>(heads, 16)) - 1) {
    // calloc: pages of zeroes that are not touched until they are used. Without them nothing is ever
    // found, and all else holds.
    (void)purse.take((mask_ + 1) * sizeof(std::uint32_t));
    heads_.reset(static_cast<std::uint32_t*>(std::calloc(mask_ + 1, sizeof(std::uint32_t))));
    (void)rows_.append();
  }

  [[nodiscard]] const Row& operator[](std::uint32_t i) const noexcept { return rows_[i]; }
  [[nodiscard]] Row& operator[](std::uint32_t i) noexcept { return rows_[i]; }
  [[nodiscard]] std::uint32_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] std::size_t most() const noexcept { return rows_.most(); }

  /// The index of the row of this hash for which `same` is true; 0 = there is none.
  template <class Same>
  [[nodiscard]] std::uint32_t find(std::size_t hash, Same&& same) const noexcept {
    if (!heads_) return 0;
    std::uint32_t at = heads_.get()[hash & mask_];
    while (at != 0 && !same(rows_[at])) at = rows_[at].next;
    return at;
  }

  /// Appends a row that find() did not find. Its index, or 0 when it does not fit.
  [[nodiscard]] std::uint32_t insert(std::size_t hash, Row row) noexcept {
    Row* const at = rows_.append();
    if (at == nullptr) return 0;
    const std::uint32_t index = rows_.size() - 1;
    if (heads_) row.next = std::exchange(heads_.get()[hash & mask_], index);
    *at = row;
    return index;
  }

  /// Forgets every row, keeps the memory. `hash_of(row)` is the hash that it was inserted with: a few rows
  /// out of a large table are forgotten one by one.
  template <class HashOf>
  void clear(HashOf&& hash_of) noexcept {
    const std::uint32_t rows = rows_.size();
    rows_.shrink_to(1);
    if (!heads_) return;
    if (rows > mask_ / 8) {
      std::fill_n(heads_.get(), mask_ + 1, 0U);
      return;
    }
    for (std::uint32_t i = 1; i < rows; ++i) heads_.get()[hash_of(rows_[i]) & mask_] = 0;
  }

 private:
  struct free_it {
    void operator()(std::uint32_t* p) const noexcept { std::free(p); }
  };
  chunked<Row> rows_;
  std::size_t mask_;
  std::unique_ptr<std::uint32_t, free_it> heads_;
};

/// Bytes that are kept in blocks of one size.
class byte_arena {
 public:
  explicit byte_arena(byte_purse& purse)
      : purse_(purse),
        block_(std::clamp<std::size_t>(std::bit_floor(purse.limit() / 64), 4096, 65536)),
        directory_(purse.limit() / block_ + 1) {}

  /// The longest run of bytes that can be kept.
  [[nodiscard]] std::size_t longest() const noexcept { return block_; }

  /// A copy of the bytes; null when they do not fit.
  [[nodiscard]] const char* keep(const void* bytes, std::size_t n) noexcept {
    if (n > block_) return nullptr;
    if (n > block_ - filled_) {
      ++at_;
      filled_ = 0;
    }
    if (at_ >= directory_.size()) return nullptr;
    if (!directory_[at_]) {
      if (!purse_.take(block_)) return nullptr;
      directory_[at_].reset(new (std::nothrow) char[block_]);
      if (!directory_[at_]) return nullptr;
    }
    char* const to = directory_[at_].get() + filled_;
    if (n != 0) std::memcpy(to, bytes, n);
    filled_ += n;
    return to;
  }

  /// Forgets all, keeps the memory.
  void clear() noexcept { at_ = filled_ = 0; }

 private:
  byte_purse& purse_;
  std::size_t block_;
  std::vector<std::unique_ptr<char[]>> directory_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
};

[[nodiscard]] inline std::size_t mixed(std::uint64_t x) noexcept {
  x *= 0x9E3779B97F4A7C15U;
  return x ^ (x >> 32U);
}
[[nodiscard]] inline std::size_t mixed(std::uint32_t a, std::uint32_t b) noexcept {
  return mixed((std::uint64_t{a} << 32U) | b);
}

}  // namespace recording
}  // namespace rbprof::inline v0

#endif  // RBPROF_RECORDER_CHUNKED_HPP
