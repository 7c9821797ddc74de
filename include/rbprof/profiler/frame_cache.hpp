// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_FRAME_CACHE_HPP
#define RBPROF_PROFILER_FRAME_CACHE_HPP

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <utility>

#include <rbprof/model/text.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/bytes.hpp>
#include <rbprof/profiler/thread_status.hpp>

namespace rbprof::inline v0 {
namespace detail {

/// A frame in words, and what a thread does that stands in it.
struct named_frame {
  frame_entry entry;
  thread_status waits = thread_status::unknown;
};

/// From a VM's frame handle to its words. The adapter keeps the handles alive that it has described; both
/// are dropped together, when the recorder has moved to a new generation of tables.
///
/// Calls from: the sampler, VM lock held · Blocks: never · Allocates: for a new frame · On failure: a frame
/// that the VM can't describe gets a placeholder name, and is counted
template <vm_adapter V>
class frame_cache {
 public:
  using frame = typename V::frame_type;

  [[nodiscard]] named_frame& describe(V& v, typename V::lock_type& lk, const frame& f) {
    auto [at, is_new] = frames_.try_emplace(f);
    if (is_new) {
      auto made = std::make_unique<named_frame>();
      if (!v.describe(lk, f, made->entry.text)) {
        made->entry.text = frame_text{};
        made->entry.text.name = placeholder::no_name;
        ++failures_;
      }
      made->waits = waits_in(made->entry.text);
      at = frames_.try_emplace(f).first;  // describing may run the collector, never this cache
      at->second = std::move(made);
    }
    return *at->second;
  }

  /// The words of a frame that was described before; null when it was not.
  [[nodiscard]] named_frame* find(const frame& f) noexcept {
    const auto at = frames_.find(f);
    return at == frames_.end() ? nullptr : at->second.get();
  }

  void forget(V& v, typename V::lock_type& lk) noexcept {
    frames_.clear();
    if constexpr (has_frame_pins<V>) v.forget_frames(lk);
  }
  [[nodiscard]] std::size_t size() const noexcept { return frames_.size(); }
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

 private:
  absl::flat_hash_map<frame, std::unique_ptr<named_frame>, bytes_hash> frames_;
  std::uint64_t failures_ = 0;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_FRAME_CACHE_HPP
