// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "host.hpp"

using namespace host;

namespace {

bool any(const sink& s, const char* reason, const char* cause, const char* type) {
  for (const auto& f : s.facts) {
    const bool same_reason = reason == nullptr ? f.reason == nullptr
                                               : f.reason != nullptr && std::strcmp(f.reason, reason) == 0;
    if (same_reason && std::strcmp(f.cause, cause) == 0 && std::strcmp(f.type, type) == 0) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("Collections come in pairs, on the thread that collects") {
  static adapter v;
  static sink s(v);
  s.collections.reserve(1'000'000);
  s.facts.reserve(1'000'000);
  REQUIRE(v.attach(s).ok());
  CHECK(has(v.features(), rbprof::feature::gc));
  CHECK(run("t = Thread.new { 200_000.times { |i| [i, i.to_s] } }; 200_000.times { 'x' * 50 }; t.join") ==
        "");
  CHECK(v.detach().ok());
  REQUIRE(s.collections.size() > 10);
  CHECK(s.collections.size() % 2 == 0);
  int wrong = 0;
  std::map<void*, int> by_thread;
  for (std::size_t i = 0; i + 1 < s.collections.size(); i += 2) {
    if (!s.collections[i].second || s.collections[i + 1].second) ++wrong;
    if (s.collections[i].first != s.collections[i + 1].first) ++wrong;
    ++by_thread[s.collections[i].first.slot];
  }
  CHECK(wrong == 0);
  CHECK(by_thread.size() == 2);
  CHECK(by_thread.count(nullptr) == 0);
}

TEST_CASE("A collection is told in the words of its labels") {
  static adapter v;
  static sink s(v);
  s.collections.reserve(100'000);
  s.facts.reserve(100'000);
  REQUIRE(v.attach(s).ok());
  run("GC.start");
  CHECK(any(s, "requested (FORCE)", "GC.start()", "major"));
  bool ended = false;
  for (const auto& f : s.facts) ended = ended || f.major_ended;
  CHECK(ended);
  s.facts.clear();
  run("GC.start(full_mark: false, immediate_sweep: true)");
  CHECK(any(s, nullptr, "GC.start()", "minor"));
  s.facts.clear();
  run("100_000.times { 'x'.dup }");
  CHECK((any(s, nullptr, "object allocation", "minor") || any(s, nullptr, "malloc()", "minor")));
  CHECK(v.detach().ok());
}

TEST_CASE("Collections are not told of when the option is off, nor after detach") {
  static adapter v;
  static sink s(v);
  v.options.gc_events = false;
  REQUIRE(v.attach(s).ok());
  CHECK_FALSE(has(v.features(), rbprof::feature::gc));
  run("3.times { GC.start }");
  CHECK(s.collections.empty());
  CHECK(v.detach().ok());
  v.options.gc_events = true;
  REQUIRE(v.attach(s).ok());
  run("GC.start");
  CHECK_FALSE(s.collections.empty());
  CHECK(v.detach().ok());
  const std::size_t then = s.collections.size();
  run("3.times { GC.start }");
  CHECK(s.collections.size() == then);
}
