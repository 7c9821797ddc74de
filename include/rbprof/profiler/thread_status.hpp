// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_THREAD_STATUS_HPP
#define RBPROF_PROFILER_THREAD_STATUS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <rbprof/model/text.hpp>

// The `state` label: a fact where there is one (the thread burned cpu), else what the method on top of the
// stack is known to do.

namespace rbprof::inline v0 {

enum class thread_status : std::uint8_t { unknown, had_cpu, sleeping, waiting, blocked, network };

inline constexpr std::size_t thread_status_count = 6;

[[nodiscard]] constexpr std::string_view to_text(thread_status s) noexcept {
  constexpr std::array<std::string_view, thread_status_count> all{
      "unknown", "had cpu", "sleeping", "waiting", "blocked", "network"};
  return all[static_cast<std::size_t>(s)];
}

/// What a thread does whose leaf is this frame and that burns no cpu. By the bare method name: "sleep" of
/// "Kernel#sleep" or "Process.sleep". Only native methods, and Ruby's own Ruby-written ones, are known.
[[nodiscard]] inline thread_status waits_in(const frame_text& leaf) noexcept {
  struct known {
    std::string_view method;
    thread_status status;
  };
  constexpr std::array<known, 12> natives{{
      {"sleep", thread_status::sleeping},
      {"select", thread_status::waiting},
      {"pop", thread_status::waiting},
      {"wait", thread_status::waiting},
      {"wait2", thread_status::waiting},
      {"waitpid", thread_status::waiting},
      {"stop", thread_status::waiting},
      {"synchronize", thread_status::blocked},
      {"join", thread_status::blocked},
      {"value", thread_status::blocked},
      {"lock", thread_status::blocked},
      {"wait_readable", thread_status::network},
  }};
  const bool own = leaf.native || leaf.file.starts_with("<internal:thread");
  if (!own) return thread_status::unknown;
  const std::string_view name = leaf.name;
  const std::size_t mark = name.find_last_of("#.");
  const std::string_view method = mark == std::string_view::npos ? name : name.substr(mark + 1);
  for (const known& k : natives) {
    if (method == k.method) return k.status;
  }
  return thread_status::unknown;
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_THREAD_STATUS_HPP
