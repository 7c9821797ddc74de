// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <rbprof/host/label_scope.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "../profiler/simulated_host.hpp"

using namespace rbprof_test;

using rbprof::label_scope;
using rbprof::mark_labels;
using rbprof::mark_slots;
using rbprof::mark_word;
using rbprof::value_type;
namespace vm = rbprof::vm;

namespace {

/// The labels of the calling thread, as "key=value,key=value".
std::string mine() {
  const rbprof::mark_slot* const slot = mark_slots::mine_if_any();
  const auto* const set = slot != nullptr ? mark_labels::instance().find(slot->load().labels()) : nullptr;
  std::string all;
  if (set == nullptr) return all;
  for (const auto& [key, value] : *set) all += (all.empty() ? "" : ",") + key + "=" + value;
  return all;
}

std::uint32_t number() { return mark_slots::mine()->load().labels(); }

}  // namespace

TEST_CASE("labels nest, replace one another and go with their scopes") {
  CHECK(mine().empty());
  {
    const label_scope level("level", "cave");
    CHECK(mine() == "level=cave");
    {
      const label_scope player("player", "2");
      CHECK(mine() == "level=cave,player=2");
      const label_scope other("level", "forest");
      CHECK(mine() == "level=forest,player=2");
    }
    CHECK(mine() == "level=cave");
  }
  CHECK(mine().empty());
}

TEST_CASE("the same labels are one set, in whatever order they came") {
  std::uint32_t one = 0;
  {
    const label_scope a("b", "1");
    const label_scope b("a", "2");
    one = number();
  }
  const label_scope a("a", "2");
  const label_scope b("b", "1");
  CHECK(number() == one);
  CHECK(one != 0);
}

TEST_CASE("a scope that was skipped, as by a longjmp, is undone by the one around it") {
  alignas(label_scope) unsigned char never_ended[sizeof(label_scope)];
  {
    const label_scope outer("level", "cave");
    new (never_ended) label_scope("room", "1");
    CHECK(mine() == "level=cave,room=1");
  }
  CHECK(mine().empty());
}

TEST_CASE("each thread has labels of its own, and a slot changes its generation when its thread ends") {
  const label_scope here("level", "cave");
  const rbprof::mark_slot* slot = nullptr;
  mark_word seen;
  std::string of_thread;
  std::thread([&] {
    CHECK(mine().empty());
    const label_scope there("level", "forest");
    of_thread = mine();
    slot = mark_slots::mine();
    seen = slot->load();
  }).join();
  CHECK(of_thread == "level=forest");
  CHECK(mine() == "level=cave");
  CHECK(slot->load().generation() == seen.generation() + 1);
  CHECK(slot->load().labels() == 0);
}

TEST_CASE("a word keeps its three parts apart") {
  const mark_word w = mark_word::of(0xABCDEF, 0x1234, 0x765432);
  CHECK(w.generation() == 0xABCDEF);
  CHECK(w.depth() == 0x1234);
  CHECK(w.labels() == 0x765432);
}

TEST_CASE("readers see whole sets while others are made") {
  std::atomic<bool> over{false};
  std::atomic<std::uint32_t> latest{0};
  std::vector<std::thread> makers;
  for (int t = 0; t < 3; ++t) {
    makers.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const label_scope outer("thread", std::to_string(t % 2));
        const label_scope inner("turn", std::to_string(i));
        latest.store(number());
      }
    });
  }
  std::atomic<std::uint64_t> seen{0};
  std::thread reader([&] {
    while (!over.load()) {
      const auto* const set = mark_labels::instance().find(latest.load());
      if (set == nullptr) continue;
      ++seen;
      if (set->size() != 2 || (*set)[0].first != "thread" || (*set)[1].first != "turn") std::abort();
    }
  });
  for (std::thread& m : makers) m.join();
  while (seen.load() == 0) std::this_thread::yield();
  over.store(true);
  reader.join();
  CHECK(seen.load() > 0);
}

TEST_CASE("a profile has each label's time, to the tick, and totals as without") {
  simulated_profiler<vm::simulated> p{{.interval = 10ms}};
  REQUIRE(p.start().ok());
  drive(p);
  const auto run_for = [&](rbprof::nanos time) {
    p.vm().append(1, {steps::run({{1, 5}, {0, 1}}, time)});
    p.vm().run();
  };
  run_for(500ms);
  {
    const label_scope level("level", "cave");
    run_for(3s);
    const label_scope clash("thread id", "not yours to say");
    const label_scope deeper("level", "forest");
    run_for(1s);
  }
  run_for(500ms);
  const auto profile = p.stop();
  REQUIRE(profile.ok());
  const auto time_in = [&](const std::string& level) {
    return sum_if(*profile, value_type::cpu_time, [&](const auto& s) { return label_of(*profile, s, "level") == level; });
  };
  const std::int64_t tick = rbprof::nanos(10ms).count();
  CHECK(std::abs(time_in("cave") - rbprof::nanos(3s).count()) <= tick);
  CHECK(std::abs(time_in("forest") - rbprof::nanos(1s).count()) <= tick);
  CHECK(std::abs(time_in("") - rbprof::nanos(1s).count()) <= tick);
  CHECK(profile->total(value_type::cpu_time) == p.vm().truth(1).all.cpu.count());
  for (const auto& s : profile->samples()) CHECK(label_of(*profile, s, "thread id") == simulated_thread_id(1));
}

TEST_CASE("a thread that waits keeps its labels, and one that ended leaves none behind") {
  // Nothing but the sampler's own thread marks here: the VM's threads all run on it.
  rbprof::detail::thread_marks marks;
  marks.read_here();
  CHECK(marks.labels() == 0);
  std::atomic<int> step{0};
  std::thread thread([&] {
    const label_scope level("level", "cave");
    marks.read_here();
    step = 1;
    while (step != 2) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  const std::uint32_t labels = marks.labels();
  CHECK(labels != 0);
  marks.read();
  CHECK(marks.labels() == labels);
  step = 2;
  thread.join();
  marks.read();
  CHECK(marks.labels() == 0);
}

// Last: it fills the registry for good.
TEST_CASE("what is over the bound of sets keeps the labels that it had, and is counted") {
  const label_scope outer("level", "cave");
  const std::string before = mine();
  bool refused = false;
  for (std::size_t i = 0; i <= mark_labels::capacity && !refused; ++i) {
    const label_scope one("request", std::to_string(i));
    refused = mine() == before;
  }
  CHECK(refused);
  CHECK(mark_labels::instance().refused.get() >= 1);
  const label_scope known("request", "1");
  CHECK(mine() == "level=cave,request=1");
}
