// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_SIGNAL_DISPOSITION_HPP
#define RBPROF_BASE_SIGNAL_DISPOSITION_HPP

#include <absl/status/status.h>
#include <dlfcn.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <string>

// Who handles a profiling signal. A signal has one handler in a process, so taking one that is in use would
// break another profiler, or the host, without a word: it is refused, by name. Giving it back never leaves
// the default action, which for SIGPROF ends the process ("Profiling timer expired") when a last signal is
// still on its way, also after an exec: an ignored signal stays ignored there.
//
//     at install      a real handler that was expected    anything else: default, ignored, empty
//     after restore   that handler                        ignored

namespace rbprof::inline v0 {

/// Holds the disposition of one signal between `install` and `restore`.
///
/// Calls from:  any thread, one at a time
/// Blocks:      never
/// Allocates:   for messages of refusal alone
/// On failure:  install refuses and leaves everything as it was
class signal_disposition {
 public:
  using handler = void (*)(int, siginfo_t*, void*);

  explicit signal_disposition(int number = SIGPROF) noexcept : number_(number) {}
  signal_disposition(const signal_disposition&) = delete;
  signal_disposition& operator=(const signal_disposition&) = delete;

  /// Makes `ours` the handler: with siginfo, restarting system calls, nothing further blocked, on the stack
  /// of the thread (not an alternate one, so that a handler can see that it was hit inside another one).
  /// A real handler that is there already is replaced only when it is `expected`.
  [[nodiscard]] absl::Status install(handler ours, handler expected = nullptr) {
    if (installed_) return absl::OkStatus();
    struct sigaction before {};
    if (sigaction(number_, nullptr, &before) != 0) return refused_by_system();
    const void* theirs = address_of(before);
    if (theirs != nullptr && theirs != address_of(ours) && theirs != address_of(expected)) {
      return absl::FailedPreconditionError(
          name() + " has a handler already (" + owner_of(theirs) +
          "): stop the other profiler, or choose a way of sampling that needs no signal");
    }
    struct sigaction mine {};
    mine.sa_sigaction = ours;
    mine.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&mine.sa_mask);
    if (sigaction(number_, &mine, nullptr) != 0) return refused_by_system();
    ours_ = ours;
    before_ = before;
    had_handler_ = theirs != nullptr && theirs != address_of(ours);
    installed_ = true;
    return absl::OkStatus();
  }

  /// Puts the real handler back that was there, else ignores the signal. A handler that somebody else has
  /// installed meanwhile is left alone.
  void restore() noexcept {
    if (!installed_) return;
    installed_ = false;
    struct sigaction now {};
    if (sigaction(number_, nullptr, &now) != 0 || address_of(now) != address_of(ours_)) return;
    if (had_handler_) {
      sigaction(number_, &before_, nullptr);
      return;
    }
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigemptyset(&ignore.sa_mask);
    sigaction(number_, &ignore, nullptr);
  }

  [[nodiscard]] bool installed() const noexcept { return installed_; }

 private:
  /// Where a handler is; null = default, ignored, or none.
  [[nodiscard]] static const void* address_of(const struct sigaction& a) noexcept {
    if ((a.sa_flags & SA_SIGINFO) != 0) return address_of(a.sa_sigaction);
    if (a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN) return nullptr;
    return reinterpret_cast<const void*>(a.sa_handler);
  }
  [[nodiscard]] static const void* address_of(handler h) noexcept {
    return reinterpret_cast<const void*>(h);
  }

  /// The library or program that a handler is in.
  [[nodiscard]] static std::string owner_of(const void* address) {
    Dl_info found{};
    const bool known = dladdr(address, &found) != 0 && found.dli_fname != nullptr;
    return known ? std::string("in ") + found.dli_fname : std::string("of unknown origin");
  }
  [[nodiscard]] std::string name() const {
    return number_ == SIGPROF ? "SIGPROF" : "signal " + std::to_string(number_);
  }
  [[nodiscard]] absl::Status refused_by_system() const {
    return absl::FailedPreconditionError("the system refuses a handler for " + name() + ": " +
                                         std::strerror(errno));
  }

  int number_;
  handler ours_ = nullptr;
  struct sigaction before_ {};
  bool had_handler_ = false;
  bool installed_ = false;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_SIGNAL_DISPOSITION_HPP
