// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_EXAMPLES_COMMON_REPORT_HPP
#define RBPROF_EXAMPLES_COMMON_REPORT_HPP

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/model/profile_builder.hpp>

#include <rbprof/output/collapsed.hpp>
#include <rbprof/output/file.hpp>
#include <rbprof/output/flamegraph_html.hpp>
#include <rbprof/output/pprof.hpp>
#include <rbprof/output/text.hpp>

#include "arguments.hpp"

// What a host does with a profile at the end: files, a table, counters.

namespace rbprof_host {

inline void complain(std::string_view host, std::string_view text) {
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(host.size()), host.data(), static_cast<int>(text.size()),
               text.data());
}

/// The end of the name chooses the format.
[[nodiscard]] inline absl::Status write(const rbprof::profile& p, const std::filesystem::path& file) {
  namespace output = rbprof::output;
  const std::string name = file.filename().string();
  const auto ends = [&](std::string_view end) { return std::string_view(name).ends_with(end); };
  if (ends(".html")) return output::write_flamegraph_html(p, file);
  if (ends(".collapsed")) {
    return output::write_collapsed(p, file, {.type = rbprof::value_type::cpu_time});
  }
  if (ends(".txt")) {
    return output::write_file(file, [&](output::sink& to) {
      return to.write(output::top_table(p, rbprof::value_type::cpu_time, 100));
    });
  }
  return output::write_pprof(p, file, {.gzip = ends(".gz")});
}

/// "out.pb.gz" -> "out.name.pb.gz". A name must not lead elsewhere, so what is no letter, digit, '_' or '-' is '_'.
[[nodiscard]] inline std::filesystem::path with_name(const std::filesystem::path& file, std::string name) {
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!plain) c = '_';
  }
  const std::string all = file.filename().string();
  const std::size_t gzip = all.ends_with(".pb.gz") ? all.size() - 6 : all.rfind('.');
  return file.parent_path() / (all.substr(0, gzip) + '.' + name + all.substr(gzip));
}

/// The profiles of a run that was flushed in between, as one: amounts of a time are added up; of what is alive at a
/// time, the latest counts.
class collected {
 public:
  /// All so far, with the counts and remarks of the latest.
  const rbprof::profile& add(const rbprof::profile& latest) {
    std::vector<rbprof::value_type> of_time;
    for (const rbprof::value_type t : latest.types()) {
      const bool alive = t == rbprof::value_type::heap_live_samples || t == rbprof::value_type::heap_live_size;
      if (!alive) of_time.push_back(t);
    }
    rbprof::profile_builder before(std::move(of_time));
    std::int64_t start = latest.start_epoch_ns();
    rbprof::nanos duration = latest.duration();
    if (all_) {
      before.add(*all_);
      start = all_->start_epoch_ns();
      duration += all_->duration();
    }
    rbprof::profile_builder b({latest.types().begin(), latest.types().end()});
    b.add(std::move(before).build());
    b.add(latest);
    b.set_interval(start, duration);
    b.set_period(latest.period());
    b.set_program(latest.program());
    for (const std::string& line : latest.comments()) b.add_comment(line);
    for (const auto& [name, value] : latest.statistics()) b.add_statistic(name, value);
    all_.emplace(std::move(b).build());
    return *all_;
  }

 private:
  std::optional<rbprof::profile> all_;
};

inline void write_all(std::string_view host, const rbprof::profile& p, const arguments& asked, const std::string& name) {
  for (const std::filesystem::path& file : asked.out) {
    if (const absl::Status written = write(p, with_name(file, name)); !written.ok()) {
      complain(host, std::string(written.message()));
    }
  }
}

inline void report(std::string_view host, const rbprof::profile& p, const arguments& asked) {
  for (const std::filesystem::path& file : asked.out) {
    if (const absl::Status written = write(p, file); !written.ok()) {
      complain(host, std::string(written.message()));
    }
  }
  if (asked.top > 0) {
    const std::string table = rbprof::output::top_table(p, rbprof::value_type::cpu_time, asked.top);
    std::fputs(table.c_str(), stderr);
  }
  if (asked.stats) {
    for (const auto& [name, value] : p.statistics()) {
      std::fprintf(stderr, "%s %llu\n", name.c_str(), static_cast<unsigned long long>(value));
    }
  }
}

}  // namespace rbprof_host

#endif  // RBPROF_EXAMPLES_COMMON_REPORT_HPP
