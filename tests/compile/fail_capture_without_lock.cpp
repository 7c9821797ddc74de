// expect: no matching function for call to .*capture|too few arguments to function call
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// A stack can be read only where the VM lock is held, and the witness is the proof.
#include "../policy/archetypes.hpp"

void sample(archetype::vm& vm, archetype::vm::lock_type& lk) {
  archetype::vm::frame_type frames[8];
#ifdef RBPROF_FIXED
  static_cast<void>(vm.capture(lk, vm.current(lk), frames));
#else
  static_cast<void>(vm.capture(vm.current(lk), frames));
#endif
}
