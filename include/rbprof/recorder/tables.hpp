// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RECORDER_TABLES_HPP
#define RBPROF_RECORDER_TABLES_HPP

#include <absl/hash/hash.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <rbprof/base/id.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/model/utf8.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/recorder/chunked.hpp>

// One generation of names: strings, functions, frames, stacks, threads and label sets, each with a dense
// index of which 0 is the empty one. Both slots of a recorder write ids of the same generation, so a flip
// clears counters and keeps names; when a generation has grown too large the next slot gets a new one and
// the old one is freed as a whole.
//
// A stack is a node (parent, leaf frame), the root side first, so stacks share their callers:
//
//   main -> a -> b      1:(0,main) 2:(1,a) 3:(2,b)
//   main -> a -> c                          4:(2,c)
//
// Roles. Writer: the sampler, between enter and leave. Reader: the flusher, and only of rows that it can
// reach from what its drained slot holds; those were complete before the slot drained. The exception is a
// thread's text, which may change late and is wanted at its newest: an atomic string index.

namespace rbprof::inline v0 {
namespace recording {

struct string_row {
  const char* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t next = 0;
  std::size_t hash = 0;
};

struct function_row {
  string_id name;
  string_id file;
  std::int32_t start_line = 0;
  std::uint32_t next = 0;
};

struct frame_row {
  function_id function;
  std::int32_t line = 0;
  std::uint32_t next = 0;
};

struct stack_row {
  stack_id parent;
  frame_id leaf;
  std::uint32_t next = 0;
};

/// Indices of strings. release by the writer pairs with acquire by the reader: an index is stored after the
/// string's row is complete.
struct thread_row {
  std::atomic<std::uint32_t> id{0};
  std::atomic<std::uint32_t> name{0};
  std::atomic<std::uint32_t> started_at{0};
};

struct label_row {
  string_id key;
  string_id str;
  string_id unit;
  std::int64_t num = 0;

  friend bool operator==(const label_row&, const label_row&) = default;
};

struct label_set_row {
  std::uint32_t thread = 0;  ///< 0 = none
  std::uint32_t first = 0;   ///< of its labels
  std::uint32_t count = 0;
  std::uint32_t next = 0;
};

class tables {
 public:
  /// A longer name is cut, on a character border.
  static constexpr std::size_t longest_string = 4096;
  /// What does not fit is booked here; it always fits itself.
  static constexpr stack_id overflow_stack{1};

  /// Takes up at most `byte_limit` bytes, of which a tenth at once, as untouched pages.
  /// Calls from: the flusher, or before anybody samples · Allocates: yes
  tables(std::uint32_t generation, std::size_t byte_limit)
      : generation_(generation),
        purse_(byte_limit),
        text_(purse_),
        strings_(purse_, byte_limit / sizeof(string_row), byte_limit / 512),
        functions_(purse_, byte_limit / sizeof(function_row), byte_limit / 512),
        frames_(purse_, byte_limit / sizeof(frame_row), byte_limit / 256),
        stacks_(purse_, byte_limit / sizeof(stack_row), byte_limit / 64),
        label_sets_(purse_, byte_limit / sizeof(label_set_row), byte_limit / 1024),
        labels_(purse_, byte_limit / sizeof(label_row)),
        threads_(purse_, byte_limit / sizeof(thread_row)) {
    (void)threads_.append();  // row 0: no thread
    frame_entry entry;
    entry.text.name = placeholder::overflow;
    (void)push(stack_id{}, frame(entry));
  }
  tables(const tables&) = delete;
  tables& operator=(const tables&) = delete;

  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }
  /// Bytes in use. Any thread; a figure that may be a moment old.
  [[nodiscard]] std::size_t bytes_used() const noexcept { return purse_.used(); }
  [[nodiscard]] std::size_t byte_limit() const noexcept { return purse_.limit(); }

  // --- writer. 0 = does not fit. Blocks: never · Allocates: chunks, until the program's names are known

  [[nodiscard]] frame_id frame(frame_entry& e) noexcept;
  [[nodiscard]] stack_id stack(std::span<frame_entry* const> leaf_first, path_hint* path) noexcept;
  [[nodiscard]] label_set_id label_set(label_entry& e) noexcept;

  // --- reader

  [[nodiscard]] std::string_view string(string_id i) const noexcept {
    return {strings_[i.value].data, strings_[i.value].size};
  }
  [[nodiscard]] const function_row& function(function_id i) const noexcept {
    return functions_[i.value];
  }
  [[nodiscard]] const frame_row& frame(frame_id i) const noexcept { return frames_[i.value]; }
  [[nodiscard]] const stack_row& stack(stack_id i) const noexcept { return stacks_[i.value]; }
  [[nodiscard]] const label_set_row& label_set(label_set_id i) const noexcept {
    return label_sets_[i.value];
  }
  [[nodiscard]] const label_row& label(std::uint32_t i) const noexcept { return labels_[i]; }
  /// The text of a thread as it is now; empty = not known.
  [[nodiscard]] std::string_view thread_text_of(
      std::uint32_t thread, std::atomic<std::uint32_t> thread_row::*which) const noexcept {
    // acquire: pairs with the release in set_text().
    return string({(threads_[thread].*which).load(std::memory_order_acquire)});
  }

 private:
  [[nodiscard]] bool intern(std::string_view s, string_id& out) noexcept;
  [[nodiscard]] stack_id push(stack_id parent, frame_id leaf) noexcept;
  [[nodiscard]] std::uint32_t thread(thread_entry& e) noexcept;
  [[nodiscard]] bool append(const label_text& l) noexcept;
  void set_text(std::atomic<std::uint32_t>& to, std::string_view s) noexcept;

  std::uint32_t generation_;
  byte_purse purse_;  // before what takes from it
  byte_arena text_;
  chained<string_row> strings_;
  chained<function_row> functions_;
  chained<frame_row> frames_;
  chained<stack_row> stacks_;
  chained<label_set_row> label_sets_;
  chunked<label_row> labels_;
  chunked<thread_row> threads_;
};

inline bool tables::intern(std::string_view s, string_id& out) noexcept {
  out = {};
  if (s.empty()) return true;
  s = cut_utf8(s, longest_string);
  const std::size_t hash = absl::Hash<std::string_view>{}(s);
  out.value = strings_.find(hash, [&](const string_row& r) {
    return r.hash == hash && std::string_view(r.data, r.size) == s;
  });
  if (out) return true;
  const char* const kept = text_.keep(s.data(), s.size());
  if (kept == nullptr) return false;
  out.value = strings_.insert(hash, {kept, static_cast<std::uint32_t>(s.size()), 0, hash});
  return static_cast<bool>(out);
}

inline frame_id tables::frame(frame_entry& e) noexcept {
  if (e.generation == generation_) return e.id;
  string_id name;
  string_id file;
  if (!intern(e.text.name, name) || !intern(e.text.file, file)) return {};
  const std::int32_t start = e.text.start_line;
  const std::size_t function_hash =
      mixed(name.value, file.value) + mixed(static_cast<std::uint32_t>(start));
  std::uint32_t function = functions_.find(function_hash, [&](const function_row& r) {
    return r.name == name && r.file == file && r.start_line == start;
  });
  if (function == 0) function = functions_.insert(function_hash, {name, file, start});
  if (function == 0) return {};
  const std::size_t frame_hash = mixed(function, static_cast<std::uint32_t>(e.text.line));
  frame_id id{frames_.find(frame_hash, [&](const frame_row& r) {
    return r.function.value == function && r.line == e.text.line;
  })};
  if (!id) id.value = frames_.insert(frame_hash, {{function}, e.text.line});
  if (!id) return {};
  e.generation = generation_;
  e.id = id;
  return id;
}

inline stack_id tables::push(stack_id parent, frame_id leaf) noexcept {
  const std::size_t hash = mixed(parent.value, leaf.value);
  const std::uint32_t known =
      stacks_.find(hash, [&](const stack_row& r) { return r.leaf == leaf && r.parent == parent; });
  return {known != 0 ? known : stacks_.insert(hash, {parent, leaf})};
}

// The path is compared by what its nodes say, not by the addresses of entries: an entry may have been
// freed and another one made in its place.
inline stack_id tables::stack(std::span<frame_entry* const> leaf_first, path_hint* path) noexcept {
  stack_id at;
  auto todo = leaf_first.rbegin();
  if (path != nullptr) {
    if (path->generation != generation_) path->steps.clear();
    path->generation = generation_;
    std::size_t same = 0;
    for (; todo != leaf_first.rend() && same < path->steps.size(); ++todo, ++same) {
      const stack_id step = path->steps[same].stack;
      if ((*todo)->generation != generation_ || stacks_[step.value].leaf != (*todo)->id) break;
      at = step;
    }
    path->steps.resize(same);
  }
  for (; todo != leaf_first.rend(); ++todo) {
    const frame_id leaf = frame(**todo);
    if (leaf) at = push(at, leaf);
    if (!leaf || !at) return {};
    if (path != nullptr) path->steps.push_back({*todo, at});
  }
  return at;
}

inline void tables::set_text(std::atomic<std::uint32_t>& to, std::string_view s) noexcept {
  string_id id;
  if (!intern(s, id)) return;  // does not fit: the old text stays
  // release: pairs with the acquire in thread_text_of(); the string's row is complete.
  to.store(id.value, std::memory_order_release);
}

inline std::uint32_t tables::thread(thread_entry& e) noexcept {
  if (e.generation != generation_) {
    if (threads_.append() == nullptr) return 0;
    e.generation = generation_;
    e.number = threads_.size() - 1;
    e.written = e.version - 1;
  }
  if (e.written != e.version) {
    thread_row& row = threads_[e.number];
    set_text(row.id, e.text.id);
    set_text(row.name, e.text.name);
    set_text(row.started_at, e.text.started_at);
    e.written = e.version;
  }
  return e.number;
}

inline bool tables::append(const label_text& l) noexcept {
  label_row row;
  if (!intern(l.key, row.key) || !intern(l.str, row.str) || !intern(l.unit, row.unit)) return false;
  row.num = l.num;
  label_row* const to = labels_.append();
  if (to != nullptr) *to = row;
  return to != nullptr;
}

// Labels are appended first and taken back when the set turns out to be known.
inline label_set_id tables::label_set(label_entry& e) noexcept {
  const std::uint32_t thread_number = e.thread != nullptr ? thread(*e.thread) : 0;
  if (e.generation == generation_) return e.id;
  if (e.thread != nullptr && thread_number == 0) return {};
  const std::uint32_t first = labels_.size();
  std::size_t hash = mixed(thread_number);
  for (const label_text& l : e.more) {
    if (!append(l)) {
      labels_.shrink_to(first);
      return {};
    }
    const label_row& row = labels_[labels_.size() - 1];
    hash = mixed(hash + mixed(row.key.value, row.str.value) + static_cast<std::size_t>(row.num));
  }
  const std::uint32_t count = labels_.size() - first;
  label_set_id id{label_sets_.find(hash, [&](const label_set_row& r) {
    if (r.thread != thread_number || r.count != count) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!(labels_[r.first + i] == labels_[first + i])) return false;
    }
    return true;
  })};
  if (id) {
    labels_.shrink_to(first);
  } else {
    id.value = label_sets_.insert(hash, {thread_number, first, count});
    if (!id) labels_.shrink_to(first);
  }
  if (!id) return {};
  e.generation = generation_;
  e.id = id;
  return id;
}

}  // namespace recording
}  // namespace rbprof::inline v0

#endif  // RBPROF_RECORDER_TABLES_HPP
