// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <cstdint>

#include <rbprof/base/flip_word.hpp>

using namespace rbprof;

namespace {

using entry = flip_word::entry;

TEST_CASE("a word starts closed and lets one writer in once it is open", "[flip_word]") {
  flip_word w;
  CHECK(w.enter() == entry::closed);
  w.open();
  CHECK(w.enter() == entry::slot0);
  CHECK(w.enter() == entry::busy);
  w.leave();
  CHECK(w.enter() == entry::slot0);
  w.leave();
  CHECK(w.completed() == 2);
}

TEST_CASE("a flip sends the next writer to the other slot", "[flip_word]") {
  flip_word w;
  w.open();
  const flip_word::ticket first = w.flip();
  CHECK(first.cold == 0);
  CHECK(first.quiet);
  CHECK(w.enter() == entry::slot1);
  w.leave();
  const flip_word::ticket second = w.flip();
  CHECK(second.cold == 1);
  CHECK(second.seq == 1);
  CHECK(w.enter() == entry::slot0);
  w.leave();
}

TEST_CASE("a slot drains when its writer leaves, whoever is inside by then", "[flip_word]") {
  flip_word w;
  w.open();
  REQUIRE(w.enter() == entry::slot0);
  const flip_word::ticket t = w.flip();
  CHECK_FALSE(t.quiet);
  CHECK_FALSE(w.drained(t));
  CHECK(w.enter() == entry::busy);  // a refusal drains nothing
  CHECK_FALSE(w.drained(t));
  CHECK_FALSE(w.wait(t, monotonic_now()));
  w.leave();
  CHECK(w.drained(t));
  REQUIRE(w.enter() == entry::slot1);
  CHECK(w.drained(t));
  CHECK(w.wait(t, monotonic_now()));
  w.leave();
}

TEST_CASE("a closed word refuses, keeps its hot slot, and says whether it was closed before",
          "[flip_word]") {
  flip_word w;
  w.open();
  (void)w.flip();
  CHECK_FALSE(w.close().was_closed);
  CHECK(w.close().was_closed);
  CHECK(w.enter() == entry::closed);
  CHECK(w.flip().cold == 1);  // one may flip while closed
  w.open();
  CHECK(w.enter() == entry::slot0);
  w.leave();
}

TEST_CASE("a writer that was inside when the word was closed is waited for", "[flip_word]") {
  flip_word w;
  w.open();
  REQUIRE(w.enter() == entry::slot0);
  const flip_word::ticket t = w.close();
  CHECK_FALSE(w.drained(t));
  w.leave();
  CHECK(w.drained(t));
}

TEST_CASE("counts of records are compared modulo 2^50", "[flip_word]") {
  const std::uint64_t last = (std::uint64_t{1} << 50U) - 1;
  CHECK(flip_word::seq_difference(5, 3) == 2);
  CHECK(flip_word::seq_difference(0, last) == 1);
  CHECK(flip_word::seq_difference(last + 3, 1) == 1);
}

TEST_CASE("a word that starts from zero alone is closed", "[flip_word]") {
  flip_word w;
  w.open();
  (void)w.flip();
  REQUIRE(w.enter() == entry::slot1);
  w.reset_alone();
  CHECK(w.completed() == 0);
  CHECK(w.enter() == entry::closed);
  w.open();
  CHECK(w.enter() == entry::slot0);
  w.leave();
}

}  // namespace
