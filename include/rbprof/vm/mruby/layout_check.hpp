// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_LAYOUT_CHECK_HPP
#define RBPROF_VM_MRUBY_LAYOUT_CHECK_HPP

#include <absl/status/status.h>

#include <array>
#include <string>
#include <string_view>

#include <rbprof/vm/mruby/api.hpp>

// mruby's headers describe other structures under other defines, and nothing but the programmer makes the host's defines
// those of the library. A host that is wrong reads and writes the wrong fields, silently. So an attach first compares
// what the headers say with what the library's functions answer.

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

[[nodiscard]] inline absl::Status layout_error(std::string_view what) {
  return absl::FailedPreconditionError(
      "this program was compiled with other settings than its libmruby (" + std::string(what) +
      "): compile it with the flags of `mruby-config --cflags`, above all MRB_USE_DEBUG_HOOK, and the headers of the "
      "same version (here: " MRUBY_VERSION ")");
}

/// Calls from: VM thread, outside of any collection · Allocates: a little in mruby · On failure: says what differs
[[nodiscard]] inline absl::Status check_layout(mrb_state* mrb) {
  const mrb_context* c = mrb->c;
  if (c == nullptr || mrb->root_c == nullptr || c->cibase == nullptr || c->ci < c->cibase || c->ci >= c->ciend) {
    return layout_error("the call stack is not where the headers say");
  }
  if (mrb->eException_class != (mrb_class_get)(mrb, "Exception")) {
    return layout_error("mrb_state is laid out differently");
  }
  const bool boxing = mrb_obj_class(mrb, mrb_fixnum_value(1)) == mrb->integer_class &&
                      mrb_obj_class(mrb, mrb_nil_value()) == mrb->nil_class &&
                      mrb_obj_class(mrb, mrb_true_value()) == mrb->true_class &&
                      mrb_obj_class(mrb, mrb_obj_value(mrb->object_class)) == mrb->class_class;
  if (!boxing) return layout_error("values are boxed differently");
  const int arena = mrb_gc_arena_save(mrb);
  const std::array<mrb_value, 2> two{mrb_fixnum_value(7), mrb_true_value()};
  const mrb_value array = mrb_ary_new_from_values(mrb, 2, two.data());
  const bool arrays = mrb_array_p(array) && RARRAY_LEN(array) == 2 && mrb_fixnum(RARRAY_PTR(array)[0]) == 7 &&
                      mrb_true_p(RARRAY_PTR(array)[1]);
  std::string version;
  const mrb_sym name = intern(mrb, "MRUBY_VERSION");
  const mrb_value object = mrb_obj_value(mrb->object_class);
  if (arrays && mrb_const_defined(mrb, object, name)) {
    const mrb_value v = mrb_const_get(mrb, object, name);
    if (mrb_string_p(v)) version.assign(RSTRING_PTR(v), static_cast<std::size_t>(RSTRING_LEN(v)));
  }
  mrb_gc_arena_restore(mrb, arena);
  if (!arrays) return layout_error("values are boxed differently");
  if (!version.empty() && version != MRUBY_VERSION) return layout_error("the library is mruby " + version);
  return absl::OkStatus();
}

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_LAYOUT_CHECK_HPP
