// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_COLLAPSED_HPP
#define RBPROF_OUTPUT_COLLAPSED_HPP

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <algorithm>
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
#include <rbprof/output/names.hpp>
#include <rbprof/output/sink.hpp>

// Collapsed stacks: a line a stack, root first, ';' between frames, the amount after the last space. For
// flamegraph.pl, inferno, speedscope, and for grep and awk. A ';' in a name becomes ':'.

namespace rbprof::inline v0 {
namespace output {

struct collapsed_options {
  value_type type = value_type::cpu_samples;
  bool threads = false;  ///< puts the thread's title in front of each stack, as its root frame
};

namespace detail {

class collapsed_writer {
 public:
  collapsed_writer(const profile& p, const collapsed_options& options, sink& to)
      : profile_(p), options_(options), to_(to), threads_(p), names_(p.functions().size()) {}

  [[nodiscard]] absl::Status run() {
    const auto types = profile_.types();
    if (std::find(types.begin(), types.end(), options_.type) == types.end()) {
      return absl::InvalidArgumentError("the profile has no " +
                                        std::string(info(options_.type).name) +
                                        "; switch it on before the profiler starts");
    }
    for (const auto& [thread, stack, amount] : rows()) {
      put_row(thread, stack, amount);
      if (text_.size() < piece_bytes) continue;
      if (absl::Status s = hand_over(); !s.ok()) return s;
    }
    return hand_over();
  }

 private:
  struct row {
    std::uint32_t thread;
    stack_id stack;
    std::int64_t amount;
  };

  /// One row a line, in the order of first use; samples that differ in other labels are added up.
  [[nodiscard]] std::vector<row> rows() const {
    std::vector<row> all;
    absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> row_of;
    for (const profile_sample& s : profile_.samples()) {
      const std::int64_t amount = s.amount[options_.type];
      if (amount == 0) continue;
      const std::uint32_t thread = options_.threads ? threads_.of(s.labels) : 0;
      const auto [at, is_new] = row_of.try_emplace({thread, s.stack.value}, all.size());
      if (is_new) all.push_back({thread, s.stack, 0});
      row& r = all[at->second];
      r.amount = saturating_sum(r.amount, amount);
    }
    return all;
  }

  void put_row(std::uint32_t thread, stack_id stack, std::int64_t amount) {
    path_.clear();
    profile_.each_frame(stack, [&](frame_id f) { path_.push_back(profile_.frame(f).function); });
    if (options_.threads) text_ += frame_name(threads_.titles()[thread]);
    for (auto f = path_.rbegin(); f != path_.rend(); ++f) {
      if (options_.threads || f != path_.rbegin()) text_ += ';';
      std::string& name = names_[f->value];
      if (name.empty()) name = frame_name(profile_.string(profile_.function(*f).name));
      text_ += name;
    }
    text_ += ' ';
    text_ += std::to_string(amount);
    text_ += '\n';
  }

  [[nodiscard]] static std::string frame_name(std::string_view name) {
    std::string out = one_line(name);
    std::replace(out.begin(), out.end(), ';', ':');
    return out;
  }

  [[nodiscard]] absl::Status hand_over() {
    absl::Status done = to_.write(text_);
    text_.clear();
    return done;
  }

  const profile& profile_;
  const collapsed_options& options_;
  sink& to_;
  thread_table threads_;
  std::vector<std::string> names_;  // by function, made at first use
  std::vector<function_id> path_;
  std::string text_;
};

}  // namespace detail

[[nodiscard]] inline absl::StatusOr<std::string> encode_collapsed(
    const profile& p, const collapsed_options& options = {}) {
  string_sink text;
  absl::Status s =
      detail::guarded([&] { return detail::collapsed_writer(p, options, text).run(); });
  if (!s.ok()) return s;
  return std::move(text).take();
}

/// Writes the file whole, or not at all.
[[nodiscard]] inline absl::Status write_collapsed(const profile& p,
                                                  const std::filesystem::path& path,
                                                  const collapsed_options& options = {}) {
  return write_file(path, [&](sink& to) { return detail::collapsed_writer(p, options, to).run(); });
}

}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_COLLAPSED_HPP
