// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include <rbprof/model/profile_builder.hpp>
#include <rbprof/output/collapsed.hpp>
#include <rbprof/output/pprof.hpp>

#include <cstdio>

int main() {
  rbprof::profile_builder builder{rbprof::time_value_types()};
  rbprof::values amount;
  amount[rbprof::value_type::cpu_samples] = 7;
  builder.add(builder.stack({}, builder.frame({"Game#tick", "game.rb", 3, 1, false})), {}, amount);
  const rbprof::profile made = std::move(builder).build();
  const auto text = rbprof::output::encode_collapsed(made);
  const auto file = rbprof::output::encode_pprof(made);
  if (!text.ok() || !file.ok()) return 1;
  std::printf("%s", text->c_str());
  return *text == "Game#tick 7\n" && file->size() > 20 ? 0 : 1;
}
