// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_PPROF_HPP
#define RBPROF_OUTPUT_PPROF_HPP

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <protozero/basic_pbf_writer.hpp>
#include <protozero/buffer_string.hpp>
#include <protozero/types.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/base/id.hpp>
#include <rbprof/model/profile.hpp>
#include <rbprof/model/value_type.hpp>
#include <rbprof/output/file.hpp>
#include <rbprof/output/gzip.hpp>
#include <rbprof/output/pprof_tables.hpp>
#include <rbprof/output/sink.hpp>

// profile.proto, the format of `go tool pprof` and of most services. Its readers ask for four things:
//  * `system_name` stays unset. When it equals the name, pprof takes that for a mangled C++ symbol:
//    "<main>" becomes empty, "Kernel#<=>" becomes "Kernel#".
//  * There is one mapping, which says that functions, files and lines are known; without it pprof
//    looks for a binary to symbolize with.
//  * A location is a function at a line. Stacks are leaf first.
//  * Columns are those of the profile, whatever the values are: two files can be compared
//    (-diff_base) only when their columns are equal.
//
// Samples are written as they are read and only what they use is numbered, so the memory in use is
// that of the tables, not that of the file. Text comes first to last in the order of use: equal
// profiles give equal bytes.

namespace rbprof::inline v0 {
namespace output {

struct pprof_options {
  bool gzip = true;         ///< readers take both; services expect it
  int level = 1;            ///< zlib's, 1 to 9
  bool statistics = false;  ///< adds the profile's statistics to its comments, as "name value"
};

namespace detail {

/// Numbers of fields, as profile.proto has them.
namespace pprof_field {
inline constexpr protozero::pbf_tag_type sample_type = 1, sample = 2, mapping = 3, location = 4,
                                         function = 5, string_table = 6, time_nanos = 9,
                                         duration_nanos = 10, period_type = 11, period = 12,
                                         comment = 13, default_sample_type = 14;
}  // namespace pprof_field

class pprof_encoder {
 public:
  pprof_encoder(const profile& p, const pprof_options& options, sink& to)
      : profile_(p),
        options_(options),
        to_(to),
        strings_(p),
        functions_(p.functions().size()),
        locations_(p.frames().size()),
        paths_(p, locations_) {
    buffer_.reserve(2 * piece_bytes);
  }

  [[nodiscard]] absl::Status run() {
    for (const value_type t : profile_.types()) {
      put_value_type(pprof_field::sample_type, info(t).name, info(t).unit);
    }
    for (const profile_sample& s : profile_.samples()) {
      put_sample(s);
      if (absl::Status done = hand_over(piece_bytes); !done.ok()) return done;
    }
    put_mapping();
    for (std::size_t i = 0; i < locations_.used().size(); ++i) {
      put_location(i);
      if (absl::Status done = hand_over(piece_bytes); !done.ok()) return done;
    }
    for (std::size_t i = 0; i < functions_.used().size(); ++i) {
      put_function(i);
      if (absl::Status done = hand_over(piece_bytes); !done.ok()) return done;
    }
    put_about();
    for (const std::string_view text : strings_.table()) {
      message_.add_string(pprof_field::string_table,
                          protozero::data_view(text.data(), text.size()));
      if (absl::Status done = hand_over(piece_bytes); !done.ok()) return done;
    }
    return hand_over(0);
  }

 private:
  using writer = protozero::basic_pbf_writer<std::string>;

  [[nodiscard]] absl::Status hand_over(std::size_t at_least) {
    if (buffer_.size() < at_least) return absl::OkStatus();
    absl::Status done = to_.write(buffer_);
    buffer_.clear();
    return done;
  }

  void put_value_type(protozero::pbf_tag_type field, std::string_view type, std::string_view unit) {
    writer m(message_, field);
    m.add_int64(1, strings_.of(type));
    m.add_int64(2, strings_.of(unit));
  }

  void put_sample(const profile_sample& s) {
    const std::string_view path = paths_.of(s.stack);
    amounts_.clear();
    for (const value_type t : profile_.types()) amounts_.push_back(s.amount[t]);
    writer m(message_, pprof_field::sample);
    m.add_bytes(1, protozero::data_view(path.data(), path.size()));  // a packed list
    m.add_packed_int64(2, amounts_.begin(), amounts_.end());
    for (const profile_label& l : profile_.labels(s.labels)) put_label(m, l);
  }

  /// Go's reader drops a label that is neither text nor a number with a unit or a value; so do we.
  void put_label(writer& sample, const profile_label& l) {
    if (l.is_num ? l.num == 0 && !l.unit : !l.str) return;
    writer m(sample, 3);
    m.add_int64(1, strings_.of(l.key));
    if (!l.is_num) {
      m.add_int64(2, strings_.of(l.str));
      return;
    }
    m.add_int64(3, l.num);
    if (l.unit) m.add_int64(4, strings_.of(l.unit));
  }

  void put_mapping() {
    const std::string_view program = profile_.program();
    writer m(message_, pprof_field::mapping);
    m.add_uint64(1, 1);
    m.add_int64(5, strings_.of(program.empty() ? std::string_view("(unknown program)") : program));
    m.add_bool(7, true);  // has_functions
    m.add_bool(8, true);  // has_filenames
    m.add_bool(9, true);  // has_line_numbers
  }

  void put_location(std::size_t i) {
    const profile_frame& frame = profile_.frame({locations_.used()[i]});
    writer m(message_, pprof_field::location);
    m.add_uint64(1, i + 1);
    m.add_uint64(2, 1);
    writer line(m, 4);
    line.add_uint64(1, functions_.of(frame.function.value));
    line.add_int64(2, frame.line);
  }

  void put_function(std::size_t i) {
    const profile_function& f = profile_.function({functions_.used()[i]});
    writer m(message_, pprof_field::function);
    m.add_uint64(1, i + 1);
    m.add_int64(2, strings_.of(f.name));
    m.add_int64(4, strings_.of(f.file));
    m.add_int64(5, f.start_line);
  }

  void put_about() {
    const auto types = profile_.types();
    const auto have = [&](value_type t) {
      return std::find(types.begin(), types.end(), t) != types.end();
    };
    message_.add_int64(pprof_field::time_nanos, profile_.start_epoch_ns());
    message_.add_int64(pprof_field::duration_nanos, profile_.duration().count());
    const bool cpu_alone = have(value_type::cpu_time) && !have(value_type::wall_time);
    put_value_type(pprof_field::period_type, cpu_alone ? "cpu" : "wall", "nanoseconds");
    message_.add_int64(pprof_field::period, profile_.period().count());
    for (const std::string& text : profile_.comments()) {
      message_.add_int64(pprof_field::comment, strings_.of(text));
    }
    if (options_.statistics) {
      statistics_.reserve(profile_.statistics().size());  // the string table keeps views into it
      for (const auto& [name, value] : profile_.statistics()) {
        statistics_.push_back(name + " " + std::to_string(value));
        message_.add_int64(pprof_field::comment, strings_.of(statistics_.back()));
      }
    }
    if (const auto shown = default_type(types)) {
      message_.add_int64(pprof_field::default_sample_type, strings_.of(info(*shown).name));
    }
  }

  const profile& profile_;
  const pprof_options& options_;
  sink& to_;
  std::string buffer_;
  writer message_{buffer_};
  pprof_strings strings_;
  dense_numbers functions_;
  dense_numbers locations_;
  pprof_paths paths_;
  std::vector<std::int64_t> amounts_;
  std::vector<std::string> statistics_;
};

[[nodiscard]] inline absl::Status put_pprof(const profile& p, const pprof_options& options,
                                            sink& to) {
  if (!options.gzip) return pprof_encoder(p, options, to).run();
  gzip_sink packed(to, options.level);
  if (absl::Status s = pprof_encoder(p, options, packed).run(); !s.ok()) return s;
  return packed.finish();
}

}  // namespace detail

/// The profile as the bytes of a .pb.gz file, to send or to keep.
[[nodiscard]] inline absl::StatusOr<std::string> encode_pprof(const profile& p,
                                                              const pprof_options& options = {}) {
  string_sink text;
  absl::Status s = detail::guarded([&] { return detail::put_pprof(p, options, text); });
  if (!s.ok()) return s;
  return std::move(text).take();
}

/// Writes a .pb.gz file: whole, or not at all.
[[nodiscard]] inline absl::Status write_pprof(const profile& p, const std::filesystem::path& path,
                                              const pprof_options& options = {}) {
  return write_file(path, [&](sink& to) { return detail::put_pprof(p, options, to); });
}

}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_PPROF_HPP
