// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/cruby.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

// A host that starts a profiler and forgets it, in every place where C++ can keep one, and ends in every way in which
// a process can end.
//
//   field_faults_ends check END       runs it without a profiler, and with one in each place and way of sampling
//   field_faults_ends END PLACE WAY   one of these runs

namespace {

using rbprof::cruby::profiler;
using rbprof::cruby::trigger_kind;

constexpr bool asks_without_signals =
    rbprof::has(rbprof::vm::cruby::request_from, rbprof::role::foreign);

rbprof::cruby::options options_of(std::string_view way) {
  rbprof::cruby::options o;
  o.interval = rbprof::nanos{1'000'000};
  o.overhead_target = rbprof::percent{20};
  o.trigger = way == "no-signals" ? trigger_kind::postponed_job : trigger_kind::signal;
  o.handler_capture = way == "handler";
  return o;
}

// --- the places; those of static storage are destroyed after main ------------------------------------------

profiler* leaked = nullptr;

/// Destroyed after every other static object here: it is the first.
struct late_user {
  bool wanted = false;
  ~late_user() {
    if (!wanted) return;
    if (leaked == nullptr) std::_Exit(7);
    // Each of these may work or be refused; none may crash or hang.
    (void)leaked->stop();
    (void)leaked->flush();
    (void)leaked->stats();
    (void)leaked->start();
    profiler fresh{options_of("signals")};
    (void)fresh.start();
    (void)fresh.stop();
    std::_Exit(7);
  }
};
late_user late;

std::optional<profiler> global;
thread_local std::optional<profiler> of_thread;

std::optional<profiler>& local_static() {
  static std::optional<profiler> p;
  return p;
}

[[noreturn]] void broken(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::_Exit(99);
}

profiler& made_in(std::string_view place, const rbprof::cruby::options& o) {
  if (place == "global") return global.emplace(o);
  if (place == "local-static") return local_static().emplace(o);
  if (place == "thread-local") return of_thread.emplace(o);
  return *(leaked = new profiler(o));
}

// --- the ends ----------------------------------------------------------------------------------------------

/// The state of rb_eval_string_protect.
int run(const char* code) {
  int state = 0;
  rb_eval_string_protect(code, &state);
  return state;
}

bool refused(const absl::Status& s) { return !s.ok() && !s.message().empty(); }

[[noreturn]] void exit_from_another_thread(profiler* p) {
  static std::atomic<bool> flushing{false};
  std::thread([p] {
    for (;;) {
      flushing = true;
      if (p != nullptr) (void)p->flush();
    }
  }).detach();
  std::thread([] {
    while (!flushing) std::this_thread::yield();
    std::exit(5);
  }).detach();
  for (;;) run("x = 0; 1_000.times { |i| x ^= i }");
}

VALUE exit_in_method(VALUE) { std::exit(2); }
VALUE abort_in_method(VALUE) { std::abort(); }

int end_by(std::string_view end, profiler* p) {
  if (end == "return") return 0;
  if (end == "cleanup") return ruby_cleanup(0);
  if (end == "exit-in-method") return run("exit_in_method");
  if (end == "quick-exit") std::quick_exit(4);
  if (end == "exit-elsewhere") exit_from_another_thread(p);
  if (end == "ruby-exit") return ruby_cleanup(run("at_exit { 10_000.times { |i| i.to_s } }; exit 3"));
  if (end == "ruby-exit-bang") return run("exit! 6");
  if (end == "ruby-abort") return ruby_cleanup(run("abort 'that is it'"));
  if (end == "abort") return run("abort_in_method");
  if (end == "sigterm") return ruby_cleanup(run("Process.kill(:TERM, $$); sleep 5"));
  if (end == "exec") return run("exec 'sh', '-c', 'sleep 0.05; exit 8'");
  if (end == "stop-after-cleanup") {
    ruby_cleanup(0);
    if (p == nullptr) return 0;
    std::thread([p] {
      if (!refused(p->stop().status())) broken("stop() works without Ruby");
    }).join();
    if (!p->flush().ok()) broken("flush() has lost what was recorded");
    if (!refused(p->start())) broken("start() works without Ruby");
    if (!refused(p->stop().status())) broken("a second stop() works");
    (void)p->stats();
    (void)p->capabilities();
    (void)p->inspect();
    return 0;
  }
  if (end == "late-use") {
    late.wanted = true;
    if (p == nullptr) return 0;
    leaked = new profiler(options_of("signals"));
    (void)leaked->start();
    return 0;
  }
  if (end == "late-use-without-ruby") {
    late.wanted = true;
    if (p != nullptr) leaked = new profiler(options_of("signals"));
    return ruby_cleanup(0);
  }
  broken("no such end");
}

/// Every call, from a thread that Ruby does not know.
void use_before_ruby(const char* way) {
  std::thread([way] {
    profiler p{options_of(way)};
    if (!refused(p.start())) broken("start() works before Ruby");
    if (!refused(p.flush().status())) broken("flush() works before Ruby");
    if (!refused(p.stop().status())) broken("stop() works before Ruby");
    if (!refused(p.inspect().status())) broken("inspect() works before Ruby");
    (void)p.stats();
    (void)p.capabilities();
    if (p.is_running()) broken("runs before Ruby");
  }).join();
}

int one(std::string_view end, std::string_view place, const char* way, int argc, char** argv) {
  const bool profiled = place != "none";
  if (profiled) use_before_ruby(way);
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  char name[] = "ends", flag[] = "-e", code[] = "0";
  char* arguments[] = {name, flag, code, nullptr};
  ruby_options(3, arguments);
  rb_define_global_function("exit_in_method", exit_in_method, 0);
  rb_define_global_function("abort_in_method", abort_in_method, 0);
  profiler* p = nullptr;
  if (profiled) {
    p = &made_in(place, options_of(way));
    if (end == "start-after-cleanup") {
      ruby_cleanup(0);
      if (!refused(p->start())) broken("start() works without Ruby");
      return 0;
    }
    if (const absl::Status started = p->start(); !started.ok()) {
      broken(std::string(started.message()).c_str());
    }
  } else if (end == "start-after-cleanup") {
    return ruby_cleanup(0);
  }
  if (run("3.times { Thread.new { x = 0; loop { x ^= 1; 'x'.dup } } }; Thread.new { sleep }; sleep 0.05; "
          "x = 0; 400_000.times { |i| x ^= i }") != 0) {
    broken("the program failed");
  }
  return end_by(end, p);
}

// --- the check ---------------------------------------------------------------------------------------------

struct ended {
  std::string how;
  std::string words;  // on stderr
  double seconds = 0;
};

ended run_once(const char* end, const char* place, const char* way) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) broken("no pipe");
  const rbprof::mono began = rbprof::monotonic_now();
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], 2);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm(20);
    execl("/proc/self/exe", "field_faults_ends", end, place, way, nullptr);
    _exit(98);
  }
  close(out[1]);
  ended e;
  std::array<char, 4096> part;
  for (ssize_t n; (n = read(out[0], part.data(), part.size())) != 0;) {
    if (n > 0) e.words.append(part.data(), static_cast<std::size_t>(n));
    else if (errno != EINTR) break;
  }
  close(out[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  e.seconds = static_cast<double>((rbprof::monotonic_now() - began).count()) / 1e9;
  e.how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                              : "status " + std::to_string(WEXITSTATUS(status));
  return e;
}

/// It must end as it does without a profiler, with the same words, and, in the best of the runs, not much later.
int check(const char* end) {
  constexpr double most_longer = 0.3;
  int failures = 0;
  ended plain = run_once(end, "none", "signals");
  for (int i = 0; i < 4; ++i) plain.seconds = std::max(plain.seconds, run_once(end, "none", "signals").seconds);
  std::vector<const char*> ways{"signals", "handler"};
  if (asks_without_signals) ways.insert(ways.begin(), "no-signals");
  for (const char* place : {"global", "local-static", "thread-local", "leaked"}) {
    for (const char* way : ways) {
      double longer = 1e9;
      for (int i = 0; i < 6 && longer > most_longer; ++i) {
        const ended e = run_once(end, place, way);
        longer = std::min(longer, e.seconds - plain.seconds);
        if (e.how == plain.how && e.words == plain.words) continue;
        std::printf("%s, %s: %s, without a profiler %s; it says: %.2000s\n", place, way, e.how.c_str(),
                    plain.how.c_str(), e.words.c_str());
        ++failures;
        break;
      }
      if (longer <= most_longer) continue;
      std::printf("%s, %s: it takes %.2f s longer\n", place, way, longer);
      ++failures;
    }
  }
  std::printf("%s: %s\n", end, plain.how.c_str());
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "check") == 0) return check(argv[2]);
  if (argc != 4) broken("use: field_faults_ends check END | END PLACE WAY");
  return one(argv[1], argv[2], argv[3], argc, argv);
}
