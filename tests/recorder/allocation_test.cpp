// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <rbprof/recorder/flip_recorder.hpp>

#include "recorder_world.hpp"

// The sampler allocates nothing once it has seen what there is to see. Counted where every C++ allocation
// of this binary goes through.

namespace {
thread_local bool counting = false;
thread_local std::size_t allocations = 0;
}  // namespace

// Not inlined, because g++ would then take new and free for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t n) {
  if (counting) ++allocations;
  void* const p = std::malloc(n);
  if (p == nullptr) std::abort();
  return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

using namespace rbprof;
using namespace rbprof::testing;

namespace {

TEST_CASE("a warm sampler allocates nothing, flips included", "[recorder]") {
  flip_recorder r;
  sampling_side s(r);
  r.open({0});
  thread_entry thread;
  thread.text.id = "1 (8)";
  label_entry labels{&thread, {}, 0, {}};
  std::vector<numbers> stacks;
  for (std::uint32_t i = 0; i < 500; ++i) {
    stacks.push_back({10'000 + i, i % 17, i % 5, 1, 2, 3});
  }
  const auto sample_all = [&] {
    for (const numbers& stack : stacks) {
      if (!s.sample(stack, worth(1), &labels)) return false;
    }
    return true;
  };
  for (int round = 0; round < 2; ++round) {  // each slot has its own rows
    REQUIRE(sample_all());
    REQUIRE(flush(r, patient, {round}).status.ok());
  }
  for (int round = 2; round < 6; ++round) {
    counting = true;
    const bool all = sample_all();
    counting = false;
    REQUIRE(all);
    const flushed f = flush(r, patient, {round});
    CHECK(f.what.size() == stacks.size());
  }
  CHECK(allocations == 0);

  counting = true;  // and it would notice
  const bool fresh = s.sample({77'777, 1}, worth(1));
  counting = false;
  CHECK(fresh);
  CHECK(allocations > 0);
}

}  // namespace
