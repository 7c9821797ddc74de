// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_SPEEDSCOPE_HPP
#define RBPROF_OUTPUT_SPEEDSCOPE_HPP

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <rbprof/base/id.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/output/file.hpp>
#include <rbprof/output/names.hpp>
#include <rbprof/output/sink.hpp>
#include <rbprof/version.hpp>

// The file format of speedscope (https://www.speedscope.app): in it each thread and each kind of value is a profile of
// its own, "main, 1234 (16): wall-time". Stacks that differ in labels alone are added up. A frame is a function at its
// definition: with the line that ran, each line would be a box of its own. Stacks are root first, the other way round
// than in pprof.
//
// The amounts of a thread are laid end to end: the format wants an axis, and this one says how much, not when.

namespace rbprof::inline v0 {
namespace output {

struct speedscope_options {
  std::string title;  ///< shown above the profile; empty = the program's name
};

namespace detail {

class speedscope_writer {
 public:
  speedscope_writer(const profile& p, const speedscope_options& options, sink& to)
      : profile_(p), options_(options), to_(to), threads_(p) {}

  [[nodiscard]] absl::Status run() {
    const std::string title(options_.title.empty() ? profile_.program() : std::string_view(options_.title));
    text_ = R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":)" +
            quoted(std::string("rbprof@") + version_text) + R"(,"name":)" + quoted(title) +
            R"(,"activeProfileIndex":0,"shared":{"frames":[)";
    if (absl::Status s = put_frames(); !s.ok()) return s;
    text_ += R"(]},"profiles":[)";
    const groups all = group();
    bool first = true;
    for (const auto& [key, rows] : all) {
      if (!first) text_ += ',';
      first = false;
      if (absl::Status s = put_profile(key.first, profile_.types()[key.second], rows); !s.ok()) return s;
    }
    if (first) put_nothing();
    text_ += "]}\n";
    return hand_over(0);
  }

 private:
  struct row {
    stack_id stack;
    std::int64_t amount;
  };
  /// By thread, then by the place of the value type. Threads keep the order of their first label set.
  using groups = std::map<std::pair<std::uint32_t, std::size_t>, std::vector<row>>;

  [[nodiscard]] groups group() const {
    groups all;
    for (const profile_sample& s : profile_.samples()) {
      for (std::size_t i = 0; i < profile_.types().size(); ++i) {
        const std::int64_t amount = s.amount[profile_.types()[i]];
        if (amount != 0) all[{threads_.of(s.labels), i}].push_back({s.stack, amount});
      }
    }
    for (auto& [key, rows] : all) merge(rows);
    return all;
  }

  /// One row a stack, in the order of their ids, which is that of first use.
  static void merge(std::vector<row>& rows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const row& a, const row& b) { return a.stack.value < b.stack.value; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (rows[i].stack.value == rows[kept].stack.value) {
        rows[kept].amount = saturating_sum(rows[kept].amount, rows[i].amount);
      } else {
        rows[++kept] = rows[i];
      }
    }
    if (!rows.empty()) rows.resize(kept + 1);
  }

  /// Every function of the profile, in the order of its ids, 0 being "no function".
  [[nodiscard]] absl::Status put_frames() {
    bool first = true;
    for (const profile_function& f : profile_.functions()) {
      if (!first) text_ += ',';
      first = false;
      text_ += R"({"name":)" + quoted(one_line(profile_.string(f.name)));
      if (const std::string_view file = profile_.string(f.file); !file.empty()) {
        text_ += R"(,"file":)" + quoted(one_line(file));
      }
      if (f.start_line > 0) text_ += R"(,"line":)" + std::to_string(f.start_line);
      text_ += '}';
      if (absl::Status s = hand_over(piece_bytes); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  [[nodiscard]] absl::Status put_profile(std::uint32_t thread, value_type type, const std::vector<row>& rows) {
    std::int64_t total = 0;
    for (const row& r : rows) total = saturating_sum(total, r.amount);
    begin_profile(threads_.titles()[thread] + ": " + std::string(info(type).name), info(type).unit, total);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i != 0) text_ += ',';
      put_stack(rows[i].stack);
      if (absl::Status s = hand_over(piece_bytes); !s.ok()) return s;
    }
    text_ += R"(],"weights":[)";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i != 0) text_ += ',';
      text_ += std::to_string(rows[i].amount);
      if (absl::Status s = hand_over(piece_bytes); !s.ok()) return s;
    }
    text_ += "]}";
    return absl::OkStatus();
  }

  void begin_profile(std::string_view name, std::string_view unit, std::int64_t total) {
    text_ += R"({"type":"sampled","name":)" + quoted(one_line(name)) + R"(,"unit":")";
    text_ += unit == "count" ? "none" : unit;
    text_ += R"(","startValue":0,"endValue":)" + std::to_string(total) + R"(,"samples":[)";
  }

  /// A file without a profile is refused by viewers.
  void put_nothing() {
    begin_profile("(nothing was recorded)", "none", 0);
    text_ += R"(],"weights":[]})";
  }

  void put_stack(stack_id at) {
    path_.clear();
    profile_.each_frame(at, [&](frame_id f) { path_.push_back(profile_.frame(f).function.value); });
    text_ += '[';
    for (auto f = path_.rbegin(); f != path_.rend(); ++f) {
      if (f != path_.rbegin()) text_ += ',';
      text_ += std::to_string(*f);
    }
    text_ += ']';
  }

  [[nodiscard]] static std::string quoted(std::string_view s) {
    using json = nlohmann::json;
    return json(s).dump(-1, ' ', false, json::error_handler_t::replace);
  }

  /// Gives the text to the sink when it has grown over `size`.
  [[nodiscard]] absl::Status hand_over(std::size_t size) {
    if (text_.size() < size) return absl::OkStatus();
    absl::Status done = to_.write(text_);
    text_.clear();
    return done;
  }

  const profile& profile_;
  const speedscope_options& options_;
  sink& to_;
  thread_table threads_;
  std::vector<std::uint32_t> path_;
  std::string text_;
};

}  // namespace detail

[[nodiscard]] inline absl::StatusOr<std::string> encode_speedscope(
    const profile& p, const speedscope_options& options = {}) {
  string_sink text;
  absl::Status s = detail::guarded([&] { return detail::speedscope_writer(p, options, text).run(); });
  if (!s.ok()) return s;
  return std::move(text).take();
}

/// Writes the file whole, or not at all.
[[nodiscard]] inline absl::Status write_speedscope(const profile& p, const std::filesystem::path& path,
                                                   const speedscope_options& options = {}) {
  return write_file(path, [&](sink& to) { return detail::speedscope_writer(p, options, to).run(); });
}

}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_SPEEDSCOPE_HPP
