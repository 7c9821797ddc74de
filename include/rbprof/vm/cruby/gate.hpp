// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_GATE_HPP
#define RBPROF_VM_CRUBY_GATE_HPP

#include <atomic>
#include <cstdint>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>

// Keeps requests of foreign threads apart from the collector. rb_postponed_job_trigger loads the running
// execution context and then sets a flag in it; between the two, a collection could free that context, when
// its thread or fiber has just ended. So no request is made while the collector runs, and the collector does
// not begin while one is being made. Two flags, each side raises its own and then looks at the other's:
//
//        requester                                  collector (VM lock held)
//   requesters += 1      (seq_cst)             collecting = true     (seq_cst)
//   collecting?          (seq_cst)             requesters != 0?      (seq_cst)
//     yes: refused = true, leave                 wait, at most 1 ms
//     no:  trigger                             ... the collection ...
//   requesters -= 1      (release)             collecting = false, refused? then trigger itself
//
// With sequential consistency at least one of them sees the other. `shut` is the same gate, for good: for
// the VM's end.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

class gate {
 public:
  /// Calls from: any thread · Blocks: never · Allocates: never · On failure: false, `request` was not run
  template <class F>
  [[nodiscard]] bool enter(F&& request) noexcept {
    requesters_.fetch_add(1, std::memory_order_seq_cst);
    const bool open = !collecting_.load(std::memory_order_seq_cst);
    if (open) {
      request();
    } else {
      refused_.store(true, std::memory_order_relaxed);
    }
    requesters_.fetch_sub(1, std::memory_order_release);  // pairs with the wait in begin()
    return open;
  }

  /// The collector begins. Blocks for `patience` at most: a requester that the kernel holds back must not hold
  /// back Ruby for long; such a collection goes on with a counter raised.
  void begin(nanos patience = nanos{1'000'000}) noexcept {
    collecting_.store(true, std::memory_order_seq_cst);
    if (requesters_.load(std::memory_order_seq_cst) == 0) return;
    waits.add();
    const mono limit = monotonic_now() + patience;
    while (requesters_.load(std::memory_order_acquire) != 0) {
      if (monotonic_now() > limit) {
        timeouts.add();
        return;
      }
    }
  }

  /// The collector has ended. True = a request was refused meanwhile and is to be made now.
  [[nodiscard]] bool end() noexcept {
    collecting_.store(false, std::memory_order_release);
    return refused_.exchange(false, std::memory_order_relaxed);
  }

  [[nodiscard]] bool collecting() const noexcept {
    return collecting_.load(std::memory_order_relaxed);
  }

  /// In a forked child: whoever was inside is not there any more.
  void after_fork() noexcept { requesters_.store(0, std::memory_order_relaxed); }

  counter waits;
  counter timeouts;

 private:
  std::atomic<std::uint32_t> requesters_{0};
  std::atomic<bool> collecting_{false};
  std::atomic<bool> refused_{false};
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_GATE_HPP
