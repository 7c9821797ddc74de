// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include "host.hpp"

#include <catch2/catch_session.hpp>

#include <dirent.h>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace host {

namespace {

VALUE evaluate(const std::string& code, std::string& error) {
  int state = 0;
  const VALUE v = rb_eval_string_protect(code.c_str(), &state);
  if (state == 0) return v;
  VALUE message = rb_funcall(rb_errinfo(), rb_intern("full_message"), 0);
  rb_set_errinfo(Qnil);
  error = StringValueCStr(message);
  return Qnil;
}

VALUE native(VALUE) {
  if (on_native) on_native();
  return Qnil;
}

}  // namespace

std::string run(const std::string& code) {
  std::string error;
  evaluate(code, error);
  return error;
}

double number(const std::string& code) {
  std::string error;
  const VALUE v = evaluate(code, error);
  if (!error.empty()) throw std::runtime_error(error);
  return NUM2DBL(v);
}

void define_methods() {
  rb_define_global_function("native", native, 0);
  run(R"ruby(
    def cpu_now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    def spin(seconds)
      t = cpu_now
      nil while cpu_now - t < seconds
    end
  )ruby");
}

std::uint64_t statistic(const rbprof::profile& p, std::string_view name) {
  for (const auto& [known, value] : p.statistics()) {
    if (known == name) return value;
  }
  throw std::runtime_error("no statistic " + std::string(name));
}

std::uint64_t statistic(const rbprof::cruby::profiler& p, std::string_view name) {
  for (const auto& [known, value] : p.stats()) {
    if (known == name) return value;
  }
  throw std::runtime_error("no statistic " + std::string(name));
}

std::string label_of(const rbprof::profile& p, const rbprof::profile_sample& s, std::string_view key) {
  for (const rbprof::profile_label& l : p.labels(s.labels)) {
    if (p.string(l.key) == key) return l.is_num ? std::to_string(l.num) : std::string(p.string(l.str));
  }
  return {};
}

std::int64_t total(const rbprof::profile& p, rbprof::value_type type, std::string_view key, std::string_view value) {
  std::int64_t sum = 0;
  for (const rbprof::profile_sample& s : p.samples()) {
    const std::string found = label_of(p, s, key);
    if (value.empty() ? !found.empty() : found == value) sum += s.amount[type];
  }
  return sum;
}

double cpu_of_native_thread(const std::string& name) {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
  while (const dirent* const entry = readdir(tasks.get())) {
    const std::string task = std::string("/proc/self/task/") + entry->d_name;
    std::string found;
    std::getline(std::ifstream(task + "/comm"), found);
    if (found != name) continue;
    double nanoseconds = 0;
    std::ifstream(task + "/schedstat") >> nanoseconds;
    return nanoseconds / 1e9;
  }
  throw std::runtime_error("no thread " + name);
}

}  // namespace host

// Ruby's stack begins in this frame.
int main(int argc, char** argv) {
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  char name[] = "field_faults_test", flag[] = "-e", code[] = "0";
  char* options[] = {name, flag, code, nullptr};
  ruby_options(3, options);
  host::define_methods();
  return Catch::Session().run(argc, argv);
}
