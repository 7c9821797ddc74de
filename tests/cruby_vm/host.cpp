// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include "host.hpp"

#include <stdexcept>

namespace host {

namespace {

VALUE evaluate(const std::string& code, std::string& error) {
  int state = 0;
  const VALUE v = rb_eval_string_protect(code.c_str(), &state);
  if (state == 0) return v;
  const VALUE e = rb_errinfo();
  rb_set_errinfo(Qnil);
  VALUE message = rb_funcall(e, rb_intern("full_message"), 0);
  error = StringValueCStr(message);
  return Qnil;
}

VALUE native(int, VALUE*, VALUE) {
  if (on_native) on_native();
  return rb_block_given_p() != 0 ? rb_yield(Qnil) : Qnil;
}

VALUE seen(VALUE) { return INT2NUM(points_seen != nullptr ? points_seen->load() : 0); }

}  // namespace

std::string run(const std::string& code) {
  std::string error;
  evaluate(code, error);
  return error;
}

std::string text(const std::string& code) {
  std::string error;
  VALUE v = evaluate(code, error);
  if (!error.empty()) return error;
  v = rb_obj_as_string(v);
  return std::string(rbprof::vm::cruby_detail::bytes_of(v));
}

long number(const std::string& code) {
  std::string error;
  const VALUE v = evaluate(code, error);
  if (!error.empty()) throw std::runtime_error(error);
  return NUM2LONG(v);
}

void define_methods() {
  rb_define_global_function("native", native, -1);
  rb_define_global_function("points", seen, 0);
  run(R"(
    def busy_until(n)
      limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
      x = 0
      while points < n && Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
        x += 1
      end
      x
    end
  )");
}

stack read_stack(adapter& v, lock& lk, thread th, std::size_t limit, bool refine) {
  stack s;
  s.raw.resize(limit);
  const rbprof::captured got = v.capture(lk, th, s.raw);
  s.raw.resize(got.count);
  s.truncated = got.truncated;
  if (refine) v.refine(lk, th, s.raw);
  for (const frame& f : s.raw) {
    rbprof::frame_text t;
    if (!v.describe(lk, f, t)) t.name = "(not described)";
    s.frames.push_back(t);
  }
  return s;
}

stack stack_at(adapter& v, const std::string& code, std::size_t limit) {
  stack s;
  on_native = [&] {
    v.with_lock_here([&](lock& lk) { s = read_stack(v, lk, v.current(lk), limit); });
  };
  const std::string error = run(code);
  on_native = nullptr;
  if (!error.empty()) throw std::runtime_error(error);
  return s;
}

void* ticker::loop(void* self) {
  auto& t = *static_cast<ticker*>(self);
  while (!t.stop_) {
    timespec nap{0, t.period_ns_};
    nanosleep(&nap, nullptr);
    if constexpr (foreign) {
      if (t.v_.request_safe_point() == rbprof::request_result::idle) ++t.idle;
    } else {
      if (const auto tid = t.v_.signal_target()) {
        syscall(SYS_tgkill, getpid(), *tid, SIGPROF);
      } else {
        ++t.idle;
      }
    }
  }
  return nullptr;
}

std::map<std::string, std::uint64_t> statistics(const adapter& v) {
  std::map<std::string, std::uint64_t> all;
  v.each_statistic([&](const char* name, std::uint64_t n) { all[name] = n; });
  return all;
}

}  // namespace host
