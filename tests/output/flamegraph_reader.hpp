// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_OUTPUT_FLAMEGRAPH_READER_HPP
#define RBPROF_TESTS_OUTPUT_FLAMEGRAPH_READER_HPP

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace support {

/// The JSON text between the script element's tags, found as a browser finds it: up to the first "</".
inline std::string flamegraph_json(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"profile\">";
  const std::size_t from = page.find(open);
  if (from == std::string::npos) throw std::runtime_error("no data in the page");
  const std::size_t to = page.find("</", from + open.size());
  return page.substr(from + open.size(), to - from - open.size());
}

inline nlohmann::json flamegraph_data(const std::string& page) {
  return nlohmann::json::parse(flamegraph_json(page));
}

/// What is wrong with the tables, a line each.
inline std::vector<std::string> problems(const nlohmann::json& data) {
  std::vector<std::string> out;
  const auto must = [&](bool holds, const char* what) {
    if (!holds && out.size() < 20) out.emplace_back(what);
  };
  const auto list = [&](const char* key) { return data.at(key).get<std::vector<std::int64_t>>(); };
  const auto in = [](std::int64_t i, std::size_t size) {
    return i >= 0 && i < static_cast<std::int64_t>(size);
  };
  const auto stacks = list("stacks"), frames = list("frames"), functions = list("functions"),
             rows = list("rows");
  const std::size_t width = 2 + data.at("types").size();
  must(stacks.size() % 2 == 0 && frames.size() % 2 == 0 && functions.size() % 3 == 0, "table size");
  must(rows.size() % width == 0, "row size");
  for (std::size_t i = 0; i + 1 < stacks.size(); i += 2) {
    must(stacks[i] >= 0 && stacks[i] < static_cast<std::int64_t>(i / 2 + 1), "parent is not before");
    must(in(stacks[i + 1], frames.size() / 2), "frame of a stack");
  }
  for (std::size_t i = 0; i < frames.size(); i += 2) {
    must(in(frames[i], functions.size() / 3) && frames[i + 1] >= 0, "function of a frame");
  }
  for (std::size_t i = 0; i < functions.size(); i += 3) {
    must(in(functions[i], data.at("strings").size()), "name of a function");
    must(in(functions[i + 1], data.at("strings").size()), "file of a function");
  }
  for (std::size_t i = 0; i < rows.size(); i += width) {
    must(rows[i] > 0 && in(rows[i] - 1, stacks.size() / 2), "stack of a row");
    must(in(rows[i + 1], data.at("threads").size()), "thread of a row");
  }
  const std::size_t types = data.at("types").size();
  must(types == 0 || in(data.at("shown").get<std::int64_t>(), types), "shown type");
  return out;
}

/// Sum of column `type` by the thread's title.
inline std::map<std::string, std::int64_t> by_thread(const nlohmann::json& data, std::size_t type) {
  std::map<std::string, std::int64_t> out;
  const std::size_t width = 2 + data.at("types").size();
  const auto& rows = data.at("rows");
  for (std::size_t i = 0; i < rows.size(); i += width) {
    const auto amount = rows[i + 2 + type].get<std::int64_t>();
    if (amount != 0) {
      out[data.at("threads")[rows[i + 1].get<std::size_t>()].get<std::string>()] += amount;
    }
  }
  return out;
}

}  // namespace support

#endif  // RBPROF_TESTS_OUTPUT_FLAMEGRAPH_READER_HPP
