// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include "library.hpp"

#include <all_core_headers.hpp>

rbprof::profile profile_of_library() {
  rbprof::profile_builder builder{rbprof::time_value_types()};
  rbprof::values amount;
  amount[rbprof::value_type::cpu_time] = 5;
  builder.add(builder.stack({}, builder.frame({"Library#call", "library.rb", 1, 1, false})), {},
              amount);
  return std::move(builder).build();
}
