// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_MRUBY_STACK_WALK_HPP
#define RBPROF_VM_MRUBY_STACK_WALK_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <rbprof/vm/mruby/api.hpp>
#include <rbprof/vm/mruby/frame.hpp>
#include <rbprof/vm/mruby/guarded_read.hpp>

// The stack of the fiber that runs: an array of call records, the leaf last.
//
//     mrb->c ─▶ context ─▶ callinfo[0 … ci] ─▶ proc ─▶ irep   (code: file and lines)
//                                        │       └───▶ env    (a block's: class and method around it)
//                                        └─▶ class            (of a method in C)
//
// At a safe point all of it may be read as it is. In a signal handler any arrow may lead nowhere, so each step is a
// guarded copy, the steps of many frames in one call; what does not fit together (a program counter outside of its
// code) loses its line, and keeps the method's name.

namespace rbprof::inline v0 {
namespace vm {
namespace mruby_detail {

/// What is known of one frame, copied; null = there is none, or it could not be read.
struct frame_parts {
  const mrb_callinfo* ci = nullptr;
  const RProc* proc = nullptr;
  const mrb_irep* irep = nullptr;  ///< the copy; its address in mruby is proc->body.irep
  const REnv* env = nullptr;       ///< of the proc
  const RBasic* owner = nullptr;   ///< what ci->u points to, when the proc does not say whose it is
};

[[nodiscard]] inline bool has_code(const RProc* p) noexcept {
  return p != nullptr && p->tt == MRB_TT_PROC && !MRB_PROC_CFUNC_P(p) && !is_alias(*p);
}

/// Whose method a call record says it is.
[[nodiscard]] inline RClass* owner_of(const frame_parts& f) noexcept {
  if (f.owner == nullptr) return nullptr;
  if (is_class(*f.owner)) return f.ci->u.target_class;
  return f.owner->tt == MRB_TT_ICLASS || f.owner->tt == MRB_TT_ENV ? f.owner->c : nullptr;
}
/// A proc knows its class, unless it is a part of mruby itself.
[[nodiscard]] inline bool knows_owner(const RProc& p) noexcept {
  return MRB_PROC_ENV_P(&p) || p.e.target_class != nullptr;
}

[[nodiscard]] inline raw_frame to_raw(const frame_parts& f) noexcept {
  raw_frame r;
  r.mid = f.ci->mid;
  if (has_code(f.proc)) {
    r.is = raw_frame::ruby;
    if (MRB_PROC_SCOPE_P(f.proc)) r.is |= raw_frame::scope;
    if (f.proc->upper != nullptr) r.is |= raw_frame::nested;
    if (MRB_PROC_ENV_P(f.proc)) {
      if (f.env != nullptr) {
        r.owner = f.env->c;
        if (f.env->mid != r.mid && r.mid != 0) r.is |= raw_frame::as_method;
      }
    } else {
      r.owner = f.proc->e.target_class;
    }
    if (r.owner == nullptr) r.owner = owner_of(f);
    if (f.irep != nullptr && f.irep->iseq != nullptr && f.ci->pc >= f.irep->iseq &&
        f.ci->pc <= f.irep->iseq + f.irep->ilen) {
      r.irep = f.proc->body.irep;
      r.pc = static_cast<std::uint32_t>(f.ci->pc - f.irep->iseq);
    }
    return r;
  }
  r.owner = owner_of(f);
  return r;
}

/// A frame at a safe point.
[[nodiscard]] inline raw_frame read_live(const mrb_callinfo& ci) noexcept {
  frame_parts f;
  f.ci = &ci;
  f.proc = ci.proc;
  if (has_code(f.proc)) {
    f.irep = f.proc->body.irep;
    f.env = MRB_PROC_ENV(f.proc);
  }
  if (!has_code(f.proc) || !knows_owner(*f.proc)) {
    f.owner = reinterpret_cast<const RBasic*>(ci.u.target_class);
  }
  return to_raw(f);
}

/// Where the stack of the fiber that runs lies.
struct stack_bounds {
  const mrb_context* context = nullptr;
  const mrb_callinfo* base = nullptr;
  std::size_t depth = 0;  ///< 0 = could not be read

  [[nodiscard]] const mrb_callinfo* leaf() const noexcept { return base + (depth - 1); }
  static stack_bounds of(const mrb_context* at, const mrb_context& c) noexcept {
    const bool sound = c.cibase != nullptr && c.ci >= c.cibase && c.ci < c.ciend;
    return sound ? stack_bounds{at, c.cibase, static_cast<std::size_t>(c.ci - c.cibase) + 1} : stack_bounds{at, nullptr, 0};
  }
};

[[nodiscard]] inline stack_bounds live_bounds(const mrb_state& mrb) noexcept {
  return mrb.c == nullptr ? stack_bounds{} : stack_bounds::of(mrb.c, *mrb.c);
}

/// Reads stacks in a signal handler. Large, so it is a member of something, never on the stack.
/// Calls from: signal handler on the thread that drives the state · Blocks: never · Allocates: never · On failure: a
/// stack of depth 0, or a frame without its line
class guarded_walk {
 public:
  static constexpr std::size_t few = 8;

  [[nodiscard]] stack_bounds bounds(pid_t self, const mrb_state& mrb) noexcept {
    const mrb_context* at = *const_cast<mrb_context* const volatile*>(&mrb.c);
    if (at == nullptr || !guarded_read(self, &context_, at, sizeof context_)) return {};
    return stack_bounds::of(at, context_);
  }

  /// `put(raw_frame)` for the `n` leaf frames, leaf first. False when a part of the stack could not be read at all.
  template <class Put>
  [[nodiscard]] bool frames(pid_t self, const stack_bounds& b, std::size_t n, Put&& put) noexcept {
    for (std::size_t done = 0; done < n;) {
      const std::size_t some = std::min(n - done, chunk);
      const mrb_callinfo* const first = b.leaf() - (done + some - 1);
      if (!guarded_read(self, calls_.data(), first, some * sizeof(mrb_callinfo))) return false;
      std::reverse(calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(some));
      read_parts(self, some);
      for (std::size_t i = 0; i < some; ++i) put(to_raw(parts_[i]));
      done += some;
    }
    return true;
  }

  /// The leaf may be half filled in, so what it says of its owner can be of any age: a class has a class.
  void check_owner(pid_t self, raw_frame& leaf) noexcept {
    if (leaf.owner == nullptr) return;
    RBasic of;
    RBasic above;
    const bool good = guarded_read(self, &of, leaf.owner, sizeof of) && is_class_or_inclusion(of) && of.c != nullptr &&
                      guarded_read(self, &above, of.c, sizeof above) && is_class(above);
    if (!good) leaf.owner = nullptr;
  }

 private:
  [[nodiscard]] static bool is_class_or_inclusion(const RBasic& o) noexcept {
    return is_class(o) || o.tt == MRB_TT_ICLASS;
  }

  static constexpr std::size_t chunk = 64;

  void read_parts(pid_t self, std::size_t n) noexcept {
    batch_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      const mrb_callinfo& ci = calls_[i];
      parts_[i] = {&ci, nullptr, nullptr, nullptr, nullptr};
      if (ci.proc != nullptr) batch_.add(&procs_[i], ci.proc, sizeof(RProc));
      else batch_.add(&owners_[i], ci.u.target_class, sizeof(RBasic));
    }
    batch_.run(self);
    for (std::size_t i = 0; i < n; ++i) {
      if (!batch_.ok(i)) continue;
      if (calls_[i].proc == nullptr) parts_[i].owner = &owners_[i];
      else parts_[i].proc = &procs_[i];
    }
    batch_.clear();
    std::array<std::size_t, chunk> irep_at{};
    std::array<std::size_t, chunk> other_at{};
    for (std::size_t i = 0; i < n; ++i) {
      irep_at[i] = other_at[i] = none;
      const RProc* const p = parts_[i].proc;
      if (p == nullptr) continue;
      if (!has_code(p)) {
        other_at[i] = batch_.add(&owners_[i], calls_[i].u.target_class, sizeof(RBasic));
        continue;
      }
      irep_at[i] = batch_.add(&ireps_[i], p->body.irep, sizeof(mrb_irep));
      if (MRB_PROC_ENV_P(p)) other_at[i] = batch_.add(&envs_[i], p->e.env, sizeof(REnv));
      else if (!knows_owner(*p)) other_at[i] = batch_.add(&owners_[i], calls_[i].u.target_class, sizeof(RBasic));
    }
    batch_.run(self);
    for (std::size_t i = 0; i < n; ++i) {
      if (irep_at[i] != none && batch_.ok(irep_at[i])) parts_[i].irep = &ireps_[i];
      if (other_at[i] == none || !batch_.ok(other_at[i])) continue;
      const RProc& p = *parts_[i].proc;
      if (!has_code(&p) || !knows_owner(p)) parts_[i].owner = &owners_[i];
      else if (envs_[i].tt == MRB_TT_ENV) parts_[i].env = &envs_[i];
    }
  }

  static constexpr std::size_t none = ~std::size_t{0};

  mrb_context context_{};
  std::array<mrb_callinfo, chunk> calls_{};
  std::array<frame_parts, chunk> parts_{};
  std::array<RProc, chunk> procs_{};
  std::array<mrb_irep, chunk> ireps_{};
  std::array<REnv, chunk> envs_{};
  std::array<RBasic, chunk> owners_{};
  guarded_batch<2 * chunk> batch_;
};

}  // namespace mruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_MRUBY_STACK_WALK_HPP
