// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_TRIGGER_REAL_VM_HPP
#define RBPROF_TESTS_TRIGGER_REAL_VM_HPP

#include <absl/status/status.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/signal_disposition.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/vm/simulated.hpp>

// The simulated VM on real time, real threads and a real signal, for the triggers that have a ticker.

namespace rbprof_test {

class real_vm : public rbprof::vm::simulated {
 public:
  [[nodiscard]] rbprof::mono now() const noexcept { return rbprof::monotonic_now(); }
  rbprof::request_result request_safe_point() noexcept {
    requests.fetch_add(1);
    return wanted.exchange(true) ? rbprof::request_result::pending
                                 : rbprof::request_result::accepted;
  }
  [[nodiscard]] std::optional<pid_t> signal_target() noexcept {
    const pid_t tid = runner.load();
    return tid == 0 ? std::nullopt : std::optional<pid_t>(tid);
  }
  [[nodiscard]] absl::Status hook_signal() {
    absl::Status done = disposition_.install(&handle);
    if (done.ok()) handled_by.store(this);
    return done;
  }
  void unhook_signal() noexcept {
    disposition_.restore();
    handled_by.store(nullptr);
  }
  bool send_signal(pid_t) = delete;  // the kernel does it

  /// Runs "VM code" on the calling thread until `done()`: at each safe point that was asked for, `f(lock)`.
  template <class F, class Done>
  void execute(F&& f, Done&& done) {
    runner.store(static_cast<pid_t>(syscall(SYS_gettid)));
    while (!done()) {
      if (wanted.exchange(false)) (void)with_lock_here(f);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    runner.store(0);
  }

  std::atomic<pid_t> runner{0};
  std::atomic<bool> wanted{false};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> wrong_thread{
      0};  ///< signals that hit somebody who does not run the VM

 private:
  static inline std::atomic<real_vm*> handled_by{nullptr};

  static void handle(int, siginfo_t*, void*) {
    real_vm* me = handled_by.load();
    if (me == nullptr) return;
    if (me->runner.load() != static_cast<pid_t>(syscall(SYS_gettid))) me->wrong_thread.fetch_add(1);
    (void)me->request_safe_point();
  }

  rbprof::signal_disposition disposition_;
};

}  // namespace rbprof_test

#endif  // RBPROF_TESTS_TRIGGER_REAL_VM_HPP
