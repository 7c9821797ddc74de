// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include <rbprof/model/profile_builder.hpp>

int main() {
  rbprof::profile_builder builder{rbprof::time_value_types()};
  rbprof::values amount;
  amount[rbprof::value_type::wall_time] = 3;
  builder.add({}, {}, amount);
  const rbprof::profile made = std::move(builder).build();
  return made.total(rbprof::value_type::wall_time) == 3 ? 0 : 1;
}
