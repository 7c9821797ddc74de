// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_EXAMPLES_RBPROF_CRUBY_ARGUMENTS_HPP
#define RBPROF_EXAMPLES_RBPROF_CRUBY_ARGUMENTS_HPP

#include <string>
#include <string_view>

#include <rbprof/cruby.hpp>

#include "../common/arguments.hpp"

namespace rbprof_cruby {

inline constexpr std::string_view usage =
    "usage: rbprof-cruby [--out FILE]... [--interval 10ms] [--trigger auto|postponed_job|signal]\n"
    "                    [--overhead 2%] [--no-gc] [--max-frames 400] [--top N] [--stats]\n"
    "                    [--no-handler-capture | --unsound-handler-capture]\n"
    "                    [--alloc] [--alloc-every N] [--heap] [--heap-every N] [--checkpoints]\n"
    "                    SCRIPT [ARGS...]\n"
    "  --out FILE   where the profile goes; the name's end chooses the format: .pb.gz .pb .html\n"
    "               .collapsed .txt; may repeat (default: rbprof.pb.gz)\n"
    "  --top N      prints the N most expensive functions on standard error at the end\n"
    "  --no-handler-capture       stacks are taken at Ruby's safe points, not in the signal handler\n"
    "  --unsound-handler-capture  in the handler also before Ruby 3.3, where that may crash the program\n"
    "  --alloc      samples new objects too, with their classes, for half of the overhead\n"
    "  --alloc-every N            one new object of N on average, whatever it costs; 1 = each\n"
    "  --heap       tells which sampled objects are alive; --heap-every N: one sample of N\n"
    "  --checkpoints              defines rbprof_checkpoint(name): writes what was recorded so far to\n"
    "                             the output's name with .name before its end\n"
    "  --stats      prints every counter as \"name value\" on standard error at the end\n";

struct arguments : rbprof_host::arguments {
  /// A process that does nothing else can give SIGPROF away, for the most accurate stacks.
  bool checkpoints = false;
  rbprof::cruby::options profiler{.trigger = rbprof::cruby::trigger_kind::signal};
};

[[nodiscard]] inline std::string take_trigger(std::string_view value, arguments& a) {
  using rbprof::cruby::trigger_kind;
  if (value == "auto" || value == "signal") a.profiler.trigger = trigger_kind::signal;
  else if (value == "postponed_job") a.profiler.trigger = trigger_kind::postponed_job;
  else return rbprof_host::wants("--trigger", "auto, postponed_job or signal", value);
  const bool foreign = rbprof::has(rbprof::vm::cruby::request_from, rbprof::role::foreign);
  if (a.profiler.trigger == trigger_kind::postponed_job && !foreign) {
    return "--trigger postponed_job needs CRuby 3.3 or newer; use signal";
  }
  return {};
}

[[nodiscard]] inline std::string take_every(std::string_view option, std::string_view value, arguments& a) {
  const auto n = rbprof_host::to_count(value);
  if (!n || *n == 0 || *n > 1'000'000'000) return rbprof_host::wants(option, "a number from 1", value);
  const bool of_heap = option == "--heap-every";
  (of_heap ? a.profiler.heap : a.profiler.allocations) = true;
  (of_heap ? a.profiler.heap_every : a.profiler.allocation_every) = static_cast<std::uint32_t>(*n);
  return {};
}

/// Reads argv; the text says what is wrong, and is empty when nothing is.
[[nodiscard]] inline std::string parse(int argc, char** argv, arguments& a) {
  rbprof_host::own_options own;
  own.flags = {"--no-handler-capture", "--unsound-handler-capture", "--alloc", "--heap", "--checkpoints"};
  own.valued = {"--trigger", "--alloc-every", "--heap-every"};
  own.take = [&a](std::string_view option, std::string_view value) -> std::string {
    if (option == "--no-handler-capture") a.profiler.handler_capture = false;
    if (option == "--unsound-handler-capture") a.profiler.unsound_handler_capture = true;
    if (option == "--alloc") a.profiler.allocations = true;
    if (option == "--checkpoints") a.checkpoints = true;
    if (option == "--heap") a.profiler.heap = true;
    if (option == "--alloc-every" || option == "--heap-every") return take_every(option, value, a);
    return option == "--trigger" ? take_trigger(value, a) : std::string();
  };
  std::string wrong = rbprof_host::parse(argc, argv, a, own);
  rbprof_host::give_common(a, a.profiler);
  return wrong;
}

}  // namespace rbprof_cruby

#endif  // RBPROF_EXAMPLES_RBPROF_CRUBY_ARGUMENTS_HPP
