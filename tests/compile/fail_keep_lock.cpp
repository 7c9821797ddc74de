// expect: use of deleted function|call to deleted constructor
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// A lock witness can't be copied to a place where the lock may be gone.
#include "../policy/archetypes.hpp"

struct later {
#ifdef RBPROF_FIXED
  explicit later(archetype::vm::lock_type&) {}
#else
  explicit later(archetype::vm::lock_type& lk) : kept(lk) {}
  archetype::vm::lock_type kept;
#endif
};
