// expect: is private within this context|calling a private constructor
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// Only the adapter makes a lock witness.
#include "../policy/archetypes.hpp"

void sample(archetype::vm& vm) {
#ifdef RBPROF_FIXED
  vm.with_lock([&](archetype::vm::lock_type& lk) { static_cast<void>(vm.current(lk)); });
#else
  archetype::vm::lock_type lk;
  static_cast<void>(vm.current(lk));
#endif
}
