// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_OBJECTS_HPP
#define RBPROF_VM_CRUBY_OBJECTS_HPP

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <rbprof/model/text.hpp>
#include <rbprof/vm/cruby/names.hpp>
#include <rbprof/vm/cruby/ruby.hpp>

// What a new object is, in words, asked in the VM's hook: before its class has initialised it, where no object may be
// made, and no Ruby method called. So the words come from the object's header and from the name that the VM keeps of a
// class. A class whose `name` or an object whose `class` was redefined can't lie here, nor be made to run.
//
//     a class with a name       Foo::Bar
//     one without               what the VM made it of: Object, String, Array
//     no class, VM's own        (VM Internal, T_IMEMO)

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

struct type_words {
  std::string_view type = "T_UNKNOWN";
  std::string_view plain = {};  ///< the class of an anonymous one's objects; empty = only the VM makes them
};

[[nodiscard]] inline type_words words_of_type(int type) noexcept {
  switch (type) {
    case RUBY_T_OBJECT: return {"T_OBJECT", "Object"};
    case RUBY_T_CLASS: return {"T_CLASS", "Class"};
    case RUBY_T_MODULE: return {"T_MODULE", "Module"};
    case RUBY_T_FLOAT: return {"T_FLOAT", "Float"};
    case RUBY_T_STRING: return {"T_STRING", "String"};
    case RUBY_T_REGEXP: return {"T_REGEXP", "Regexp"};
    case RUBY_T_ARRAY: return {"T_ARRAY", "Array"};
    case RUBY_T_HASH: return {"T_HASH", "Hash"};
    case RUBY_T_STRUCT: return {"T_STRUCT", "Struct"};
    case RUBY_T_BIGNUM: return {"T_BIGNUM", "Integer"};
    case RUBY_T_FILE: return {"T_FILE", "File"};
    case RUBY_T_DATA: return {"T_DATA", {}};
    case RUBY_T_MATCH: return {"T_MATCH", "MatchData"};
    case RUBY_T_COMPLEX: return {"T_COMPLEX", "Complex"};
    case RUBY_T_RATIONAL: return {"T_RATIONAL", "Rational"};
    case RUBY_T_SYMBOL: return {"T_SYMBOL", "Symbol"};
    case RUBY_T_IMEMO: return {"T_IMEMO", {}};
    case RUBY_T_NODE: return {"T_NODE", {}};
    case RUBY_T_ICLASS: return {"T_ICLASS", {}};
    case RUBY_T_NONE: return {"T_NONE", {}};
    default: return {};
  }
}

[[nodiscard]] constexpr bool has_class(int type) noexcept {
  return type != RUBY_T_IMEMO && type != RUBY_T_NODE && type != RUBY_T_ICLASS && type != RUBY_T_NONE;
}

/// `name`: its class; `file`: the VM's own type. Makes no object, calls no method, can't raise.
[[nodiscard]] inline bool describe_object(VALUE object, frame_text& text) {
  const int type = static_cast<int>(RB_BUILTIN_TYPE(object));
  const type_words words = words_of_type(type);
  text.file = words.type;
  // The class of an object, past its singleton and what was included.
  const VALUE shown = has_class(type) ? RBASIC_CLASS(object) : 0;
  const VALUE named = shown != 0 ? rb_class_real(shown) : 0;
  if (named == 0 || (words.plain.empty() && type != RUBY_T_DATA)) {
    text.name = "(VM Internal, ";
    text.name += words.type;
    text.name += ')';
    return true;
  }
  const VALUE name = rb_mod_name(named);
  if (const std::string_view bytes = bytes_of(name); !bytes.empty()) {
    text.name = bytes.find(":0x") == std::string_view::npos ? std::string(bytes) : without_addresses(bytes);
  } else {
    text.name = words.plain.empty() ? "Object" : words.plain;
  }
  return true;
}

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_OBJECTS_HPP
