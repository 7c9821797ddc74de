// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_VERSION_HPP
#define RBPROF_VERSION_HPP

// The one place of the version: CMake and Meson read these lines.
#define RBPROF_VERSION_MAJOR 0
#define RBPROF_VERSION_MINOR 1
#define RBPROF_VERSION_PATCH 0

/// One integer that orders: 0.1.0 is 100, 1.2.3 is 10203.
#define RBPROF_VERSION \
  (RBPROF_VERSION_MAJOR * 10000 + RBPROF_VERSION_MINOR * 100 + RBPROF_VERSION_PATCH)

namespace rbprof::inline v0 {

/// The version as people write it, for profiles and messages.
inline constexpr char version_text[] = "0.1.0";

}  // namespace rbprof::inline v0

#endif  // RBPROF_VERSION_HPP
