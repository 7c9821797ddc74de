// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include "plugin.hpp"

#include <rbprof/cruby.hpp>

#include <string>

// The profiler is leaked, so that nobody stops it when this file is unloaded.

namespace {

rbprof::cruby::profiler* profiler = nullptr;
std::string words;

void make(int trigger, bool handler_capture) {
  rbprof::cruby::options o;
  o.interval = rbprof::nanos{1'000'000};
  o.overhead_target = rbprof::percent{20};
  o.trigger = static_cast<rbprof::cruby::trigger_kind>(trigger);
  o.handler_capture = handler_capture;
  profiler = new rbprof::cruby::profiler(o);
}

const char* start() {
  const absl::Status started = profiler->start();
  words = std::string(started.message());
  return started.ok() ? nullptr : words.c_str();
}

long long stop() {
  const absl::StatusOr<rbprof::profile> profile = profiler->stop();
  return profile.ok() ? profile->total(rbprof::value_type::cpu_time) : -1;
}

constexpr plugin_calls calls{make, start, stop};

}  // namespace

extern "C" [[gnu::visibility("default")]] const plugin_calls* two_copies_plugin();
extern "C" const plugin_calls* two_copies_plugin() { return &calls; }
