// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_EXAMPLES_RBPROF_MRUBY_ARGUMENTS_HPP
#define RBPROF_EXAMPLES_RBPROF_MRUBY_ARGUMENTS_HPP

#include <string>
#include <string_view>

#include <rbprof/mruby.hpp>

#include "../common/arguments.hpp"

namespace rbprof_mruby {

inline constexpr std::string_view usage =
    "usage: rbprof-mruby [--out FILE]... [--interval 10ms] [--clock cpu|wall]\n"
    "                    [--overhead 2%] [--no-gc] [--max-frames 400] [--top N] [--stats]\n"
    "                    [--stacks auto|hook|copy]\n"
    "                    SCRIPT [ARGS...]\n"
    "  SCRIPT       Ruby code, or bytecode of mrbc (compile with -g for files and lines)\n"
    "  --out FILE   where the profile goes; the name's end chooses the format: .pb.gz .pb .html\n"
    "               .collapsed .txt; may repeat (default: rbprof.pb.gz)\n"
    "  --clock      cpu: a program that waits is left alone; wall: its waits are seen, but a\n"
    "               signal may end a sleep early\n"
    "  --stacks     how they are read; see docs/architecture.md\n"
    "  --top N      prints the N most expensive functions on standard error at the end\n"
    "  --stats      prints every counter as \"name value\" on standard error at the end\n";

struct arguments : rbprof_host::arguments {
  rbprof::mruby::options profiler;
};

[[nodiscard]] inline std::string take_own(std::string_view option, std::string_view value, arguments& a) {
  using rbprof::mruby::backend;
  using rbprof::mruby::timer_clock;
  if (option == "--clock") {
    if (value != "cpu" && value != "wall") return rbprof_host::wants(option, "cpu or wall", value);
    a.profiler.clock = value == "cpu" ? timer_clock::cpu : timer_clock::wall;
    return {};
  }
  if (value == "auto") a.profiler.stacks = backend::automatic;
  else if (value == "hook") a.profiler.stacks = backend::hook;
  else if (value == "copy") a.profiler.stacks = backend::copy;
  else return rbprof_host::wants(option, "auto, hook or copy", value);
  return {};
}

/// Reads argv; the text says what is wrong, and is empty when nothing is.
[[nodiscard]] inline std::string parse(int argc, char** argv, arguments& a) {
  rbprof_host::own_options own;
  own.valued = {"--clock", "--stacks"};
  own.take = [&a](std::string_view option, std::string_view value) { return take_own(option, value, a); };
  std::string wrong = rbprof_host::parse(argc, argv, a, own);
  rbprof_host::give_common(a, a.profiler);
  return wrong;
}

}  // namespace rbprof_mruby

#endif  // RBPROF_EXAMPLES_RBPROF_MRUBY_ARGUMENTS_HPP
