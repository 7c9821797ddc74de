// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_HEAP_PROBE_HPP
#define RBPROF_VM_CRUBY_HEAP_PROBE_HPP

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include <rbprof/vm/cruby/ruby.hpp>

// Has Ruby been shut down? A profiler that has been started once is told. One that has not must find out, and
// Ruby has no function that could be asked: each would look at what is gone. Up to 3.2 libruby shows its variable
// that points to the VM, which is null then. Later ones map the heap by themselves, and take it away: so the kernel
// reads the header of the class Object, where a page that is not there is an error and no crash.

extern "C" [[gnu::weak]] void* ruby_current_vm_ptr;

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// False: Ruby is not there any more. Needs a Ruby that has been up. Calls from: any thread · Blocks: no ·
/// Allocates: no · On failure: true, where the kernel does not answer
[[nodiscard]] inline bool ruby_is_there() noexcept {
  if (&ruby_current_vm_ptr != nullptr && ruby_current_vm_ptr == nullptr) return false;
  RBasic header{};
  iovec to{&header, sizeof header};
  iovec from{reinterpret_cast<void*>(rb_cObject), sizeof header};
  const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  if (got < 0) return errno != EFAULT;
  return got == static_cast<ssize_t>(sizeof header) && (header.flags & RUBY_T_MASK) == RUBY_T_CLASS;
}

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_HEAP_PROBE_HPP
