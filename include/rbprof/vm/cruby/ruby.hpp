// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_RUBY_HPP
#define RBPROF_VM_CRUBY_RUBY_HPP

// The one place that includes Ruby's headers. They define macros named snprintf, vsnprintf, int128_t and
// uint128_t, with which <string>, <format> and fmt do not compile when they come later. So what those macros
// would break comes first, and the macros go.

#include <cstdio>
#include <string>

// Ruby 3.3 includes <cstdbool>, where g++ 16 has a #warning that even system headers can't hide.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcpp"
#include <ruby.h>
#include <ruby/debug.h>
#include <ruby/ractor.h>
#include <ruby/thread.h>
#include <ruby/version.h>
#include <ruby/vm.h>
#pragma GCC diagnostic pop

#undef snprintf
#undef vsnprintf
#undef int128_t
#undef uint128_t
#undef memcpy

#include <string_view>

// All that differs between the versions of Ruby hangs on this one number: 301, 303, 304, 400.
#define RBPROF_DETAIL_RUBY (RUBY_API_VERSION_MAJOR * 100 + RUBY_API_VERSION_MINOR)

static_assert(RBPROF_DETAIL_RUBY >= 301, "rbprof needs Ruby 3.1 or later");

// From 3.3 on, jobs are registered once and triggered from any thread, and the thread hooks say whose
// thread they speak of. 3.2 has the hooks without that, so it is treated like 3.1.
#define RBPROF_DETAIL_RUBY_HOOKS (RBPROF_DETAIL_RUBY >= 303)

// Exported by every version, declared in a public header only from 4.0 on.
extern "C" int ruby_thread_has_gvl_p(void);

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

inline constexpr int ruby_abi = RBPROF_DETAIL_RUBY;
inline constexpr bool has_thread_hooks = RBPROF_DETAIL_RUBY_HOOKS;

/// The bytes of a Ruby string, valid while the string is alive and not changed; empty for anything else.
[[nodiscard]] inline std::string_view bytes_of(VALUE v) noexcept {
  if (!RB_TYPE_P(v, T_STRING)) return {};
  return {RSTRING_PTR(v), static_cast<std::size_t>(RSTRING_LEN(v))};
}

/// Runs `f()` so that an exception of Ruby ends here. False = it raised; the error is forgotten. `f` must
/// not own anything that a longjmp past it would leak.
template <class F>
[[nodiscard]] bool protect(F& f) noexcept {
  int state = 0;
  rb_protect(
      [](VALUE arg) -> VALUE {
        (*reinterpret_cast<F*>(arg))();
        return Qnil;
      },
      reinterpret_cast<VALUE>(&f), &state);
  if (state == 0) return true;
  rb_set_errinfo(Qnil);
  return false;
}

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_RUBY_HPP
