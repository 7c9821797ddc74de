// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_BASE_CLOCK_HPP
#define RBPROF_BASE_CLOCK_HPP

#include <sys/types.h>
#include <time.h>

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>

// The clocks of the library. Durations are `nanos`, points of the monotonic clock are `mono`; a bare
// integer of nanoseconds appears only inside a type that says so. Every function here may be called
// from any thread and from a signal handler: they are clock_gettime and arithmetic.

namespace rbprof::inline v0 {

using nanos = std::chrono::nanoseconds;

/// A point of CLOCK_MONOTONIC, in nanoseconds.
struct mono {
  std::int64_t ns = 0;

  friend constexpr auto operator<=>(const mono&, const mono&) noexcept = default;
  friend constexpr mono operator+(mono t, nanos d) noexcept { return {t.ns + d.count()}; }
  friend constexpr mono operator-(mono t, nanos d) noexcept { return {t.ns - d.count()}; }
  friend constexpr nanos operator-(mono a, mono b) noexcept { return nanos{a.ns - b.ns}; }
};

namespace detail {

[[nodiscard]] inline std::optional<std::int64_t> read_clock(clockid_t clock) noexcept {
  timespec t{};
  if (clock_gettime(clock, &t) != 0) return std::nullopt;
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace detail

/// Monotonic time now; 33 to 44 ns.
[[nodiscard]] inline mono monotonic_now() noexcept {
  return {detail::read_clock(CLOCK_MONOTONIC).value_or(0)};
}

/// Nanoseconds since the Unix epoch now, for the start of a profile; it may step.
[[nodiscard]] inline std::int64_t epoch_now_ns() noexcept {
  return detail::read_clock(CLOCK_REALTIME).value_or(0);
}

/// Cpu time of the calling thread; a system call, about 2 us.
[[nodiscard]] inline std::optional<nanos> thread_cpu_now() noexcept {
  const auto t = detail::read_clock(CLOCK_THREAD_CPUTIME_ID);
  return t ? std::optional<nanos>(nanos{*t}) : std::nullopt;
}

/// The cpu clock of a thread of this process by its kernel id, in Linux's own encoding: (~tid << 3) | 6.
[[nodiscard]] constexpr clockid_t cpu_clock_of(pid_t tid) noexcept {
  return static_cast<clockid_t>((~static_cast<std::uint32_t>(tid) << 3U) | 6U);
}

/// Cpu time of a thread of this process by its kernel id; none when it is gone. A system call.
[[nodiscard]] inline std::optional<nanos> thread_cpu_of(pid_t tid) noexcept {
  const auto t = detail::read_clock(cpu_clock_of(tid));
  return t ? std::optional<nanos>(nanos{*t}) : std::nullopt;
}

}  // namespace rbprof::inline v0

#endif  // RBPROF_BASE_CLOCK_HPP
