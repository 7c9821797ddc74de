// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_INTERRUPTED_HPP
#define RBPROF_VM_CRUBY_INTERRUPTED_HPP

#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

// What a signal handler can tell of the place that it interrupted.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// The program counter that was interrupted; 0 on a processor that we do not know.
[[nodiscard]] inline std::uintptr_t interrupted_pc(const void* context) noexcept {
  const auto* uc = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(uc->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(uc->uc_mcontext.pc);
#else
  static_cast<void>(uc);
  return 0;
#endif
}

/// True when the handler runs on the alternate stack, where the VM deals with a crash or with an overflow of
/// its stack. `here` is the address of a local variable of the handler.
[[nodiscard]] inline bool on_alternate_stack(const void* context, const void* here) noexcept {
  const auto& stack = static_cast<const ucontext_t*>(context)->uc_stack;
  const auto at = reinterpret_cast<std::uintptr_t>(here);
  const auto low = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
  return (stack.ss_flags & SS_DISABLE) == 0 && at >= low && at < low + stack.ss_size;
}

/// The range of one function of the VM, so that a handler can tell that it interrupted it. Such functions are
/// static in libruby, but the unwind tables, which survive stripping, know where each begins and ends.
class code_range {
 public:
  /// The function around an address. Once; later calls do nothing.
  void learn(void* address) noexcept {
    if (known()) return;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    void* const function = _Unwind_FindEnclosingFunction(address);
    if (function == nullptr) return;
    std::uintptr_t end = at;
    while (end - at < max_size && _Unwind_FindEnclosingFunction(
                                      reinterpret_cast<void*>(end + 1)) == function) {
      ++end;
    }
    begin_.store(reinterpret_cast<std::uintptr_t>(function), std::memory_order_relaxed);
    end_.store(end, std::memory_order_release);  // pairs with acquire in holds()
  }

  /// Calls from: signal handler · Blocks: never · Allocates: never · On failure: false while nothing is known
  [[nodiscard]] bool holds(std::uintptr_t pc) const noexcept {
    const std::uintptr_t end = end_.load(std::memory_order_acquire);
    return pc != 0 && pc < end && pc >= begin_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool known() const noexcept { return end_.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(end_.load(std::memory_order_relaxed) -
                                    begin_.load(std::memory_order_relaxed));
  }

 private:
  static constexpr std::uintptr_t max_size = 65536;
  std::atomic<std::uintptr_t> begin_{0};
  std::atomic<std::uintptr_t> end_{0};
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_INTERRUPTED_HPP
