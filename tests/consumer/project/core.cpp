// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include <rbprof/model/profile_builder.hpp>
#include <rbprof/version.hpp>

#include <cstdio>

int main() {
  rbprof::profile_builder builder{rbprof::time_value_types()};
  rbprof::values amount;
  amount[rbprof::value_type::cpu_time] = 7;
  builder.add(builder.stack({}, builder.frame({"Game#tick", "game.rb", 3, 1, false})), {}, amount);
  const rbprof::profile made = std::move(builder).build();
  std::printf("rbprof %s\n", rbprof::version_text);
  return made.total(rbprof::value_type::cpu_time) == 7 ? 0 : 1;
}
