// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_ALLOCATION_BOOKING_HPP
#define RBPROF_PROFILER_ALLOCATION_BOOKING_HPP

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/counter.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/booker.hpp>
#include <rbprof/profiler/heap_booking.hpp>
#include <rbprof/profiler/thread_record.hpp>

// New objects as samples: on the stack that made them, with the class as a label, weighed by the event sampler. Every
// event that was seen is in exactly one of these places, so nothing is lost and nothing counts twice:
//
//     a new object ─┬─ no sample           ─▶ weighs with the next sample; at a period's end ─▶ "Skipped Samples"
//                   ├─ a sample            ─▶ its stack, at most `largest_weight`; what is over ─▶ "Skipped Samples"
//                   ├─ can't be sampled    ─▶ weighs with the next sample
//                   └─ made by the sampler ─▶ the stack of the profiler's own overhead, class "(rbprof)"
//
// Inside of the VM's hook nothing is asked of the VM that might make an object: that one would be told of too, or, in
// CRuby, be told of to nobody, like a collection that it causes. So a stack that has no words yet waits:
//
//     hook ──▶ capture ──▶ known stack ─────────────────────────────▶ recorder
//                     └──▶ new stack ──▶ deferred, kept by the VM
//     safe point or settle ────────────────────▲ words ─────────────▶ recorder
//
// A long call without a safe point fills the places for deferred stacks only if it comes from many places; then events
// weigh with a later sample.
//
// What a sample took is charged to the event sampler alone. In the columns of time it stays on the stack that allocated.

namespace rbprof::inline v0 {
namespace detail {

/// Calls from: a VM hook or the sampler, VM lock held · Blocks: never · Allocates: for stacks and classes not seen
/// before · On failure: an object without words has the class "(unnamed)", and is counted
template <class V, class C, class R>
class allocation_booking {
 public:
  using lock = typename V::lock_type;
  using record_type = thread_record<V, C>;

  /// A heavier sample would be a claim about one stack that nobody can make.
  static constexpr std::uint64_t largest_weight = 10'000;
  static constexpr std::size_t most_classes = 4096;  ///< whose labels a thread keeps at a time
  static constexpr std::size_t most_deferred = 64;   ///< stacks with labels that wait for their words

  allocation_booking(V& vm, booker<V, R>& stacks) : vm_(vm), stacks_(stacks) {
    const std::string skipped_samples(placeholder::skipped);
    skipped_thread_.text = {"SS", skipped_samples, {}, false};
    skipped_.thread = &skipped_thread_;
    skipped_.more = {text_label(label_key::allocation_class, "(" + skipped_samples + ")")};
    own_thread_.text = {"0", "rbprof", {}, false};
    own_.thread = &own_thread_;
    own_.more = {text_label(label_key::allocation_class, "(rbprof)"), {label_key::overhead, {}, 1, {}}};
  }
  allocation_booking(const allocation_booking&) = delete;

  /// Profiling starts, with these columns.
  void reset(std::span<const value_type> types, std::uint32_t heap_every = 1) {
    const auto has_column = [&](value_type t) { return std::find(types.begin(), types.end(), t) != types.end(); };
    scaled_ = has_column(value_type::alloc_samples);
    unscaled_ = has_column(value_type::alloc_samples_unscaled);
    heap_.reset();
    if (has_column(value_type::heap_live_samples) || has_column(value_type::heap_live_size)) {
      heap_ = std::make_unique<heap_booking<V, R>>(vm_, stacks_, heap_every);
    }
    own_pending_ = 0;
    deferred_.clear();
    for (counter* c : {&samples_, &own_events_, &unsampled_, &nameless_}) (void)c->take();
  }
  /// False: the profile has no column for allocations, so they are not even counted.
  [[nodiscard]] bool is_on() const noexcept { return scaled_ || unscaled_ || heap_ != nullptr; }
  /// What is alive, where that is to be known.
  [[nodiscard]] heap_booking<V, R>* heap() const noexcept { return heap_.get(); }

  /// An event inside of a sample, which the event sampler has not counted.
  void count_own() noexcept { ++own_pending_; }

  /// An event that was to be a sample, at a place where none can be taken.
  void count_unsampled() noexcept { unsampled_.add(); }

  /// The event that `events` has just chosen. A thread that is not known yet can't be sampled.
  template <class Object, class Events>
  void sample(lock& lk, record_type* rec, Object object, Events& events) {
    if (rec == nullptr || deferred_.size() >= most_deferred) return count_unsampled();
    const mono began = vm_.now();
    label_entry& labels = labels_of(lk, *rec, object);
    const captured got = vm_.capture(lk, rec->thread, stacks_.room());
    const std::uint64_t weight = events.weight(began);
    const std::uint64_t here = std::min(weight, largest_weight);
    if (got.count == 0) {
      stacks_.put(stand_in::unattributed, labels, amount(here, 1));
    } else {
      const auto raw = stacks_.close(got);
      const std::uint64_t live = heap_ ? heap_->offer(lk, object, labels, here) : 0;
      const bool placed = live == 0 || heap_->place(raw, live);
      if (!placed || !stacks_.put_known(raw, labels, &rec->path, amount(here, 1))) {
        deferred& d = defer(lk, *rec, raw, got.count, labels, amount(here, 1));
        if (!placed) d.live.push_back(live);
      }
    }
    if (weight > here) stacks_.put(stand_in::skipped, skipped_, amount(weight - here, 0));
    samples_.add();
    const mono ended = vm_.now();
    events.charge(ended, ended - began);
  }

  /// Puts stacks into words that a hook has left, and books what the sampler itself has made. Outside of hooks.
  template <class Events>
  void put_rest(lock& lk, Events& events) {
    if (!deferred_.empty()) {
      const mono began = vm_.now();
      for (const deferred& d : deferred_) {
        auto stack = stacks_.later(vm_, lk, d.rec->thread, d.raw);
        stacks_.put(vm_, lk, d.rec->thread, stack, *d.labels, &d.rec->path, d.amount);
        if (!d.live.empty()) heap_->place_later(lk, d.rec->thread, d.raw, stack, d.live);
      }
      deferred_.clear();
      if constexpr (requires(nanos d) { events.charge_more(d); }) events.charge_more(vm_.now() - began);
    }
    put_own();
  }

  /// A period ends: what no sample stands for yet is booked as skipped, so that the period has all of its events.
  /// After `put_rest`.
  template <class Events>
  void end_period(lock& lk, Events& events) {
    put_own();
    if (!is_on()) return;
    if (heap_) heap_->update(lk);
    if (const std::uint64_t n = events.take_pending(); n != 0) stacks_.put(stand_in::skipped, skipped_, amount(n, 0));
  }

  /// Frames may come to mean others.
  void forget_keys() noexcept {
    if (heap_) heap_->forget_keys();
  }

  /// Books what the sampler itself has allocated since the last time.
  void put_own() {
    if (own_pending_ == 0) return;
    const std::uint64_t n = std::exchange(own_pending_, 0);
    own_events_.add(n);
    stacks_.put(stand_in::overhead, own_, amount(n, 0));
  }

  template <class F>
  void each_statistic(F&& f) const {
    f("allocation_samples", samples_.get());
    f("allocations_during_sample", own_events_.get());
    f("allocations_not_sampled", unsampled_.get());
    f("allocations_without_class", nameless_.get());
    if (heap_) heap_->objects.each_statistic(f);
  }

 private:
  struct deferred {
    record_type* rec;
    label_entry* labels;
    std::vector<typename V::frame_type> raw;
    values amount;
    std::vector<std::uint64_t> live;  // objects that are watched
  };

  /// The same stack and labels share a place: a long call of the VM makes many objects at one.
  deferred& defer(lock& lk, record_type& rec, std::span<const typename V::frame_type> raw, std::size_t frames,
             label_entry& labels, const values& amount) {
    const auto bytes = std::as_bytes(raw);
    for (deferred& d : deferred_) {
      const auto have = std::as_bytes(std::span(d.raw));
      if (d.labels != &labels || have.size() != bytes.size()) continue;
      if (std::memcmp(have.data(), bytes.data(), bytes.size()) != 0) continue;
      d.amount += amount;
      return d;
    }
    if constexpr (requires { vm_.keep_frames(lk, raw); }) vm_.keep_frames(lk, raw.first(frames));
    deferred_.push_back({&rec, &labels, {raw.begin(), raw.end()}, amount, {}});
    (void)vm_.request_safe_point();
    return deferred_.back();
  }

  [[nodiscard]] values amount(std::uint64_t weight, std::uint64_t taken) const noexcept {
    values v;
    if (scaled_) v[value_type::alloc_samples] = static_cast<std::int64_t>(weight);
    if (unscaled_) v[value_type::alloc_samples_unscaled] = static_cast<std::int64_t>(taken);
    return v;
  }

  template <class Object>
  [[nodiscard]] label_entry& labels_of(lock& lk, record_type& rec, Object object) {
    words_.name.clear();
    words_.file.clear();
    if (!vm_.describe_object(lk, object, words_)) nameless_.add();
    if (words_.name.empty()) words_.name = placeholder::no_name;
    rec.marks.read_here();
    std::string key = words_.file + '\0' + words_.name + '\0' + std::to_string(rec.marks.labels());
    if (const auto known = rec.allocation_labels.find(key); known != rec.allocation_labels.end()) {
      return *known->second;
    }
    // A cache: what goes is made again when asked for. What is deferred names its labels.
    if (rec.allocation_labels.size() >= most_classes && deferred_.empty()) rec.allocation_labels.clear();
    auto made = std::make_unique<label_entry>();
    made->thread = &rec.entry;
    if (!words_.file.empty()) made->more.push_back(text_label(label_key::vm_type, words_.file));
    made->more.push_back(text_label(label_key::allocation_class, words_.name));
    rec.marks.append_to(made->more);
    return *rec.allocation_labels.emplace(std::move(key), std::move(made)).first->second;
  }

  V& vm_;
  booker<V, R>& stacks_;
  bool scaled_ = false;
  bool unscaled_ = false;
  std::uint64_t own_pending_ = 0;  // events inside of samples that are not booked yet
  frame_text words_;               // kept for its memory
  std::vector<deferred> deferred_;
  std::unique_ptr<heap_booking<V, R>> heap_;
  thread_entry skipped_thread_, own_thread_;
  label_entry skipped_, own_;
  counter samples_, own_events_, unsampled_, nameless_;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_ALLOCATION_BOOKING_HPP
