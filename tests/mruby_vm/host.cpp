// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include "host.hpp"

#include <mruby/compile.h>

#include <stdexcept>
#include <utility>

namespace host {

namespace {

// mruby has no place for a host's pointer that is ours: one state a thread is enough for tests.
thread_local state* here = nullptr;

mrb_value native(mrb_state* mrb, mrb_value) {
  mrb_value block = mrb_nil_value();
  mrb_get_args(mrb, "&", &block);
  if (here != nullptr && here->on_native) here->on_native();
  return mrb_nil_p(block) ? block : mrb_yield(mrb, block, mrb_nil_value());
}

mrb_value nothing(mrb_state*, mrb_value self) { return self; }

mrb_value spin(mrb_state* mrb, mrb_value self) {
  mrb_int ms = 0;
  mrb_get_args(mrb, "i", &ms);
  const auto until = *rbprof::thread_cpu_now() + rbprof::nanos{ms * 1'000'000};
  while (*rbprof::thread_cpu_now() < until) {
  }
  return self;
}

mrb_value collect(mrb_state* mrb, mrb_value self) {
  const rbprof::nanos began = *rbprof::thread_cpu_now();
  mrb_full_gc(mrb);
  if (here != nullptr) here->collecting += *rbprof::thread_cpu_now() - began;
  return self;
}

mrb_value call(mrb_state* mrb, mrb_value) {
  mrb_value block = mrb_nil_value();
  mrb_get_args(mrb, "o", &block);
  return mrb_funcall(mrb, block, "call", 0);
}

}  // namespace

state::state() : mrb(mrb_open()) {
  mrb_define_method(mrb, mrb->kernel_module, "native", native, MRB_ARGS_BLOCK());
  mrb_define_method(mrb, mrb->kernel_module, "nothing", nothing, MRB_ARGS_NONE());
  mrb_define_method(mrb, mrb->kernel_module, "spin", spin, MRB_ARGS_REQ(1));
  mrb_define_method(mrb, mrb->kernel_module, "collect", collect, MRB_ARGS_NONE());
  mrb_define_method(mrb, mrb->kernel_module, "call_from_c", call, MRB_ARGS_REQ(1));
}

void state::close() {
  if (mrb != nullptr) mrb_close(std::exchange(mrb, nullptr));
}

std::string state::run(std::string_view code, const char* file) {
  here = this;
  const int arena = mrb_gc_arena_save(mrb);
  mrbc_context* const c = mrbc_context_new(mrb);
  mrbc_filename(mrb, c, file);
  mrb_load_nstring_cxt(mrb, code.data(), code.size(), c);
  mrbc_context_free(mrb, c);
  std::string error;
  if (mrb->exc != nullptr) {
    const mrb_value text = mrb_funcall(mrb, mrb_obj_value(mrb->exc), "inspect", 0);
    error.assign(RSTRING_PTR(text), static_cast<std::size_t>(RSTRING_LEN(text)));
    mrb->exc = nullptr;
  }
  mrb_gc_arena_restore(mrb, arena);
  return error;
}

long state::number(std::string_view code) {
  here = this;
  const mrb_value v = mrb_load_nstring(mrb, code.data(), code.size());
  if (mrb->exc != nullptr || !mrb_fixnum_p(v)) throw std::runtime_error("not an Integer: " + std::string(code));
  return static_cast<long>(mrb_fixnum(v));
}

std::vector<std::string> stack_at(state& s, std::string_view code, std::size_t limit, bool* truncated, backend how) {
  adapter v;
  v.options = {s.mrb, how, 400, true};
  sink to;
  if (const absl::Status done = v.attach(to); !done.ok()) throw std::runtime_error(std::string(done.message()));
  std::vector<std::string> words;
  s.on_native = [&] {
    v.with_lock_here([&](lock& lk) {
      std::vector<frame> frames(limit);
      const rbprof::captured got = v.capture(lk, v.current(lk), frames);
      if (truncated != nullptr) *truncated = got.truncated;
      for (std::size_t i = 0; i < got.count; ++i) {
        rbprof::frame_text t;
        if (!v.describe(lk, frames[i], t)) t.name = "(not described)";
        words.push_back(t.native ? t.name + "@" + t.file : t.name + "@" + std::to_string(t.line));
      }
    });
  };
  const std::string error = s.run(code);
  s.on_native = nullptr;
  if (!error.empty()) throw std::runtime_error(error);
  return words;
}

std::vector<std::vector<std::string>> stacks(const rbprof::profile& p) {
  std::vector<std::vector<std::string>> all;
  for (const auto& sample : p.samples()) {
    std::vector<std::string> names;
    p.each_frame(sample.stack, [&](rbprof::frame_id f) {
      names.emplace_back(p.string(p.function(p.frame(f).function).name));
    });
    all.push_back(std::move(names));
  }
  return all;
}

namespace {

template <class Wanted>
double sum(const rbprof::profile& p, rbprof::value_type type, Wanted&& wanted) {
  const auto names = stacks(p);
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (wanted(names[i])) ns += p.samples()[i].amount[type];
  }
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

double leaf(const rbprof::profile& p, std::string_view name, rbprof::value_type type) {
  return sum(p, type, [&](const auto& s) { return !s.empty() && s.front() == name; });
}
double under(const rbprof::profile& p, std::string_view name, rbprof::value_type type) {
  return sum(p, type, [&](const auto& s) { return std::find(s.begin(), s.end(), name) != s.end(); });
}
double total(const rbprof::profile& p, rbprof::value_type type) { return static_cast<double>(p.total(type)) / 1e9; }

std::uint64_t statistic(const rbprof::profile& p, std::string_view name) {
  for (const auto& [known, value] : p.statistics()) {
    if (known == name) return value;
  }
  throw std::runtime_error("no statistic " + std::string(name));
}

bool says(const rbprof::profile& p, std::string_view part) {
  for (const std::string& line : p.comments()) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

rbprof::mruby::options fine(backend how) {
  rbprof::mruby::options o;
  o.interval = rbprof::nanos{250'000};
  o.clock = rbprof::mruby::timer_clock::wall;  // more samples than the cpu clock gives on a busy machine
  o.overhead_target = {20};
  o.stacks = how;
  return o;
}

}  // namespace host
