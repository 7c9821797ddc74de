// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include <all_core_headers.hpp>

#include <cstdio>

#include "library.hpp"

// Three sources include every header of the core, one of them in a shared library: the program links, and a
// profile that one made is the same thing to the others.
int main() {
  rbprof::profile_builder builder{rbprof::time_value_types()};
  builder.add(profile_of_library());
  builder.add(profile_of_second_file());
  const rbprof::profile all = std::move(builder).build();
  const std::int64_t total = all.total(rbprof::value_type::cpu_time);
  std::printf("%zu sample of %lld ns\n", all.samples().size(), static_cast<long long>(total));
  return all.samples().size() == 1 && total == 15 ? 0 : 1;
}
