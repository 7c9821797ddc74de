// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <rbprof/recorder/flip_recorder.hpp>

#include "recorder_world.hpp"

// Real forks. The child reports by its exit status: the number of the first thing that was wrong, or 0.

using namespace rbprof;
using namespace rbprof::testing;

namespace {

template <class Body>
[[nodiscard]] int in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

/// A thread that is between enter and leave until it is let go.
class busy_thread {
 public:
  busy_thread(flip_recorder& r, sampling_side& s, const numbers& stack)
      : thread_([&r, &s, stack, this] {
          if (r.enter()) {
            (void)r.write(
                {sampling_side::key(stack), s.resolve(stack), nullptr, nullptr, worth(1)});
            inside_ = true;
            while (!go_) std::this_thread::yield();
            r.leave();
          }
        }) {
    while (!inside_) std::this_thread::yield();
  }
  ~busy_thread() { finish(); }
  void finish() {
    go_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> inside_{false};
  std::atomic<bool> go_{false};
  std::thread thread_;  // last: it uses the others
};

TEST_CASE("after a quiet fork the child keeps the names and none of the records",
          "[recorder][fork]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  REQUIRE(s.sample({1, 2}, worth(1)));
  REQUIRE(r.before_fork(patient));
  const int wrong = in_child([&] {
    r.after_fork();
    if (s.sample({1, 2}, worth(5))) return 1;  // closed until open
    r.open({100});
    if (!r.knows(sampling_side::key({1, 2}))) return 2;
    if (!s.sample({1, 2}, worth(5))) return 3;
    const flushed f = flush(r, patient, {200});
    if (!f.status.ok() || f.what != sums{{"m1;m2", {5, 1}}}) return 4;
    if (f.interval.start != mono{100} || f.interval.finish != mono{200}) return 5;
    return statistic(r, "recorder_abandoned") == 0 && statistic(r, "recorder_self_check") == 0 ? 0
                                                                                               : 6;
  });
  CHECK(wrong == 0);
  CHECK_FALSE(s.sample({1}, worth(1)));  // closed by before_fork
  r.after_fork_parent();
  REQUIRE(s.sample({1, 2}, worth(2)));
  CHECK(flush(r, patient, {1}).what == sums{{"m1;m2", {3, 2}}});
  CHECK(statistic(r, "recorder_self_check") == 0);
}

TEST_CASE("a fork with a sampler inside makes the child start anew and the parent lose nothing",
          "[recorder][fork]") {
  flip_recorder r;
  sampling_side s(r);
  sampling_side mine(r);
  r.open({0});
  REQUIRE(mine.sample({1}, worth(1)));
  busy_thread busy(r, s, {2});
  REQUIRE_FALSE(r.before_fork(std::chrono::milliseconds(5)));
  const std::uint32_t before = r.generation();
  const int wrong = in_child([&] {
    r.after_fork();
    if (statistic(r, "recorder_abandoned") != 1) return 1;
    r.open({100});
    if (!mine.sample({1}, worth(5))) return 2;
    if (r.generation() <= before) return 3;
    const flushed f = flush(r, patient, {200});
    return f.what == sums{{"m1", {5, 1}}} && statistic(r, "recorder_self_check") == 0 ? 0 : 4;
  });
  CHECK(wrong == 0);
  r.after_fork_parent();
  busy.finish();
  REQUIRE(mine.sample({1}, worth(1)));
  CHECK(flush(r, patient, {1}).what == sums{{"m1", {2, 2}}, {"m2", {1, 1}}});
}

TEST_CASE("a fork in the middle of a flush makes the child start anew", "[recorder][fork]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  busy_thread busy(r, s, {2});
  std::atomic<bool> done{false};
  flushed got;
  std::thread flusher([&] {
    got = flush(r, patient, {1});  // waits for the busy one, with the mutex
    done = true;
  });
  while (r.before_fork(nanos{0})) {  // not there yet
    r.after_fork_parent();
    std::this_thread::yield();
  }
  if (!done) {
    const int wrong = in_child([&] {
      r.after_fork();
      r.open({100});
      sampling_side fresh(r);
      if (!fresh.sample({3}, worth(5))) return 1;
      if (flush(r, patient, {200}).what != sums{{"m3", {5, 1}}}) return 2;
      return r.close(patient) ? 0 : 3;
    });
    CHECK(wrong == 0);
  }
  r.after_fork_parent();  // has no effect: the mutex was not got
  busy.finish();
  flusher.join();
  CHECK(got.what == sums{{"m2", {1, 1}}});
}

TEST_CASE("a recorder that was closed before a fork stays closed after it", "[recorder][fork]") {
  flip_recorder r;
  sampling_side s(r);
  REQUIRE(r.before_fork(patient));
  r.after_fork_parent();
  CHECK_FALSE(s.sample({1}, worth(1)));
  r.open({0});
  CHECK(s.sample({1}, worth(1)));
}

TEST_CASE("a child whose fork was not announced starts anew", "[recorder][fork]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  REQUIRE(s.sample({1}, worth(1)));
  CHECK(in_child([&] {
          r.after_fork();
          r.open({1});
          if (!s.sample({1}, worth(5))) return 1;
          return flush(r, patient, {2}).what == sums{{"m1", {5, 1}}} ? 0 : 2;
        }) == 0);
  CHECK(flush(r, patient, {1}).what == sums{{"m1", {1, 1}}});
}

}  // namespace
