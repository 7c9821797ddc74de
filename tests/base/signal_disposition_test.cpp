// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/base/signal_disposition.hpp>

#include <catch2/catch_test_macros.hpp>

#include <signal.h>
#include <unistd.h>

#include <string>

using rbprof::signal_disposition;

namespace {

volatile sig_atomic_t ours_hit = 0;
volatile sig_atomic_t theirs_hit = 0;

void ours(int, siginfo_t*, void*) { ours_hit = ours_hit + 1; }
void theirs(int) { theirs_hit = theirs_hit + 1; }
void theirs_with_info(int, siginfo_t*, void*) { theirs_hit = theirs_hit + 1; }

struct sigaction current() {
  struct sigaction now {};
  sigaction(SIGPROF, nullptr, &now);
  return now;
}
bool is_plain(void (*handler)(int)) {
  return (current().sa_flags & SA_SIGINFO) == 0 && current().sa_handler == handler;
}
void set_plain(void (*handler)(int)) {
  struct sigaction a {};
  a.sa_handler = handler;
  sigemptyset(&a.sa_mask);
  sigaction(SIGPROF, &a, nullptr);
}

/// Leaves the signal as a program has it at its start.
struct fresh {
  fresh() { set_plain(SIG_DFL); }
  ~fresh() { set_plain(SIG_DFL); }
};

}  // namespace

TEST_CASE("the handler restarts calls, blocks nothing and runs on the thread's own stack",
          "[signal_disposition]") {
  const fresh f;
  signal_disposition d;
  REQUIRE(d.install(&ours).ok());
  CHECK(d.installed());
  const struct sigaction now = current();
  CHECK(now.sa_sigaction == &ours);
  CHECK((now.sa_flags & SA_SIGINFO) != 0);
  CHECK((now.sa_flags & SA_RESTART) != 0);
  CHECK((now.sa_flags & SA_ONSTACK) == 0);
  CHECK(sigismember(&now.sa_mask, SIGINT) == 0);
  const int before = ours_hit;
  raise(SIGPROF);
  CHECK(ours_hit == before + 1);
  d.restore();
}

TEST_CASE("after a restore a late signal does not end the process", "[signal_disposition]") {
  const fresh f;
  signal_disposition d;
  REQUIRE(d.install(&ours).ok());
  d.restore();
  CHECK_FALSE(d.installed());
  CHECK(is_plain(SIG_IGN));  // though it was the default action before
  const int before = ours_hit;
  raise(SIGPROF);
  CHECK(ours_hit == before);
  d.restore();
  CHECK(is_plain(SIG_IGN));
  REQUIRE(d.install(&ours).ok());  // and again from there
  d.restore();
  CHECK(is_plain(SIG_IGN));
}

TEST_CASE("another's handler is neither replaced nor disturbed, and the refusal names it",
          "[signal_disposition]") {
  const fresh f;
  set_plain(&theirs);
  signal_disposition d;
  const absl::Status refused = d.install(&ours);
  CHECK(refused.code() == absl::StatusCode::kFailedPrecondition);
  const std::string words(refused.message());
  CHECK(words.find("SIGPROF has a handler already") != std::string::npos);
  CHECK(words.find("(in ") != std::string::npos);  // this very program
  CHECK_FALSE(d.installed());
  CHECK(is_plain(&theirs));
  d.restore();
  CHECK(is_plain(&theirs));
}

TEST_CASE("a handler that was expected is replaced and comes back", "[signal_disposition]") {
  const fresh f;
  struct sigaction a {};
  a.sa_sigaction = &theirs_with_info;
  a.sa_flags = SA_SIGINFO;
  sigemptyset(&a.sa_mask);
  sigaction(SIGPROF, &a, nullptr);
  signal_disposition d;
  REQUIRE(d.install(&ours, &theirs_with_info).ok());
  const int before = theirs_hit;
  raise(SIGPROF);
  CHECK(theirs_hit == before);
  d.restore();
  CHECK(current().sa_sigaction == &theirs_with_info);
  raise(SIGPROF);
  CHECK(theirs_hit == before + 1);
}

TEST_CASE("a handler that came after ours stays", "[signal_disposition]") {
  const fresh f;
  signal_disposition d;
  REQUIRE(d.install(&ours).ok());
  set_plain(&theirs);
  d.restore();
  CHECK(is_plain(&theirs));
}

TEST_CASE("an ignored signal may be taken, and our own handler is no stranger",
          "[signal_disposition]") {
  const fresh f;
  set_plain(SIG_IGN);
  signal_disposition d;
  REQUIRE(d.install(&ours).ok());
  CHECK(d.install(&ours).ok());
  signal_disposition second;
  CHECK(second.install(&ours).ok());
  second.restore();
  CHECK(is_plain(SIG_IGN));
}

TEST_CASE("a signal that can't be handled is refused", "[signal_disposition]") {
  signal_disposition d(SIGKILL);
  CHECK_FALSE(d.install(&ours).ok());
  CHECK_FALSE(d.installed());
}
