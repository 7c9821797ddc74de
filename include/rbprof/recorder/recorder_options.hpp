// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_RECORDER_RECORDER_OPTIONS_HPP
#define RBPROF_RECORDER_RECORDER_OPTIONS_HPP

#include <cstddef>
#include <vector>

#include <rbprof/model/value_type.hpp>

namespace rbprof::inline v0 {

struct recorder_options {
  /// Columns of a profile.
  std::vector<value_type> types = time_value_types();
  /// Bytes: half for names, an eighth for each slot's sums, a quarter for the cache of stacks. Clamped to
  /// 256 KiB ... 4 GiB. When names fill more than half of their share at a flip they start anew, and the
  /// old ones exist until that flush has copied them: for that moment half of this comes on top.
  std::size_t byte_budget = std::size_t{32} << 20U;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_RECORDER_RECORDER_OPTIONS_HPP
