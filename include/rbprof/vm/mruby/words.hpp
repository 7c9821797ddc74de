// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_WORDS_HPP
#define RBPROF_VM_MRUBY_WORDS_HPP

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include <rbprof/model/text.hpp>
#include <rbprof/vm/mruby/api.hpp>
#include <rbprof/vm/mruby/frame.hpp>

// Frames in words. mruby may free the code of a frame as soon as it goes on, and give its address to other code, so
// frames are put into words where they are read, each word once:
//
//     Foo#bar  Foo.bar  #<Foo>#bar   methods; the class is that of the definition
//     block in Foo#bar               <main>, block in <main>, <class:Foo>, <module:Foo>
//
// Only memory is read: no method is called, and mruby allocates nothing, so this may run inside its allocator, in the
// middle of a collection.

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

/// Calls from:  VM thread at a safe point
/// Blocks:      never
/// Allocates:   its own memory, for words not seen before
/// On failure:  a part that is not known is left out
class words {
 public:
  /// Interns what is asked for later, which allocates in mruby.
  void begin(mrb_state* mrb) {
    classname_ = intern(mrb, "__classname__");
    attached_ = intern(mrb, "__attached__");
    forget();
  }

  /// Words that were read at one safe point may be found again there: nothing is freed in between.
  void next_safe_point() noexcept { ++epoch_; }

  [[nodiscard]] frame translate(mrb_state* mrb, const raw_frame& r) {
    recent& at = recent_[slot_of(r)];
    if (at.epoch == epoch_ && at.raw == r) return at.known;
    at = {epoch_, r, read(mrb, r)};
    return at.known;
  }
  /// False for a frame that mruby had not filled in yet: its name is no symbol.
  [[nodiscard]] bool has_name(const frame& f) const { return !all_[f.name].empty(); }
  [[nodiscard]] frame outside() { return {number(placeholder::outside_vm), number(""), 0, 1}; }

  [[nodiscard]] bool describe(const frame& f, frame_text& text) const {
    if (f.name >= all_.size() || f.file >= all_.size()) return false;
    text.name = all_[f.name];
    text.file = all_[f.file];
    text.line = f.line;
    text.native = f.native != 0;
    return !text.name.empty();
  }

  /// Drops all words: frames that were made before mean nothing any more.
  void forget() {
    all_.clear();
    numbers_.clear();
    ++epoch_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  struct recent {
    std::uint64_t epoch = 0;
    raw_frame raw;
    frame known;
  };

  [[nodiscard]] static std::size_t slot_of(const raw_frame& r) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(r.irep) / 16 + reinterpret_cast<std::uintptr_t>(r.owner) / 16 +
                      std::uintptr_t{r.pc} * 7 + std::uintptr_t{r.mid} * 31;
    return bits % recents;
  }
  [[nodiscard]] frame read(mrb_state* mrb, const raw_frame& r) {
    name_.clear();
    append_name(mrb, r);
    frame f;
    f.name = number(name_);
    if ((r.is & raw_frame::ruby) == 0) {
      f.file = number("<cfunc>");
      f.native = 1;
      return f;
    }
    const char* file = nullptr;
    if (r.irep != nullptr) {
      const std::uint32_t at = r.pc == 0 ? 0 : r.pc - 1;  // the counter is already past the instruction that runs
      file = mrb_debug_get_filename(mrb, r.irep, at);
      const std::int32_t line = mrb_debug_get_line(mrb, r.irep, at);
      f.line = line > 0 ? line : 0;
    }
    f.file = number(file == nullptr ? "" : file);
    return f;
  }

  void append_name(mrb_state* mrb, const raw_frame& r) {
    const bool ruby = (r.is & raw_frame::ruby) != 0;
    const bool scope = (r.is & raw_frame::scope) != 0;
    const bool block = ruby && !scope && (r.is & raw_frame::nested) != 0 && (r.is & raw_frame::as_method) == 0;
    if (block) name_ += "block in ";
    if (r.mid != 0) {
      append_owner(mrb, r.owner, 0);
      append_symbol(mrb, r.mid, name_);
      return;
    }
    const bool body = scope && r.owner != nullptr && is_class(*reinterpret_cast<const RBasic*>(r.owner));
    if (!ruby || !body) {
      name_ += ruby ? "<main>" : "(C)";
      return;
    }
    if (r.owner->tt == MRB_TT_SCLASS) {
      name_ += "singleton class";
      return;
    }
    name_ += r.owner->tt == MRB_TT_MODULE ? "<module:" : "<class:";
    if (!append_path(mrb, r.owner)) name_ += "?";
    name_ += '>';
  }

  /// "Foo#", "Foo.", "#<Foo>#"; nothing when the owner is not known.
  void append_owner(mrb_state* mrb, RClass* c, int depth) {
    if (c != nullptr && c->tt == MRB_TT_ICLASS) c = c->c;
    if (c == nullptr || depth > 4) return;
    if (c->tt == MRB_TT_SCLASS) {
      const mrb_value of = mrb_obj_iv_get(mrb, reinterpret_cast<RObject*>(c), attached_);
      const bool is_module = mrb_type(of) == MRB_TT_CLASS || mrb_type(of) == MRB_TT_MODULE;
      if (is_module && append_path(mrb, mrb_class_ptr(of))) {
        name_ += '.';
        return;
      }
      RClass* super = is_module ? nullptr : c->super;
      for (int i = 0; super != nullptr && super->tt != MRB_TT_CLASS && i < 100; ++i) super = super->super;
      append_anonymous(mrb, super, is_module ? "Class" : "Object");
      name_ += is_module ? '.' : '#';
      return;
    }
    if (!is_class(*reinterpret_cast<const RBasic*>(c))) return;
    if (!append_path(mrb, c)) append_anonymous(mrb, nullptr, c->tt == MRB_TT_MODULE ? "Module" : "Class");
    name_ += '#';
  }

  void append_anonymous(mrb_state* mrb, RClass* c, std::string_view otherwise) {
    name_ += "#<";
    if (c == nullptr || !append_path(mrb, c)) name_ += otherwise;
    name_ += '>';
  }

  /// The name that a class was given; false when it has none.
  bool append_path(mrb_state* mrb, RClass* c) {
    const mrb_value v = mrb_obj_iv_get(mrb, reinterpret_cast<RObject*>(c), classname_);
    if (mrb_symbol_p(v)) {
      append_symbol(mrb, mrb_symbol(v), name_);
      return true;
    }
    if (!mrb_string_p(v)) return false;
    name_.append(RSTRING_PTR(v), static_cast<std::size_t>(RSTRING_LEN(v)));
    return true;
  }

  [[nodiscard]] std::uint32_t number(std::string_view word) {
    const auto known = numbers_.find(word);
    if (known != numbers_.end()) return known->second;
    const auto n = static_cast<std::uint32_t>(all_.size());
    all_.emplace_back(word);  // a deque: the views of earlier words stay good
    numbers_.emplace(all_.back(), n);
    return n;
  }

  static constexpr std::size_t recents = 64;

  std::deque<std::string> all_;
  absl::flat_hash_map<std::string_view, std::uint32_t> numbers_;
  std::array<recent, recents> recent_{};
  std::uint64_t epoch_ = 1;
  std::string name_;
  mrb_sym classname_ = 0;
  mrb_sym attached_ = 0;
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_WORDS_HPP
