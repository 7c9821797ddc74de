// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_FRAME_HPP
#define RBPROF_VM_MRUBY_FRAME_HPP

#include <cstdint>

#include <rbprof/vm/mruby/api.hpp>

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

/// The lock witness. An mrb_state has no lock: the thread that drives it is the only one that may look at it.
class lock_witness {
 public:
  lock_witness(const lock_witness&) = delete;
  lock_witness& operator=(const lock_witness&) = delete;

 private:
  friend class attachment;
  lock_witness() noexcept = default;
};

/// A frame in the words of the adapter's own tables: nothing of the VM is kept, so nothing need be kept alive.
struct frame {
  std::uint32_t name = 0;
  std::uint32_t file = 0;
  std::int32_t line = 0;
  std::uint32_t native = 0;

  friend bool operator==(const frame&, const frame&) = default;
};

/// A frame as it was read: pointers that are good until mruby next frees memory.
struct raw_frame {
  enum kind : std::uint32_t {
    ruby = 1,      ///< has code; else a method written in C
    scope = 2,     ///< a method or the body of a class; else a block, or the program
    nested = 4,    ///< has code around it
    as_method = 8  ///< a block that runs under another name than that of the method around it (define_method)
  };
  const mrb_irep* irep = nullptr;  ///< null = the line is not known
  RClass* owner = nullptr;         ///< whose method it is, never an inclusion; may be null
  std::uint32_t pc = 0;            ///< of the instruction after the one that runs
  mrb_sym mid = 0;
  std::uint32_t is = 0;  ///< kinds
  std::uint32_t unused = 0;  ///< so that equal frames have equal bytes

  friend bool operator==(const raw_frame&, const raw_frame&) = default;
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_FRAME_HPP
