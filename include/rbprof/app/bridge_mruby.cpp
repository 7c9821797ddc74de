// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// The bridge of bridge.h for hosts of mruby. Compile it as C++20, with the flags of `mruby-config --cflags`.
#include <rbprof/mruby.hpp>

#include <rbprof/app/bridge_handle.hpp>

namespace {

struct mruby_bridge final : rbprof_bridge {
  mruby_bridge(mrb_state* mrb, const rbprof::mruby::options& o) : profiler(mrb, o) {}

  absl::Status start() override { return profiler.start(); }
  absl::StatusOr<rbprof::profile> flush() override { return profiler.flush(); }
  absl::StatusOr<rbprof::profile> stop() override { return profiler.stop(); }
  absl::Status bind() override { return profiler.bind(); }
  absl::Status unbind() override {
    profiler.unbind();
    return absl::OkStatus();
  }
  bool is_running() const override { return profiler.is_running(); }

  rbprof::mruby::profiler profiler;
};

}  // namespace

extern "C" rbprof_bridge* rbprof_new_mruby(mrb_state* mrb, const rbprof_settings* s) {
  auto o = rbprof::detail::options_from<rbprof::mruby::options>(s);
  o.gc = s == nullptr || s->collector != 0;
  return new (std::nothrow) mruby_bridge(mrb, o);
}
