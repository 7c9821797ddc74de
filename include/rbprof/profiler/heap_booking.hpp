// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_HEAP_BOOKING_HPP
#define RBPROF_PROFILER_HEAP_BOOKING_HPP

#include <absl/container/flat_hash_map.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rbprof/base/splitmix.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/booker.hpp>
#include <rbprof/recorder/heap_recorder.hpp>

// From allocation samples to objects that are kept in mind: which of them, and with what stack. Every `every`-th sample
// on average is, by random gaps as with events, and weighs what was sampled since the last one.

namespace rbprof::inline v0 {
namespace detail {

/// Calls from: the sampler and hooks, VM lock held · Blocks: never · Allocates: yes, no object of the VM in `offer` and
/// `place` · On failure: an object that can't be watched is left out
template <class V, class R>
class heap_booking {
 public:
  using lock = typename V::lock_type;
  using frame = typename V::frame_type;

  heap_booking(V& vm, booker<V, R>& stacks, std::uint32_t every) : vm_(vm), stacks_(stacks), every_(std::max(every, 1U)) {}
  heap_booking(const heap_booking&) = delete;

  heap_recorder objects;

  /// In a hook: the number that a new object, of weight `weight`, is now known by; 0 = it is not.
  template <class Object>
  [[nodiscard]] std::uint64_t offer(lock& lk, Object object, const label_entry& labels, std::uint64_t weight) {
    gathered_ += weight;
    if (--left_ > 0) return 0;
    // What was gathered is this one's, also when it can't be watched: else an object of the VM's own would make the next
    // one heavier.
    const std::uint64_t all = std::exchange(gathered_, 0);
    left_ = 1 + static_cast<std::int64_t>(splitmix(every_, ++drawn_) % (2 * every_ - 1));
    if constexpr (has_live_objects<V>) {
      if (objects.is_full()) sweep(lk);
      const std::uint64_t number = objects.next();
      if (objects.is_full() || !vm_.watch(lk, object, number)) return 0;
      words_.assign({{label_key::thread_id, labels.thread->text.id, 0, {}},
                     {label_key::thread_name, labels.thread->text.name, 0, {}}});
      words_.insert(words_.end(), labels.more.begin(), labels.more.end());
      objects.add(words_, all, vm_.collections(lk));
      return number;
    } else {
      return 0;
    }
  }

  /// In a hook: gives it a stack that was put into words before. False = this one was not.
  [[nodiscard]] bool place(std::span<const frame> raw, std::uint64_t number) {
    const auto at = known_.find(key_of(raw));
    if (at == known_.end()) return false;
    objects.place(number, at->second);
    return true;
  }

  /// At a safe point: gives objects a stack, whose words are asked for if they are not there.
  template <class Stack>
  void place_later(lock& lk, typename V::thread_type th, std::span<const frame> raw, Stack& stack,
                   std::span<const std::uint64_t> numbers) {
    stacks_.put_in_words(vm_, lk, th, stack);
    const heap_recorder::stack_ref words = objects.share(stack.frames);
    for (const std::uint64_t n : numbers) objects.place(n, words);
    if (known_.size() >= most_known) known_.clear();
    known_.emplace(std::string(key_of(raw)), words);
  }

  /// At a settle: who lives, and the picture for the flush.
  void update(lock& lk) {
    if constexpr (has_live_objects<V>) {
      objects.update(vm_.collections(lk), [&](std::uint64_t n) { return vm_.alive(lk, n); });
    }
  }

  /// Frames may come to mean others.
  void forget_keys() noexcept { known_.clear(); }

 private:
  static constexpr std::size_t most_known = 8192;

  [[nodiscard]] static absl::string_view key_of(std::span<const frame> raw) noexcept {
    const auto bytes = std::as_bytes(raw);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// Once a collection: nothing dies in between.
  void sweep(lock& lk) {
    const std::uint64_t now = vm_.collections(lk);
    if (now == swept_at_) return;
    swept_at_ = now;
    objects.sweep([&](std::uint64_t n) { return vm_.alive(lk, n).has_value(); });
  }

  V& vm_;
  booker<V, R>& stacks_;
  const std::uint64_t every_;
  std::int64_t left_ = 1;
  std::uint64_t gathered_ = 0, drawn_ = 0, swept_at_ = 0;
  std::vector<label_text> words_;
  absl::flat_hash_map<std::string, heap_recorder::stack_ref> known_;  // by the bytes of a capture
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_HEAP_BOOKING_HPP
