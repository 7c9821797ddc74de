// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_THREAD_WORDS_HPP
#define RBPROF_VM_CRUBY_THREAD_WORDS_HPP

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <rbprof/model/text.hpp>
#include <rbprof/vm/cruby/ruby.hpp>
#include <rbprof/vm/cruby/thread_slot.hpp>

// Threads in words. Only Ruby methods tell a thread's name and where its block is, and a method must not be
// called from a job: its end delivers what waits to be raised in that thread, a Timeout for instance, into
// our hands. So they are read inline only (at start, when a host asks on a Ruby thread, as a thread begins and
// ends), each time only if the class did not redefine them and nothing waits. For a thread that got its name
// in between, the kernel's copy stands in: it has at most 15 bytes.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// "FILE:LINE" of "#<Thread:0x00007f00@a name FILE:LINE run>"; empty when it has none.
[[nodiscard]] inline std::string_view invoke_location(std::string_view s,
                                                      std::string_view name) noexcept {
  const std::size_t address = s.find(":0x");
  const std::size_t status = s.rfind(' ');
  if (address == std::string_view::npos || status == std::string_view::npos) return {};
  std::size_t at = s.find_first_not_of("0123456789abcdefABCDEF", address + 3);
  if (at == std::string_view::npos) return {};
  if (s[at] == '@') at += 1 + name.size();
  if (at >= status || s[at] != ' ') return {};
  return s.substr(at + 1, status - at - 1);
}

/// What only Ruby methods tell of a thread.
struct thread_answers {
  VALUE name = Qundef;  ///< Qundef = not asked
  VALUE text = Qundef;
  bool alive = true;

  /// May raise, may switch threads: under rb_protect, inline only.
  void ask(VALUE thread, bool ask_text) {
    const VALUE type = rb_obj_class(thread);
    if (basic(type, "alive?")) alive = RTEST(rb_funcall(thread, rb_intern("alive?"), 0));
    if (basic(type, "name")) name = rb_funcall(thread, rb_intern("name"), 0);
    if (ask_text && basic(type, "to_s")) text = rb_funcall(thread, rb_intern("to_s"), 0);
  }

  void store(thread_slot& s) const {
    if (name != Qundef) {
      s.name = bytes_of(name);
      s.name_known = true;
    }
    if (text != Qundef) s.started_at = invoke_location(bytes_of(text), s.name);
  }

 private:
  /// False when a program put a method of its own there.
  [[nodiscard]] static bool basic(VALUE type, const char* method) {
    return rb_method_basic_definition_p(type, rb_intern(method)) != 0;
  }
};

/// The kernel's name of a thread, when it is not the one that Ruby gives to a nameless thread or the one
/// that every thread inherits.
[[nodiscard]] inline std::string kernel_name(pid_t tid, std::string_view started_at) {
  const auto read_name = [](const char* path) {
    char text[32];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::string();
    const ssize_t n = read(fd, text, sizeof text);
    close(fd);
    std::string name(text, n > 0 ? static_cast<std::size_t>(n) : 0);
    if (name.ends_with('\n')) name.pop_back();
    return name;
  };
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", static_cast<int>(tid));
  std::string name = read_name(path);
  if (name.empty() || name == read_name("/proc/self/comm")) return {};
  // Ruby's own: "file.rb:12", cut to 15 bytes with a '*' at the end.
  std::string_view own = started_at.substr(started_at.rfind('/') + 1);
  if (name == own) return {};
  if (own.size() > name.size() && name.ends_with('*') &&
      own.starts_with(std::string_view(name).substr(0, name.size() - 1))) {
    return {};
  }
  return name;
}

/// Runs no Ruby code. False when Ruby raised.
[[nodiscard]] inline bool describe_thread(thread_slot& s, VALUE main, thread_text& out) {
  if (s.id.empty()) {
    VALUE object = Qnil;
    auto ask = [&] { object = rb_obj_id(s.thread); };
    const bool good = protect(ask) && RB_FIXNUM_P(object);
    char text[48];
    std::snprintf(text, sizeof text, "%d (%ld)",
                  static_cast<int>(s.tid.load(std::memory_order_relaxed)),
                  good ? RB_FIX2LONG(object) : -1L);
    s.id = text;
  }
  out.id = s.id;
  out.main = s.thread == main;
  out.started_at = s.started_at;
  out.name = s.name;
  const pid_t tid = s.tid.load(std::memory_order_relaxed);
  if (out.name.empty() && !out.main && tid != 0 && !s.exited.load(std::memory_order_relaxed)) {
    out.name = kernel_name(tid, s.started_at);
  }
  return true;
}

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_THREAD_WORDS_HPP
