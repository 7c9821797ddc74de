// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_PPROF_TABLES_HPP
#define RBPROF_OUTPUT_PPROF_TABLES_HPP

#include <absl/container/flat_hash_map.h>
#include <absl/strings/string_view.h>

#include <protozero/varint.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <rbprof/base/id.hpp>
#include <rbprof/model/profile.hpp>

// The tables that a pprof file is numbered by, filled while samples are written: what no sample uses has
// no number and is not in the file.

namespace rbprof::inline v0 {
namespace output {
namespace detail {

/// Gives dense numbers from 1 on, in the order of first use.
class dense_numbers {
 public:
  explicit dense_numbers(std::size_t size) : number_of_(size) {}
  [[nodiscard]] std::uint32_t of(std::uint32_t index) {
    std::uint32_t& n = number_of_[index];
    if (n == 0) {
      used_.push_back(index);
      n = static_cast<std::uint32_t>(used_.size());
    }
    return n;
  }
  /// What was numbered: entry i has number i + 1.
  [[nodiscard]] const std::vector<std::uint32_t>& used() const noexcept { return used_; }

 private:
  std::vector<std::uint32_t> number_of_;
  std::vector<std::uint32_t> used_;
};

/// The string table: each text once, "" first. Views are into the profile or are constants.
class pprof_strings {
 public:
  explicit pprof_strings(const profile& p) : profile_(p), number_of_(p.strings().size()) {
    (void)of(std::string_view());
  }
  [[nodiscard]] std::uint32_t of(std::string_view text) {
    const auto [at, is_new] = by_text_.try_emplace(absl::string_view(text.data(), text.size()),
                                                   static_cast<std::uint32_t>(table_.size()));
    if (is_new) table_.push_back(text);
    return at->second;
  }
  [[nodiscard]] std::uint32_t of(string_id i) {
    if (!i) return 0;
    std::uint32_t& n = number_of_[i.value];
    if (n == 0) n = of(profile_.string(i));
    return n;
  }
  [[nodiscard]] const std::vector<std::string_view>& table() const noexcept { return table_; }

 private:
  const profile& profile_;
  std::vector<std::uint32_t> number_of_;
  absl::flat_hash_map<absl::string_view, std::uint32_t> by_text_;
  std::vector<std::string_view> table_;
};

/// The location numbers of a stack, leaf first, as the bytes of a packed field.
///
/// Leaf first means that the callers are the tail, and stacks that follow each other mostly share their
/// callers. So the buffer is filled from its end, and a stack writes only the frames below the deepest
/// caller that it shares with the one before: at depth 100 usually a few.
class pprof_paths {
 public:
  pprof_paths(const profile& p, dense_numbers& locations) : profile_(p), locations_(locations) {
    std::size_t deepest = 0;
    for (const profile_stack& s : p.stacks()) deepest = std::max<std::size_t>(deepest, s.depth);
    bytes_.resize(deepest * longest);
  }

  /// Valid until the next call.
  [[nodiscard]] std::string_view of(stack_id leaf) {
    fresh_.clear();
    std::size_t depth = profile_.stack(leaf).depth;
    for (stack_id at = leaf; depth > 0 && !is_known(at, depth); --depth) {
      fresh_.push_back(at);
      at = profile_.stack(at).parent;
    }
    known_.resize(depth);
    std::size_t begin = known_.empty() ? bytes_.size() : known_.back().begin;
    for (auto at = fresh_.rbegin(); at != fresh_.rend(); ++at) {
      std::array<char, longest> number{};
      const int size = protozero::add_varint_to_buffer(
          number.data(), locations_.of(profile_.stack(*at).leaf.value));
      begin -= static_cast<std::size_t>(size);
      std::copy_n(number.data(), size, bytes_.data() + begin);
      known_.push_back({*at, begin});
    }
    return std::string_view(bytes_).substr(begin);
  }

 private:
  static constexpr std::size_t longest = 5;  // bytes of a 32-bit number

  struct step {
    stack_id stack;
    std::size_t begin;  // of the bytes of this stack; they reach to the end
  };
  [[nodiscard]] bool is_known(stack_id at, std::size_t depth) const noexcept {
    return depth <= known_.size() && known_[depth - 1].stack == at;
  }

  const profile& profile_;
  dense_numbers& locations_;
  std::string bytes_;
  std::vector<step> known_;  // the stack before, root side first: its callers and itself
  std::vector<stack_id> fresh_;
};

}  // namespace detail
}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_PPROF_TABLES_HPP
