// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_GUARDED_READ_HPP
#define RBPROF_VM_MRUBY_GUARDED_READ_HPP

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstddef>

// A signal may arrive while mruby moves its call stack, or before it has filled a frame, so a pointer that is found
// there may lead nowhere. The kernel copies from an address without harm: what is not mapped is an error, no crash.

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

/// Calls from: signal handler · Blocks: never · Allocates: never · On failure: false
[[nodiscard]] inline bool guarded_read(pid_t self, void* to, const void* from, std::size_t n) noexcept {
  const iovec here{to, n};
  const iovec there{const_cast<void*>(from), n};
  return syscall(SYS_process_vm_readv, self, &here, 1UL, &there, 1UL, 0UL) == static_cast<ssize_t>(n);
}

/// Copies many small things with one call, and one more for each that can't be read.
template <std::size_t Capacity>
class guarded_batch {
 public:
  void clear() noexcept { count_ = 0; }
  /// The place of the answer in `ok`.
  std::size_t add(void* to, const void* from, std::size_t n) noexcept {
    here_[count_] = {to, n};
    there_[count_] = {const_cast<void*>(from), n};
    ok_[count_] = false;
    return count_++;
  }
  /// Calls from: signal handler · Blocks: never · Allocates: never · On failure: ok(i) stays false
  void run(pid_t self) noexcept {
    std::size_t i = 0;
    while (i < count_) {
      const ssize_t got = syscall(SYS_process_vm_readv, self, &here_[i], count_ - i, &there_[i], count_ - i, 0UL);
      std::size_t left = got < 0 ? 0 : static_cast<std::size_t>(got);
      while (i < count_ && left >= here_[i].iov_len) {
        left -= here_[i].iov_len;
        ok_[i++] = true;
      }
      if (i < count_) ++i;  // this one stopped it: its answer is no
    }
  }
  [[nodiscard]] bool ok(std::size_t i) const noexcept { return ok_[i]; }

 private:
  std::array<iovec, Capacity> here_{};
  std::array<iovec, Capacity> there_{};
  std::array<bool, Capacity> ok_{};
  std::size_t count_ = 0;
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_GUARDED_READ_HPP
