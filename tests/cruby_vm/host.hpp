// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_CRUBY_VM_HOST_HPP
#define RBPROF_TESTS_CRUBY_VM_HOST_HPP

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <rbprof/vm/cruby.hpp>

// A host for tests: runs Ruby code, records what the adapter calls, asks for safe points as a ticker would.

namespace host {

using adapter = rbprof::vm::cruby;
using lock = adapter::lock_type;
using thread = adapter::thread_type;
using frame = adapter::frame_type;

inline constexpr bool foreign = rbprof::has(adapter::request_from, rbprof::role::foreign);

/// Runs code; the message of its error, or empty.
std::string run(const std::string& code);
/// Runs code that gives a String.
std::string text(const std::string& code);
/// Runs code that gives an Integer.
long number(const std::string& code);

/// Global Ruby methods: `native { }` calls what `on_native` holds, then the block.
void define_methods();
inline std::function<void()> on_native;

struct stack {
  std::vector<rbprof::frame_text> frames;
  std::vector<frame> raw;
  bool truncated = false;

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& f : frames) all.push_back(f.name);
    return all;
  }
  [[nodiscard]] bool has(const std::string& name) const {
    for (const auto& f : frames) {
      if (f.name == name) return true;
    }
    return false;
  }
  [[nodiscard]] const rbprof::frame_text* find(const std::string& name) const {
    for (const auto& f : frames) {
      if (f.name == name) return &f;
    }
    return nullptr;
  }
};

struct sink {
  explicit sink(adapter& vm) : v(vm) {}

  adapter& v;
  std::atomic<int> points{0};
  std::vector<thread> begun, ended;
  std::vector<std::pair<thread, bool>> collections;
  std::vector<rbprof::gc_facts> facts;
  int running = 0;
  bool inside_gc_wrong = false;
  std::function<void(lock&)> at_point;
  std::function<void(lock&, thread, bool)> at_thread;

  void on_safe_point(lock& lk) noexcept {
    ++points;
    if (at_point) at_point(lk);
  }
  void on_thread(lock& lk, thread th, bool begins) noexcept {
    (begins ? begun : ended).push_back(th);
    if (at_thread) at_thread(lk, th, begins);
  }
  void on_gc(thread th, bool enters) noexcept {
    collections.emplace_back(th, enters);
    if (!enters) facts.push_back(v.last_gc());
  }
  void on_running(lock&, thread) noexcept { ++running; }
  void on_bind(bool) noexcept {}
};

/// The whole stack of a thread, in words.
stack read_stack(adapter& v, lock& lk, thread th, std::size_t limit = 3000, bool refine = true);

/// The stack of the running thread at the `native` in `code`, after the adapter was attached.
stack stack_at(adapter& v, const std::string& code, std::size_t limit = 3000);

/// Asks for safe points every millisecond, in the way that this Ruby allows, while it lives.
class ticker {
 public:
  explicit ticker(adapter& v, long period_ns = 1'000'000) : v_(v), period_ns_(period_ns) {
    if constexpr (!foreign) hooked = v_.hook_signal();
    pthread_create(&thread_, nullptr, loop, this);
  }
  ticker(const ticker&) = delete;
  ~ticker() {
    stop_ = true;
    pthread_join(thread_, nullptr);
  }
  absl::Status hooked;
  std::atomic<int> idle{0};

 private:
  static void* loop(void* self);
  adapter& v_;
  long period_ns_;
  pthread_t thread_{};
  std::atomic<bool> stop_{false};
};

std::map<std::string, std::uint64_t> statistics(const adapter& v);

/// Ruby code that is busy until `done` safe points have come, at most ten seconds.
inline std::atomic<int>* points_seen = nullptr;

}  // namespace host

#endif  // RBPROF_TESTS_CRUBY_VM_HOST_HPP
