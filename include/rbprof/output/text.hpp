// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_TEXT_HPP
#define RBPROF_OUTPUT_TEXT_HPP

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <rbprof/base/id.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/model/text.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/output/names.hpp>

// A profile on a terminal or in a log of CI: the functions that cost most.
//   flat  what the function itself cost: it was on top of the stack
//   cum   the same with all that it called; a recursive function counts once a stack
// A function is a name in a file at the line of its definition.

namespace rbprof::inline v0 {
namespace output {

/// An amount as people read it: "1.50 s", "12 MiB", "4200".
[[nodiscard]] inline std::string amount_text(value_type type, std::int64_t amount) {
  struct scale {
    double size;
    const char* unit;
  };
  static constexpr std::array<scale, 4> time{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  static constexpr std::array<scale, 4> bytes{
      {{1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1, "B"}}};
  const std::string_view unit = info(type).unit;
  if (unit == "count") return fmt::format("{}", amount);
  const auto& scales = unit == "bytes" ? bytes : time;
  const auto value = static_cast<double>(amount);
  for (const scale& s : scales) {
    if (value >= s.size && s.size > 1) return fmt::format("{:.2f} {}", value / s.size, s.unit);
  }
  return fmt::format("{} {}", amount, scales.back().unit);
}

/// What each function cost, by function id.
struct function_costs {
  std::vector<std::int64_t> flat;
  std::vector<std::int64_t> cum;
  std::int64_t total = 0;
  std::int64_t collecting = 0;  ///< of the total: garbage collection, wherever it is in the stack
};

[[nodiscard]] inline function_costs costs_of(const profile& p, value_type type) {
  const std::size_t count = p.functions().size();
  function_costs out{std::vector<std::int64_t>(count), std::vector<std::int64_t>(count), 0, 0};
  std::vector<std::size_t> seen(count);  // the last stack that has it, from 1
  std::size_t turn = 0;
  for (const profile_sample& s : p.samples()) {
    const std::int64_t amount = s.amount[type];
    if (amount == 0) continue;
    ++turn;
    bool leaf = true;
    bool collecting = false;
    p.each_frame(s.stack, [&](frame_id i) {
      const function_id f = p.frame(i).function;
      if (leaf) out.flat[f.value] = saturating_sum(out.flat[f.value], amount);
      leaf = false;
      if (seen[f.value] == turn) return;
      seen[f.value] = turn;
      out.cum[f.value] = saturating_sum(out.cum[f.value], amount);
      collecting = collecting || p.string(p.function(f).name) == placeholder::gc;
    });
    out.total = saturating_sum(out.total, amount);
    if (collecting) out.collecting = saturating_sum(out.collecting, amount);
  }
  return out;
}

namespace detail {

[[nodiscard]] inline double percent(std::int64_t part, std::int64_t whole) noexcept {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

inline void put_head(std::string& out, const profile& p, value_type type,
                     const function_costs& costs) {
  const auto seconds = static_cast<double>(p.duration().count()) / 1e9;
  fmt::format_to(std::back_inserter(out), "{}: {:.2f} s\n",
                 p.program().empty() ? "(unknown program)" : one_line(p.program()), seconds);
  fmt::format_to(std::back_inserter(out), "total {}: {}\n", info(type).name,
                 amount_text(type, costs.total));
  if (costs.collecting > 0) {
    fmt::format_to(std::back_inserter(out), "garbage collection: {}, {:.1f} %\n",
                   amount_text(type, costs.collecting), percent(costs.collecting, costs.total));
  }
}

}  // namespace detail

/// The `n` functions with the largest flat cost as a table; a total line and the share of garbage
/// collection above it, what the table leaves out below.
[[nodiscard]] inline std::string top_table(const profile& p, value_type type, std::size_t n) {
  const auto types = p.types();
  if (std::find(types.begin(), types.end(), type) == types.end()) {
    return fmt::format("the profile has no {}\n", info(type).name);
  }
  const function_costs costs = costs_of(p, type);
  std::vector<std::uint32_t> order(costs.cum.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::uint32_t f) { return costs.cum[f] == 0; });
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return costs.flat[a] != costs.flat[b] ? costs.flat[a] > costs.flat[b]
                                          : costs.cum[a] > costs.cum[b];
  });

  std::string out;
  detail::put_head(out, p, type, costs);
  if (order.empty()) return out + "no samples\n";
  fmt::format_to(std::back_inserter(out), "\n{:>12} {:>7} {:>7} {:>12} {:>7}  {}\n", "flat",
                 "flat%", "sum%", "cum", "cum%", "function");
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < std::min(n, order.size()); ++i) {
    const profile_function& f = p.function({order[i]});
    const std::int64_t flat = costs.flat[order[i]];
    const std::int64_t cum = costs.cum[order[i]];
    sum = saturating_sum(sum, flat);
    fmt::format_to(std::back_inserter(out), "{:>12} {:>6.1f}% {:>6.1f}% {:>12} {:>6.1f}%  {}  {}\n",
                   amount_text(type, flat), detail::percent(flat, costs.total),
                   detail::percent(sum, costs.total), amount_text(type, cum),
                   detail::percent(cum, costs.total), one_line(p.string(f.name)),
                   place(p.string(f.file), f.start_line));
  }
  if (order.size() > n) {
    fmt::format_to(std::back_inserter(out), "{:>12} {:>6.1f}%  in {} more functions\n",
                   amount_text(type, costs.total - sum),
                   detail::percent(costs.total - sum, costs.total), order.size() - n);
  }
  return out;
}

}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_TEXT_HPP
