// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_RECORDER_RECORDER_WORLD_HPP
#define RBPROF_TESTS_RECORDER_RECORDER_WORLD_HPP

#include <absl/container/flat_hash_map.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/base/hash_bytes.hpp>
#include <rbprof/recorder/flip_recorder.hpp>

// A sampling side for tests: stacks are vectors of small numbers, leaf first, and frame 7 is the method
// "m7". It does what a lane does: asks for known keys, resolves names, enters, writes, leaves.

namespace rbprof::testing {

using numbers = std::vector<std::uint32_t>;

inline constexpr nanos no_patience{0};
inline constexpr nanos patient = std::chrono::seconds(20);

[[nodiscard]] inline values worth(std::int64_t wall, std::int64_t samples = 1) {
  values v;
  v[value_type::cpu_samples] = samples;
  v[value_type::wall_time] = wall;
  return v;
}

class sampling_side {
 public:
  explicit sampling_side(flip_recorder& recorder) : recorder_(recorder) {}

  [[nodiscard]] frame_entry* frame(std::uint32_t number) {
    frame_entry*& at = by_number_[number];
    if (at == nullptr) {
      at = &frames_.emplace_back();
      at->text.name = "m" + std::to_string(number);
      at->text.file = "f" + std::to_string(number % 7) + ".rb";
      at->text.line = static_cast<std::int32_t>(number % 100 + 2);
      at->text.start_line = static_cast<std::int32_t>(number % 100 + 1);
    }
    return at;
  }
  [[nodiscard]] std::span<frame_entry* const> resolve(const numbers& leaf_first) {
    resolved_.clear();
    for (const std::uint32_t n : leaf_first) resolved_.push_back(frame(n));
    return resolved_;
  }
  [[nodiscard]] static stack_key key(const numbers& leaf_first) {
    const auto bytes = std::as_bytes(std::span(leaf_first));
    return {bytes, hash_bytes(bytes)};
  }

  /// The whole way of a sample. True when it was recorded.
  bool sample(const numbers& leaf_first, const values& amount, label_entry* labels = nullptr) {
    record r{key(leaf_first), {}, labels, &path_, amount};
    if (!recorder_.knows(r.key)) r.frames = resolve(leaf_first);
    for (;;) {
      if (!recorder_.enter()) return false;
      const bool written = recorder_.write(r);
      recorder_.leave();
      if (written) return true;
      r.frames = resolve(leaf_first);  // a flip has made the hint untrue
    }
  }

 private:
  flip_recorder& recorder_;
  std::deque<frame_entry> frames_;
  absl::flat_hash_map<std::uint32_t, frame_entry*> by_number_;
  std::vector<frame_entry*> resolved_;
  path_hint path_;
};

/// What a profile says, in words: "leaf;...;root|key=value,..." to wall time and samples.
using sums = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

[[nodiscard]] inline std::string words(const profile& p, stack_id stack) {
  std::string out;
  p.each_frame(stack, [&](frame_id f) {
    if (!out.empty()) out += ';';
    out += p.string(p.function(p.frame(f).function).name);
  });
  return out;
}

[[nodiscard]] inline std::string words(const profile& p, label_set_id labels) {
  std::map<std::string, std::string> sorted;
  for (const profile_label& l : p.labels(labels)) {
    sorted[std::string(p.string(l.key))] =
        l.is_num ? std::to_string(l.num) : std::string(p.string(l.str));
  }
  std::string out;
  for (const auto& [key, value] : sorted) out += (out.empty() ? "" : ",") + key + "=" + value;
  return out;
}

[[nodiscard]] inline sums sums_of(const profile& p) {
  sums out;
  for (const profile_sample& s : p.samples()) {
    const std::string labels = words(p, s.labels);
    auto& at = out[words(p, s.stack) + (labels.empty() ? "" : "|" + labels)];
    at.first += s.amount[value_type::wall_time];
    at.second += s.amount[value_type::cpu_samples];
  }
  return out;
}

[[nodiscard]] inline std::string words(const numbers& leaf_first) {
  std::string out;
  for (const std::uint32_t n : leaf_first) out += (out.empty() ? "m" : ";m") + std::to_string(n);
  return out;
}

struct flushed {
  absl::Status status;
  recorded_interval interval;
  sums what;
};

[[nodiscard]] inline flushed flush(flip_recorder& r, nanos patience, mono now) {
  profile_builder into(r.types());
  flushed out;
  out.status = r.flush(patience, now, into, out.interval);
  out.what = sums_of(std::move(into).build());
  return out;
}

[[nodiscard]] inline std::uint64_t statistic(const flip_recorder& r, std::string_view name) {
  std::uint64_t found = ~std::uint64_t{0};
  r.each_statistic([&](const char* n, std::uint64_t v) {
    if (name == n) found = v;
  });
  return found;
}

}  // namespace rbprof::testing

#endif  // RBPROF_TESTS_RECORDER_RECORDER_WORLD_HPP
