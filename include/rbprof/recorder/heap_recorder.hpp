// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RECORDER_HEAP_RECORDER_HPP
#define RBPROF_RECORDER_HEAP_RECORDER_HPP

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rbprof/base/counter.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/model/profile_builder.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/policy/recorder.hpp>

// Objects that are alive: a part of the allocation samples is kept in mind, and looked at again. In two steps, since a
// hook can put nothing into words:
//
//     hook ────────▶ add(labels, weight) ─▶ number, which the VM watches the object by
//     safe point ──▶ share(stack in words) ─▶ place(number, stack)
//     settle ──────▶ update(asks the VM of each) ─▶ picture ──exchange──▶ flush takes it
//
// An object lives for many periods, while the names of a period's tables go. So its stack is in a store of this
// recorder's own, where a stack and a frame are shared and counted, and go with the last object that has them.
// The flusher never waits for an update, nor an update for it: a picture is made whole and then exchanged.

namespace rbprof::inline v0 {

/// Calls from:  the holder of the VM lock; `take`, `each_statistic`: any thread
/// Blocks:      never
/// Allocates:   yes
/// On failure:  what does not fit is not kept in mind, and counted
class heap_recorder {
 public:
  static constexpr std::size_t default_objects = 1U << 17;
  static constexpr std::string_view age_key = "gc gen age";

  explicit heap_recorder(std::size_t most_objects = default_objects) : most_(most_objects) {}
  ~heap_recorder() { delete picture_.load(std::memory_order_relaxed); }
  heap_recorder(const heap_recorder&) = delete;

  using stack_ref = std::shared_ptr<const std::vector<std::shared_ptr<const frame_text>>>;

  /// The number that the next object gets; from 1.
  [[nodiscard]] std::uint64_t next() const noexcept { return last_ + 1; }
  /// A new object, whose stack comes later. Not when it is full.
  void add(std::span<const label_text> labels, std::uint64_t weight, std::uint64_t collections) {
    kept_.add();
    objects_.emplace(++last_, object{nullptr, shared(labels), weight, collections});
  }
  /// The stack that has these frames, leaf first.
  [[nodiscard]] stack_ref share(std::span<frame_entry* const> frames) { return shared(frames); }
  /// Gives an object the stack that it was made at.
  void place(std::uint64_t number, const stack_ref& stack) {
    if (const auto at = objects_.find(number); at != objects_.end()) at->second.stack = stack;
  }

  [[nodiscard]] bool is_full() noexcept {
    if (objects_.size() < most_) return false;
    full_.add();
    return true;
  }
  [[nodiscard]] std::size_t size() const noexcept { return objects_.size(); }

  /// Lets go of what is dead. `alive(number)`: its bytes, or none.
  template <class Alive>
  void sweep(Alive&& alive) {
    const std::size_t before = objects_.size();
    absl::erase_if(objects_, [&](const auto& entry) { return !alive(entry.first); });
    dead_.add(before - objects_.size());
    forget_unused();
  }

  /// Lets go of what is dead, and makes the picture of what has survived a collection.
  template <class Alive>
  void update(std::uint64_t collections, Alive&& alive) {
    std::map<std::tuple<const stack_words*, const label_words*, std::uint64_t>, values> rows;
    sweep([&](std::uint64_t number) {
      const std::optional<std::uint64_t> bytes = alive(number);
      if (!bytes) return false;
      const object& o = objects_.find(number)->second;
      if (o.stack == nullptr || collections <= o.born) return true;
      values& sum = rows[{o.stack.get(), o.labels.get(), collections - o.born}];
      sum[value_type::heap_live_samples] += static_cast<std::int64_t>(o.weight);
      sum[value_type::heap_live_size] += static_cast<std::int64_t>(o.weight * *bytes);
      return true;
    });
    profile_builder b({value_type::heap_live_samples, value_type::heap_live_size});
    for (const auto& [key, sum] : rows) {
      const auto& [stack, labels, age] = key;
      stack_id at;
      for (auto f = stack->rbegin(); f != stack->rend(); ++f) at = b.stack(at, b.frame(**f));
      std::vector<label_text> all;
      for (const auto& [name, text] : *labels) all.push_back({name, text, 0, {}});
      all.push_back({age_key, {}, static_cast<std::int64_t>(age), {}});
      b.add(at, b.labels(all), sum);
    }
    // acq_rel: pairs with take(), which reads what was built here.
    delete picture_.exchange(new profile(std::move(b).build()), std::memory_order_acq_rel);
  }

  /// The latest picture, once.
  [[nodiscard]] std::unique_ptr<const profile> take() noexcept {
    return std::unique_ptr<const profile>(picture_.exchange(nullptr, std::memory_order_acq_rel));
  }

  template <class F>
  void each_statistic(F&& f) const {
    f("heap_objects_kept", kept_.get());
    f("heap_objects_dead", dead_.get());
    f("heap_objects_refused", full_.get());
  }

 private:
  using frame_words = std::shared_ptr<const frame_text>;
  using stack_words = std::vector<frame_words>;
  using label_words = std::vector<std::pair<std::string, std::string>>;

  struct object {
    stack_ref stack;  // null until place()
    std::shared_ptr<const label_words> labels;
    std::uint64_t weight;
    std::uint64_t born;  // collections before
  };

  /// The one that is equal, made when there is none.
  template <class T>
  [[nodiscard]] static std::shared_ptr<const T> shared(
      absl::flat_hash_map<std::string, std::shared_ptr<const T>>& all, const std::string& key, T&& words) {
    auto& at = all[key];
    if (at == nullptr) at = std::make_shared<const T>(std::move(words));
    return at;
  }
  [[nodiscard]] stack_ref shared(std::span<frame_entry* const> frames) {
    stack_words words;
    std::string key;
    for (const frame_entry* f : frames) {
      const frame_text& t = f->text;
      const std::string one =
          t.name + '\0' + t.file + '\0' + std::to_string(t.line) + '\0' + std::to_string(t.start_line);
      words.push_back(shared(frames_, one, frame_text(t)));
      const auto address = reinterpret_cast<std::uintptr_t>(words.back().get());
      key.append(reinterpret_cast<const char*>(&address), sizeof address);
    }
    return shared(stacks_, key, std::move(words));
  }
  [[nodiscard]] std::shared_ptr<const label_words> shared(std::span<const label_text> labels) {
    label_words words;
    std::string key;
    for (const label_text& l : labels) {
      words.emplace_back(std::string(l.key), l.str);
      key += words.back().first + '\0' + l.str + '\0';
    }
    return shared(labels_, key, std::move(words));
  }
  void forget_unused() {
    const auto unused = [](const auto& entry) { return entry.second.use_count() == 1; };
    absl::erase_if(labels_, unused);
    absl::erase_if(stacks_, unused);
    absl::erase_if(frames_, unused);  // after the stacks that have them
  }

  const std::size_t most_;
  std::uint64_t last_ = 0;
  absl::flat_hash_map<std::uint64_t, object> objects_;
  absl::flat_hash_map<std::string, std::shared_ptr<const label_words>> labels_;
  absl::flat_hash_map<std::string, std::shared_ptr<const stack_words>> stacks_;
  absl::flat_hash_map<std::string, frame_words> frames_;
  std::atomic<const profile*> picture_{nullptr};
  counter kept_, dead_, full_;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_RECORDER_HEAP_RECORDER_HPP
