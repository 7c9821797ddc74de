// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <string>

#include <rbprof/recorder/flip_recorder.hpp>

#include "recorder_world.hpp"

using namespace rbprof;
using namespace rbprof::testing;

namespace {

constexpr auto ok = [](const flushed& f) { return f.status.ok(); };

TEST_CASE("a recorder refuses and counts records until it is opened", "[recorder]") {
  flip_recorder r;
  sampling_side s(r);
  CHECK_FALSE(s.sample({1, 2}, worth(5)));
  CHECK(statistic(r, "recorder_closed") == 1);
  r.open({10});
  CHECK(s.sample({1, 2}, worth(5)));
  CHECK(flush(r, patient, {20}).what == sums{{"m1;m2", {5, 1}}});
}

TEST_CASE("what was recorded is in exactly one flush", "[recorder]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({100});
  REQUIRE(s.sample({3, 2, 1}, worth(10)));
  REQUIRE(s.sample({3, 2, 1}, worth(7)));
  REQUIRE(s.sample({2, 1}, worth(1)));
  const flushed first = flush(r, patient, {200});
  REQUIRE(ok(first));
  CHECK(first.what == sums{{"m3;m2;m1", {17, 2}}, {"m2;m1", {1, 1}}});
  CHECK(first.interval.start == mono{100});
  CHECK(first.interval.finish == mono{200});
  CHECK(first.interval.records == 3);

  REQUIRE(s.sample({3, 2, 1}, worth(2)));
  const flushed second = flush(r, patient, {250});
  CHECK(second.what == sums{{"m3;m2;m1", {2, 1}}});
  CHECK(second.interval.start == mono{200});
  CHECK(second.interval.finish == mono{250});
  CHECK(flush(r, patient, {260}).what.empty());
  CHECK(statistic(r, "recorder_self_check") == 0);
}

TEST_CASE("a stack that was seen needs no frames, one that was not is not written", "[recorder]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  const numbers stack{2, 1};
  record bare{sampling_side::key(stack), {}, nullptr, nullptr, worth(4)};
  CHECK_FALSE(r.knows(bare.key));
  REQUIRE(r.enter());
  CHECK_FALSE(r.write(bare));
  r.leave();
  REQUIRE(s.sample(stack, worth(1)));
  CHECK(r.knows(bare.key));
  REQUIRE(r.enter());
  CHECK(r.write(bare));
  r.leave();
  const flushed f = flush(r, patient, {1});
  CHECK(f.what == sums{{"m2;m1", {5, 2}}});
  CHECK(f.interval.records == 2);
  CHECK(statistic(r, "recorder_unknown_keys") == 1);
  CHECK(statistic(r, "recorder_self_check") == 0);
}

}  // namespace
