// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_HOLDER_HPP
#define RBPROF_VM_CRUBY_HOLDER_HPP

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <vector>

#include <rbprof/vm/cruby/ruby.hpp>

// Frame handles are objects of the VM that nobody else may be holding: a method can be redefined or removed
// while we keep its name. Two Ruby objects of ours mark them, and marking also keeps them from being moved.
//
// * The keeper holds what was described, and the threads. It is under the write barrier (every insertion
//   tells the collector), so a minor collection does not walk it again: 6 ns a frame saved each time.
// * The arena holds what was captured in the sample that is being taken. It has no write barrier, because
//   the VM writes into it; it is empty between samples. With it is marked what signal handlers have taken.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

class holder {
 public:
  /// Makes both objects; under rb_protect, once. `on_free` is called when the VM takes itself down, after
  /// the last Ruby code has run and before the VM's own structures go; `also_mark` inside each collection.
  void make(void (*on_free)(), void (*also_mark)()) {
    on_free_ = on_free;
    also_mark_ = also_mark;
    keeper_ = rb_data_typed_object_wrap(rb_cObject, this, &keeper_type());
    rb_gc_register_mark_object(keeper_);
    arena_ = rb_data_typed_object_wrap(rb_cObject, this, &arena_type());
    rb_gc_register_mark_object(arena_);
  }

  /// Keeps a frame alive and in place until `forget`.
  void keep(VALUE frame) {
    if (frames_.insert(frame).second) RB_OBJ_WRITTEN(keeper_, Qundef, frame);
  }
  void forget() { frames_.clear(); }
  [[nodiscard]] std::size_t kept() const noexcept { return frames_.size(); }

  void keep_thread(VALUE thread) {
    if (threads_.insert(thread).second) RB_OBJ_WRITTEN(keeper_, Qundef, thread);
  }
  void drop_thread(VALUE thread) { threads_.erase(thread); }

  /// Room for `n` handles that the VM is about to write, on top of those in use.
  [[nodiscard]] VALUE* room(std::size_t n) {
    if (scratch_.size() < used_ + n) scratch_.resize((used_ + n) * 2, Qnil);
    return scratch_.data() + used_;
  }
  void use(std::size_t n) noexcept { used_ += n; }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  /// Back to an earlier `used()`.
  void release(std::size_t used) noexcept { used_ = used; }

 private:
  static void mark_kept(void* self) {
    const auto& h = *static_cast<holder*>(self);
    for (const VALUE v : h.frames_) rb_gc_mark(v);
    for (const VALUE v : h.threads_) rb_gc_mark(v);
  }
  static void mark_arena(void* self) {
    const auto& h = *static_cast<holder*>(self);
    for (std::size_t i = 0; i < h.used_; ++i) rb_gc_mark(h.scratch_[i]);
    h.also_mark_();
  }
  static void freed(void* self) { static_cast<holder*>(self)->on_free_(); }
  static std::size_t size_of(const void* self) {
    const auto& h = *static_cast<const holder*>(self);
    return (h.frames_.capacity() + h.threads_.capacity()) * sizeof(VALUE);
  }

  [[nodiscard]] static const rb_data_type_t& keeper_type() {
    static const rb_data_type_t type = {"rbprof/keeper",
                                        {mark_kept, freed, size_of, nullptr, {nullptr}},
                                        nullptr, nullptr, RUBY_TYPED_WB_PROTECTED};
    return type;
  }
  [[nodiscard]] static const rb_data_type_t& arena_type() {
    static const rb_data_type_t type = {"rbprof/arena",
                                        {mark_arena, nullptr, nullptr, nullptr, {nullptr}},
                                        nullptr, nullptr, 0};
    return type;
  }

  VALUE keeper_ = Qnil;
  VALUE arena_ = Qnil;
  void (*on_free_)() = nullptr;
  void (*also_mark_)() = nullptr;
  absl::flat_hash_set<VALUE> frames_;
  absl::flat_hash_set<VALUE> threads_;
  std::vector<VALUE> scratch_;
  std::size_t used_ = 0;
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_HOLDER_HPP
