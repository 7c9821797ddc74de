// expect: no match for .operator=|no viable overloaded|cannot convert
// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

// A frame is not a stack, though both are numbers.
#include <rbprof/base/id.hpp>

void swap_up(rbprof::stack_id& stack, rbprof::frame_id frame) {
#ifdef RBPROF_FIXED
  stack = rbprof::stack_id{frame.value};
#else
  stack = frame;
#endif
}
