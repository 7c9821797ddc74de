// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/model/utf8.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using rbprof::cut_utf8;
using rbprof::is_valid_utf8;
using rbprof::repair_utf8;

const std::string replacement = "\xEF\xBF\xBD";

/// Encodes without any check, so that tests can make what no writer should.
std::string encode(unsigned code, unsigned length) {
  const auto byte = [](unsigned b) { return static_cast<char>(static_cast<unsigned char>(b)); };
  if (length == 1) return {byte(code)};
  std::string out;
  const unsigned lead = length == 2 ? 0xC0U : length == 3 ? 0xE0U : 0xF0U;
  out += byte(lead | (code >> (6 * (length - 1))));
  for (unsigned i = length - 1; i > 0; --i) out += byte(0x80U | ((code >> (6 * (i - 1))) & 0x3FU));
  return out;
}

}  // namespace

TEST_CASE("every code point but the surrogates is good text, in its shortest form alone") {
  for (unsigned code = 0; code <= 0x10FFFF; ++code) {
    const unsigned shortest = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    for (unsigned length = shortest; length <= 4; ++length) {
      const bool good = is_valid_utf8(encode(code, length));
      if (good != (length == shortest && !surrogate)) FAIL("code " << code << " in " << length);
    }
  }
}

TEST_CASE("code points beyond Unicode are not good text") {
  for (const unsigned code : {0x110000U, 0x13FFFFU, 0x140000U, 0x1FFFFFU}) {
    CHECK_FALSE(is_valid_utf8(encode(code, 4)));
  }
}

TEST_CASE("good text comes back byte for byte") {
  for (const std::string_view good :
       {std::string_view(""), std::string_view("Foo#bar"), std::string_view("caf\xC3\xA9 \xE2\x82\xAC"),
        std::string_view("\xF0\x9F\x92\x8E"), std::string_view("a\0b", 3)}) {
    CHECK(is_valid_utf8(good));
    CHECK(repair_utf8(good) == good);
  }
}

TEST_CASE("each byte of no sequence becomes one replacement character") {
  CHECK(repair_utf8("caf\xE9") == "caf" + replacement);
  CHECK(repair_utf8("\xFF\xFE") == replacement + replacement);
  CHECK(repair_utf8("\xE2\x82") == replacement + replacement);
  CHECK(repair_utf8("\xE2\x82(") == replacement + replacement + "(");
  CHECK(repair_utf8("\xC0\xAF") == replacement + replacement);
  CHECK(repair_utf8("a\x80z") == "a" + replacement + "z");
}

TEST_CASE("any bytes become good text, and what is good does not change") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::vector<std::string> parts = {"a",        "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x92\x8E",
                                          "\xE2",     "\xF0\x9F", "\x80",         "\xFF",
                                          "\xED\xA0", "\xC0"};
  for (int i = 0; i < 20000; ++i) {
    std::string bytes;
    for (auto n = random() % 12; n > 0; --n) bytes += parts[random() % parts.size()];
    const std::string good = repair_utf8(bytes);
    if (!is_valid_utf8(good) || repair_utf8(good) != good) FAIL("not repaired");
    if (is_valid_utf8(bytes) && good != bytes) FAIL("good text was changed");
  }
}

TEST_CASE("a cut is on a character border and never longer than asked for") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x92\x8Ez";
  for (std::size_t limit = 0; limit <= text.size() + 2; ++limit) {
    const std::string_view cut = cut_utf8(text, limit);
    CAPTURE(limit);
    CHECK(cut.size() <= limit);
    CHECK(is_valid_utf8(cut));
    CHECK(text.substr(0, cut.size()) == cut);
    CHECK(cut.size() + 4 > std::min(limit, text.size()));  // no more is lost than one character
  }
}
