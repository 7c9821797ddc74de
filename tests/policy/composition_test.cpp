// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT

#include <catch2/catch_test_macros.hpp>

#include <string>

#include <rbprof/profiler.hpp>

#include "archetypes.hpp"

// The profiler asks of its policies what their concepts name, and no more: every member of these two
// compositions of archetypes that a user can call compiles.

namespace {

/// The least that a profiler can be made of: an adapter that can say whether it holds the lock here.
struct small_vm : archetype::vm {
  template <class F>
  bool with_lock_here(F&&) {
    return false;
  }
};

using smallest = rbprof::basic_profiler<small_vm, archetype::trigger, archetype::time_sampler,
                                        archetype::context, archetype::recorder>;
using richest = rbprof::basic_profiler<archetype::rich_vm, archetype::trigger,
                                       archetype::time_sampler, archetype::gc_context,
                                       archetype::recorder>;

template <class Profiler>
void use_every_member() {
  Profiler p;
  REQUIRE(p.usable());
  const absl::Status started = p.start();
  CHECK(absl::IsFailedPrecondition(started));
  CHECK(std::string(started.message()).find("VM lock") != std::string::npos);
  CHECK_FALSE(p.is_running());
  CHECK_FALSE(p.flush().ok());
  CHECK_FALSE(p.stop().ok());
  CHECK_FALSE(p.inspect().ok());
  CHECK_FALSE(p.stats().empty());
  CHECK_FALSE(p.capabilities().empty());
}

TEST_CASE("a profiler of the least policies says why it can't start") { use_every_member<smallest>(); }

TEST_CASE("a profiler of a VM with every capability says why it can't start") {
  use_every_member<richest>();
}

}  // namespace
