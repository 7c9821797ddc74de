// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_NAMES_HPP
#define RBPROF_OUTPUT_NAMES_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rbprof/base/id.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/model/text.hpp>

// Names as the writers for people show them: on one line, and threads with a title of their own.

namespace rbprof::inline v0 {
namespace output {
namespace detail {

/// Length of the control character at `at`, 0 when it is none: C0, DEL, C1, and the two line separators
/// of Unicode. Any of them could move a terminal's cursor or start a line of its own.
[[nodiscard]] constexpr std::size_t control_sequence(std::string_view s, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < s.size() ? static_cast<unsigned char>(s[at + i]) : 0U;
  };
  if (byte(0) < 0x20U || byte(0) == 0x7FU) return 1;
  if (byte(0) == 0xC2U && byte(1) >= 0x80U && byte(1) <= 0x9FU) return 2;
  const bool separator = byte(2) == 0xA8U || byte(2) == 0xA9U;
  return byte(0) == 0xE2U && byte(1) == 0x80U && separator ? 3 : 0;
}

}  // namespace detail

/// Text that stays on its line: a control character becomes a space. "a\nb" becomes "a b".
[[nodiscard]] inline std::string one_line(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = detail::control_sequence(s, i);
    out += n == 0 ? s[i] : ' ';
    i += n == 0 ? 1 : n;
  }
  return out;
}

/// "file:line" of a definition; the file alone when the line is not known.
[[nodiscard]] inline std::string place(std::string_view file, std::int32_t line) {
  std::string out = one_line(file);
  if (line > 0 && !out.empty()) out += ":" + std::to_string(line);
  return out;
}

/// The threads of a profile, told apart by the label "thread id"; 0 is "no thread at all".
class thread_table {
 public:
  explicit thread_table(const profile& p) : thread_of_(p.label_set_count()) {
    titles_.emplace_back("(no thread)");
    std::unordered_map<std::string, std::uint32_t> by_id;
    for (std::uint32_t i = 0; i < thread_of_.size(); ++i) {
      std::string id;
      std::string_view name;
      for (const profile_label& l : p.labels({i})) {
        if (p.string(l.key) == label_key::thread_id) {
          id = l.is_num ? std::to_string(l.num) : std::string(p.string(l.str));
        }
        if (p.string(l.key) == label_key::thread_name) name = p.string(l.str);
      }
      if (id.empty()) continue;
      const auto [at, is_new] = by_id.try_emplace(id, static_cast<std::uint32_t>(titles_.size()));
      if (is_new) {
        titles_.push_back(name.empty() || name == id ? id : std::string(name) + ", " + id);
      }
      thread_of_[i] = at->second;
    }
  }

  [[nodiscard]] std::uint32_t of(label_set_id labels) const noexcept {
    return thread_of_[labels.value];
  }
  /// "worker, 1234 (16)"; the id alone for a thread without a name.
  [[nodiscard]] const std::vector<std::string>& titles() const noexcept { return titles_; }

 private:
  std::vector<std::uint32_t> thread_of_;  // by label set
  std::vector<std::string> titles_;       // by thread
};

}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_NAMES_HPP
