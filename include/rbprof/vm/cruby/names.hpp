// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_NAMES_HPP
#define RBPROF_VM_CRUBY_NAMES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <rbprof/model/text.hpp>
#include <rbprof/vm/cruby/ruby.hpp>

// Names of frames, the same on every version of Ruby: "Foo#bar", "Foo.bar", "block in Foo#bar", "<main>".
// Only rb_profile_frame_* is called: it runs no Ruby code, but it may allocate, hence rb_protect.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// Takes addresses out of a name: "#<Class:0x00007f12>" becomes "#<Class>". A name with an address in it is
/// another one in every process, so it could never be added up.
[[nodiscard]] inline std::string without_addresses(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) {
    if (s.substr(i).starts_with(":0x")) {
      const std::size_t end =
          std::min(s.find_first_not_of("0123456789abcdefABCDEF", i + 3), s.size());
      if (end > i + 3) {
        i = end;
        continue;
      }
    }
    out += s[i++];
  }
  return out;
}

/// Length of the prefix of a label that says how the frame belongs to its method: "block in ",
/// "block (2 levels) in ", "rescue in ", "ensure in ", and their compounds.
[[nodiscard]] inline std::size_t label_prefix(std::string_view label) noexcept {
  std::size_t at = 0;
  for (;;) {
    const std::string_view rest = label.substr(at);
    if (rest.starts_with("block in ")) {
      at += 9;
    } else if (rest.starts_with("rescue in ") || rest.starts_with("ensure in ")) {
      at += 10;
    } else if (rest.starts_with("block (")) {
      std::size_t digits = 7;
      while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
      if (digits == 7 || !rest.substr(digits).starts_with(" levels) in ")) return at;
      at += digits + 12;
    } else {
      return at;
    }
  }
}

/// Templates are compiled to methods with a random tail, "_page_html_erb__123_456" or "___123_456", new in
/// every process. Without the tail, where such a name comes from a file that is not Ruby source.
[[nodiscard]] inline std::string_view without_template_tail(std::string_view name,
                                                            std::string_view file) noexcept {
  if (file.ends_with(".rb") || name.size() > 1024) return name;
  const auto digits_before = [&](std::size_t end) {
    std::size_t at = end;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
    return at;
  };
  const std::size_t second = digits_before(name.size());
  if (second == name.size() || second == 0 || name[second - 1] != '_') return name;
  const std::size_t first = digits_before(second - 1);
  if (first == second - 1) return name;
  std::string_view kept = name.substr(0, first);
  if (!kept.ends_with("__")) return name;
  while (kept.ends_with('_') && name.size() - kept.size() < name.size() - first + 3) {
    kept.remove_suffix(1);
  }
  return kept.empty() ? name : kept;
}

/// What the VM says of a frame.
struct frame_words {
  VALUE path = Qnil;
  VALUE absolute_path = Qnil;
  VALUE label = Qnil;
  VALUE method = Qnil;
  VALUE owner = Qnil;
  std::int32_t first_line = 0;
  bool singleton = false;

  /// May raise, may allocate.
  void ask(VALUE frame) {
    path = rb_profile_frame_path(frame);
    absolute_path = rb_profile_frame_absolute_path(frame);
    label = rb_profile_frame_label(frame);
    method = rb_profile_frame_method_name(frame);
    const VALUE line = rb_profile_frame_first_lineno(frame);
    first_line = RB_FIXNUM_P(line) ? static_cast<std::int32_t>(RB_FIX2LONG(line)) : 0;
    singleton = RTEST(rb_profile_frame_singleton_method_p(frame));
    owner = rb_profile_frame_classpath(frame);
  }
};

/// "Foo#bar", "Foo.bar"; for what is not in a method, the label, which says "block in <main>" by itself.
[[nodiscard]] inline std::string frame_name(const frame_words& w, std::string_view file,
                                            std::string_view prefix) {
  const std::string_view method = bytes_of(w.method);
  if (method.empty()) {
    const std::string_view label = bytes_of(w.label);
    std::string name = without_addresses(label);
    // Code without a file of its own is called <main> up to 3.3 and <compiled> later.
    if (const std::size_t at = name.rfind("<compiled>"); at != std::string::npos) {
      name.replace(at, 10, "<main>");
    }
    return name.empty() ? std::string(placeholder::no_name) : name;
  }
  std::string name(prefix);
  const std::string owner = without_addresses(bytes_of(w.owner));
  if (!owner.empty()) {
    name += owner;
    // The singleton of a class or a module has methods "of" it; that of an object is an instance.
    const bool of_object = owner.starts_with("#<") && !owner.starts_with("#<Class") &&
                           !owner.starts_with("#<Module");
    name += w.singleton && !of_object ? '.' : '#';
  }
  name += without_template_tail(method, file);
  return name;
}

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_NAMES_HPP
