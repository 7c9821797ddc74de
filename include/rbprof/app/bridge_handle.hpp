// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_APP_BRIDGE_HANDLE_HPP
#define RBPROF_APP_BRIDGE_HANDLE_HPP

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include <rbprof/host/bridge.h>
#include <rbprof/base/percent.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/output/collapsed.hpp>
#include <rbprof/output/flamegraph_html.hpp>
#include <rbprof/output/pprof.hpp>

// What the bridges of both VMs share. A handle is a profiler of either behind one interface, so that the functions of
// bridge.h need not know which; they are defined weakly, since a program may link both bridges.
//
// Only bridge_cruby.cpp and bridge_mruby.cpp include this.

/// Calls from: as the profiler's own functions · Blocks, allocates: likewise · On failure: a code, and words
struct rbprof_bridge {
  rbprof_bridge() = default;
  rbprof_bridge(const rbprof_bridge&) = delete;
  virtual ~rbprof_bridge() = default;

  virtual absl::Status start() = 0;
  virtual absl::StatusOr<rbprof::profile> flush() = 0;
  virtual absl::StatusOr<rbprof::profile> stop() = 0;
  virtual absl::Status bind() { return absl::InvalidArgumentError("only profilers for mruby are bound to threads"); }
  virtual absl::Status unbind() { return bind(); }
  [[nodiscard]] virtual bool is_running() const = 0;

  std::string message;
};

namespace rbprof::inline v0 {
namespace detail {

[[nodiscard]] inline rbprof_code code_of(const absl::Status& s) {
  switch (s.code()) {
    case absl::StatusCode::kOk: return RBPROF_OK;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange: return RBPROF_INVALID;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kCancelled: return RBPROF_REFUSED;
    case absl::StatusCode::kAlreadyExists: return RBPROF_BUSY;
    case absl::StatusCode::kDeadlineExceeded: return RBPROF_LATE;
    case absl::StatusCode::kResourceExhausted: return RBPROF_NO_ROOM;
    default: return RBPROF_FAILED;
  }
}

[[nodiscard]] inline rbprof_code answer(rbprof_bridge& p, const absl::Status& s) {
  if (!s.ok()) p.message.assign(s.message().data(), s.message().size());
  return code_of(s);
}

[[nodiscard]] inline rbprof_code write(rbprof_bridge& p, const absl::StatusOr<profile>& made, const char* file) {
  if (!made.ok()) return answer(p, made.status());
  if (file == nullptr) return RBPROF_OK;
  const std::string_view name(file);
  if (name.ends_with(".html")) return answer(p, output::write_flamegraph_html(*made, file));
  if (name.ends_with(".collapsed")) return answer(p, output::write_collapsed(*made, file, {.type = value_type::cpu_time}));
  return answer(p, output::write_pprof(*made, file, {.gzip = !name.ends_with(".pb")}));
}

/// The options of either VM's profiler.
template <class Options>
[[nodiscard]] Options options_from(const rbprof_settings* given) {
  rbprof_settings s;
  rbprof_settings_init(&s);
  if (given != nullptr && given->size == s.size) s = *given;
  Options o;
  o.interval = nanos{static_cast<std::int64_t>(s.interval_ns)};
  o.overhead_target = percent{s.overhead_percent};
  if (s.program != nullptr) o.program = s.program;
  return o;
}

}  // namespace detail
}  // namespace rbprof::inline v0

#define RBPROF_DETAIL_BRIDGE extern "C" __attribute__((weak))

RBPROF_DETAIL_BRIDGE void rbprof_settings_init(rbprof_settings* s) {
  *s = {static_cast<std::uint32_t>(sizeof *s), 1, 10'000'000, 2.0, nullptr};
}
RBPROF_DETAIL_BRIDGE rbprof_code rbprof_start(rbprof_bridge* p) { return rbprof::detail::answer(*p, p->start()); }
RBPROF_DETAIL_BRIDGE rbprof_code rbprof_flush(rbprof_bridge* p, const char* file) {
  return rbprof::detail::write(*p, p->flush(), file);
}
RBPROF_DETAIL_BRIDGE rbprof_code rbprof_stop(rbprof_bridge* p, const char* file) {
  return rbprof::detail::write(*p, p->stop(), file);
}
RBPROF_DETAIL_BRIDGE rbprof_code rbprof_bind(rbprof_bridge* p) { return rbprof::detail::answer(*p, p->bind()); }
RBPROF_DETAIL_BRIDGE rbprof_code rbprof_unbind(rbprof_bridge* p) { return rbprof::detail::answer(*p, p->unbind()); }
RBPROF_DETAIL_BRIDGE const char* rbprof_message(const rbprof_bridge* p) {
  return p == nullptr ? "there is no memory for a profiler" : p->message.c_str();
}
RBPROF_DETAIL_BRIDGE int rbprof_is_running(const rbprof_bridge* p) { return p != nullptr && p->is_running() ? 1 : 0; }
RBPROF_DETAIL_BRIDGE void rbprof_free(rbprof_bridge* p) { delete p; }

#undef RBPROF_DETAIL_BRIDGE

#endif  // RBPROF_APP_BRIDGE_HANDLE_HPP
