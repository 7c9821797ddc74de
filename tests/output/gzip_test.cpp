// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/gzip.hpp>

#include <catch2/catch_test_macros.hpp>

#include <random>
#include <string>
#include <utility>

#include "support.hpp"

namespace {

using namespace support;

/// Refuses from the n-th write on.
class failing_sink final : public output::sink {
 public:
  explicit failing_sink(int good) : good_(good) {}
  absl::Status write(std::string_view) override {
    return good_-- > 0 ? absl::OkStatus() : absl::DataLossError("full");
  }

 private:
  int good_;
};

std::string noise(std::size_t size) {
  std::mt19937 random(3);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random() & 0xFFU);
  return out;
}

}  // namespace

TEST_CASE("what was written in pieces comes out as one") {
  const std::string text = noise(300'000) + std::string(300'000, 'a');
  for (const std::size_t piece : {std::size_t{1'000}, std::size_t{70'000}, text.size()}) {
    output::string_sink packed;
    output::gzip_sink gzip(packed, 1);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      REQUIRE(gzip.write(std::string_view(text).substr(at, piece)).ok());
    }
    REQUIRE(gzip.finish().ok());
    CHECK(gunzip(std::move(packed).take()) == text);
  }
}

TEST_CASE("nothing written is an empty file that unpacks") {
  output::string_sink packed;
  output::gzip_sink gzip(packed, 1);
  REQUIRE(gzip.write("").ok());
  REQUIRE(gzip.finish().ok());
  CHECK(gunzip(std::move(packed).take()).empty());
}

TEST_CASE("a failure of the sink below is passed on") {
  failing_sink full(1);
  output::gzip_sink gzip(full, 1);
  absl::Status s;
  for (int i = 0; i < 10 && s.ok(); ++i) s = gzip.write(noise(200'000));
  CHECK(s.code() == absl::StatusCode::kDataLoss);
}
