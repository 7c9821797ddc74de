// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_LIVE_OBJECTS_HPP
#define RBPROF_VM_CRUBY_LIVE_OBJECTS_HPP

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <rbprof/vm/cruby/ruby.hpp>

// Which of some objects are alive, without a mark on them: nothing lives longer because it is watched.
//
// An object is known by its address. Ruby tells of each object that it frees, while the address still means that object;
// and a compaction, which gives objects other addresses, tells every data object of that, ours among them. So the table
// is exact at every moment that Ruby code runs, and no Ruby method is called for it. The price is a look-up for each
// object that is freed.

// Exported by every version for Ruby's own objspace, declared in no public header.
extern "C" std::size_t rb_obj_memsize_of(VALUE);

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

/// Calls from: the holder of the VM lock; `freed` and the compaction inside of the collector · Blocks: never ·
/// Allocates: never a Ruby object after `make`; in a compaction its own memory · On failure: an object that is watched
/// under an address twice was freed unseen, and the older watch ends
class live_objects {
 public:
  /// Under rb_protect, once.
  void make() {
    if (!NIL_P(holder_)) return;
    holder_ = rb_data_typed_object_wrap(rb_cObject, this, &type());
    rb_gc_register_mark_object(holder_);
  }

  void watch(VALUE object, std::uint64_t number) {
    const auto [at, is_new] = numbers_.try_emplace(object, number);
    if (!is_new) {
      objects_.erase(at->second);
      at->second = number;
    }
    objects_.emplace(number, object);
  }
  void freed(VALUE object) noexcept {
    const auto at = numbers_.find(object);
    if (at == numbers_.end()) return;
    objects_.erase(at->second);
    numbers_.erase(at);
  }
  /// Its bytes, those outside of its slot included.
  [[nodiscard]] std::optional<std::uint64_t> alive(std::uint64_t number) const noexcept {
    const auto at = objects_.find(number);
    if (at == objects_.end()) return std::nullopt;
    return rb_obj_memsize_of(at->second);
  }
  void clear() noexcept {
    numbers_.clear();
    objects_.clear();
  }

 private:
  void moved() {
    std::vector<std::pair<std::uint64_t, VALUE>> to;
    for (const auto& [number, object] : objects_) {
      if (const VALUE now = rb_gc_location(object); now != object) to.emplace_back(number, now);
    }
    for (const auto& [number, now] : to) numbers_.erase(objects_[number]);
    for (const auto& [number, now] : to) {
      objects_[number] = now;
      numbers_[now] = number;
    }
  }

  static void mark(void*) {}  // nothing: that is the point
  static void compact(void* self) { static_cast<live_objects*>(self)->moved(); }
  static std::size_t size_of(const void* self) {
    return static_cast<const live_objects*>(self)->objects_.capacity() * 4 * sizeof(VALUE);
  }
  [[nodiscard]] static const rb_data_type_t& type() {
    static const rb_data_type_t t = {"rbprof/live", {mark, nullptr, size_of, compact, {nullptr}}, nullptr, nullptr, 0};
    return t;
  }

  VALUE holder_ = Qnil;
  absl::flat_hash_map<VALUE, std::uint64_t> numbers_;
  absl::flat_hash_map<std::uint64_t, VALUE> objects_;
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_LIVE_OBJECTS_HPP
