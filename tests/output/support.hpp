// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_TESTS_OUTPUT_SUPPORT_HPP
#define RBPROF_TESTS_OUTPUT_SUPPORT_HPP

#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rbprof/model/profile.hpp>
#include <rbprof/model/profile_builder.hpp>

namespace support {

using namespace rbprof;

/// A directory that is gone when the test ends.
class scratch_dir {
 public:
  scratch_dir() {
    std::string name = (std::filesystem::temp_directory_path() / "rbprof-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch directory");
    path_ = name;
  }
  scratch_dir(const scratch_dir&) = delete;
  scratch_dir& operator=(const scratch_dir&) = delete;
  ~scratch_dir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct outcome {
  int status = -1;
  std::string text;  // standard output and standard error
};

inline outcome run(const std::string& command) {
  outcome out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = fread(part.data(), 1, part.size(), pipe)) > 0;) {
    out.text.append(part.data(), n);
  }
  const int status = pclose(pipe);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

/// What a gzip file holds; throws when its checksum or length is wrong or something follows it.
inline std::string gunzip(std::string_view packed) {
  z_stream z{};
  if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) throw std::runtime_error("zlib");
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  std::array<char, 65536> part{};
  int state = Z_OK;
  while (state == Z_OK) {
    z.next_out = reinterpret_cast<Bytef*>(part.data());
    z.avail_out = static_cast<uInt>(part.size());
    state = inflate(&z, Z_NO_FLUSH);
    out.append(part.data(), part.size() - z.avail_out);
  }
  const auto left = z.avail_in;
  inflateEnd(&z);
  if (state != Z_STREAM_END || left != 0) throw std::runtime_error("not one whole gzip file");
  return out;
}

inline values worth(std::int64_t samples, std::int64_t cpu, std::int64_t wall) {
  values v;
  v[value_type::cpu_samples] = samples;
  v[value_type::cpu_time] = cpu;
  v[value_type::wall_time] = wall;
  return v;
}

/// A stack of functions of file "game.rb", root first; function i of all is defined at line 10.
inline stack_id stack_of(profile_builder& b, const std::vector<std::string>& root_first) {
  stack_id at;
  for (const std::string& name : root_first) {
    at = b.stack(at, b.frame(b.function(name, "game.rb", 10), 12));
  }
  return at;
}

/// Names that broke one writer or another.
inline const std::vector<std::string>& torture_names() {
  static const std::vector<std::string> all = {
      "<main>",
      "<top (required)>",
      "<class:Foo>",
      "#<Class:Foo>#bar",
      "Kernel#<=>",
      "Foo#[]",
      "Foo#[]=",
      "Foo#!",
      "Foo#==",
      "Foo<T>#x",
      "block (2 levels) in <main>",
      "rescue in block in Foo::Bar#baz?",
      "Foo.operator()",
      "std::foo",
      "_ZN3foo3barEv",
      "a;b",
      "a\nb",
      "a\r\n\tb",
      std::string("nul\0inside", 10),
      "\x1b[31mred",
      "</script><script>alert(1)</script>",
      "<!--",
      "]]>",
      "\"quoted\" \\back\\slash",
      "' or 1=1",
      "sep\xE2\x80\xA8" "arated\xE2\x80\xA9",
      "\xF0\x9F\x92\x8E#shine",
      "\xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7",
      "trailing space ",
      " leading",
      "ends in 42",
      "%s%n%d",
      std::string(300, 'x'),
      std::string(5000, 'y'),
      "constructor",
      "__proto__",
  };
  return all;
}

/// Names that are not UTF-8, and the empty one; a profile holds a repaired form.
inline const std::vector<std::string>& broken_names() {
  static const std::vector<std::string> all = {"caf\xE9", "\xFF\xFE\xFD", "cut\xE2\x82",
                                               "\xED\xA0\x80", "over\xC0\xAF", ""};
  return all;
}

/// A profile with hostile names, some threads, labels of both kinds and a column set of its own.
inline profile random_profile(std::mt19937& random, std::vector<value_type> types) {
  profile_builder b(types);
  std::vector<frame_id> frames;
  const auto name_of = [&](std::uint32_t i) {
    const auto& good = torture_names();
    const auto& bad = broken_names();
    return i < good.size() ? good[i] : bad[(i - good.size()) % bad.size()];
  };
  for (std::uint32_t i = 0; i < 60; ++i) {
    const auto line = static_cast<std::int32_t>(random() % 50) - 5;
    frames.push_back(b.frame(b.function(name_of(i), i % 7 == 0 ? "" : "lib/f.rb", line), line + 3));
  }
  frames.push_back(b.frame(b.function(placeholder::gc, "", 0), 0));
  const auto count = random() % 300;
  for (std::uint32_t i = 0; i < count; ++i) {
    stack_id at;
    for (auto d = random() % 30; d > 0; --d) at = b.stack(at, frames[random() % frames.size()]);
    std::vector<label_text> set;
    if (const auto thread = random() % 5; thread > 0) {
      set.push_back({"thread id", std::to_string(1000 + thread) + " (8)"});
      if (thread > 2) set.push_back({"thread name", name_of(static_cast<std::uint32_t>(thread) * 7)});
    }
    if (random() % 3 == 0) set.push_back({"frame", {}, static_cast<std::int64_t>(random() % 4), "id"});
    values v;
    for (const value_type t : types) v[t] = static_cast<std::int64_t>(random() % 1'000'000);
    if (random() % 10 == 0) v[types[random() % types.size()]] = 0;
    b.add(at, b.labels(set), v);
  }
  b.set_program("game");
  b.set_interval(1'700'000'000'000'000'000, nanos{2'000'000'000});
  b.set_period(nanos{10'000'000});
  b.add_comment("cpu time of threads: read from the kernel");
  return std::move(b).build();
}

/// Sum of one value by thread id, read straight from the model; "" is "no thread".
inline std::map<std::string, std::int64_t> by_thread(const profile& p, value_type type) {
  std::map<std::string, std::int64_t> out;
  for (const profile_sample& s : p.samples()) {
    std::string id;
    for (const profile_label& l : p.labels(s.labels)) {
      if (p.string(l.key) == label_key::thread_id) id = p.string(l.str);
    }
    if (s.amount[type] != 0) out[id] += s.amount[type];
  }
  return out;
}

}  // namespace support

#endif  // RBPROF_TESTS_OUTPUT_SUPPORT_HPP
