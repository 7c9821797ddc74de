// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <pthread.h>
#include <signal.h>

#include <string>
#include <vector>

#include "host.hpp"

// Stacks that the signal's handler takes: who may be looked at, and whose they are.

using namespace host;

namespace {

/// Attached, with a handler that takes stacks. The signals come from the tests.
struct with_handler {
  adapter v;
  sink s{v};

  with_handler() { start(); }
  ~with_handler() { stop(); }

  void start(bool capture = true) {
    v.options.handler_capture = v.options.unsound_handler_capture = capture;
    REQUIRE(v.attach(s).ok());
    REQUIRE(v.hook_signal().ok());
  }
  void stop() {
    v.unhook_signal();
    static_cast<void>(v.detach());
  }
  std::uint64_t taken() { return statistics(v)["async_taken"]; }
};

/// Delivered before it returns.
void signal_here() { pthread_kill(pthread_self(), SIGPROF); }

bool waits_for_me(with_handler& h) {
  std::vector<frame> room(400);
  bool waits = false;
  h.v.with_lock_here([&](lock& lk) { waits = h.v.take_async(lk, h.v.current(lk), room).has_value(); });
  return waits;
}

}  // namespace

TEST_CASE("A handler's stack is had once, and a second one does not replace it") {
  with_handler h;
  bool first = false;
  bool second = true;
  std::uint64_t taken = 0;
  on_native = [&] {
    signal_here();
    signal_here();
    taken = h.taken();
    first = waits_for_me(h);
    second = waits_for_me(h);
  };
  CHECK(run("native") == "");
  on_native = nullptr;
  CHECK(taken == 1);
  CHECK(first);
  CHECK_FALSE(second);
  CHECK(statistics(h.v)["async_pending"] == 1);
}

TEST_CASE("What a handler left when profiling stopped is nobody's in the next run") {
  static with_handler h;
  bool left = true;
  on_native = [&] {
    signal_here();
    h.stop();
    h.start(false);
    left = waits_for_me(h);
  };
  CHECK(run("native") == "");
  on_native = nullptr;
  CHECK(h.taken() == 1);
  CHECK_FALSE(left);
}

TEST_CASE("A thread that is older than the profiler has its stack taken too") {
  REQUIRE(run("$go = Queue.new; $old = Thread.new { $go.pop; native; native }; Thread.pass until $old.stop?").empty());
  with_handler h;
  std::uint64_t taken = 0;
  on_native = [&] {
    h.v.with_lock_here([&](lock& lk) { static_cast<void>(h.v.current(lk)); });
    const std::uint64_t before = h.taken();
    signal_here();
    taken += h.taken() - before;
    static_cast<void>(waits_for_me(h));
  };
  CHECK(run("$go << 1; $old.join") == "");
  on_native = nullptr;
  CHECK(taken == 2);
}

TEST_CASE("Once a thread has told of its end, no handler looks at it") {
  // Ruby runs the hooks that came last first: this one runs after the adapter's, and the one below before it.
  static int open_at_end = 0;
  static int ends = 0;
  auto after = [](rb_event_flag_t, VALUE, VALUE, ID, VALUE) {
    ++ends;
    if (rbprof::vm::cruby_detail::slot_here.load() != nullptr) ++open_at_end;
  };
  rb_add_event_hook(after, RUBY_EVENT_THREAD_END, Qnil);
  static with_handler h;
  static int points_at_end = 0;
  auto before = [](rb_event_flag_t, VALUE, VALUE, ID, VALUE) {
    points_at_end -= h.s.points;
    static_cast<void>(h.v.request_safe_point());  // what the adapter asks Ruby at an end runs this job
  };
  rb_add_event_hook(before, RUBY_EVENT_THREAD_END, Qnil);
  h.s.at_thread = [](lock&, thread, bool begins) {
    if (!begins) points_at_end += h.s.points;
  };
  CHECK(run("30.times { |i| Thread.new { Thread.current.name = \"t#{i}\" }.join }") == "");
  h.s.at_thread = nullptr;
  CHECK(ends == 30);
  CHECK(points_at_end > 0);  // else nothing was tried
  CHECK(open_at_end == 0);
  rb_remove_event_hook(after);
  rb_remove_event_hook(before);
}

TEST_CASE("A program that raises while the torn function is looked for leaves no hook behind") {
  REQUIRE(run(R"(
    class Integer
      alias old_times times
      def times(&b) = ($n = $n.to_i + 1) > 10 ? raise("no") : old_times(&b)
    end
  )").empty());
  with_handler h;
  CHECK(run("class Integer; alias times old_times; end; Array.new(1000) { proc { |x| x } }; GC.start") == "");
  CHECK(number("$n") == 11);
  CHECK_FALSE(rbprof::has(h.v.features(), rbprof::feature::async_capture));
  h.stop();
  CHECK(number("ObjectSpace.each_object(TracePoint).count(&:enabled?)") == 0);
}
