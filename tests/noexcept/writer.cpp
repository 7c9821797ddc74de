// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include "writer.hpp"

#include <rbprof/output/pprof.hpp>

// The one file of such a host that is compiled with exceptions and type information, as the writers' libraries want.

#if !defined(__cpp_exceptions) || !defined(__cpp_rtti)
#error "this file is the one with exceptions"
#endif

absl::Status write_profile(const rbprof::profile& p, const std::string& path) {
  return rbprof::output::write_pprof(p, path);
}
