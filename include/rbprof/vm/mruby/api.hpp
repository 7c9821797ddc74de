// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_API_HPP
#define RBPROF_VM_MRUBY_API_HPP

// The one place that includes mruby's headers, and the one that knows its versions. They must be compiled with the
// same MRB_ defines as the library (`mruby-config --cflags`); layout_check.hpp finds out whether they were.
//
//                     3.1 to 3.4                        4.0
//   allocator         a field of the state, exchanged   linked into the program
//   hook              only with MRB_USE_DEBUG_HOOK      likewise
//   what is read      callinfo: proc, pc, mid, u; context: cibase, ci, ciend; the same names in all

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <mruby.h>
#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/debug.h>
#include <mruby/gc.h>
#include <mruby/irep.h>
#include <mruby/object.h>
#include <mruby/proc.h>
#include <mruby/string.h>
#include <mruby/variable.h>
#include <mruby/version.h>
#pragma GCC diagnostic pop

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

static_assert(MRUBY_RELEASE_MAJOR * 100 + MRUBY_RELEASE_MINOR >= 301, "rbprof needs mruby 3.1 or later");

// Each in one function of the library, declared for its own sources alone in some versions.
extern "C" {
void mrb_incremental_gc(mrb_state*);
void mrb_full_gc(mrb_state*);
mrb_value mrb_vm_exec(mrb_state*, const struct RProc*, const mrb_code*);
}

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

/// The library calls a function before each instruction, when one is set.
#ifdef MRB_USE_DEBUG_HOOK
inline constexpr bool has_hook = true;
#else
inline constexpr bool has_hook = false;
#endif

/// All memory of a state comes from a function that can be exchanged while it runs.
inline constexpr bool has_allocator = MRUBY_RELEASE_MAJOR < 4;

/// Whether a proc is a method that another name was given; then it has no code.
[[nodiscard]] inline bool is_alias([[maybe_unused]] const RProc& p) noexcept {
#ifdef MRB_PROC_ALIAS_P
  return MRB_PROC_ALIAS_P(&p);
#else
  return false;
#endif
}

[[nodiscard]] inline bool is_class(const RBasic& o) noexcept {
  return o.tt == MRB_TT_CLASS || o.tt == MRB_TT_MODULE || o.tt == MRB_TT_SCLASS;
}

/// Appends the name of a symbol. Short symbols are spelled into a buffer of the state that interrupted code may be
/// reading, so it is put back. Calls from: VM thread · Allocates: no memory of mruby
inline void append_symbol(mrb_state* mrb, mrb_sym s, std::string& out) {
#ifndef MRB_USE_ALL_SYMBOLS
  char keep[sizeof mrb->symbuf];
  std::memcpy(keep, mrb->symbuf, sizeof keep);
#endif
  mrb_int n = 0;
  if (const char* p = mrb_sym_name_len(mrb, s, &n)) out.append(p, static_cast<std::size_t>(n));
#ifndef MRB_USE_ALL_SYMBOLS
  std::memcpy(mrb->symbuf, keep, sizeof keep);
#endif
}

/// Interns without the macros that replace the function in some builds.
[[nodiscard]] inline mrb_sym intern(mrb_state* mrb, std::string_view s) {
  return (mrb_intern)(mrb, s.data(), s.size());
}

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_API_HPP
