// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include "host.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace host;
using namespace std::chrono_literals;
using rbprof::value_type;

namespace {

/// Native code that keeps Ruby's lock and does not repeat what a signal cuts short.
class slow_calls {
 public:
  int restartable = 0;  // calls that EINTR ended
  int others = 0;

  void read_pipe() {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    std::thread writer([&] {
      std::this_thread::sleep_for(60ms);
      CHECK(write(ends[1], "x", 1) == 1);
    });
    char c = 0;
    count(restartable, read(ends[0], &c, 1) == 1);
    writer.join();
    close(ends[0]);
    close(ends[1]);
  }
  /// A local socket whose queue is full until somebody accepts.
  void connect_slowly() {
    const sockaddr_un at = address();
    const int server = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(bind(server, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(listen(server, 0) == 0);
    const int first = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(connect(first, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    std::thread accepter([&] {
      for (int i = 0; i < 2; ++i) {
        std::this_thread::sleep_for(60ms);
        close(accept(server, nullptr, nullptr));
      }
    });
    const int second = socket(AF_UNIX, SOCK_STREAM, 0);
    count(restartable, connect(second, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    accepter.join();
    for (const int fd : {server, first, second}) close(fd);
  }
  void poll_and_sleep() {
    count(others, poll(nullptr, 0, 60) == 0);
    const timespec nap{0, 60'000'000};
    count(others, nanosleep(&nap, nullptr) == 0);
  }

 private:
  static sockaddr_un address() {
    static int n = 0;
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    const std::string name = "rbprof-field-faults-" + std::to_string(getpid()) + "-" + std::to_string(n++);
    std::memcpy(at.sun_path + 1, name.data(), name.size());  // in the kernel's own name space
    return at;
  }
  static void count(int& where, bool good) {
    if (good) return;
    CHECK(errno == EINTR);
    ++where;
  }
};

/// True when no thread's signal sets of a process have SIGPROF; `status` is the text of /proc/.../status.
bool is_clean(const std::string& status) {
  for (const char* set : {"SigPnd:", "ShdPnd:", "SigBlk:"}) {
    const std::size_t at = status.find(set);
    if (at == std::string::npos) return false;
    if ((std::stoull(status.substr(at + std::strlen(set)), nullptr, 16) >> (SIGPROF - 1) & 1) != 0) return false;
  }
  return true;
}

std::string output_of(std::array<int, 2> ends) {
  close(ends[1]);
  std::string all;
  std::array<char, 4096> part;
  for (ssize_t n; (n = read(ends[0], part.data(), part.size())) != 0;) {
    if (n > 0) all.append(part.data(), static_cast<std::size_t>(n));
    else if (errno != EINTR) break;
  }
  close(ends[0]);
  return all;
}

int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

}  // namespace

TEST_CASE("no system call that can go on after a signal is cut short, and without signals none is") {
  const way w = GENERATE(from_range(ways()));
  CAPTURE(w.name);
  const bool signals = w.trigger == rbprof::cruby::trigger_kind::signal;
  static std::atomic<int> foreign{0};
  struct sigaction mine {}, before {};
  mine.sa_handler = [](int) { ++foreign; };
  if (!signals) sigaction(SIGPROF, &mine, &before);

  rbprof::cruby::profiler p{options_of(w)};
  CHECK((p.trigger_in_force() == rbprof::cruby::trigger_kind::signal) == signals);
  REQUIRE(p.start().ok());
  slow_calls calls;
  on_native = [&] {
    for (int i = 0; i < 6; ++i) {
      calls.read_pipe();
      calls.connect_slowly();
      calls.poll_and_sleep();
    }
  };
  CHECK(run("native; spin(0.5)") == "");
  on_native = nullptr;
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  CHECK(calls.restartable == 0);
  if (signals) {
    CHECK(statistic(*profile, "signals_delivered") > 20);  // else nothing was tried
  } else {
    CHECK(calls.others == 0);
    CHECK(foreign == 0);
    CHECK(statistic(*profile, "samples") >= 10);  // 20 a second, of the half that is busy
    sigaction(SIGPROF, &before, nullptr);
  }
}

TEST_CASE("no program that is started while signals are sent ends by one, or has one pending or blocked") {
  const way w = GENERATE(from_range(ways()));
  CAPTURE(w.name);
  rbprof::cruby::profiler p{options_of(w, 100)};
  REQUIRE(p.start().ok());
  std::atomic<int> died{0}, unclean{0};
  std::atomic<bool> done{false};
  std::thread native([&] {
    char shell[] = "/bin/sh", flag[] = "-c", code[] = "exit 0", cat[] = "cat /proc/self/status";
    std::array<char*, 4> nothing{shell, flag, code, nullptr}, look{shell, flag, cat, nullptr};
    for (int i = 0; i < 60; ++i) {
      const pid_t child = vfork();
      if (child == 0) {
        execv(shell, nothing.data());
        _exit(97);
      }
      if (status_of(child) != 0) ++died;
      std::array<int, 2> ends{};
      if (pipe2(ends.data(), O_CLOEXEC) != 0) continue;
      posix_spawn_file_actions_t actions;
      posix_spawn_file_actions_init(&actions);
      posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
      pid_t spawned = 0;
      if (posix_spawn(&spawned, shell, &actions, nullptr, look.data(), environ) != 0) ++died;
      posix_spawn_file_actions_destroy(&actions);
      if (!is_clean(output_of(ends))) ++unclean;
      if (status_of(spawned) != 0) ++died;
    }
    done = true;
  });
  CHECK(run(R"ruby(
    bad = []
    20.times do |i|
      system("true") or bad << [:system, $?.to_s]
      bits = `cat /proc/self/status`.scan(/^(?:SigPnd|ShdPnd|SigBlk):\s*(\h+)/).flatten
      bad << [:bits, bits] unless bits.size == 3 && bits.all? { |b| b.hex[26] == 0 }
      Process.wait(spawn("true")); bad << [:spawn, $?.to_s] unless $?.success?
      Process.wait(fork { 20_000.times { |n| n.to_s }; exec "true" }); bad << [:exec, $?.to_s] unless $?.success?
    end
    raise bad.first(5).inspect unless bad.empty?
  )ruby") == "");
  while (!done) CHECK(run("spin(0.02)") == "");
  native.join();
  CHECK(died == 0);
  CHECK(unclean == 0);
  CHECK(run("begin; exec '/nothing/here'; raise 'it is here'; rescue Errno::ENOENT; end") == "");
  const std::uint64_t before = statistic(p, "safe_points");
  CHECK(holds_once(10, [&] { return run("spin(0.1)").empty() && statistic(p, "safe_points") > before; }));
  CHECK(p.stop().ok());
}

TEST_CASE("a storm of signals at threads that Ruby does not know changes nothing of its profile") {
  const way w = GENERATE(from_range(ways()));
  CAPTURE(w.name);
  const bool signals = w.trigger == rbprof::cruby::trigger_kind::signal;
  if (!signals) ::signal(SIGPROF, SIG_IGN);  // nobody has a handler, as in a host without profilers
  CHECK(holds_once(3, [&] {
    rbprof::cruby::profiler p{options_of(w)};
    const double before = number("cpu_now");
    REQUIRE(p.start().ok());
    std::atomic<bool> stop{false};
    std::vector<std::thread> strangers;
    for (int i = 0; i < 8; ++i) {
      strangers.emplace_back([&] {
        while (!stop) sched_yield();
      });
    }
    std::thread storm([&] {
      for (int i = 0; i < 2000; ++i) {
        kill(getpid(), SIGPROF);
        if (i % 4 == 0) pthread_kill(strangers[static_cast<std::size_t>(i / 4 % 8)].native_handle(), SIGPROF);
        std::this_thread::sleep_for(100us);
      }
    });
    CHECK(run("spin(0.4)") == "");
    // Foreign threads may ask what they like meanwhile.
    std::thread([&] {
      CHECK(p.start().code() == absl::StatusCode::kFailedPrecondition);
      CHECK(!p.stats().empty());
      CHECK(p.inspect().status().code() == absl::StatusCode::kFailedPrecondition);
      CHECK(p.is_running());
      rbprof::cruby::profiler another;
      CHECK(another.start().code() == absl::StatusCode::kFailedPrecondition);
    }).join();
    storm.join();
    stop = true;
    for (std::thread& t : strangers) t.join();
    if (signals) {
      CHECK(statistic(p, "signals_wrong_thread") > 0);
      CHECK(statistic(p, "signals_delivered") ==
            statistic(p, "signals_wrong_thread") + statistic(p, "signals_enqueued") +
                statistic(p, "signals_altstack") + statistic(p, "signals_unarmed") +
                statistic(p, "signals_flush_window"));
    }
    const auto profile = p.stop();
    REQUIRE(profile.ok());
    const double clock = number("cpu_now") - before;
    const double booked = static_cast<double>(profile->total(value_type::cpu_time)) / 1e9;
    CAPTURE(clock, booked);
    return booked > clock * 0.95 && booked < clock * 1.05;
  }));
}
