// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_FLAMEGRAPH_HTML_HPP
#define RBPROF_OUTPUT_FLAMEGRAPH_HTML_HPP

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/base/id.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/output/file.hpp>
#include <rbprof/output/flamegraph_page.hpp>
#include <rbprof/output/names.hpp>
#include <rbprof/output/sink.hpp>

// A flame graph as one HTML file that works offline: zoom, search with the total of the matches, every
// value type, every thread, callers of each leaf. For those who have a browser and nothing else.
//
// The data is JSON in a script element. '<' is written as an escape, so no name can end the element, and
// so are the two line separators of Unicode. Tables are flat arrays of numbers:
//   functions [name, file, start line]...   frames [function, line]...
//   stacks    [parent, frame]...  from 1 on; 0 is the empty stack
//   rows      [stack, thread, one amount a type]...
// Only what samples use is written; samples that differ in other labels than the thread are added up.

namespace rbprof::inline v0 {
namespace output {
namespace detail {

class flamegraph_writer {
 public:
  flamegraph_writer(const profile& p, sink& to) : profile_(p), to_(to), threads_(p) {}

  [[nodiscard]] absl::Status run() {
    text_ += flamegraph_page_head;
    put_about();
    number_stacks();
    if (absl::Status s = put_numbers("stacks", stack_table()); !s.ok()) return s;
    if (absl::Status s = put_numbers("frames", frame_table()); !s.ok()) return s;
    if (absl::Status s = put_numbers("functions", function_table()); !s.ok()) return s;
    if (absl::Status s = put_numbers("rows", rows()); !s.ok()) return s;
    text_ += ",\n\"strings\":[";
    for (std::size_t i = 0; i < used_strings_.size(); ++i) {
      if (i > 0) text_ += ',';
      put_json(profile_.string({used_strings_[i]}));
      if (absl::Status s = hand_over(piece_bytes); !s.ok()) return s;
    }
    text_ += "]}";
    text_ += flamegraph_page_tail;
    return hand_over(0);
  }

 private:
  using numbers = std::vector<std::int64_t>;

  [[nodiscard]] absl::Status hand_over(std::size_t at_least) {
    if (text_.size() < at_least) return absl::OkStatus();
    absl::Status done = to_.write(text_);
    text_.clear();
    return done;
  }

  /// JSON that may stand in a script element.
  void put_json(const nlohmann::json& value) {
    using handler = nlohmann::json::error_handler_t;
    const std::string plain = value.dump(-1, ' ', false, handler::replace);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const std::string_view rest = std::string_view(plain).substr(i);
      if (rest[0] == '<') {
        text_ += "\\u003c";
      } else if (rest.substr(0, 3) == "\xE2\x80\xA8" || rest.substr(0, 3) == "\xE2\x80\xA9") {
        text_ += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
        i += 2;
      } else {
        text_ += rest[0];
      }
    }
  }

  void put_about() {
    const auto of_types = profile_.types();
    nlohmann::json types = nlohmann::json::array();
    std::size_t shown = 0;
    for (std::size_t i = 0; i < of_types.size(); ++i) {
      const value_type_info t = info(of_types[i]);
      types.push_back({{"name", std::string(t.name)}, {"unit", std::string(t.unit)}});
      if (of_types[i] == default_type(of_types)) shown = i;
    }
    const std::string_view program = profile_.program();
    const nlohmann::json about = {
        {"program", std::string(program.empty() ? std::string_view("(unknown program)") : program)},
        {"start_ms", profile_.start_epoch_ns() / 1'000'000},  // a double holds no epoch in ns
        {"duration_ns", profile_.duration().count()},
        {"types", std::move(types)},
        {"shown", shown},
        {"threads", threads_.titles()},
        {"comments",
         std::vector<std::string>(profile_.comments().begin(), profile_.comments().end())}};
    put_json(about);
    text_.pop_back();  // the object goes on with the tables
  }

  /// Numbers the stacks that samples use and their callers; a caller comes before its callees.
  void number_stacks() {
    stack_number_.assign(profile_.stacks().size(), 0);
    for (const profile_sample& s : profile_.samples()) {
      for (stack_id i = s.stack; i && stack_number_[i.value] == 0; i = profile_.stack(i).parent) {
        stack_number_[i.value] = 1;
      }
    }
    std::uint32_t next = 0;
    for (std::uint32_t& n : stack_number_) n = n == 0 ? 0 : ++next;
  }

  [[nodiscard]] numbers stack_table() {
    numbers out;
    frame_number_.assign(profile_.frames().size(), none);
    for (std::uint32_t i = 1; i < stack_number_.size(); ++i) {
      if (stack_number_[i] == 0) continue;
      const profile_stack& s = profile_.stack({i});
      out.push_back(stack_number_[s.parent.value]);
      out.push_back(number(frame_number_, used_frames_, s.leaf.value));
    }
    return out;
  }

  [[nodiscard]] numbers frame_table() {
    numbers out;
    function_number_.assign(profile_.functions().size(), none);
    for (const std::uint32_t i : used_frames_) {
      const profile_frame& f = profile_.frame({i});
      out.push_back(number(function_number_, used_functions_, f.function.value));
      out.push_back(f.line);
    }
    return out;
  }

  [[nodiscard]] numbers function_table() {
    numbers out;
    string_number_.assign(profile_.strings().size(), none);
    for (const std::uint32_t i : used_functions_) {
      const profile_function& f = profile_.function({i});
      out.push_back(number(string_number_, used_strings_, f.name.value));
      out.push_back(number(string_number_, used_strings_, f.file.value));
      out.push_back(f.start_line);
    }
    return out;
  }

  [[nodiscard]] numbers rows() const {
    const std::size_t width = 2 + profile_.types().size();
    numbers out;
    absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> row_of;
    for (const profile_sample& s : profile_.samples()) {
      const std::uint32_t thread = threads_.of(s.labels);
      const auto [at, is_new] = row_of.try_emplace({s.stack.value, thread}, out.size());
      if (is_new) {
        out.resize(out.size() + width);
        out[at->second] = stack_number_[s.stack.value];
        out[at->second + 1] = thread;
      }
      std::size_t column = at->second + 2;
      for (const value_type t : profile_.types()) {
        out[column] = saturating_sum(out[column], s.amount[t]);
        ++column;
      }
    }
    return out;
  }

  [[nodiscard]] static std::uint32_t number(std::vector<std::uint32_t>& numbers,
                                            std::vector<std::uint32_t>& used, std::uint32_t index) {
    if (numbers[index] == none) {
      numbers[index] = static_cast<std::uint32_t>(used.size());
      used.push_back(index);
    }
    return numbers[index];
  }

  [[nodiscard]] absl::Status put_numbers(std::string_view key, const numbers& all) {
    text_ += ",\n\"";
    text_ += key;
    text_ += "\":[";
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) text_ += ',';
      text_ += std::to_string(all[i]);
      if (absl::Status s = hand_over(piece_bytes); !s.ok()) return s;
    }
    text_ += ']';
    return absl::OkStatus();
  }

  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  const profile& profile_;
  sink& to_;
  thread_table threads_;
  std::string text_;
  std::vector<std::uint32_t> stack_number_, frame_number_, function_number_, string_number_;
  std::vector<std::uint32_t> used_frames_, used_functions_, used_strings_;
};

}  // namespace detail

[[nodiscard]] inline absl::StatusOr<std::string> encode_flamegraph_html(const profile& p) {
  string_sink text;
  absl::Status s = detail::guarded([&] { return detail::flamegraph_writer(p, text).run(); });
  if (!s.ok()) return s;
  return std::move(text).take();
}

/// Writes the page whole, or not at all.
[[nodiscard]] inline absl::Status write_flamegraph_html(const profile& p,
                                                        const std::filesystem::path& path) {
  return write_file(path, [&](sink& to) { return detail::flamegraph_writer(p, to).run(); });
}

}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_FLAMEGRAPH_HTML_HPP
