// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include <all_core_headers.hpp>

#include "library.hpp"

rbprof::profile profile_of_second_file() {
  rbprof::profile_builder builder{rbprof::time_value_types()};
  builder.add(profile_of_library());
  builder.add(profile_of_library());
  return std::move(builder).build();
}
