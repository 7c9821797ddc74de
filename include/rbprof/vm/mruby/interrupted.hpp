// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_INTERRUPTED_HPP
#define RBPROF_VM_MRUBY_INTERRUPTED_HPP

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <rbprof/vm/mruby/api.hpp>

// Whether the collector ran when a signal came. Every collection is entered through one of two functions, and the
// interpreter's loop is below it on the C stack:
//
//     stack pointer ▶ ... free() ... | a word inside mrb_incremental_gc: the collector's | ... mrb_vm_exec
//                     words are looked at upward, 16 KiB at most, until one lies in one of these functions
//
// Where a function ends tells the table that exceptions are unwound with, so this works in stripped programs too.

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

struct code_range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  ///< 0 = not known

  /// A return address is behind its call, so never at a function's begin.
  [[nodiscard]] bool holds(std::uintptr_t at) const noexcept { return at > begin && at < end; }
};

/// The function that begins at an address: up to the next entry of its object's sorted table of functions.
[[nodiscard]] inline code_range range_of(const void* function) noexcept {
  struct search {
    std::uintptr_t at;
    code_range found;
  } s{reinterpret_cast<std::uintptr_t>(function), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) -> int {
        search& x = *static_cast<search*>(data);
        const unsigned char* table = nullptr;
        std::uintptr_t limit = 0;
        for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
          const auto& p = object->dlpi_phdr[i];
          const std::uintptr_t start = object->dlpi_addr + p.p_vaddr;
          if (p.p_type == PT_LOAD && x.at >= start && x.at < start + p.p_memsz) limit = start + p.p_memsz;
          if (p.p_type == PT_GNU_EH_FRAME) table = reinterpret_cast<const unsigned char*>(start);
        }
        if (limit == 0 || table == nullptr) return limit != 0 ? 1 : 0;
        // Version 1, a count of 4 bytes, entries of two offsets from the table: what every linker writes.
        if (table[0] != 1 || table[2] != 0x03 || table[3] != 0x3b) return 1;
        std::uint32_t count = 0;
        std::memcpy(&count, table + 8, sizeof count);
        const auto begin_of = [&](std::uint32_t i) {
          std::int32_t offset = 0;
          std::memcpy(&offset, table + 12 + std::size_t{i} * 8, sizeof offset);
          return reinterpret_cast<std::uintptr_t>(table) + static_cast<std::uintptr_t>(std::intptr_t{offset});
        };
        std::uint32_t low = 0;
        std::uint32_t high = count;
        while (low < high) {
          const std::uint32_t middle = low + (high - low) / 2;
          if (begin_of(middle) < x.at) low = middle + 1;
          else high = middle;
        }
        if (low < count && begin_of(low) == x.at) x.found = {x.at, low + 1 < count ? begin_of(low + 1) : limit};
        return 1;
      },
      &s);
  return s.found;
}

/// A thread's own stack. A host may run mruby on another one, of a coroutine: nothing is known of that.
struct stack_range {
  std::uintptr_t low = 0;
  std::uintptr_t top = 0;

  [[nodiscard]] bool holds(std::uintptr_t at) const noexcept { return at >= low && at < top; }
};

/// That of the calling thread; empty = not known.
[[nodiscard]] inline stack_range stack_here() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &low, &size) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return {};
  return {reinterpret_cast<std::uintptr_t>(low), reinterpret_cast<std::uintptr_t>(low) + size};
}

/// Where a thread was interrupted.
struct interrupted_at {
  std::uintptr_t pc = 0;
  std::uintptr_t sp = 0;    ///< 0 = a processor that is not known
  std::uintptr_t link = 0;  ///< where a leaf function returns to, on processors that keep it in a register

  explicit interrupted_at(const void* context) noexcept {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    pc = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
    sp = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
    constexpr std::uintptr_t address = (std::uintptr_t{1} << 48) - 1;  // without the bits that sign a pointer
    pc = machine.pc & address;
    sp = machine.sp;
    link = machine.regs[30] & address;
#else
    static_cast<void>(machine);
#endif
  }
};

class gc_scan {
 public:
  /// Calls from: any thread, once · Allocates: no
  void learn() noexcept {
    incremental_ = range_of(reinterpret_cast<const void*>(&mrb_incremental_gc));
    full_ = range_of(reinterpret_cast<const void*>(&mrb_full_gc));
    loop_ = range_of(reinterpret_cast<const void*>(&mrb_vm_exec));
  }
  [[nodiscard]] bool works() const noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
    return incremental_.end != 0 && full_.end != 0 && loop_.end != 0;
#else
    return false;
#endif
  }

  /// Whether the collector ran. `stack`: the interrupted thread's.
  /// Calls from: signal handler · Blocks: never · Allocates: never · On failure: false
  [[nodiscard]] __attribute__((no_sanitize("address", "thread"))) bool in_collector(
      const interrupted_at& where, const stack_range& stack) const noexcept {
    if (!works()) return false;
    if (is_collector(where.pc) || is_collector(where.link)) return true;
    if (loop_.holds(where.pc) || !stack.holds(where.sp)) return false;
    constexpr std::uintptr_t word = sizeof(std::uintptr_t);
    const std::uintptr_t end = std::min(stack.top, where.sp + farthest);
    for (std::uintptr_t at = (where.sp + word - 1) & ~(word - 1); at + word <= end; at += word) {
      const std::uintptr_t value = *reinterpret_cast<const volatile std::uintptr_t*>(at);
      if (is_collector(value)) return true;
      if (loop_.holds(value)) return false;
    }
    return false;
  }

  /// Whether the interpreter's loop itself was interrupted, not what it had called.
  [[nodiscard]] bool in_loop(const interrupted_at& where) const noexcept { return loop_.holds(where.pc); }
  /// Whether the loop is no more than it is in mruby's source: an optimization of the whole program may have put into it
  /// what it calls.
  [[nodiscard]] bool loop_is_plain() const noexcept { return loop_.end != 0 && loop_.end - loop_.begin <= largest_loop; }

 private:
  static constexpr std::uintptr_t farthest = 16384;
  static constexpr std::uintptr_t largest_loop = 65536;  // 34 to 42 thousand bytes with -O2

  [[nodiscard]] bool is_collector(std::uintptr_t at) const noexcept {
    return incremental_.holds(at) || full_.holds(at);
  }

  code_range incremental_, full_, loop_;
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_INTERRUPTED_HPP
