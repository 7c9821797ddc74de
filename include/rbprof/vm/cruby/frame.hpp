// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_FRAME_HPP
#define RBPROF_VM_CRUBY_FRAME_HPP

#include <cstdint>
#include <type_traits>

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// A frame as the VM gives it. Equal bytes are equal frames.
struct frame {
  std::uint64_t handle = 0;   ///< a method entry, or the code of what is not in a method
  std::int32_t line = 0;      ///< 0 = native, or not known
  std::uint32_t variant = 0;  ///< 0 = as captured; else which prefix its name has ("block in ")
  friend bool operator==(const frame&, const frame&) noexcept = default;
};
static_assert(std::has_unique_object_representations_v<frame>);

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_FRAME_HPP
