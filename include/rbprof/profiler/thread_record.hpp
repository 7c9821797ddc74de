// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_THREAD_RECORD_HPP
#define RBPROF_PROFILER_THREAD_RECORD_HPP

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/policy/context.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/collection_ticks.hpp>
#include <rbprof/profiler/thread_marks.hpp>
#include <rbprof/profiler/thread_status.hpp>

namespace rbprof::inline v0 {
namespace detail {

/// All that a lane keeps of one VM thread from its birth to its end. Used with the VM lock held.
template <vm_adapter V, context_for<V> C>
struct thread_record {
  explicit thread_record(typename V::thread_type th) : thread(th) {
    for (std::size_t i = 0; i < thread_status_count; ++i) {
      label_entry& l = by_status[i];
      l.thread = &entry;
      l.more.push_back(
          {label_key::state, std::string(to_text(static_cast<thread_status>(i))), 0, {}});
    }
  }
  thread_record(const thread_record&) = delete;

  typename V::thread_type thread;
  typename C::thread_state state{};
  thread_entry entry;                                      // the words of its labels
  std::array<label_entry, thread_status_count> by_status;  // {thread, state}
  std::vector<std::pair<gc_facts, std::unique_ptr<label_entry>>> gc_labels;
  std::unique_ptr<label_entry> overhead_labels;
  absl::flat_hash_map<std::string, std::unique_ptr<label_entry>> allocation_labels;  // by type and class
  thread_marks marks;                                      // what the host says of it
  path_hint path;
  std::vector<typename V::frame_type> last_stack;  // as last captured; empty = never
  bool gc_pending = false;
  mono booked_due;                // the last tick that it was booked up to
  mono resumed;                   // when it last got the lock back after a tick had expired meanwhile
  bool woke = false;              // and has not been sampled since
  bool wait_unseen = false;       // it left the place of a wait without having been sampled there
  nanos cpu_looked{0};            // its cpu clock when it was last looked at
  collection_ticks ticks;         // of its collections
};

/// The words of a thread's labels: its own name, else "main", else where it was started.
template <class V, class Record>
void refresh_words(V& vm, typename V::lock_type& lk, Record& rec) {
  thread_text t;
  if (!vm.describe(lk, rec.thread, t)) return;
  if (t.name.empty()) t.name = t.main ? "main" : t.started_at;
  thread_text& have = rec.entry.text;
  if (have.id == t.id && have.name == t.name && have.started_at == t.started_at) return;
  have = std::move(t);
  ++rec.entry.version;
}

[[nodiscard]] inline label_text text_label(std::string_view key, std::string_view value) {
  return {key, std::string(value), 0, {}};
}

/// Labels of a collector's row: the pseudo thread "GC", and who ran it.
template <class Record>
[[nodiscard]] label_entry& gc_labels_of(Record& ran_it, thread_entry& gc_thread,
                                        const gc_facts& facts) {
  for (auto& [known, labels] : ran_it.gc_labels) {
    if (known.reason == facts.reason && known.cause == facts.cause && known.type == facts.type) {
      return *labels;
    }
  }
  auto made = std::make_unique<label_entry>();
  made->thread = &gc_thread;
  made->more = {text_label(label_key::state, to_text(thread_status::had_cpu)),
                text_label(label_key::event, "gc"),
                text_label(label_key::gc_thread_id, ran_it.entry.text.id)};
  if (facts.reason != nullptr) made->more.push_back(text_label(label_key::gc_reason, facts.reason));
  if (facts.cause != nullptr) made->more.push_back(text_label(label_key::gc_cause, facts.cause));
  if (facts.type != nullptr) made->more.push_back(text_label(label_key::gc_type, facts.type));
  ran_it.gc_labels.emplace_back(facts, std::move(made));
  return *ran_it.gc_labels.back().second;
}

/// Labels of the profiler's own row: the pseudo thread "0", and whose cpu it used.
template <class Record>
[[nodiscard]] label_entry& overhead_labels_of(Record& paid, thread_entry& profiler_thread) {
  if (!paid.overhead_labels) {
    paid.overhead_labels = std::make_unique<label_entry>();
    paid.overhead_labels->thread = &profiler_thread;
    paid.overhead_labels->more = {
        text_label(label_key::state, to_text(thread_status::had_cpu)),
        text_label(label_key::overhead_thread_id, paid.entry.text.id),
        {label_key::overhead, {}, 1, {}}};
  }
  return *paid.overhead_labels;
}

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_THREAD_RECORD_HPP
