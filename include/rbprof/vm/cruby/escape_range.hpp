// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_ESCAPE_RANGE_HPP
#define RBPROF_VM_CRUBY_ESCAPE_RANGE_HPP

#include <execinfo.h>
#include <unwind.h>

#include <array>
#include <cstddef>

#include <rbprof/vm/cruby/interrupted.hpp>
#include <rbprof/vm/cruby/ruby.hpp>

// Where a stack must not be read. When a block becomes a Proc, Ruby moves the variables of each method around it
// to the heap, and for about ten instructions the chain between them is torn: a walk that interrupts it there reads
// an address that is none. All of it is one static function of libruby that calls itself once for each level. It is
// found by what it does: a Proc is made eight blocks deep, and whenever Ruby allocates an internal object
// meanwhile, the C stack shows that function several times in a row.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

class escape_finder {
 public:
  /// Runs Ruby code: VM lock held. Learns the range when exactly one function answers the description; a processor
  /// whose unwinder does not work finds none.
  static void find(code_range& range) noexcept {
    escape_finder here;
    std::array<void*, 4> warm{};
    static_cast<void>(backtrace(warm.data(), static_cast<int>(warm.size())));  // its first call allocates
    VALUE nested = Qnil;
    VALUE trace = Qnil;
    auto run = [&] {
      nested = rb_eval_string(
          "proc { 1.times { 1.times { 1.times { 1.times { 1.times { 1.times { 1.times { proc {} } } } } } } } }");
      trace = rb_tracepoint_new(Qnil, RUBY_INTERNAL_EVENT_NEWOBJ, &escape_finder::on_new_object, &here);
      rb_proc_call(nested, rb_ary_new());
      rb_tracepoint_enable(trace);
      rb_proc_call(nested, rb_ary_new());
    };
    const bool ran = protect(run);
    // What ran is the program's to change, and a Timeout may hit it: the hook, which knows `here`, goes in any case.
    auto end = [&] {
      if (!NIL_P(trace) && RTEST(rb_tracepoint_enabled_p(trace))) rb_tracepoint_disable(trace);
    };
    static_cast<void>(protect(end));
    RB_GC_GUARD(nested);
    RB_GC_GUARD(trace);
    if (ran && here.found_ == 1) range.learn(here.inside_);
  }

 private:
  static void on_new_object(VALUE trace, void* self) {
    const VALUE object = rb_tracearg_object(rb_tracearg_from_tracepoint(trace));
    if (RB_BUILTIN_TYPE(object) == RUBY_T_IMEMO) static_cast<escape_finder*>(self)->look();
  }

  void look() noexcept {
    std::array<void*, 64> calls{};
    const int n = backtrace(calls.data(), static_cast<int>(calls.size()));
    void* before = nullptr;
    int run = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      void* const f = _Unwind_FindEnclosingFunction(calls[i]);
      run = f != nullptr && f == before ? run + 1 : 1;
      before = f;
      if (run < 3 || f == function_) continue;
      function_ = f;
      inside_ = calls[i];  // the unwinder looks just before an address, so a function's own start is not in it
      ++found_;
    }
  }

  void* function_ = nullptr;
  void* inside_ = nullptr;
  int found_ = 0;
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_ESCAPE_RANGE_HPP
