// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_THREAD_SLOT_HPP
#define RBPROF_VM_CRUBY_THREAD_SLOT_HPP

#include <absl/container/flat_hash_map.h>
#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/vm/cruby/pending_stack.hpp>
#include <rbprof/vm/cruby/ruby.hpp>

// What we keep of each Ruby thread. Slots are recycled but their memory is never given back, because hooks
// that run without the VM lock, and the ticker, may still look at the slot of a thread that has just died.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

struct thread_slot {
  VALUE thread = 0;                        ///< 0 = free; else marked by us, so the object stays
  std::atomic<pid_t> tid{0};               ///< kernel id; 0 = not known yet
  std::atomic<std::uintptr_t> native{0};   ///< its pthread_t; 0 = not known yet
  std::atomic<bool> exited{false};         ///< release, last touch of a hook; acquire in tend()
  std::atomic<std::uint64_t> asks{0};      ///< how many had been made when it gave up the VM lock
  std::unique_ptr<pending_stack> buffer;   ///< made at the first need, never freed
  std::atomic<pending_stack*> pending{nullptr};  ///< the same, for a handler
  bool announced = false;                  ///< the sink knows it
  bool ended = false;                      ///< the sink was told of its end
  bool over = false;                       ///< Ruby has told of its end, which comes a little before it
  bool name_known = false;                 ///< `name` was read from Ruby, not guessed
  std::string id;                          ///< empty = not made yet
  std::string name;
  std::string started_at;
  // Of the ticker alone: its last reading of the cpu clock, and whose it was.
  pid_t measured = 0;
  nanos cpu_then{0};
  mono seen_then;
};

/// All live slots. Everything but `runner` and `runner_limit` needs the VM lock.
class thread_table {
 public:
  /// Null = unknown. Allocates nothing, so it may be called while the collector runs.
  [[nodiscard]] thread_slot* find(VALUE thread) const noexcept {
    const auto at = slots_.find(thread);
    return at == slots_.end() ? nullptr : at->second;
  }

  /// A fresh slot for a thread that has none.
  [[nodiscard]] thread_slot& add(VALUE thread, pid_t tid, std::uintptr_t native) {
    thread_slot* s = nullptr;
    if (free_.empty()) {
      s = &all_.emplace_back();
      free_.reserve(all_.size());  // so that remove() never allocates
    } else {
      s = free_.back();
      free_.pop_back();
    }
    s->thread = thread;
    s->tid.store(tid, std::memory_order_relaxed);
    s->native.store(native, std::memory_order_relaxed);
    s->exited.store(false, std::memory_order_relaxed);
    s->asks.store(0, std::memory_order_relaxed);
    s->announced = s->ended = s->over = s->name_known = false;
    if (s->buffer) s->buffer->release();
    s->id.clear();
    s->name.clear();
    s->started_at.clear();
    slots_.emplace(thread, s);
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      if (runners_[i].load(std::memory_order_relaxed) != nullptr) continue;
      runners_[i].store(s, std::memory_order_release);  // pairs with acquire in runner()
      if (i >= limit_.load(std::memory_order_relaxed)) {
        limit_.store(i + 1, std::memory_order_release);
      }
      break;
    }
    return *s;
  }

  void remove(thread_slot& s) noexcept {
    for (std::size_t i = 0; i < limit_.load(std::memory_order_relaxed); ++i) {
      if (runners_[i].load(std::memory_order_relaxed) == &s) {
        runners_[i].store(nullptr, std::memory_order_relaxed);
      }
    }
    slots_.erase(s.thread);
    s.thread = 0;
    s.tid.store(0, std::memory_order_relaxed);
    free_.push_back(&s);
  }

  /// The live ones now, in a list that stays good while threads come and go.
  [[nodiscard]] std::vector<thread_slot*> list() const {
    std::vector<thread_slot*> all;
    all.reserve(slots_.size());
    for (const auto& [thread, slot] : slots_) all.push_back(slot);
    return all;
  }
  template <class F>
  void each(F&& f) const {
    for (const auto& [thread, slot] : slots_) f(*slot);
  }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

  // For the ticker, without the lock. Threads beyond the size of this table are profiled too, but the
  // ticker does not choose them for a signal.
  [[nodiscard]] std::size_t runner_limit() const noexcept {
    return limit_.load(std::memory_order_acquire);
  }
  [[nodiscard]] thread_slot* runner(std::size_t i) const noexcept {
    return runners_[i].load(std::memory_order_acquire);
  }

 private:
  std::deque<thread_slot> all_;
  std::vector<thread_slot*> free_;
  absl::flat_hash_map<VALUE, thread_slot*> slots_;
  std::array<std::atomic<thread_slot*>, 1024> runners_{};
  std::atomic<std::size_t> limit_{0};
};

/// What the rest of the library holds of a thread.
struct thread_handle {
  thread_slot* slot = nullptr;
  friend bool operator==(const thread_handle&, const thread_handle&) noexcept = default;
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_THREAD_SLOT_HPP
