// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// The real recorder under load, for ThreadSanitizer: a sampler that records 1000 random stacks as fast as
// flips allow, a flusher with and without patience, a controller that closes, opens and prepares forks, and,
// in one of two rounds, a second sampler as if the VM lock were broken. Every amount must come out on its
// stack, exactly. Writers that dawdle make flushes time out; a small budget makes tables start anew.
//
// RBPROF_STRESS_RECORDS   records a round, 10000 unless given
// RBPROF_STRESS_A_FLIP    of them for each flip, 25 unless given
// RBPROF_STRESS_SEED      of the stacks, 1 unless given

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rbprof/recorder/flip_recorder.hpp>

#include "../recorder/recorder_world.hpp"

namespace {

using namespace rbprof;
using namespace rbprof::testing;

constexpr std::uint32_t stack_count = 1000;

[[noreturn]] void fail(const char* why) {
  std::fprintf(stderr, "FAILED: %s\n", why);
  std::_Exit(1);
}
void check(bool good, const char* why) {
  if (!good) fail(why);
}

[[nodiscard]] std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Frame i of stack i is its own leaf, so a stack is known by it; the others are shared.
[[nodiscard]] std::vector<numbers> random_stacks(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<numbers> all;
  for (std::uint32_t i = 0; i < stack_count; ++i) {
    numbers s{i};
    const std::size_t depth = 1 + random() % 200;
    std::size_t shared = 0;
    if (i != 0 && random() % 4 != 0) {  // callers of another stack
      const numbers& other = all[random() % i];
      shared = std::min(other.size() - 1, depth - 1);
      s.insert(s.end(), other.end() - static_cast<std::ptrdiff_t>(shared), other.end());
    }
    while (s.size() < depth) {
      s.insert(s.begin() + 1, static_cast<std::uint32_t>(stack_count + random() % 2000));
    }
    all.push_back(std::move(s));
  }
  return all;
}

struct amounts {
  std::vector<std::int64_t> wall = std::vector<std::int64_t>(stack_count);
  std::vector<std::int64_t> samples = std::vector<std::int64_t>(stack_count);

  void add(std::size_t stack, std::int64_t w, std::int64_t n) {
    wall[stack] += w;
    samples[stack] += n;
  }
  friend bool operator==(const amounts&, const amounts&) = default;
};

enum class second_sampler { none, rogue };

class stress {
 public:
  stress(std::uint64_t records, std::uint64_t a_flip, std::uint64_t seed, second_sampler second)
      : total_(records), a_flip_(a_flip), second_(second), stacks_(random_stacks(seed)), recorder_(options()) {}

  void run() {
    recorder_.open({0});
    std::thread sampler([this] { sample(); });
    std::thread flusher([this] { flush(); });
    std::thread controller([this] { control(); });
    std::thread rogue([this] {
      if (second_ == second_sampler::rogue) break_in();
    });
    sampler.join();
    rogue.join();
    controller.join();
    flusher.join();
    check(recorder_.close(patient), "somebody is inside after all have ended");
    take(patient);
    verify();
  }

 private:
  [[nodiscard]] static recorder_options options() {
    recorder_options o;
    o.byte_budget = std::size_t{3} << 20U;
    return o;
  }

  /// Without asking the recorder first: that would need the VM lock, which a rogue does not respect.
  static bool write(flip_recorder& r, sampling_side& side, const numbers& stack,
                    std::int64_t amount, bool dawdle) {
    record x{sampling_side::key(stack), {}, nullptr, nullptr, worth(amount)};
    for (;;) {
      if (!r.enter()) return false;
      const bool written = r.write(x);
      if (dawdle) std::this_thread::sleep_for(std::chrono::microseconds(100));
      r.leave();
      if (written) return true;
      x.frames = side.resolve(stack);
    }
  }

  void sample() {
    sampling_side side(recorder_);
    std::mt19937_64 random(7);
    for (std::uint64_t n = 0, done = 0; done < total_ || (is_weak() && done < 50 * total_); ++n) {
      const std::size_t i = pick(random, n);
      const auto amount = static_cast<std::int64_t>(n % 1000 + 1);
      const bool asks = second_ == second_sampler::none && n % 128 != 0;
      const bool ok = asks ? side.sample(stacks_[i], worth(amount))
                           : write(recorder_, side, stacks_[i], amount, n % 128 == 0);
      if (ok) {
        wanted_.add(i, amount, 1);
        ++done;
      } else {
        std::this_thread::yield();  // closed, or the rogue is inside
      }
      // relaxed: this thread and the flusher must not be ordered by anything but the recorder.
      wait_for_flips(done, a_flip_);
    }
    ended_.store(true, std::memory_order_relaxed);
  }

  /// As programs do: mostly a few hot stacks, which change now and then, and any other stack at any time.
  [[nodiscard]] static std::size_t pick(std::mt19937_64& random, std::uint64_t n) {
    if (random() % 8 == 0) return random() % stack_count;
    return (n / 1000 * 8 + random() % 8) % stack_count;
  }

  /// On a quiet machine nothing that is wanted may have happened by then: then the run goes on.
  [[nodiscard]] bool is_weak() const {
    return statistic(recorder_, "recorder_flush_timeouts") == 0 ||
           statistic(recorder_, "recorder_evictions") == 0 ||
           (second_ == second_sampler::rogue && statistic(recorder_, "recorder_busy") == 0);
  }

  void break_in() {
    sampling_side side(recorder_);
    for (std::uint64_t n = 0, done = 0; !ended_.load(std::memory_order_relaxed); ++n) {
      const std::size_t i = n / 16 % stack_count;
      if (write(recorder_, side, stacks_[i], 3, n % 64 == 0)) {
        wanted_by_rogue_.add(i, 3, 1);
        ++done;
      }
      wait_for_flips(done, std::max<std::uint64_t>(a_flip_ / 5, 1));
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  void wait_for_flips(std::uint64_t done, std::uint64_t a_flip) const {
    while (done > (flips_.load(std::memory_order_relaxed) + 1) * a_flip &&
           !ended_.load(std::memory_order_relaxed)) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  void flush() {
    for (std::uint64_t k = 0; !ended_.load(std::memory_order_relaxed); ++k) {
      take(k % 3 == 0 ? no_patience : nanos{5'000'000});
      flips_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void control() {
    for (std::uint64_t k = 0; !ended_.load(std::memory_order_relaxed); ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (k % 2 == 0) {
        (void)recorder_.close(nanos{1'000'000});
        recorder_.open({0});
      } else {
        (void)recorder_.before_fork(nanos{1'000'000});
        recorder_.after_fork_parent();
      }
    }
  }

  void take(nanos patience) {
    profile_builder into(recorder_.types());
    recorded_interval interval;
    if (!recorder_.flush(patience, monotonic_now(), into, interval).ok()) return;
    const profile p = std::move(into).build();
    std::vector<std::uint32_t> number(p.frames().size());  // of each frame, by its name
    for (std::uint32_t i = 1; i < number.size(); ++i) {
      const std::string name(p.string(p.function(p.frame({i}).function).name));
      if (name == placeholder::overflow) fail("an overflow, with room for all");
      number[i] = static_cast<std::uint32_t>(std::strtoul(name.c_str() + 1, nullptr, 10));
    }
    for (const profile_sample& s : p.samples()) {
      numbers stack;
      p.each_frame(s.stack, [&](frame_id f) { stack.push_back(number[f.value]); });
      check(!stack.empty() && stack[0] < stack_count && stack == stacks_[stack[0]],
            "a stack that nobody recorded");
      got_.add(stack[0], s.amount[value_type::wall_time], s.amount[value_type::cpu_samples]);
    }
  }

  void verify() {
    std::uint64_t records = 0;
    for (std::size_t i = 0; i < stack_count; ++i) {
      wanted_.add(i, wanted_by_rogue_.wall[i], wanted_by_rogue_.samples[i]);
      records += static_cast<std::uint64_t>(wanted_.samples[i]);
    }
    check(got_ == wanted_, "amounts differ");
    check(statistic(recorder_, "recorder_records") == records, "records differ");
    check(statistic(recorder_, "recorder_self_check") == 0,
          "the self-check has found a difference");
    check(statistic(recorder_, "recorder_flush_timeouts") > 0,
          "no flush has timed out: a weak test");
    check(statistic(recorder_, "recorder_evictions") > 0, "no eviction: a weak test");
    check(second_ == second_sampler::none || statistic(recorder_, "recorder_busy") > 0,
          "nobody was refused: a weak test");
    std::printf("records %llu, exact\n", static_cast<unsigned long long>(records));
    recorder_.each_statistic([](const char* name, std::uint64_t value) {
      std::printf("  %-26s %llu\n", name, static_cast<unsigned long long>(value));
    });
  }

  const std::uint64_t total_;
  const std::uint64_t a_flip_;
  const second_sampler second_;
  const std::vector<numbers> stacks_;
  flip_recorder recorder_;
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> flips_{0};
  amounts wanted_;           // of the sampler until it is joined
  amounts wanted_by_rogue_;  // of the rogue until it is joined
  amounts got_;              // of the flusher until it is joined
};

}  // namespace

int main() {
  const std::uint64_t records = from_environment("RBPROF_STRESS_RECORDS", 10'000);
  const std::uint64_t seed = from_environment("RBPROF_STRESS_SEED", 1);
  const std::uint64_t a_flip = from_environment("RBPROF_STRESS_A_FLIP", 25);
  stress(records, a_flip, seed, second_sampler::none).run();
  stress(records, a_flip, seed, second_sampler::rogue).run();
}
