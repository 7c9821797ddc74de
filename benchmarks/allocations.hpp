// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BENCHMARKS_ALLOCATIONS_HPP
#define RBPROF_BENCHMARKS_ALLOCATIONS_HPP

#include <malloc.h>
#include <stdlib.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

// Counts every allocation of the process by standing in front of glibc's malloc, Ruby's and the C++ library's
// included. To be included by one source file of a program.

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace bench {

struct heap_counts {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::int64_t> live{0};  ///< bytes
  std::atomic<std::int64_t> peak{0};
};
inline constinit heap_counts heap;

inline void* note_allocated(void* p) noexcept {
  if (p == nullptr) return p;
  heap.calls.fetch_add(1, std::memory_order_relaxed);
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(p));
  const std::int64_t now = heap.live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (now > heap.peak.load(std::memory_order_relaxed)) {
    heap.peak.store(now, std::memory_order_relaxed);
  }
  return p;
}
inline void note_freed(void* p) noexcept {
  if (p == nullptr) return;
  heap.live.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(p)), std::memory_order_relaxed);
}

/// Bytes that were in use at the worst moment of `f`, beyond those at its start.
template <class F>
[[nodiscard]] double peak_of(F&& f) {
  const std::int64_t before = heap.live.load();
  heap.peak.store(before);
  f();
  return static_cast<double>(heap.peak.load() - before);
}

}  // namespace bench

// glibc's header says noexcept.
extern "C" {
void* malloc(std::size_t n) noexcept { return bench::note_allocated(__libc_malloc(n)); }
void* calloc(std::size_t n, std::size_t m) noexcept {
  return bench::note_allocated(__libc_calloc(n, m));
}
void* realloc(void* old, std::size_t n) noexcept {
  bench::note_freed(old);
  return bench::note_allocated(__libc_realloc(old, n));
}
void* memalign(std::size_t to, std::size_t n) noexcept {
  return bench::note_allocated(__libc_memalign(to, n));
}
void* aligned_alloc(std::size_t to, std::size_t n) noexcept { return memalign(to, n); }
int posix_memalign(void** out, std::size_t to, std::size_t n) noexcept {
  *out = memalign(to, n);
  return *out != nullptr ? 0 : ENOMEM;
}
void free(void* p) noexcept {
  bench::note_freed(p);
  __libc_free(p);
}
}

#endif  // RBPROF_BENCHMARKS_ALLOCATIONS_HPP
