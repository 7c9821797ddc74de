// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_CONSUMER_ODR_LIBRARY_HPP
#define RBPROF_TESTS_CONSUMER_ODR_LIBRARY_HPP

#include <rbprof/model/profile.hpp>

/// In the shared library.
rbprof::profile profile_of_library();
/// In the program's other source file.
rbprof::profile profile_of_second_file();

#endif  // RBPROF_TESTS_CONSUMER_ODR_LIBRARY_HPP
