// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_MRUBY_VM_HOST_HPP
#define RBPROF_TESTS_MRUBY_VM_HOST_HPP

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <rbprof/mruby.hpp>

// A host for tests: an mrb_state that runs code, and can be sampled by hand.

namespace host {

using adapter = rbprof::vm::mruby;
using lock = adapter::lock_type;
using frame = adapter::frame_type;
using rbprof::mruby::backend;

/// An mrb_state with some global methods: `native { }` calls what `on_native` holds, then the block; `spin(ms)` burns
/// that much cpu time in C; `call(proc)` calls it from C; `nothing` does nothing; `collect` collects, and adds the cpu
/// time of it to `collecting`.
class state {
 public:
  state();
  state(const state&) = delete;
  ~state() { close(); }

  void close();
  /// Runs code as the file "test.rb"; the message of its error, or empty.
  std::string run(std::string_view code, const char* file = "test.rb");
  /// The result of code that gives an Integer.
  long number(std::string_view code);

  mrb_state* mrb;
  std::function<void()> on_native;
  rbprof::nanos collecting{0};
};

struct sink {
  std::function<void(lock&)> at_point;
  int points = 0;
  std::vector<bool> bound;
  std::vector<std::pair<rbprof::vm::mruby::thread_type, bool>> threads;

  void on_safe_point(lock& lk) noexcept {
    ++points;
    if (at_point) at_point(lk);
  }
  void on_thread(lock&, rbprof::vm::mruby::thread_type th, bool begins) noexcept { threads.emplace_back(th, begins); }
  void on_gc(rbprof::vm::mruby::thread_type, bool) noexcept {}
  void on_running(lock&, rbprof::vm::mruby::thread_type) noexcept {}
  void on_bind(bool on) noexcept { bound.push_back(on); }
};

/// The stack at the `native` in `code`, in words, leaf first; "name@line".
std::vector<std::string> stack_at(state& s, std::string_view code, std::size_t limit = 400, bool* truncated = nullptr,
                                  backend how = backend::automatic);

/// What a profile holds, by name of the leaf, or of any frame; in seconds of `type`.
double leaf(const rbprof::profile& p, std::string_view name, rbprof::value_type type = rbprof::value_type::cpu_time);
double under(const rbprof::profile& p, std::string_view name, rbprof::value_type type = rbprof::value_type::cpu_time);
double total(const rbprof::profile& p, rbprof::value_type type = rbprof::value_type::cpu_time);
std::uint64_t statistic(const rbprof::profile& p, std::string_view name);
bool says(const rbprof::profile& p, std::string_view part);
/// Stacks by names, leaf first.
std::vector<std::vector<std::string>> stacks(const rbprof::profile& p);

/// A profiler that samples often.
rbprof::mruby::options fine(backend how = backend::automatic);

}  // namespace host

#endif  // RBPROF_TESTS_MRUBY_VM_HOST_HPP
