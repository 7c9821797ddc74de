// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_OUTPUT_PPROF_READER_HPP
#define RBPROF_TESTS_OUTPUT_PPROF_READER_HPP

#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/model/utf8.hpp>

// A reader of profile.proto that shares nothing with the writer but the format, and the rules that the
// format's owner and its other readers put on a file.

namespace support {

struct pprof_file {
  struct label {
    std::int64_t key = 0, str = 0, num = 0, unit = 0;
  };
  struct sample {
    std::vector<std::uint64_t> locations;
    std::vector<std::int64_t> amounts;
    std::vector<label> labels;
  };
  struct mapping {
    std::uint64_t id = 0;
    std::int64_t filename = 0;
    bool functions = false, filenames = false, lines = false;
  };
  struct location {
    std::uint64_t id = 0, mapping = 0;
    std::vector<std::pair<std::uint64_t, std::int64_t>> lines;  // function, line
  };
  struct function {
    std::uint64_t id = 0;
    std::int64_t name = 0, system_name = 0, file = 0, start_line = 0;
  };
  using type = std::pair<std::int64_t, std::int64_t>;

  std::vector<type> types;
  std::vector<sample> samples;
  std::vector<mapping> mappings;
  std::vector<location> locations;
  std::vector<function> functions;
  std::vector<std::string> strings;
  std::vector<std::int64_t> comments;
  type period_type;
  std::int64_t time = 0, duration = 0, period = 0, default_type = 0;

  [[nodiscard]] std::string text(std::int64_t i) const { return strings.at(static_cast<std::size_t>(i)); }
};

namespace detail {

inline pprof_file::type read_type(protozero::pbf_reader m) {
  pprof_file::type out;
  while (m.next()) {
    if (m.tag() == 1) out.first = m.get_int64();
    else if (m.tag() == 2) out.second = m.get_int64();
    else m.skip();
  }
  return out;
}

inline pprof_file::label read_label(protozero::pbf_reader m) {
  pprof_file::label out;
  while (m.next()) {
    if (m.tag() == 1) out.key = m.get_int64();
    else if (m.tag() == 2) out.str = m.get_int64();
    else if (m.tag() == 3) out.num = m.get_int64();
    else if (m.tag() == 4) out.unit = m.get_int64();
    else m.skip();
  }
  return out;
}

inline pprof_file::sample read_sample(protozero::pbf_reader m) {
  pprof_file::sample out;
  while (m.next()) {
    if (m.tag() == 1) {
      for (const std::uint64_t l : m.get_packed_uint64()) out.locations.push_back(l);
    } else if (m.tag() == 2) {
      for (const std::int64_t v : m.get_packed_int64()) out.amounts.push_back(v);
    } else if (m.tag() == 3) {
      out.labels.push_back(read_label(m.get_message()));
    } else {
      m.skip();
    }
  }
  return out;
}

inline pprof_file::mapping read_mapping(protozero::pbf_reader m) {
  pprof_file::mapping out;
  while (m.next()) {
    if (m.tag() == 1) out.id = m.get_uint64();
    else if (m.tag() == 5) out.filename = m.get_int64();
    else if (m.tag() == 7) out.functions = m.get_bool();
    else if (m.tag() == 8) out.filenames = m.get_bool();
    else if (m.tag() == 9) out.lines = m.get_bool();
    else m.skip();
  }
  return out;
}

inline pprof_file::location read_location(protozero::pbf_reader m) {
  pprof_file::location out;
  while (m.next()) {
    if (m.tag() == 1) {
      out.id = m.get_uint64();
    } else if (m.tag() == 2) {
      out.mapping = m.get_uint64();
    } else if (m.tag() == 4) {
      std::pair<std::uint64_t, std::int64_t> line{};
      protozero::pbf_reader l = m.get_message();
      while (l.next()) {
        if (l.tag() == 1) line.first = l.get_uint64();
        else if (l.tag() == 2) line.second = l.get_int64();
        else l.skip();
      }
      out.lines.push_back(line);
    } else {
      m.skip();
    }
  }
  return out;
}

inline pprof_file::function read_function(protozero::pbf_reader m) {
  pprof_file::function out;
  while (m.next()) {
    if (m.tag() == 1) out.id = m.get_uint64();
    else if (m.tag() == 2) out.name = m.get_int64();
    else if (m.tag() == 3) out.system_name = m.get_int64();
    else if (m.tag() == 4) out.file = m.get_int64();
    else if (m.tag() == 5) out.start_line = m.get_int64();
    else m.skip();
  }
  return out;
}

}  // namespace detail

/// Reads a file that is not compressed; throws when it is no protobuf.
inline pprof_file read_pprof(std::string_view bytes) {
  pprof_file out;
  protozero::pbf_reader m(bytes.data(), bytes.size());
  while (m.next()) {
    switch (m.tag()) {
      case 1: out.types.push_back(detail::read_type(m.get_message())); break;
      case 2: out.samples.push_back(detail::read_sample(m.get_message())); break;
      case 3: out.mappings.push_back(detail::read_mapping(m.get_message())); break;
      case 4: out.locations.push_back(detail::read_location(m.get_message())); break;
      case 5: out.functions.push_back(detail::read_function(m.get_message())); break;
      case 6: out.strings.push_back(m.get_string()); break;
      case 9: out.time = m.get_int64(); break;
      case 10: out.duration = m.get_int64(); break;
      case 11: out.period_type = detail::read_type(m.get_message()); break;
      case 12: out.period = m.get_int64(); break;
      case 13: out.comments.push_back(m.get_int64()); break;
      case 14: out.default_type = m.get_int64(); break;
      default: m.skip();
    }
  }
  return out;
}

/// What is wrong with a file, a line each; none when it is as every reader wants it.
inline std::vector<std::string> problems(const pprof_file& f) {
  std::vector<std::string> out;
  const auto must = [&](bool holds, const std::string& what) {
    if (!holds && out.size() < 20) out.push_back(what);
  };
  const auto is_string = [&](std::int64_t i) {
    return i >= 0 && i < static_cast<std::int64_t>(f.strings.size());
  };
  must(!f.strings.empty() && f.strings[0].empty(), "string 0 is not the empty one");
  must(std::set<std::string>(f.strings.begin(), f.strings.end()).size() == f.strings.size(),
       "a string is there twice");
  for (const std::string& s : f.strings) must(rbprof::is_valid_utf8(s), "not UTF-8: " + s);
  must(!f.types.empty() || f.samples.empty(), "samples without types");
  for (const auto& t : f.types) must(t.first > 0 && is_string(t.first) && is_string(t.second), "type");
  must(f.mappings.size() == 1, "not one mapping");
  for (const auto& m : f.mappings) {
    must(m.id == 1 && m.functions && m.filenames && m.lines, "mapping is not symbolized");
    must(m.filename > 0 && is_string(m.filename), "mapping has no file name");
  }
  std::set<std::uint64_t> functions;
  for (const auto& fn : f.functions) {
    must(fn.id != 0 && functions.insert(fn.id).second, "function id is 0 or not unique");
    must(fn.name > 0 && is_string(fn.name) && is_string(fn.file), "function without a name");
    must(fn.system_name == 0, "system_name is set");
    must(fn.start_line >= 0, "start line below 0");
  }
  std::set<std::uint64_t> locations;
  std::set<std::pair<std::uint64_t, std::int64_t>> lines;
  for (const auto& l : f.locations) {
    must(l.id != 0 && locations.insert(l.id).second, "location id is 0 or not unique");
    must(l.mapping == 1, "location without a mapping");
    must(l.lines.size() == 1, "location without one line");
    for (const auto& line : l.lines) {
      must(functions.count(line.first) == 1, "line of no function");
      must(line.second >= 0, "line below 0");
      must(lines.insert(line).second, "two locations of one line");
    }
  }
  std::set<std::uint64_t> used;
  for (const auto& s : f.samples) {
    must(s.amounts.size() == f.types.size(), "not a value a type");
    must(!s.locations.empty(), "sample without a stack");
    for (const std::uint64_t l : s.locations) must(locations.count(l) == 1, "sample at no location");
    used.insert(s.locations.begin(), s.locations.end());
    std::set<std::int64_t> keys;
    for (const auto& l : s.labels) {
      must(l.key > 0 && is_string(l.key) && keys.insert(l.key).second, "label key");
      must(is_string(l.str) && is_string(l.unit), "label text");
      must(l.str == 0 || (l.num == 0 && l.unit == 0), "label with text and number");
      must(l.str != 0 || l.num != 0 || l.unit != 0, "label that readers drop");
    }
  }
  must(used.size() == f.locations.size(), "locations that no sample uses");
  must(f.functions.size() <= f.locations.size(), "functions that no location uses");
  must(f.duration >= 0 && f.period >= 0, "duration or period below 0");
  must(f.period_type.first > 0 && is_string(f.period_type.first), "no period type");
  for (const std::int64_t c : f.comments) must(is_string(c), "comment");
  const bool known = std::any_of(f.types.begin(), f.types.end(),
                                 [&](const auto& t) { return t.first == f.default_type; });
  must(known || f.types.empty(), "default type is none of the types");
  return out;
}

/// Function names of a sample, leaf first.
inline std::vector<std::string> names(const pprof_file& f, const pprof_file::sample& s) {
  std::map<std::uint64_t, std::string> function_name;
  for (const auto& fn : f.functions) function_name[fn.id] = f.text(fn.name);
  std::map<std::uint64_t, std::string> by_location;
  for (const auto& l : f.locations) by_location[l.id] = function_name[l.lines.at(0).first];
  std::vector<std::string> out;
  for (const std::uint64_t l : s.locations) out.push_back(by_location.at(l));
  return out;
}

/// Sum of a type by thread id.
inline std::map<std::string, std::int64_t> by_thread(const pprof_file& f, std::string_view type) {
  std::map<std::string, std::int64_t> out;
  for (std::size_t i = 0; i < f.types.size(); ++i) {
    if (f.text(f.types[i].first) != type) continue;
    for (const auto& s : f.samples) {
      std::string id;
      for (const auto& l : s.labels) {
        if (f.text(l.key) == "thread id") id = f.text(l.str);
      }
      if (s.amounts[i] != 0) out[id] += s.amounts[i];
    }
  }
  return out;
}

}  // namespace support

#endif  // RBPROF_TESTS_OUTPUT_PPROF_READER_HPP
