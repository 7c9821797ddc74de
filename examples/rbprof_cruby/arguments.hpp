// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_EXAMPLES_RBPROF_CRUBY_ARGUMENTS_HPP
#define RBPROF_EXAMPLES_RBPROF_CRUBY_ARGUMENTS_HPP

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <unistd.h>

#include <rbprof/cruby.hpp>

// The command line of rbprof-cruby, read before Ruby starts: what is wrong costs one line and exit status 2.

namespace rbprof_cruby {

inline constexpr std::string_view usage =
    "usage: rbprof-cruby [--out FILE]... [--interval 10ms] [--trigger auto|postponed_job|signal]\n"
    "                    [--overhead 2%] [--no-gc] [--max-frames 400] [--top N] [--stats]\n"
    "                    [--no-handler-capture | --unsound-handler-capture]\n"
    "                    SCRIPT [ARGS...]\n"
    "  --out FILE   where the profile goes; the name's end chooses the format: .pb.gz .pb .html\n"
    "               .collapsed .txt; may repeat (default: rbprof.pb.gz)\n"
    "  --top N      prints the N most expensive functions on standard error at the end\n"
    "  --no-handler-capture       stacks are taken at Ruby's safe points, not in the signal handler\n"
    "  --unsound-handler-capture  in the handler also before Ruby 3.3, where that may crash the program\n"
    "  --stats      prints every counter as \"name value\" on standard error at the end\n";

struct arguments {
  /// A process that does nothing else can give SIGPROF away, for the most accurate stacks.
  rbprof::cruby::options profiler{.trigger = rbprof::cruby::trigger_kind::signal};
  std::vector<std::filesystem::path> out;
  std::size_t top = 0;
  bool stats = false;
  bool help = false;
  int script = 0;  // its place in argv
};

/// The number at the front of `text`, which is then what follows it.
[[nodiscard]] inline std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// "10ms", "500us", "1s"; a bare number is milliseconds.
[[nodiscard]] inline std::optional<rbprof::nanos> to_duration(std::string_view text) {
  const std::optional<double> number = take_number(text);
  if (!number) return std::nullopt;
  const double unit = text == "s"                    ? 1e9
                      : text == "ms" || text.empty() ? 1e6
                      : text == "us"                 ? 1e3
                                                     : 0;
  if (unit == 0 || !(*number > 0) || *number * unit > 1e15) return std::nullopt;
  return rbprof::nanos{static_cast<std::int64_t>(*number * unit)};
}

[[nodiscard]] inline std::optional<std::size_t> to_count(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[nodiscard]] inline bool is_known_format(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  for (const std::string_view end : {".pb.gz", ".pb", ".html", ".collapsed", ".txt"}) {
    if (std::string_view(name).ends_with(end)) return true;
  }
  return false;
}

/// Why a file can't be written there; empty when it can.
[[nodiscard]] inline std::string why_not_writable(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path folder =
      file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (std::filesystem::is_directory(file, error)) return "it is a directory";
  if (!std::filesystem::is_directory(folder, error)) return "there is no directory " + folder.string();
  if (access(folder.c_str(), W_OK | X_OK) != 0) return "the directory is not writable";
  return {};
}

/// Reads argv; the text says what is wrong, and is empty when nothing is.
[[nodiscard]] inline std::string parse(int argc, char** argv, arguments& a) {
  int i = 1;
  for (; i < argc && std::string_view(argv[i]).starts_with("-"); ++i) {
    std::string_view option = argv[i];
    if (option == "--") {
      ++i;
      break;
    }
    std::optional<std::string_view> value;
    if (const std::size_t equals = option.find('='); equals != std::string_view::npos) {
      value = option.substr(equals + 1);
      option = option.substr(0, equals);
    }
    const bool flag = option == "--no-gc" || option == "--no-handler-capture" ||
                      option == "--unsound-handler-capture" || option == "--stats" || option == "--help" || option == "-h";
    const bool known = flag || option == "--out" || option == "--interval" || option == "--trigger" ||
                       option == "--overhead" || option == "--max-frames" || option == "--top";
    if (!known) return "unknown option " + std::string(option);
    if (flag && value) return std::string(option) + " takes no value";
    if (!flag && !value) {
      if (i + 1 >= argc) return std::string(option) + " needs a value";
      value = argv[++i];
    }
    const auto bad = [&](std::string_view wanted) {
      return std::string(option) + " wants " + std::string(wanted) + ", not \"" + std::string(*value) + '"';
    };
    if (option == "--no-gc") a.profiler.gc = false;
    if (option == "--no-handler-capture") a.profiler.handler_capture = false;
    if (option == "--unsound-handler-capture") a.profiler.unsound_handler_capture = true;
    if (option == "--stats") a.stats = true;
    if (option == "--help" || option == "-h") a.help = true;
    if (option == "--out") {
      if (value->empty()) return bad("a file name");
      a.out.push_back(std::filesystem::absolute(*value));  // the program may change its directory
      if (!is_known_format(a.out.back())) return bad("a name that ends in .pb.gz, .pb, .html, .collapsed or .txt");
    }
    if (option == "--interval") {
      const auto d = to_duration(*value);
      if (!d || *d < rbprof::nanos{20'000} || *d > rbprof::nanos{1'000'000'000}) {
        return bad("a time from 20us to 1s");
      }
      a.profiler.interval = *d;
    }
    if (option == "--trigger") {
      using rbprof::cruby::trigger_kind;
      if (*value == "auto") a.profiler.trigger = trigger_kind::signal;
      else if (*value == "postponed_job") a.profiler.trigger = trigger_kind::postponed_job;
      else if (*value == "signal") a.profiler.trigger = trigger_kind::signal;
      else return bad("auto, postponed_job or signal");
      const bool foreign = rbprof::has(rbprof::vm::cruby::request_from, rbprof::role::foreign);
      if (a.profiler.trigger == trigger_kind::postponed_job && !foreign) {
        return "--trigger postponed_job needs CRuby 3.3 or newer; use signal";
      }
    }
    if (option == "--overhead") {
      std::string_view text = *value;
      const auto number = take_number(text);
      if (!number || !(text.empty() || text == "%") || !(*number > 0) || *number > 20) {
        return bad("a share over 0% and at most 20%");
      }
      a.profiler.overhead_target = {*number};
    }
    if (option == "--max-frames") {
      const auto n = to_count(*value);
      if (!n || *n < 5 || *n > 3000) return bad("a number from 5 to 3000");
      a.profiler.max_frames = *n;
    }
    if (option == "--top") {
      const auto n = to_count(*value);
      if (!n) return bad("a number");
      a.top = *n;
    }
  }
  if (a.help) return {};
  if (i >= argc) return "no script given";
  a.script = i;
  if (a.out.empty()) a.out.push_back(std::filesystem::absolute("rbprof.pb.gz"));
  for (const std::filesystem::path& file : a.out) {
    if (const std::string why = why_not_writable(file); !why.empty()) {
      return "can't write " + file.string() + ": " + why;
    }
  }
  if (access(argv[i], R_OK) != 0) return "can't read the script " + std::string(argv[i]);
  std::error_code error;
  if (std::filesystem::is_directory(argv[i], error)) return "the script " + std::string(argv[i]) + " is a directory";
  return {};
}

}  // namespace rbprof_cruby

#endif  // RBPROF_EXAMPLES_RBPROF_CRUBY_ARGUMENTS_HPP
