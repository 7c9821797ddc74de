// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_GC_WORDS_HPP
#define RBPROF_VM_CRUBY_GC_WORDS_HPP

#include <array>
#include <utility>

#include <rbprof/policy/moment.hpp>
#include <rbprof/vm/cruby/ruby.hpp>

// What the collector's last run was, in the words of its labels.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

class gc_words {
 public:
  /// Interns all symbols and asks once. The first call of rb_gc_latest_gc_info interns symbols of its own;
  /// inside a collection that allocation would abort the process. Under rb_protect, once.
  void make() {
    major_by_ = symbol("major_by");
    gc_by_ = symbol("gc_by");
    state_ = symbol("state");
    none_ = symbol("none");
    marking_ = symbol("marking");
    sweeping_ = symbol("sweeping");
    constexpr const char* reasons[] = {"nofree", "oldgen", "shady", "force", "oldmalloc"};
    constexpr const char* causes[] = {"newobj", "malloc", "method", "capi", "stress"};
    for (std::size_t i = 0; i < reasons_.size(); ++i) reasons_[i].first = symbol(reasons[i]);
    for (std::size_t i = 0; i < causes_.size(); ++i) causes_[i].first = symbol(causes[i]);
    rb_gc_latest_gc_info(state_);
  }

  /// Allocates nothing and runs no Ruby code; for the hook at the end of a collection.
  [[nodiscard]] gc_facts last() const noexcept {
    const VALUE major_by = rb_gc_latest_gc_info(major_by_);
    const VALUE state = rb_gc_latest_gc_info(state_);
    gc_facts f;
    f.cause = word(causes_, rb_gc_latest_gc_info(gc_by_));
    f.type = "minor";
    if (NIL_P(major_by)) return f;
    f.reason = word(reasons_, major_by);
    f.type = state == marking_    ? "major (ongoing, marking)"
             : state == sweeping_ ? "major (ongoing, sweeping)"
                                  : "major";
    f.major_ended = state == none_;
    return f;
  }

 private:
  using entry = std::pair<VALUE, const char*>;

  /// A symbol of a literal never moves and never dies.
  [[nodiscard]] static VALUE symbol(const char* name) { return rb_id2sym(rb_intern(name)); }
  template <std::size_t N>
  [[nodiscard]] static const char* word(const std::array<entry, N>& all, VALUE symbol) noexcept {
    for (const entry& e : all) {
      if (e.first == symbol) return e.second;
    }
    return "unknown";
  }

  VALUE major_by_ = Qnil, gc_by_ = Qnil, state_ = Qnil;
  VALUE none_ = Qnil, marking_ = Qnil, sweeping_ = Qnil;
  std::array<entry, 5> reasons_{{{Qnil, "not enough free slots (NOFREE)"},
                                 {Qnil, "old generation full (OLDGEN)"},
                                 {Qnil, "too many objects without write barriers (SHADY)"},
                                 {Qnil, "requested (FORCE)"},
                                 {Qnil, "heap bytes allocated threshold (OLDMALLOC)"}}};
  std::array<entry, 5> causes_{{{Qnil, "object allocation"},
                                {Qnil, "malloc()"},
                                {Qnil, "GC.start()"},
                                {Qnil, "rb_gc()"},
                                {Qnil, "stress"}}};
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_GC_WORDS_HPP
