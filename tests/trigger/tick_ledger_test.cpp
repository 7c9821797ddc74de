// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/trigger/tick_ledger.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <thread>

using rbprof::moment;
using rbprof::mono;
using rbprof::tick_counters;
using rbprof::trigger::tick_ledger;

namespace {

struct clock_only {
  [[nodiscard]] mono now() const noexcept { return time; }
  mono time{1'000};
};

std::uint64_t accounted(const tick_ledger& l) {
  const tick_counters c = l.counters();
  return c.claimed + c.coalesced + c.missed + c.skipped + l.outstanding();
}

}  // namespace

TEST_CASE("a claim takes all ticks that expired, as one sample", "[tick_ledger]") {
  tick_ledger l;
  clock_only v;
  CHECK(l.claim(v).ticks == 0);
  l.expired(1, {100});
  l.expired(1, {200});
  l.expired(3, {500});
  const moment m = l.claim(v);
  CHECK(m.ticks == 5);
  CHECK(m.due == mono{500});
  CHECK(m.seen == mono{1'000});
  CHECK(m.running);
  CHECK_FALSE(m.cpu.has_value());
  CHECK(l.claim(v).ticks == 0);
  CHECK(l.counters().claimed == 1);
  CHECK(l.counters().coalesced == 4);
  CHECK(l.counters().scheduled == 5);
}

TEST_CASE("ticks that nobody claimed are missed once their run is over", "[tick_ledger]") {
  tick_ledger l;
  clock_only v;
  l.expired(4, {100});
  l.skipped(2);
  l.missed(1);
  CHECK(l.outstanding() == 4);
  CHECK(accounted(l) == l.counters().scheduled);
  l.abandon_outstanding();
  CHECK(l.counters().missed == 5);
  CHECK(l.claim(v).ticks == 0);
  CHECK(accounted(l) == 7);
}

TEST_CASE("ticks in a rest do not move the last due time", "[tick_ledger]") {
  tick_ledger l;
  l.expired(1, {100});
  l.skipped(1);
  CHECK(l.last_due() == mono{100});
}

TEST_CASE("a claim says at most what a moment has room for", "[tick_ledger]") {
  tick_ledger l;
  clock_only v;
  l.expired(1ULL << 40U, {100});
  CHECK(l.claim(v).ticks == 0xFFFF'FFFFU);
  CHECK(accounted(l) == 1ULL << 40U);
}

TEST_CASE("no tick is lost or doubled between a ticker and a claimer", "[tick_ledger]") {
  tick_ledger l;
  clock_only v;
  constexpr int ticks = 200'000;
  std::uint64_t taken = 0;
  std::thread ticker([&] {
    for (int i = 1; i <= ticks; ++i) l.expired(1, {i});
  });
  mono last{0};
  bool ordered = true;
  while (taken < ticks) {
    const moment m = l.claim(v);
    taken += m.ticks;
    if (m.ticks == 0) continue;
    ordered = ordered && m.due >= last && m.due.ns >= static_cast<std::int64_t>(taken);
    last = m.due;
  }
  ticker.join();
  CHECK(ordered);
  CHECK(taken == ticks);
  CHECK(accounted(l) == ticks);
}
