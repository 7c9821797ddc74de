// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_CLAIM_HPP
#define RBPROF_VM_CRUBY_CLAIM_HPP

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>

#include <rbprof/version.hpp>
#include <rbprof/vm/cruby/ruby.hpp>

// One profiler a VM. Two plug-ins in one process may each carry their own copy of this library, even of
// different versions, so the linker can't tell them of each other. The VM can: a hidden instance variable
// of Object (its name has no @, so Ruby code can't see it) holds the address of a small block that all
// copies share. The block's layout never changes, and it is never freed, because the copy that made it may
// have been unloaded.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

class claim {
 public:
  /// Finds the block, or makes it. Needs the VM lock; allocates.
  /// On failure: false, with nothing changed.
  [[nodiscard]] bool find() noexcept {
    if (block_ != nullptr) return true;
    auto look = [this] {
      const ID name = rb_intern("__rbprof_claim__");
      const VALUE known = rb_attr_get(rb_cObject, name);
      if (!NIL_P(known)) {
        block_ = reinterpret_cast<block*>(NUM2ULL(known));
        return;
      }
      block* made = new (std::nothrow) block;
      if (made == nullptr) return;
      rb_ivar_set(rb_cObject, name, ULL2NUM(reinterpret_cast<std::uintptr_t>(made)));
      block_ = made;
    };
    if (!protect(look)) return false;
    return block_ != nullptr && block_->magic == magic;
  }

  /// False = another one has it; `owner()` says who. `code`: of the file that will be named.
  [[nodiscard]] bool take(const void* code) noexcept {
    std::uint32_t free = 0;
    // acquire: pairs with the release in give_back(), so that we see the other one's last writes.
    if (!block_->busy.compare_exchange_strong(free, 1, std::memory_order_acquire)) return false;
    Dl_info where{};
    const char* file =
        dladdr(code, &where) != 0 && where.dli_fname != nullptr ? where.dli_fname : "this program";
    std::snprintf(block_->owner, sizeof block_->owner, "rbprof %s in %s", version_text, file);
    return true;
  }

  /// From any thread.
  void give_back() noexcept { block_->busy.store(0, std::memory_order_release); }

  [[nodiscard]] const char* owner() const noexcept { return block_->owner; }

 private:
  static constexpr std::uint64_t magic = 0x7262'7072'6f66'0001;  // "rbprof", layout 1
  struct block {
    std::uint64_t magic = claim::magic;
    std::atomic<std::uint32_t> busy{0};
    char owner[244] = {};
  };
  static_assert(sizeof(block) == 256);

  block* block_ = nullptr;
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_CLAIM_HPP
