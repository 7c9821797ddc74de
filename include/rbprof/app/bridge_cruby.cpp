// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// The bridge of bridge.h for hosts of CRuby. Compile it as C++20.
#include <rbprof/cruby.hpp>

#include <rbprof/app/bridge_handle.hpp>

namespace {

struct cruby_bridge final : rbprof_bridge {
  explicit cruby_bridge(const rbprof::cruby::options& o) : profiler(o) {}

  absl::Status start() override { return profiler.start(); }
  absl::StatusOr<rbprof::profile> flush() override { return profiler.flush(); }
  absl::StatusOr<rbprof::profile> stop() override { return profiler.stop(); }
  bool is_running() const override { return profiler.is_running(); }

  rbprof::cruby::profiler profiler;
};

}  // namespace

extern "C" rbprof_bridge* rbprof_new_cruby(const rbprof_settings* s) {
  auto o = rbprof::detail::options_from<rbprof::cruby::options>(s);
  o.gc = s == nullptr || s->collector != 0;
  return new (std::nothrow) cruby_bridge(o);
}
