// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_LOCK_HPP
#define RBPROF_VM_CRUBY_LOCK_HPP

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

class process;

/// The proof that the calling thread holds the VM lock of the main ractor. Only the adapter makes one.
class lock_witness {
 public:
  lock_witness(const lock_witness&) = delete;
  lock_witness& operator=(const lock_witness&) = delete;

 private:
  friend class process;
  lock_witness() noexcept = default;
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_LOCK_HPP
