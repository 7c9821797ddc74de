// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
//
// Ticks at 10 kHz into everything that moves a stack: recursion to the limit, fibers, exceptions through C, eval of code
// that is freed at once, collections of both kinds. The program is compiled with AddressSanitizer, which knows all of
// mruby's memory, since it comes from malloc: a look at what was freed ends it.
//
//     storm SECONDS auto|hook|copy|poll
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <mruby/compile.h>

#include <rbprof/mruby.hpp>

namespace {

constexpr const char* program = R"ruby(
class Foo
  def initialize(n); @n = n; end
  def n; @n; end
  def hash; @n; end
  def eql?(o); @n == o.n; end
  def method_missing(m, *a, &b); b ? b.call(*a) : m; end
end
module Mix; def mixed(x); yield x if block_given?; x; end; end
class Bar < Foo; include Mix; def each3; 3.times { |i| yield i }; end; end
def rec(n, &b); return (b ? b.call(n) : 0) if n == 0; rec(n - 1, &b) + 1; end
def endless(n); endless(n + 1); end
def steps(n); Fiber.new { n.times { |i| Fiber.yield rec(i % 20) }; :done }; end
def nested(d); f = Fiber.new { Fiber.yield 1; d > 0 ? nested(d - 1) : 0 }; f.resume; f.resume; end
def ensured(k); begin; yield k; ensure; $e = k; end; end
$n = 0
def round(seed)
  $n += 1
  rec(seed % 60 + 10)
  rec(50) { |x| [3, 1, 2].map { |y| y + x }.sort[0] }
  begin; endless(0); rescue SystemStackError; end if $n % 37 == 0
  4.times { f = steps(12); nil while f.resume != :done }
  nested(8)
  begin; ensured(1) { ensured(2) { raise "x#{seed}" } }; rescue => e; e.message; end
  begin; from_c(->(i) { raise ArgumentError, "y" if i == 3; i }); rescue ArgumentError; end
  from_c(->(i) { rec(i) })
  eval "def made_#{seed % 50}(a); b = a + #{seed}; [1, 2, 3].each { |z| b += z }; b; end; made_#{seed % 50}(#{seed})"
  eval "proc { |q| q.to_s * 2 }.call(#{seed}); Class.new { def zz(a); a.times { |x| x.to_s }; end }.new.zz(5)"
  o = Object.new; o.instance_eval { def single(x); x + 1; end }; o.single(1)
  Object.__send__(:undef_method, "made_#{seed % 50}".to_sym)
  h = {}; 40.times { |i| h[Foo.new(i)] = "s#{i}" }; h.each { |k, v| v.size + k.n }
  b = Bar.new(3); b.each3 { |i| b.mixed(i) { |z| z } }; b.nope(1) { |z| z }
  s = "abc def ghi" * 10; s.split(" ").map { |w| w.upcase.reverse }.join(",")
  x = (1..100).map { |i| [i, i.to_s, { i => i }] }; x.size
  i = 0; i += 1 while i < 2000
  GC.start if $n % 11 == 0
  GC.generational_mode = !GC.generational_mode if $n % 53 == 0
end
)ruby";

mrb_value from_c(mrb_state* mrb, mrb_value) {
  mrb_value block = mrb_nil_value();
  mrb_get_args(mrb, "o", &block);
  for (mrb_int i = 0; i < 5; ++i) mrb_funcall(mrb, block, "call", 1, mrb_fixnum_value(i));
  return block;
}

int fail(std::string_view why) {
  std::fprintf(stderr, "storm: %.*s\n", static_cast<int>(why.size()), why.data());
  return 1;
}

std::uint64_t statistic(const rbprof::profile& p, std::string_view name) {
  for (const auto& [known, value] : p.statistics()) {
    if (known == name) return value;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fail("usage: storm SECONDS auto|hook|copy|poll");
  using rbprof::mruby::backend;
  const std::string_view how = argv[2];
  rbprof::mruby::options o;
  o.interval = rbprof::nanos{100'000};
  o.overhead_target = {20};
  o.clock = rbprof::mruby::timer_clock::wall;
  o.stacks = how == "hook" ? backend::hook : how == "copy" ? backend::copy : how == "poll" ? backend::poll : backend::automatic;
  mrb_state* const mrb = mrb_open();
  mrb_define_method(mrb, mrb->kernel_module, "from_c", from_c, MRB_ARGS_REQ(1));
  mrb_load_string(mrb, program);
  std::uint64_t rounds = 0;
  std::uint64_t taken = 0;
  std::uint64_t unreadable = 0;
  {
    rbprof::mruby::profiler profiler(mrb, o);
    const auto end = rbprof::monotonic_now() + rbprof::nanos{std::atoll(argv[1]) * 1'000'000'000};
    while (rbprof::monotonic_now() < end) {
      // Begun anew from time to time, so that attach and detach are in the storm too.
      if (const absl::Status started = profiler.start(); !started.ok()) return fail(std::string(started.message()));
      for (int i = 0; i < 400 && rbprof::monotonic_now() < end; ++i, ++rounds) {
        const int arena = mrb_gc_arena_save(mrb);
        mrb_funcall(mrb, mrb_top_self(mrb), "round", 1, mrb_fixnum_value(static_cast<mrb_int>(rounds * 7919 % 1000)));
        mrb_gc_arena_restore(mrb, arena);
        if (mrb->exc != nullptr) {
          mrb_print_error(mrb);
          return fail("the program does what it does not do without the profiler");
        }
        if (how == "poll") (void)profiler.poll();
      }
      const absl::StatusOr<rbprof::profile> made = profiler.stop();
      if (!made.ok()) return fail(std::string(made.status().message()));
      taken += statistic(*made, how == "poll" ? "samples" : "async_samples");
      unreadable = statistic(*made, "mruby_stacks_unreadable");
      if (statistic(*made, "describe_failures") != 0) return fail("frames without a name");
      if (statistic(*made, "recorder_self_check") != 0) return fail("the recorder has lost something");
      const auto ticks = statistic(*made, "ticks");
      const auto fates = statistic(*made, "samples") + statistic(*made, "skipped") + statistic(*made, "coalesced") +
                         statistic(*made, "missed");
      if (ticks != fates) return fail("ticks have got lost");
    }
  }
  mrb_close(mrb);
  std::printf("storm: %llu rounds, %llu stacks taken, %llu unreadable\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(taken), static_cast<unsigned long long>(unreadable));
  return taken > 100 ? 0 : fail("hardly any stacks were taken");
}
