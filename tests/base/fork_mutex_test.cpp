// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include <rbprof/base/fork_mutex.hpp>

using namespace rbprof;

namespace {

TEST_CASE("a fork mutex that is held is not got by another thread in time", "[fork_mutex]") {
  fork_mutex m;
  const auto other_gets_it = [&m] {
    bool got = false;
    std::thread([&] {
      if (!m.try_lock_until(monotonic_now() + nanos{2'000'000})) return;
      got = true;
      m.unlock();
    }).join();
    return got;
  };
  {
    const fork_mutex_hold hold(m);
    CHECK_FALSE(other_gets_it());
  }
  CHECK(other_gets_it());
}

TEST_CASE("a fork mutex that was held at a fork is free in the child once renewed",
          "[fork_mutex]") {
  fork_mutex m;
  m.lock();
  const pid_t child = fork();
  if (child == 0) {
    m.renew_in_child();
    const bool got = m.try_lock_until(monotonic_now());
    _exit(got ? 0 : 1);
  }
  m.unlock();
  int status = -1;
  REQUIRE(child > 0);
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

}  // namespace
