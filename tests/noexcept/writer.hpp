// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_NOEXCEPT_WRITER_HPP
#define RBPROF_TESTS_NOEXCEPT_WRITER_HPP

#include <absl/status/status.h>

#include <string>

#include <rbprof/model/profile.hpp>

absl::Status write_profile(const rbprof::profile& p, const std::string& path);

#endif  // RBPROF_TESTS_NOEXCEPT_WRITER_HPP
