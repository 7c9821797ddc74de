// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <string>
#include <thread>
#include <vector>

#include <rbprof/recorder/flip_recorder.hpp>

#include "recorder_world.hpp"

using namespace rbprof;
using namespace rbprof::testing;

namespace {

constexpr auto ok = [](const flushed& f) { return f.status.ok(); };

[[nodiscard]] recorder_options small() {
  recorder_options o;
  o.byte_budget = 0;  // clamped to the smallest there is
  return o;
}

[[nodiscard]] std::pair<std::int64_t, std::int64_t> total(const sums& all) {
  std::pair<std::int64_t, std::int64_t> out;
  for (const auto& [what, amount] : all) {
    out.first += amount.first;
    out.second += amount.second;
  }
  return out;
}

/// Stays between enter and leave until it is let go.
class inside {
 public:
  inside(flip_recorder& r, sampling_side& s, const numbers& stack, const values& amount) : r_(r) {
    entered_ = r_.enter();
    const stack_key key = sampling_side::key(stack);
    if (entered_) wrote_ = r_.write({key, s.resolve(stack), nullptr, nullptr, amount});
  }
  ~inside() { let_go(); }
  void let_go() {
    if (std::exchange(entered_, false)) r_.leave();
  }
  [[nodiscard]] bool entered() const { return entered_; }
  [[nodiscard]] bool wrote() const { return wrote_; }

 private:
  flip_recorder& r_;
  bool entered_ = false;
  bool wrote_ = false;
};

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

TEST_CASE("a frame of two places is two frames, and texts come through as they are", "[recorder]") {
  flip_recorder r;
  r.open({0});
  frame_entry a;
  a.text = {"Foo#bar", "/app/foo.rb", 12, 10, false};
  frame_entry b;
  b.text = {"Foo#bar", "/app/foo.rb", 13, 10, false};
  frame_entry* const only_a[] = {&a};
  frame_entry* const only_b[] = {&b};
  for (const auto frames : {std::span<frame_entry* const>(only_a), {only_b}}) {
    REQUIRE(r.enter());
    REQUIRE(r.write({{}, frames, nullptr, nullptr, worth(1)}));
    r.leave();
  }
  profile_builder into(r.types());
  recorded_interval interval;
  REQUIRE(r.flush(patient, {1}, into, interval).ok());
  const profile p = std::move(into).build();
  REQUIRE(p.functions().size() == 2);
  CHECK(p.string(p.functions()[1].name) == "Foo#bar");
  CHECK(p.string(p.functions()[1].file) == "/app/foo.rb");
  CHECK(p.functions()[1].start_line == 10);
  REQUIRE(p.frames().size() == 3);
  CHECK(p.frames()[1].line + p.frames()[2].line == 25);
  CHECK(p.samples().size() == 2);
}

TEST_CASE("only the columns of the options enter a profile", "[recorder]") {
  recorder_options options;
  options.types = {value_type::wall_time};
  flip_recorder r(options);
  sampling_side s(r);
  r.open({0});
  REQUIRE(s.sample({1}, worth(9, 4)));
  profile_builder into(time_value_types());
  recorded_interval interval;
  REQUIRE(r.flush(patient, {1}, into, interval).ok());
  CHECK(sums_of(std::move(into).build()) == sums{{"m1", {9, 0}}});
}

TEST_CASE("two label sets of one stack are two sums", "[recorder][labels]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  thread_entry one;
  one.text = {"11 (8)", "main", "", true};
  thread_entry two;
  two.text = {"12 (16)", "", "worker.rb:3", false};
  label_entry of_one{&one, {}, 0, {}};
  label_entry of_two{&two, {{"state", "sleeping", 0, ""}, {"depth", "", 3, "count"}}, 0, {}};
  REQUIRE(s.sample({2, 1}, worth(1), &of_one));
  REQUIRE(s.sample({2, 1}, worth(10), &of_two));
  REQUIRE(s.sample({2, 1}, worth(100), &of_one));
  REQUIRE(s.sample({2, 1}, worth(1000)));
  CHECK(flush(r, patient, {1}).what ==
        sums{{"m2;m1", {1000, 1}},
             {"m2;m1|thread id=11 (8),thread name=main", {101, 2}},
             {"m2;m1|depth=3,state=sleeping,thread id=12 (16),thread invoke location=worker.rb:3",
              {10, 1}}});
}

TEST_CASE("equal labels made twice are one set, and a set's own label beats its thread's",
          "[recorder][labels]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  thread_entry thread;
  thread.text.id = "1 (8)";
  label_entry first{&thread, {{label_key::thread_id, "GC", 0, ""}}, 0, {}};
  label_entry again{&thread, {{label_key::thread_id, "GC", 0, ""}}, 0, {}};
  REQUIRE(s.sample({1}, worth(1), &first));
  REQUIRE(s.sample({1}, worth(2), &again));
  CHECK(first.id == again.id);
  CHECK(flush(r, patient, {1}).what == sums{{"m1|thread id=GC", {3, 2}}});
}

TEST_CASE("a thread that is renamed late shows its newest name, in one row", "[recorder][labels]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  thread_entry thread;
  thread.text = {"5 (8)", "", "", false};
  label_entry labels{&thread, {}, 0, {}};
  REQUIRE(s.sample({1}, worth(1), &labels));
  REQUIRE(s.sample({2}, worth(2), &labels));
  thread.text.name = "puma 1";
  thread.text.started_at = "server.rb:8";
  ++thread.version;
  REQUIRE(s.sample({1}, worth(4), &labels));
  const std::string all = "|thread id=5 (8),thread invoke location=server.rb:8,thread name=puma 1";
  CHECK(flush(r, patient, {1}).what == sums{{"m1" + all, {5, 2}}, {"m2" + all, {2, 1}}});
}

TEST_CASE("a flush that runs out of patience loses nothing", "[recorder][timeout]") {
  flip_recorder r;
  sampling_side s(r);
  sampling_side other(r);
  r.open({0});
  REQUIRE(s.sample({1}, worth(1)));
  inside slow(r, s, {2}, worth(2));
  REQUIRE(slow.wrote());

  const flushed first = flush(r, no_patience, {100});
  CHECK(absl::IsDeadlineExceeded(first.status));
  CHECK(first.what.empty());
  const flushed again = flush(r, no_patience, {150});  // must not flip
  CHECK(absl::IsDeadlineExceeded(again.status));
  slow.let_go();
  REQUIRE(other.sample({3}, worth(4)));  // goes to the newer slot

  const flushed all = flush(r, patient, {200});
  REQUIRE(ok(all));
  CHECK(all.what == sums{{"m1", {1, 1}}, {"m2", {2, 1}}, {"m3", {4, 1}}});
  CHECK(all.interval.start == mono{0});
  CHECK(all.interval.finish == mono{200});
  CHECK(all.interval.records == 3);
  CHECK(statistic(r, "recorder_flush_timeouts") == 2);
  CHECK(statistic(r, "recorder_self_check") == 0);
}

TEST_CASE("when only the older slot can be taken, that is the result, with its own interval",
          "[recorder][timeout]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  inside slow(r, s, {1}, worth(1));
  REQUIRE_FALSE(ok(flush(r, no_patience, {100})));
  slow.let_go();
  inside slower(r, s, {2}, worth(2));
  REQUIRE(slower.wrote());
  const flushed older = flush(r, no_patience, {200});
  REQUIRE(ok(older));
  CHECK(older.what == sums{{"m1", {1, 1}}});
  CHECK(older.interval.start == mono{0});
  CHECK(older.interval.finish == mono{100});
  slower.let_go();
  const flushed newer = flush(r, patient, {300});
  CHECK(newer.what == sums{{"m2", {2, 1}}});
  CHECK(newer.interval.start == mono{100});
  CHECK(newer.interval.finish == mono{300});
}

TEST_CASE("a second sampler is refused and counted while one is inside", "[recorder]") {
  flip_recorder r;
  sampling_side s(r);
  sampling_side other(r);
  r.open({0});
  inside first(r, s, {1}, worth(1));
  REQUIRE(first.entered());
  bool accepted = true;
  std::thread([&] { accepted = r.enter(); }).join();
  CHECK_FALSE(accepted);
  CHECK_FALSE(r.enter());  // nested
  first.let_go();
  CHECK(other.sample({2}, worth(2)));
  CHECK(flush(r, patient, {1}).what == sums{{"m1", {1, 1}}, {"m2", {2, 1}}});
  CHECK(statistic(r, "recorder_busy") == 2);
  CHECK(r.last_flush().busy == 2);
  CHECK(statistic(r, "recorder_self_check") == 0);
}

TEST_CASE("several records may be written between one enter and leave", "[recorder]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  REQUIRE(r.enter());
  for (const std::uint32_t n : {1U, 2U, 1U}) {
    REQUIRE(r.write({{}, s.resolve({n}), nullptr, nullptr, worth(n)}));
  }
  r.leave();
  const flushed f = flush(r, patient, {1});
  CHECK(f.what == sums{{"m1", {2, 2}}, {"m2", {2, 1}}});
  CHECK(f.interval.records == 3);
  CHECK(statistic(r, "recorder_self_check") == 0);
}

TEST_CASE("after close nothing is recorded, and what was is still flushed", "[recorder][close]") {
  flip_recorder r;
  sampling_side s(r);
  sampling_side other(r);
  r.open({0});
  REQUIRE(s.sample({1}, worth(1)));
  inside slow(r, s, {2}, worth(2));
  REQUIRE_FALSE(ok(flush(r, no_patience, {10})));  // leaves a slot behind
  CHECK_FALSE(r.close(no_patience));               // somebody is inside
  CHECK_FALSE(other.sample({3}, worth(4)));
  CHECK_FALSE(ok(flush(r, no_patience, {15})));
  slow.let_go();
  CHECK(r.close(patient));
  const flushed f = flush(r, no_patience, {20});
  REQUIRE(ok(f));
  CHECK(f.what == sums{{"m1", {1, 1}}, {"m2", {2, 1}}});
  CHECK(f.interval.finish == mono{20});
  CHECK(statistic(r, "recorder_closed") == 1);
  CHECK(flush(r, no_patience, {30}).what.empty());

  r.open({1000});
  REQUIRE(other.sample({3}, worth(8)));
  const flushed later = flush(r, patient, {1100});
  CHECK(later.what == sums{{"m3", {8, 1}}});
  CHECK(later.interval.start == mono{1000});  // the pause is in no interval
}

TEST_CASE("a pause that was not flushed keeps the interval whole", "[recorder][close]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  REQUIRE(s.sample({1}, worth(1)));
  REQUIRE(r.close(patient));
  r.open({50});
  REQUIRE(s.sample({1}, worth(1)));
  const flushed f = flush(r, patient, {60});
  CHECK(f.what == sums{{"m1", {2, 2}}});
  CHECK(f.interval.start == mono{0});
}

TEST_CASE("names that do not fit are booked on the overflow stack, with their labels and in full",
          "[recorder][overflow]") {
  flip_recorder r(small());
  sampling_side s(r);
  r.open({0});
  thread_entry thread;
  thread.text.id = "1 (8)";
  label_entry labels{&thread, {}, 0, {}};
  std::int64_t expected = 0;
  std::int64_t count = 0;
  for (std::uint32_t n = 1; n <= 20'000; ++n) {
    REQUIRE(s.sample({n, n % 5}, worth(n), &labels));
    expected += n;
    ++count;
  }
  const flushed f = flush(r, patient, {1});
  const std::uint64_t overflow = statistic(r, "recorder_overflow");
  CHECK(total(f.what) == std::pair{expected, count});
  CHECK(overflow > 0);
  CHECK(overflow < 20'000);
  REQUIRE(f.what.contains("(overflow)|thread id=1 (8)"));
  CHECK(f.what.at("(overflow)|thread id=1 (8)").second == static_cast<std::int64_t>(overflow));
  CHECK(f.what.contains("m1;m1|thread id=1 (8)"));  // what came early has its name
  CHECK(statistic(r, "recorder_self_check") == 0);
}

TEST_CASE("labels that do not fit are lost and counted, their amounts are not",
          "[recorder][overflow]") {
  flip_recorder r(small());
  sampling_side s(r);
  r.open({0});
  const std::int64_t count = 20'000;
  for (std::int64_t n = 0; n < count; ++n) {
    label_entry labels{nullptr, {{"request", "number " + std::to_string(n), 0, ""}}, 0, {}};
    REQUIRE(s.sample({1}, worth(3), &labels));
  }
  const flushed f = flush(r, patient, {1});
  CHECK(total(f.what) == std::pair{count * 3, count});
  CHECK(statistic(r, "recorder_labels_lost") > 0);
  CHECK(r.last_flush().labels_lost == statistic(r, "recorder_labels_lost"));
}

TEST_CASE("tables that have grown large start anew at a flip, and no amount is lost",
          "[recorder][eviction]") {
  flip_recorder r(small());
  sampling_side s(r);
  r.open({0});
  const std::uint32_t first = r.generation();
  std::int64_t expected = 0;
  std::int64_t got = 0;
  for (std::uint32_t n = 1; n <= 40'000; ++n) {
    REQUIRE(s.sample({n, 1}, worth(n)));
    expected += n;
    if (n % 200 == 0) {
      const flushed f = flush(r, patient, {n});
      REQUIRE(ok(f));
      CHECK_FALSE(f.what.contains("(overflow)"));
      got += total(f.what).first;
    }
  }
  CHECK(got == expected);
  CHECK(r.generation() > first);
  CHECK(statistic(r, "recorder_evictions") > 5);
  CHECK(statistic(r, "recorder_overflow") == 0);
  CHECK(statistic(r, "recorder_generations") == statistic(r, "recorder_evictions") + 1);
}

TEST_CASE("a key that was known is not after its tables went, and the sampler is told",
          "[recorder][eviction]") {
  flip_recorder r(small());
  sampling_side s(r);
  r.open({0});
  const numbers stack{1, 2};
  REQUIRE(s.sample(stack, worth(1)));
  std::uint32_t n = 100;
  while (statistic(r, "recorder_evictions") == 0) {
    for (int i = 0; i < 100; ++i) REQUIRE(s.sample({n++}, worth(1)));
    REQUIRE(ok(flush(r, patient, {n})));
  }
  const record bare{sampling_side::key(stack), {}, nullptr, nullptr, worth(1)};
  const std::uint32_t before = r.generation();
  CHECK(r.knows(bare.key));  // the hint is out of date
  REQUIRE(r.enter());
  CHECK_FALSE(r.write(bare));
  r.leave();
  CHECK(r.generation() != before);
  CHECK_FALSE(r.knows(bare.key));
  REQUIRE(s.sample(stack, worth(7)));
  CHECK(flush(r, patient, {n + 1}).what == sums{{"m1;m2", {7, 1}}});
}

TEST_CASE("an eviction while a writer is in the old tables keeps them until it has left",
          "[recorder][eviction][timeout]") {
  flip_recorder r(small());
  sampling_side s(r);
  sampling_side other(r);
  r.open({0});
  std::int64_t expected = 0;
  std::int64_t got = 0;
  for (std::uint32_t n = 1; statistic(r, "recorder_evictions") < 3; ++n) {
    for (std::uint32_t i = 0; i < 150; ++i) REQUIRE(other.sample({n * 1000 + i}, worth(1)));
    inside slow(r, s, {n * 1000 + 999}, worth(1));
    REQUIRE_FALSE(ok(flush(r, no_patience, {10 * n})));
    slow.let_go();
    REQUIRE(other.sample({5, 6}, worth(1)));
    expected += 152;
    const flushed f = flush(r, patient, {10 * n + 5});
    got += total(f.what).first;
    CHECK(f.what.at(words(numbers{n * 1000 + 999})).second == 1);
    CHECK(f.what.at("m5;m6").second == 1);
  }
  CHECK(got == expected);
  CHECK(statistic(r, "recorder_overflow") == 0);
}

TEST_CASE("a path is not mistaken when a frame entry is freed and another takes its place",
          "[recorder]") {
  flip_recorder r;
  r.open({0});
  path_hint path;
  frame_entry entry;
  frame_entry* const frames[] = {&entry};
  for (const char* const name : {"first", "second"}) {
    entry = {};
    entry.text.name = name;
    REQUIRE(r.enter());
    REQUIRE(r.write({{}, frames, nullptr, &path, worth(1)}));
    r.leave();
  }
  CHECK(flush(r, patient, {1}).what == sums{{"first", {1, 1}}, {"second", {1, 1}}});
}

TEST_CASE("a stack deeper than the cache holds is recorded all the same", "[recorder]") {
  flip_recorder r(small());
  sampling_side s(r);
  r.open({0});
  numbers deep;
  for (std::uint32_t i = 0; i < 3000; ++i) deep.push_back(i % 50);
  for (int i = 0; i < 3; ++i) REQUIRE(s.sample(deep, worth(1)));
  CHECK(flush(r, patient, {1}).what == sums{{words(deep), {3, 3}}});
}

TEST_CASE("a cache of stacks that is full starts over and nothing else changes", "[recorder]") {
  flip_recorder r(small());
  sampling_side s(r);
  r.open({0});
  sums expected;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t n = 0; n < 200; ++n) {
      numbers stack(200, 1);  // 800 bytes of key, but one node
      stack[0] = 1000 + n;
      REQUIRE(s.sample(stack, worth(n + 1)));
      auto& at = expected[words(stack)];
      at.first += n + 1;
      ++at.second;
    }
  }
  CHECK(flush(r, patient, {1}).what == expected);
  CHECK(statistic(r, "recorder_cache_restarts") > 0);
}

TEST_CASE("figures of one flush are told apart from those of the whole life", "[recorder]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  for (int i = 0; i < 3; ++i) REQUIRE(s.sample({1}, worth(1)));
  REQUIRE(ok(flush(r, patient, {1})));
  CHECK(r.last_flush().records == 3);
  for (int i = 0; i < 2; ++i) REQUIRE(s.sample({1}, worth(1)));
  REQUIRE(ok(flush(r, patient, {2})));
  CHECK(r.last_flush().records == 2);
  CHECK(r.last_flush().build > nanos{0});
  CHECK(statistic(r, "recorder_records") == 5);
  CHECK(statistic(r, "recorder_flushes") == 2);
  CHECK(statistic(r, "recorder_cache_hits") == 4);
  CHECK(statistic(r, "recorder_flush_ns_min") <= statistic(r, "recorder_flush_ns_max"));
  CHECK(statistic(r, "recorder_flush_ns_total") >= statistic(r, "recorder_build_ns_total"));
}

}  // namespace
