// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_TWO_COPIES_PLUGIN_HPP
#define RBPROF_TESTS_TWO_COPIES_PLUGIN_HPP

// What a plug-in with a profiler of its own shows to its host.

struct plugin_calls {
  /// The profiler is made, and that is all.
  void (*make)(int trigger, bool handler_capture);
  /// Null, or why not; valid until the next call.
  const char* (*start)();
  /// Nanoseconds of cpu in the profile; negative: it could not be stopped.
  long long (*stop)();
};

extern "C" using plugin_entry = const plugin_calls*();

#endif  // RBPROF_TESTS_TWO_COPIES_PLUGIN_HPP
