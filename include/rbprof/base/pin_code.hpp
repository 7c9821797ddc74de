// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_PIN_CODE_HPP
#define RBPROF_BASE_PIN_CODE_HPP

#include <dlfcn.h>

#include <type_traits>

// Pointers to our functions get to where nobody can take them back: jobs and hooks of a VM, the process's fork
// handlers, threads. A plug-in that is unloaded would take the functions along. So the file that they are in stays.
//
// Variables of header-only code may be shared by several plug-ins (the linker sees to that), while each has its own
// code. So whoever hands a function over pins it, each time, and not only whoever is the first.

namespace rbprof::inline v0 {

/// Keeps the file that `code` is in in memory until the process ends. Calls from: any thread · Blocks: while another
/// thread loads a library · Allocates: yes · On failure: none, for what can't be unloaded anyway
template <class Function>
void pin_code(Function* code) noexcept {
  static_assert(std::is_function_v<Function>);
  Dl_info where{};
  if (dladdr(reinterpret_cast<const void*>(code), &where) == 0 || where.dli_fname == nullptr) return;
  // Null for the program itself. The handle is leaked on purpose.
  static_cast<void>(dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_PIN_CODE_HPP
