// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <rbprof/recorder/flip_recorder.hpp>

#include "recorder_world.hpp"

// A random program of records, flushes with and without patience, pauses, renames and evictions, compared
// with a map. Each seed is a different program; a failure prints it.

using namespace rbprof;
using namespace rbprof::testing;

namespace {

class random_program {
 public:
  random_program(std::uint64_t seed, std::size_t byte_budget)
      : random_(seed), r_(with(byte_budget)), s_(r_) {
    r_.open({0});
    for (int i = 0; i < 5; ++i) {
      thread_entry& t = threads_.emplace_back();
      t.text.id = std::to_string(i) + " (8)";
      labels_.push_back({&t, {}, 0, {}});
      labels_.push_back({&t, {{"state", i % 2 != 0 ? "waiting" : "had cpu", 0, ""}}, 0, {}});
    }
    for (int i = 0; i < 60; ++i) stacks_.push_back(a_stack());
  }

  void step() {
    switch (below(40)) {
      case 0:
        collect(flush(r_, patient, {++now_}));
        return;
      case 1:  // a writer is inside: the flush has to leave a slot behind
        if (r_.enter()) {
          collect(flush(r_, no_patience, {++now_}));
          r_.leave();
        }
        return;
      case 2:
        CHECK(r_.close(patient));
        CHECK_FALSE(s_.sample(stacks_[0], worth(1)));
        ++refused_;
        r_.open({++now_});
        return;
      case 3:
        stacks_[below(stacks_.size())] = a_stack();
        return;
      default:
        one_sample();
        return;
    }
  }

  void finish() {
    collect(flush(r_, patient, {++now_}));
    CHECK(got_ == expected_);
    CHECK(statistic(r_, "recorder_self_check") == 0);
    CHECK(statistic(r_, "recorder_closed") == refused_);
    CHECK(statistic(r_, "recorder_records") == recorded_);
  }
  [[nodiscard]] std::uint64_t evictions() const { return statistic(r_, "recorder_evictions"); }

 private:
  [[nodiscard]] static recorder_options with(std::size_t bytes) {
    recorder_options o;
    o.byte_budget = bytes;
    return o;
  }
  [[nodiscard]] std::size_t below(std::size_t n) { return random_() % n; }
  [[nodiscard]] numbers a_stack() {
    numbers s(1 + below(60));
    if (!stacks_.empty() && below(3) != 0) {  // shares its callers with another one
      s = stacks_[below(stacks_.size())];
      s.insert(s.begin(), static_cast<std::uint32_t>(below(400)));
      if (s.size() > 60) s.erase(s.begin(), s.begin() + 20);
      return s;
    }
    for (auto& f : s) f = static_cast<std::uint32_t>(below(400));
    return s;
  }
  void one_sample() {
    const numbers& stack = stacks_[below(stacks_.size())];
    const auto amount = static_cast<std::int64_t>(below(1000) + 1);
    label_entry* const labels = below(4) == 0 ? nullptr : &labels_[below(labels_.size())];
    REQUIRE(s_.sample(stack, worth(amount), labels));
    ++recorded_;
    std::string what = words(stack);
    if (labels != nullptr) {
      what += "|";
      if (!labels->more.empty()) what += "state=" + labels->more[0].str + ",";
      what += "thread id=" + labels->thread->text.id;
    }
    expected_[what].first += amount;
    expected_[what].second += 1;
  }
  void collect(const flushed& f) {
    for (const auto& [what, amount] : f.what) {
      got_[what].first += amount.first;
      got_[what].second += amount.second;
    }
    if (!f.status.ok()) return;
    CHECK(f.interval.start >= finish_);  // never overlaps the one before
    CHECK(f.interval.finish >= f.interval.start);
    finish_ = f.interval.finish;
  }

  std::mt19937_64 random_;
  flip_recorder r_;
  sampling_side s_;
  std::deque<thread_entry> threads_;
  std::vector<label_entry> labels_;
  std::vector<numbers> stacks_;
  sums expected_;
  sums got_;
  std::uint64_t recorded_ = 0;
  std::uint64_t refused_ = 0;
  std::int64_t now_ = 0;
  mono finish_;
};

TEST_CASE("random programs of records and flushes give what a map gives", "[recorder][property]") {
  std::random_device device;
  std::uint64_t evictions = 0;
  for (int round = 0; round < 12; ++round) {
    const std::uint64_t seed = round == 0 ? 1 : device();
    const std::size_t budget = round % 2 == 0 ? std::size_t{4} << 20U : std::size_t{256} << 10U;
    INFO("seed " << seed << ", budget " << budget);
    random_program program(seed, budget);
    for (int i = 0; i < 4000; ++i) program.step();
    program.finish();
    evictions += program.evictions();
  }
  CHECK(evictions > 0);  // else the small budget is not small enough to test anything
}

}  // namespace
