// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/vm/simulated.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "random_program.hpp"

namespace {

using namespace std::chrono_literals;
using rbprof::mono;
using rbprof::nanos;
namespace vm = rbprof::vm;
namespace steps = rbprof::vm::steps;

const vm::simulated_stack work{{2, 10}, {1, 3}};
const vm::simulated_stack other{{3, 7}, {1, 4}};
const vm::simulated_stack call{{9, 0}, {1, 5}};

/// Writes down what the VM tells, with the virtual time.
template <class V>
struct witness {
  explicit witness(V& adapter) : v(adapter) { REQUIRE(v.attach(*this).ok()); }
  ~witness() { (void)v.detach(); }
  witness(const witness&) = delete;

  void note(const std::string& what) {
    lines.push_back(std::to_string((v.true_now() - mono{1'000'000'000}) / 1ms) + " " + what);
  }
  void on_safe_point(typename V::lock_type& lk) noexcept {
    std::array<typename V::frame_type, 8> room{};
    const auto th = v.current(lk);
    (void)v.capture(lk, th, room);
    note("safe point " + std::to_string(th) + " in " + std::to_string(room[0].function));
  }
  void on_thread(typename V::lock_type&, std::uint32_t th, bool begins) noexcept {
    note((begins ? "begin " : "end ") + std::to_string(th));
  }
  void on_gc(std::uint32_t th, bool enters) noexcept {
    note((enters ? "gc enter " : "gc exit ") + std::to_string(th));
    if (!enters) cause = v.last_gc().cause;
  }
  void on_running(typename V::lock_type&, std::uint32_t th) noexcept {
    note("running " + std::to_string(th));
  }
  void on_bind(bool) noexcept {}

  V& v;
  std::vector<std::string> lines;
  std::string cause;
};
using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a step that runs burns exactly its cpu within its wall time", "[simulated]") {
  vm::simulated v;
  v.append(v.main_thread, {steps::run(work, 30ms, 40ms), steps::sleep(other, 60ms)});
  v.run();
  const vm::simulated_truth& t = v.truth(v.main_thread);
  CHECK(t.all == vm::simulated_times{30ms, 100ms});
  CHECK(t.self(2) == vm::simulated_times{30ms, 40ms});
  CHECK(t.self(3) == vm::simulated_times{0ms, 60ms});
  CHECK(t.inclusive(1) == vm::simulated_times{30ms, 100ms});
  CHECK(v.finished());
}

TEST_CASE("in the middle of a step cpu has passed in proportion", "[simulated]") {
  vm::simulated v;
  v.append(v.main_thread, {steps::run(work, 20ms, 80ms)});
  v.run_for(40ms);
  CHECK(v.truth(v.main_thread).all == vm::simulated_times{10ms, 40ms});
  CHECK_FALSE(v.finished());
  v.run();
  CHECK(v.truth(v.main_thread).all == vm::simulated_times{20ms, 80ms});
}

TEST_CASE("threads that compute share the lock by quanta, and waits overlap", "[simulated]") {
  vm::simulated v;
  witness w(v);
  v.append(v.main_thread, {steps::spawn({steps::run(work, 150ms)}),
                           steps::spawn({steps::sleep(other, 120ms)}), steps::run(work, 150ms)});
  v.run();
  CHECK(w.lines == lines{"100 begin 2", "200 begin 3", "200 running 1", "250 running 2",
                         "300 end 2", "320 running 3", "320 end 3", "320 running 1"});
  CHECK(v.truth(2).all == vm::simulated_times{150ms, 200ms});
  CHECK(v.truth(3).all == vm::simulated_times{0ms, 120ms});
  CHECK(v.truth(1).all == vm::simulated_times{150ms, 320ms});
}

TEST_CASE("a thread alone keeps the lock beyond its quantum", "[simulated]") {
  vm::simulated v;
  witness w(v);
  v.append(v.main_thread, {steps::run(work, 350ms), steps::native(call, 350ms)});
  v.run();
  CHECK(w.lines.empty());
  CHECK(v.truth(v.main_thread).all == vm::simulated_times{700ms, 700ms});
}

TEST_CASE("a safe point that is asked for inside a step comes at that instant", "[simulated]") {
  vm::simulated v;
  witness w(v);
  v.at(mono{1'005'000'000}, [&] {
    CHECK(v.request_safe_point() == rbprof::request_result::accepted);
    CHECK(v.request_safe_point() == rbprof::request_result::pending);
  });
  v.append(v.main_thread, {steps::run(work, 10ms)});
  v.run();
  CHECK(w.lines == lines{"5 safe point 1 in 2"});
}

TEST_CASE("a native call delays the safe point to its end, where it is still the leaf",
          "[simulated]") {
  vm::simulated v;
  witness w(v);
  v.at(mono{1'005'000'000}, [&] { (void)v.request_safe_point(); });
  v.append(v.main_thread, {steps::native(call, 50ms), steps::run(work, 10ms)});
  v.run();
  CHECK(w.lines == lines{"50 safe point 1 in 9"});
}

TEST_CASE("a collection has no safe point in it and is booked apart", "[simulated]") {
  vm::simulated v;
  witness w(v);
  v.at(mono{1'012'000'000}, [&] { (void)v.request_safe_point(); });
  v.append(v.main_thread, {steps::run(work, 10ms), steps::gc_major(4ms, 6ms, "newobj", "nofree"),
                           steps::run(work, 4ms)});
  v.run();
  CHECK(w.lines == lines{"10 gc enter 1", "16 gc exit 1", "16 safe point 1 in 2"});
  CHECK(w.cause == "newobj");
  CHECK(v.truth(1).gc == vm::simulated_times{4ms, 6ms});
  CHECK(v.truth(1).self(2) == vm::simulated_times{14ms, 14ms});
}

TEST_CASE("what is asked while all wait is served to the first that runs, in its wait",
          "[simulated]") {
  vm::simulated v;
  witness w(v);
  v.at(mono{1'005'000'000}, [&] { CHECK(v.request_safe_point() == rbprof::request_result::idle); });
  v.append(v.main_thread, {steps::sleep(other, 50ms), steps::run(work, 10ms)});
  v.run();
  CHECK(w.lines == lines{"50 running 1", "50 safe point 1 in 3"});
}

TEST_CASE("the plain shape tells nothing of its lock and shows only the stack that runs",
          "[simulated]") {
  vm::simulated_plain v;
  witness w(v);
  v.append(v.main_thread, {steps::spawn({steps::run(work, 50ms)}), steps::sleep(other, 10ms)});
  v.run_for(20ms);
  CHECK(w.lines == lines{"0 begin 2"});
  REQUIRE(v.with_lock_here([&](vm::simulated_lock& lk) {
    std::array<vm::simulated_frame, 8> room{};
    CHECK(v.current(lk) == 2);
    CHECK(v.capture(lk, 2, room).count == 2);
    CHECK(v.capture(lk, 1, room).count == 0);
  }));
  CHECK(has(v.features(), rbprof::feature::gc));
  CHECK_FALSE(has(v.features(), rbprof::feature::foreign_request));
}

TEST_CASE("the full shape shows the stacks of threads that wait", "[simulated]") {
  vm::simulated v;
  v.append(v.main_thread, {steps::spawn({steps::run(work, 50ms)}), steps::sleep(other, 100ms)});
  v.run_for(20ms);
  REQUIRE(v.with_lock_here([&](vm::simulated_lock& lk) {
    std::array<vm::simulated_frame, 1> room{};
    const rbprof::captured got = v.capture(lk, 1, room);
    CHECK(got.count == 1);
    CHECK(got.truncated);
    CHECK(room[0] == vm::simulated_frame{3, 7});
  }));
}

TEST_CASE("a sample costs what it is charged with, on the thread that is sampled", "[simulated]") {
  vm::simulated v;
  witness w(v);
  v.charge_for_samples({1ms, 3ms});
  v.at(mono{1'005'000'000}, [&] { (void)v.request_safe_point(); });
  v.append(v.main_thread, {steps::run(work, 10ms)});
  v.run();
  const vm::simulated_truth& t = v.truth(1);
  CHECK(t.overhead == vm::simulated_times{1ms, 3ms});
  CHECK(t.self(2) == vm::simulated_times{10ms, 10ms});
  CHECK(t.all == vm::simulated_times{11ms, 13ms});
}

TEST_CASE("the host's own time is outside, and what is asked meanwhile waits", "[simulated]") {
  vm::simulated v;
  witness w(v);
  v.every(1ms, [&] { (void)v.request_safe_point(); });
  v.run_outside(2ms, 8ms);
  CHECK(w.lines.empty());
  v.append(v.main_thread, {steps::run(work, 500us)});
  v.run();
  CHECK(w.lines == lines{"8 safe point 1 in 0"});
  CHECK(v.truth(1).outside == vm::simulated_times{2ms, 8ms});
}

TEST_CASE("clock faults show in what is read and never in the truth", "[simulated]") {
  vm::simulated v;
  v.append(v.main_thread,
           {steps::run(work, 10ms), steps::step_clock(-5ms), steps::step_cpu_clock(-2ms),
            steps::fail_cpu_clock(1), steps::run(work, 10ms)});
  v.run();
  CHECK(v.now() == mono{1'015'000'000});
  CHECK(v.true_now() == mono{1'020'000'000});
  CHECK_FALSE(v.cpu_time(1).has_value());
  CHECK(v.cpu_time(1) == 18ms);
  CHECK(v.truth(1).all == vm::simulated_times{20ms, 20ms});
}

TEST_CASE("the lock is had between runs by the driving thread alone", "[simulated]") {
  vm::simulated v;
  const auto nothing = [](vm::simulated_lock&) {};
  bool in_timer = true;
  bool elsewhere = true;
  v.at(mono{1'001'000'000}, [&] { in_timer = v.with_lock_here(nothing); });
  v.append(v.main_thread, {steps::run(work, 2ms)});
  v.run();
  std::thread([&] { elsewhere = v.with_lock_here(nothing); }).join();
  CHECK_FALSE(in_timer);
  CHECK_FALSE(elsewhere);
  CHECK(v.with_lock_here(nothing));
}

TEST_CASE("names are made from numbers, given, or fail when they are told to", "[simulated]") {
  vm::simulated v;
  v.name_function(9, "Array#sort!", "<cfunc>");
  v.append(v.main_thread, {steps::spawn({steps::rename("b"), steps::sleep(other, 5ms)}, "a")});
  v.run_for(1ms);
  REQUIRE(v.with_lock_here([&](vm::simulated_lock& lk) {
    rbprof::frame_text f;
    CHECK(v.describe(lk, vm::simulated_frame{7, 3}, f));
    CHECK((f.name == "function_7" && f.file == "file_7.rb" && f.line == 3 && !f.native));
    CHECK(v.describe(lk, vm::simulated_frame{9, 0}, f));
    CHECK((f.name == "Array#sort!" && f.native));
    v.fail_describe(1);
    CHECK_FALSE(v.describe(lk, vm::simulated_frame{7, 3}, f));
    CHECK(v.pinned_frames() == 2);
    v.forget_frames(lk);
    CHECK(v.pinned_frames() == 0);
    rbprof::thread_text t;
    CHECK(v.describe(lk, 2, t));
    CHECK(t.name == "a");
    v.read_thread_names(lk);
    CHECK(v.describe(lk, 2, t));
    CHECK(t.name == "b");
    CHECK_FALSE(v.describe(lk, 3, t));
  }));
}

TEST_CASE("a second profiler is refused, and a request without one as well", "[simulated]") {
  vm::simulated v;
  CHECK(v.request_safe_point() == rbprof::request_result::refused);
  rbprof::sink_archetype<vm::simulated> a;
  CHECK(v.attach(a).ok());
  CHECK_FALSE(v.attach(a).ok());
  CHECK(v.detach().ok());
  CHECK(v.attach(a).ok());
}

TEMPLATE_TEST_CASE("every nanosecond of every thread is in exactly one place",
                   "[simulated][property]", vm::simulated, vm::simulated_plain) {
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{120}));
  CAPTURE(seed);
  TestType v;
  witness w(v);
  if (seed % 2 == 0) v.charge_for_samples({3us, 7us});
  v.every(nanos{777'777}, [&] { (void)v.request_safe_point(); });
  v.append(v.main_thread, rbprof_test::random_program(seed));
  for (int i = 0; i < 5; ++i) v.run_for(13ms);
  v.run();
  REQUIRE(v.finished());

  nanos cpu_of_all{0};
  for (std::uint32_t th = 1; th <= v.thread_count(); ++th) {
    CAPTURE(th);
    const vm::simulated_truth& t = v.truth(th);
    CHECK(t.all.wall == t.ended.value_or(v.true_now()) - t.born);
    vm::simulated_times sum = t.gc;
    sum += t.overhead;
    sum += t.outside;
    for (const auto& [stack, times] : t.stacks) {
      CHECK(times.cpu <= times.wall);
      sum += times;
    }
    CHECK(sum == t.all);
    CHECK(t.ended.has_value() == (th != v.main_thread));
    cpu_of_all += t.all.cpu;
  }
  CHECK(cpu_of_all <= v.true_now() - mono{1'000'000'000});  // one lock: one at a time
}

TEST_CASE("the same seed gives the same run", "[simulated][property]") {
  const auto seed = GENERATE(range(std::uint64_t{200}, std::uint64_t{210}));
  CAPTURE(seed);
  lines runs[2];
  for (lines& l : runs) {
    vm::simulated v;
    witness w(v);
    v.every(2ms, [&] { (void)v.request_safe_point(); });
    v.append(v.main_thread, rbprof_test::random_program(seed));
    v.run();
    l = w.lines;
  }
  CHECK(runs[0] == runs[1]);
  CHECK_FALSE(runs[0].empty());
}
