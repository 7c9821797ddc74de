// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VM_CRUBY_BLOCK_NAMES_HPP
#define RBPROF_VM_CRUBY_BLOCK_NAMES_HPP

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/vm/cruby/frame.hpp>
#include <rbprof/vm/cruby/holder.hpp>
#include <rbprof/vm/cruby/names.hpp>
#include <rbprof/vm/cruby/ruby.hpp>

// Tells a block from its method. rb_profile_frames gives the method entry for both, so "block in Foo#bar"
// and Foo#bar are one handle. A backtrace knows better: its text for the frame is "block in bar". So for
// frames not seen in their place before, one backtrace is taken and laid beside the stack.
//
// Taking one costs 5 to 100 us, so what was found is remembered under (frame, its caller, the kind of the
// next frame of the same method below it). A prefix must never go to a wrong frame; no prefix is the safe
// side. Hence:
// * The stack is laid beside the backtrace from both ends. Where the two ways disagree, nothing is learned.
// * A frame called directly by its own method may be a recursion or a lambda, which look the same: a
//   remembered prefix is not used for it, only what this very backtrace says.
// * A place that was seen with two prefixes is asked for anew each time.

namespace rbprof::inline v0 {
namespace vm {
namespace cruby_detail {

class block_names {
 public:
  explicit block_names(holder& keep) noexcept : keep_(keep) {}

  [[nodiscard]] std::string_view prefix(std::uint32_t variant) const noexcept {
    return variant < prefixes_.size() ? std::string_view(prefixes_[variant]) : std::string_view();
  }

  /// Writes variants into a whole stack, leaf first, of the running thread at the place of its capture.
  /// Takes a backtrace when it must. Under a failure frames keep variant 0.
  void refine(std::span<frame> frames) {
    if (recall(frames)) return;
    for (frame& f : frames) f.variant = 0;
    ++backtraces_;
    VALUE trace = Qnil;
    auto take = [&] { trace = rb_make_backtrace(); };
    if (!protect(take) || !RB_TYPE_P(trace, T_ARRAY) || !align(frames, trace)) {
      ++misfits_;
      // Not for ever: after a few tries, these places stay without a prefix.
      learn(frames, false);
    } else {
      learn(frames, true);
    }
    RB_GC_GUARD(trace);
  }

  /// The same for a stack that the thread had a moment ago. `now` is its stack at this place, told apart already.
  void refine(std::span<frame> frames, std::span<const frame> now) {
    below_.clear();
    std::size_t j = now.size();
    bool same_call = true;  // both stand on the same calls up to here
    for (std::size_t i = frames.size(); i-- > 0;) {
      frame& f = frames[i];
      f.variant = 0;
      const frame* const twin = same_call && j > 0 && now[j - 1].handle == f.handle ? &now[j - 1] : nullptr;
      if (j > 0) --j;
      same_call = twin != nullptr && twin->line == f.line;
      if (!facts_of(f.handle).method) continue;
      const place p = place_of(frames, i);
      finding& x = places_[p];
      if (twin != nullptr && !(x.known && !x.mixed) && p.caller != p.handle) {
        x.known = true;
        x.variant = twin->variant;
      }
      const bool usable = x.known && !x.mixed && (x.variant == 0 || p.caller != p.handle);
      f.variant = usable ? x.variant : 0;
      below_[f.handle] = f.variant + 1;
    }
  }

  void forget() {
    facts_.clear();
    places_.clear();
  }

  [[nodiscard]] std::uint64_t backtraces() const noexcept { return backtraces_; }
  [[nodiscard]] std::uint64_t misfits() const noexcept { return misfits_; }

 private:
  /// What must be known of a handle to find it in a backtrace. The texts are the VM's own.
  struct facts {
    std::string name;  ///< as a backtrace has it, without prefix
    std::string path;  ///< empty = native
    bool method = false;
    bool hidden = false;  ///< from 3.4 on, Ruby's own methods look native in a backtrace
  };
  struct place {
    std::uint64_t handle, caller;
    std::int32_t line, caller_line;
    std::uint32_t below;
    friend bool operator==(const place&, const place&) noexcept = default;
    template <class H>
    friend H AbslHashValue(H h, const place& p) {
      return H::combine(std::move(h), p.handle, p.caller, p.line, p.caller_line, p.below);
    }
  };
  struct finding {
    std::uint32_t variant = 0;
    std::uint32_t failures = 0;
    bool mixed = false;
    bool known = false;
  };
  struct line_of_trace {
    std::string_view path, label;
    std::int32_t line = 0;
  };

  static constexpr std::uint32_t unsure = ~0U;
  static constexpr std::uint32_t max_failures = 3;

  [[nodiscard]] const facts& facts_of(std::uint64_t handle) {
    if (const auto at = facts_.find(handle); at != facts_.end()) return at->second;
    facts f;
    const auto frame = static_cast<VALUE>(handle);
    VALUE path = Qnil;
    VALUE method = Qnil;
    VALUE base = Qnil;
    auto ask = [&] {
      path = rb_profile_frame_path(frame);
      method = rb_profile_frame_method_name(frame);
      base = rb_profile_frame_base_label(frame);
    };
    if (protect(ask)) {
      f.path = bytes_of(path);
      f.name = bytes_of(NIL_P(path) ? method : base);
      f.method = !NIL_P(path) && !NIL_P(method);
      f.hidden = ruby_abi >= 304 && f.path.starts_with("<internal:");
    }
    RB_GC_GUARD(path);
    RB_GC_GUARD(method);
    RB_GC_GUARD(base);
    keep_.keep(frame);
    return facts_.emplace(handle, std::move(f)).first->second;
  }

  /// The place of frame `i`; needs the variants of all frames below it. Call from the root side up.
  [[nodiscard]] place place_of(std::span<const frame> frames, std::size_t i) {
    const frame none;
    const frame& f = frames[i];
    const frame& caller = i + 1 < frames.size() ? frames[i + 1] : none;
    const auto [at, first] = below_.try_emplace(f.handle, 0U);
    return {f.handle, caller.handle, f.line, caller.line, first ? 0U : at->second};
  }

  /// Fills in all variants from what is remembered. False = something is not known.
  [[nodiscard]] bool recall(std::span<frame> frames) {
    below_.clear();
    for (std::size_t i = frames.size(); i-- > 0;) {
      frame& f = frames[i];
      if (!facts_of(f.handle).method) continue;
      const place p = place_of(frames, i);
      const auto at = places_.find(p);
      if (at == places_.end()) return false;
      const finding& x = at->second;
      if (x.mixed || (!x.known && x.failures < max_failures)) return false;
      if (x.variant != 0 && p.caller == p.handle) return false;
      f.variant = x.variant;
      below_[f.handle] = f.variant + 1;
    }
    return true;
  }

  void learn(std::span<frame> frames, bool aligned) {
    below_.clear();
    for (std::size_t i = frames.size(); i-- > 0;) {
      frame& f = frames[i];
      if (!facts_of(f.handle).method) continue;
      finding& x = places_[place_of(frames, i)];
      const bool sure = aligned && f.variant != unsure;
      if (!sure) {
        f.variant = 0;
        ++x.failures;
      } else {
        x.mixed = x.mixed || (x.known && x.variant != f.variant);
        x.known = true;
        x.variant = f.variant;
      }
      below_[f.handle] = f.variant + 1;
    }
  }

  /// Lays the backtrace beside the frames, from both ends.
  [[nodiscard]] bool align(std::span<frame> frames, VALUE trace) {
    trace_.clear();
    for (long i = 0; i < RARRAY_LEN(trace); ++i) {
      trace_.push_back(parse(bytes_of(RARRAY_AREF(trace, i))));
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      std::uint32_t v = 0;
      switch (match(frames[i], at < trace_.size() ? &trace_[at] : nullptr, v)) {
        case fit::yes: ++at; break;
        case fit::skip: break;
        case fit::no:
          if (!may_be_rescuing(frames, i)) return false;
          v = unsure;
      }
      frames[i].variant = v;
    }
    if (at != trace_.size()) return false;
    for (std::size_t i = frames.size(); i-- > 0;) {
      std::uint32_t v = 0;
      switch (match(frames[i], at > 0 ? &trace_[at - 1] : nullptr, v)) {
        case fit::yes: --at; break;
        case fit::skip: break;
        case fit::no:
          if (!may_be_rescuing(frames, i)) return false;
          v = unsure;
      }
      if (frames[i].variant != v) frames[i].variant = unsure;
    }
    return at == 0;
  }

  /// From 3.4 on, a method whose rescue or ensure clause runs has two frames but one line in a backtrace, that
  /// of the clause.
  [[nodiscard]] static bool may_be_rescuing(std::span<const frame> frames, std::size_t i) noexcept {
    if (ruby_abi < 304) return false;
    const std::uint64_t handle = frames[i].handle;
    return (i > 0 && frames[i - 1].handle == handle) ||
           (i + 1 < frames.size() && frames[i + 1].handle == handle);
  }

  enum class fit { yes, skip, no };

  /// Does this line of the backtrace stand for this frame? A native frame may stand in the stack twice, once
  /// for itself and once for the block that it passes on, so one that does not fit is skipped.
  [[nodiscard]] fit match(const frame& f, const line_of_trace* t, std::uint32_t& variant) {
    const facts& x = facts_of(f.handle);
    const bool native = x.path.empty() || x.hidden;
    if (t == nullptr) return native ? fit::skip : fit::no;
    const std::size_t prefix = native ? 0 : label_prefix(t->label);
    const bool named = same_name(t->label.substr(prefix), x.name);
    if (native) return named ? fit::yes : fit::skip;
    if (!named || t->line != f.line || t->path != x.path) return fit::no;
    if (x.method) variant = intern(t->label.substr(0, prefix));
    return fit::yes;
  }

  /// From 3.4 on, labels have the class before the method.
  [[nodiscard]] static bool same_name(std::string_view label, std::string_view name) noexcept {
    if (label == name) return true;
    if (ruby_abi < 304 || !label.ends_with(name) || label.size() < name.size() + 2) return false;
    const char before = label[label.size() - name.size() - 1];
    return before == '#' || before == '.';
  }

  /// "path:12:in `label'", from 3.4 on with two straight quotes.
  [[nodiscard]] static line_of_trace parse(std::string_view s) noexcept {
    line_of_trace t;
    const std::size_t in = s.rfind(ruby_abi < 304 ? ":in `" : ":in '");
    if (in == std::string_view::npos || !s.ends_with('\'')) return t;
    t.label = s.substr(in + 5, s.size() - in - 6);
    s = s.substr(0, in);
    const std::size_t colon = s.rfind(':');
    if (colon == std::string_view::npos) return t;
    t.path = s.substr(0, colon);
    const std::string_view number = s.substr(colon + 1);
    if (number.starts_with('-')) return t;  // evaluated code may claim any line; captured as 0 too
    for (const char c : number) {
      if (c < '0' || c > '9') return {};
      t.line = t.line * 10 + (c - '0');
    }
    return t;
  }

  [[nodiscard]] std::uint32_t intern(std::string_view prefix) {
    const auto at = std::find(prefixes_.begin(), prefixes_.end(), prefix);
    if (at != prefixes_.end()) return static_cast<std::uint32_t>(at - prefixes_.begin());
    if (prefixes_.size() >= 1000) return 0;
    prefixes_.emplace_back(prefix);
    return static_cast<std::uint32_t>(prefixes_.size() - 1);
  }

  holder& keep_;
  std::vector<std::string> prefixes_ = std::vector<std::string>(1);  // never shrinks: stacks name them
  absl::flat_hash_map<std::uint64_t, facts> facts_;
  absl::flat_hash_map<place, finding> places_;
  absl::flat_hash_map<std::uint64_t, std::uint32_t> below_;  // handle -> variant + 1 of the last one
  std::vector<line_of_trace> trace_;
  std::uint64_t backtraces_ = 0;
  std::uint64_t misfits_ = 0;
};

}  // namespace cruby_detail
}  // namespace vm
}  // namespace rbprof::inline v0

#endif  // RBPROF_VM_CRUBY_BLOCK_NAMES_HPP
