// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_EXAMPLES_COMMON_ARGUMENTS_HPP
#define RBPROF_EXAMPLES_COMMON_ARGUMENTS_HPP

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <unistd.h>

#include <rbprof/base/clock.hpp>
#include <rbprof/base/percent.hpp>

// The command line of a host that does nothing but run a program under the profiler, read before the VM starts: what
// is wrong costs one line and exit status 2. Each host adds options of its own.

namespace rbprof_host {

struct arguments {
  rbprof::percent overhead_target{2};
  rbprof::nanos interval{10'000'000};
  std::size_t max_frames = 400;
  bool gc = true;
  std::vector<std::filesystem::path> out;
  std::size_t top = 0;
  bool stats = false;
  bool help = false;
  int script = 0;  // its place in argv
};

/// Options of one host. `take` says what is wrong with an option, and is given no value for a flag.
struct own_options {
  std::vector<std::string_view> flags;
  std::vector<std::string_view> valued;
  std::function<std::string(std::string_view option, std::string_view value)> take;
};

/// What all hosts have, into the options of one profiler.
template <class Options>
void give_common(const arguments& a, Options& profiler) {
  profiler.overhead_target = a.overhead_target;
  profiler.interval = a.interval;
  profiler.max_frames = a.max_frames;
  profiler.gc = a.gc;
}

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

[[nodiscard]] inline std::string wants(std::string_view option, std::string_view wanted, std::string_view value) {
  return std::string(option) + " wants " + std::string(wanted) + ", not \"" + std::string(value) + '"';
}

/// Takes one option that all hosts have; the text says what is wrong with it.
[[nodiscard]] inline std::string take_common(std::string_view option, std::string_view value, arguments& a) {
  if (option == "--no-gc") a.gc = false;
  if (option == "--stats") a.stats = true;
  if (option == "--help" || option == "-h") a.help = true;
  if (option == "--out") {
    if (value.empty()) return wants(option, "a file name", value);
    a.out.push_back(std::filesystem::absolute(value));  // the program may change its directory
    if (!is_known_format(a.out.back())) {
      return wants(option, "a name that ends in .pb.gz, .pb, .html, .collapsed or .txt", value);
    }
  }
  if (option == "--interval") {
    const auto d = to_duration(value);
    if (!d || *d < rbprof::nanos{20'000} || *d > rbprof::nanos{1'000'000'000}) {
      return wants(option, "a time from 20us to 1s", value);
    }
    a.interval = *d;
  }
  if (option == "--overhead") {
    std::string_view text = value;
    const auto number = take_number(text);
    if (!number || !(text.empty() || text == "%") || !(*number > 0) || *number > 20) {
      return wants(option, "a share over 0% and at most 20%", value);
    }
    a.overhead_target = {*number};
  }
  if (option == "--max-frames") {
    const auto n = to_count(value);
    if (!n || *n < 5 || *n > 3000) return wants(option, "a number from 5 to 3000", value);
    a.max_frames = *n;
  }
  if (option == "--top") {
    const auto n = to_count(value);
    if (!n) return wants(option, "a number", value);
    a.top = *n;
  }
  return {};
}

/// Reads argv; the text says what is wrong, and is empty when nothing is.
[[nodiscard]] inline std::string parse(int argc, char** argv, arguments& a, const own_options& own) {
  const std::vector<std::string_view> flags{"--no-gc", "--stats", "--help", "-h"};
  const std::vector<std::string_view> valued{"--out", "--interval", "--overhead", "--max-frames", "--top"};
  const auto in = [](const std::vector<std::string_view>& all, std::string_view one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
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
    const bool is_own = in(own.flags, option) || in(own.valued, option);
    const bool flag = in(flags, option) || in(own.flags, option);
    if (!flag && !is_own && !in(valued, option)) return "unknown option " + std::string(option);
    if (flag && value) return std::string(option) + " takes no value";
    if (!flag && !value) {
      if (i + 1 >= argc) return std::string(option) + " needs a value";
      value = argv[++i];
    }
    const std::string wrong =
        is_own ? own.take(option, value.value_or("")) : take_common(option, value.value_or(""), a);
    if (!wrong.empty()) return wrong;
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

}  // namespace rbprof_host

#endif  // RBPROF_EXAMPLES_COMMON_ARGUMENTS_HPP
