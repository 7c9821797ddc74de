// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <random>
#include <utility>

#include "host.hpp"

using namespace host;

namespace {

struct attached {
  attached() { REQUIRE(v.attach(s).ok()); }
  ~attached() { CHECK(v.detach().ok()); }
  static inline adapter v;
  static inline sink s{v};
};

using names = std::vector<std::string>;

/// The names above `native`, without those of the program around it.
names above(const stack& s, std::size_t n) {
  names all = s.names();
  REQUIRE(all.size() > n);
  CHECK(all[0] == "Kernel#native");
  return names(all.begin() + 1, all.begin() + 1 + static_cast<std::ptrdiff_t>(n));
}

}  // namespace

TEST_CASE("Methods are named by their class, singletons with a dot") {
  attached a;
  REQUIRE(run(R"(
    class Svc
      def self.boot; native; end
      class Inner; class << self; def go; native; end; end; end
    end
    module Helper; def self.assist; native; end; end
    module Mixin; def mixin_spin; native; end; end
    module Front; def fronted; native; end; end
    class User; include Mixin; prepend Front; end
    def top_level; native; end
    SOLO = Object.new
    def SOLO.solo; native; end
    class Odd
      define_method(:dyn) { native }
      def orig; native; end
      alias_method :other, :orig
      def method_missing(name, *) = name == :ghost ? native : super
      def respond_to_missing?(*) = true
    end
    module SumRef; refine(Array) { def slow_sum; native; end }; end
  )").empty());
  CHECK(above(stack_at(a.v, "Svc.boot"), 1) == names{"Svc.boot"});
  CHECK(above(stack_at(a.v, "Svc::Inner.go"), 1) == names{"Svc::Inner.go"});
  CHECK(above(stack_at(a.v, "Helper.assist"), 1) == names{"Helper.assist"});
  CHECK(above(stack_at(a.v, "User.new.mixin_spin"), 1) == names{"Mixin#mixin_spin"});
  CHECK(above(stack_at(a.v, "User.new.fronted"), 1) == names{"Front#fronted"});
  CHECK(above(stack_at(a.v, "top_level"), 1) == names{"Object#top_level"});
  CHECK(above(stack_at(a.v, "SOLO.solo"), 1) == names{"#<Object>#solo"});
  CHECK(above(stack_at(a.v, "Odd.new.dyn"), 1) == names{"block in <class:Odd>"});
  CHECK(above(stack_at(a.v, "Odd.new.other"), 1) == names{"Odd#orig"});
  CHECK(above(stack_at(a.v, "Odd.new.ghost"), 1) == names{"Odd#method_missing"});
  const names refined = above(stack_at(a.v, "using SumRef; [1].slow_sum"), 1);
  CHECK(refined[0].ends_with("#slow_sum"));
  CHECK(refined[0].find("0x") == std::string::npos);
}

TEST_CASE("What is not in a method has the name of its place") {
  attached a;
  CHECK(above(stack_at(a.v, "native"), 1) == names{"<main>"});
  CHECK(above(stack_at(a.v, "[1].each { native }"), 3) ==
        names{"block in <main>", "Array#each", "<main>"});
  CHECK(above(stack_at(a.v, "class Klass; native; end"), 2) == names{"<class:Klass>", "<main>"});
  CHECK(above(stack_at(a.v, "->{ native }.call"), 2) == names{"block in <main>", "<main>"});
}

TEST_CASE("No label holds an address, and no name is empty") {
  attached a;
  for (const char* code :
       {"Class.new { def m; native; end }.new.m", "Class.new { def self.s; [1].each { native }; end }.s",
        "Module.new { def self.ms; native; end }.ms", "o = Object.new; def o.so; native; end; o.so",
        "o = Class.new.new; def o.so; native; end; o.so", "Class.new { define_method(:z) { native } }.new.z",
        "Class.new(Object) { native }", "Struct.new(:a) { def q; native; end }.new(1).q",
        "o = Object.new; o.instance_eval { native }", "Module.new { module_eval('native') }"}) {
    const stack s = stack_at(a.v, code);
    INFO(code);
    CHECK(s.frames.size() > 1);
    for (const auto& f : s.frames) {
      CHECK(f.name.find("0x") == std::string::npos);
      CHECK_FALSE(f.name.empty());
    }
  }
  CHECK(above(stack_at(a.v, "Class.new { def m; native; end }.new.m"), 1) == names{"#<Class>#m"});
  CHECK(above(stack_at(a.v, "Class.new { def self.s; native; end }.s"), 1) == names{"#<Class>.s"});
}

TEST_CASE("Blocks are told from their methods") {
  attached a;
  REQUIRE(run(R"(
    class Foo
      def bar
        [1].each do
          native
        end
      end
      def one_line; [1].each { [2].each { native } }; end
      def levels; [1].each { [2].each_slice(1) { {a: 1}.map { |k| native } } }; end
      def self.klass; [1].each { native }; end
      def recur(n); n.zero? ? native : [1].each { recur(n - 1) }; end
      def helped; begin; raise 'x'; rescue; native; end; end
      def ensured; begin; raise 'x' rescue 0; ensure; [1].each { native }; end; end
      def lambda_direct(n); l = ->{ native }; n > 0 ? lambda_direct(n - 1) : l.call; end
      def keep; proc { native }; end
      def walk(n); visit(n) { native }; end
      def visit(n)
        yield if n == 0
        walk(n - 1) if n > 0
      end
    end
  )").empty());
  for (int round = 0; round < 2; ++round) {  // the second one from memory
    INFO("round " << round);
    CHECK(above(stack_at(a.v, "Foo.new.bar"), 3) ==
          names{"block in Foo#bar", "Array#each", "Foo#bar"});
    CHECK(above(stack_at(a.v, "Foo.new.one_line"), 5) ==
          names{"block (2 levels) in Foo#one_line", "Array#each", "block in Foo#one_line", "Array#each",
                "Foo#one_line"});
    CHECK(stack_at(a.v, "Foo.new.levels").has("block (3 levels) in Foo#levels"));
    CHECK(stack_at(a.v, "Foo.new.levels").has("block (2 levels) in Foo#levels"));
    CHECK(above(stack_at(a.v, "Foo.klass"), 3) == names{"block in Foo.klass", "Array#each", "Foo.klass"});
    CHECK(above(stack_at(a.v, "Foo.new.recur(2)"), 7) ==
          names{"Foo#recur", "block in Foo#recur", "Array#each", "Foo#recur", "block in Foo#recur",
                "Array#each", "Foo#recur"});
    CHECK(above(stack_at(a.v, "Foo.new.lambda_direct(2)"), 4) ==
          names{"block in Foo#lambda_direct", "Foo#lambda_direct", "Foo#lambda_direct",
                "Foo#lambda_direct"});
    CHECK(above(stack_at(a.v, "Foo.new.lambda_direct(0)"), 2) ==
          names{"block in Foo#lambda_direct", "Foo#lambda_direct"});
    CHECK(above(stack_at(a.v, "Foo.new.keep.call"), 2) == names{"block in Foo#keep", "<main>"});
    CHECK(above(stack_at(a.v, "Foo.new.walk(1)"), 5) ==
          names{"block in Foo#walk", "Foo#visit", "Foo#walk", "Foo#visit", "Foo#walk"});
    if (rbprof::vm::cruby_detail::ruby_abi < 304) {  // later ones leave these out of backtraces
      CHECK(above(stack_at(a.v, "Foo.new.helped"), 2) == names{"rescue in Foo#helped", "Foo#helped"});
    }
  }
}

TEST_CASE("A prefix never goes to a wrong frame, in programs made at random") {
  attached a;
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  // Methods call one another, themselves, blocks and lambdas, all on lines that may coincide.
  std::string code = "class Rnd; D = 9\n";
  const int methods = 8;
  for (int i = 0; i < methods; ++i) {
    std::string body;
    for (int j = 0; j < 3; ++j) {
      const std::string call = "m" + std::to_string(pick(methods)) + "(d + 1, r)";
      const char* const sep = pick(2) != 0 ? "; " : "\n";
      switch (pick(7)) {
        case 0: body += call + sep; break;
        case 1: body += "[1].each { " + call + " }" + sep; break;
        case 2: body += "l = ->{ " + call + " }; l.call" + sep; break;
        case 3: body += "y(d) { " + call + " }" + sep; break;
        case 4: body += "{a: 1}.map { [1].each_slice(1) { " + call + " } }" + sep; break;
        case 5: body += "begin; raise 'x'; rescue; " + call + "; end" + sep; break;
        default: body += "1.times { native if r.rand(4) == 0 }" + std::string(sep); break;
      }
    }
    code += "def m" + std::to_string(i) + "(d, r); return native if d >= D || r.rand(3) == 0; " + body +
            " native; end\n";
  }
  code += "def y(d); yield; end; end";
  REQUIRE(run(code).empty());

  namespace detail = rbprof::vm::cruby_detail;
  int captured = 0;
  int checked = 0;
  int prefixed = 0;
  int truth_prefixed = 0;
  int wrong = 0;
  on_native = [&] {
    if (checked >= 20'000) return;
    a.v.with_lock_here([&](lock& lk) {
      const stack s = read_stack(a.v, lk, a.v.current(lk));
      // The truth by another way: the Ruby frames of a backtrace, by their line and method.
      const VALUE trace = rb_make_backtrace();
      std::vector<std::string> truth;
      std::vector<std::string> true_blocks;
      for (long i = 0; i < RARRAY_LEN(trace); ++i) {
        const std::string line(detail::bytes_of(RARRAY_AREF(trace, i)));
        const std::size_t in = line.rfind(detail::ruby_abi < 304 ? ":in `" : ":in '");
        std::string label = line.substr(in + 5, line.size() - in - 6);
        const std::size_t p = detail::label_prefix(label);
        const std::string base = label.substr(p);
        const std::string method = base.substr(base.rfind('#') + 1);
        const bool ours = method == "y" || (method.size() == 2 && method[0] == 'm');
        if (ours) truth.push_back(label.substr(0, p));
        if (ours && p > 0) true_blocks.push_back(label);
      }
      std::vector<std::string> found;
      std::vector<std::string> found_blocks;
      for (const auto& f : s.frames) {
        if (f.name.find("Rnd#") == std::string::npos) continue;
        const std::size_t p = detail::label_prefix(f.name);
        found.push_back(f.name.substr(0, p));
        if (p > 0) found_blocks.push_back(f.name);
      }
      ++captured;
      if (detail::ruby_abi >= 304 && found.size() != truth.size()) {
        // A rescue clause has no line of its own, so only the order of the blocks can be compared.
        auto at = true_blocks.begin();
        for (const std::string& block : found_blocks) {
          at = std::find(at, true_blocks.end(), block);
          if (at == true_blocks.end()) {
            ++wrong;
            break;
          }
          ++at;
        }
        return;
      }
      ++checked;
      if (found.size() != truth.size()) {
        if (++wrong > 1) return;
        for (const auto& f : s.frames) UNSCOPED_INFO(f.name << ':' << f.line);
        for (long i = 0; i < RARRAY_LEN(trace); ++i) {
          UNSCOPED_INFO(std::string(detail::bytes_of(RARRAY_AREF(trace, i))));
        }
        return;
      }
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!truth[i].empty()) ++truth_prefixed;
        if (found[i].empty()) continue;
        ++prefixed;
        if (found[i] != truth[i]) ++wrong;
      }
    });
  };
  const std::string error = run("rng = Random.new(" + std::to_string(seed) +
                                "); 300.times { |i| Rnd.new.send(\"m#{i % 8}\", 0, rng) }");
  on_native = nullptr;
  CHECK(error == "");
  CHECK(checked > 500);
  CHECK(wrong == 0);
  INFO(prefixed << " of " << truth_prefixed << " in " << checked << " stacks");
  CHECK(prefixed > truth_prefixed / 2);
  CHECK(statistics(a.v).at("backtraces") < static_cast<std::uint64_t>(captured));
  CHECK(statistics(a.v).at("backtraces_misfit") == 0);
}

TEST_CASE("Files, lines and starts are those of the source") {
  attached a;
  REQUIRE(run("Object.class_eval(\"def ev_named\\n  native\\nend\", 'virtual/thing.rb', 700)").empty());
  REQUIRE(run("Object.class_eval(\"def ev_neg\\n  native\\nend\", 'neg.rb', -5)").empty());
  REQUIRE(run("Object.class_eval(\"def ev_empty\\n  native\\nend\", '', 1)").empty());
  const stack s = stack_at(a.v, "ev_named");
  CHECK(s.frames[0].native);
  CHECK(s.frames[0].file == "<cfunc>");
  CHECK(s.frames[0].line == 0);
  CHECK(s.frames[1].name == "Object#ev_named");
  CHECK(s.frames[1].file == "virtual/thing.rb");
  CHECK(s.frames[1].line == 701);
  CHECK(s.frames[1].start_line == 700);
  CHECK_FALSE(s.frames[1].native);
  CHECK(stack_at(a.v, "ev_neg").frames[1].name == "Object#ev_neg");
  CHECK(stack_at(a.v, "ev_empty").frames[1].file == "");
}

TEST_CASE("Names keep the bytes that the program gave them") {
  attached a;
  REQUIRE(run("# -*- coding: utf-8 -*-\ndef z\u00e4hle_\u65e5\u672c; native; end").empty());
  CHECK(stack_at(a.v, "# -*- coding: utf-8 -*-\nz\u00e4hle_\u65e5\u672c").has("Object#z\u00e4hle_\u65e5\u672c"));
  REQUIRE(run("Object.class_eval(\"def _tpl_page_html__1234567_89; native; end\", 'page.erb', 1)").empty());
  CHECK(stack_at(a.v, "_tpl_page_html__1234567_89").has("Object#_tpl_page_html"));
}

TEST_CASE("A stack is truncated only when a frame is missing, and keeps its leaf") {
  attached a;
  REQUIRE(run("def down(n); n.zero? ? native : down(n - 1); end").empty());
  const std::size_t depth = stack_at(a.v, "down(20)").frames.size();
  CHECK(depth == 23);  // native, down 21 times, <main>
  for (const std::size_t limit : {depth - 1, depth, depth + 1, depth + 50, std::size_t{1}}) {
    const stack s = stack_at(a.v, "down(20)", limit);
    INFO("limit " << limit);
    CHECK(s.frames.size() == std::min(limit, depth));
    CHECK(s.truncated == (limit < depth));
    CHECK(s.frames[0].name == "Kernel#native");
  }
}

TEST_CASE("Described frames outlive their methods, and collections that move objects") {
  attached a;
  std::vector<std::pair<frame, std::string>> kept;
  on_native = [&] {
    a.v.with_lock_here([&](lock& lk) {
      const stack s = read_stack(a.v, lk, a.v.current(lk));
      for (std::size_t i = 0; i < s.raw.size(); ++i) kept.emplace_back(s.raw[i], s.frames[i].name);
    });
  };
  CHECK(run(R"(
    300.times do |i|
      eval("class Tmp#{i}; def gone; [1].each { native }; end; end; Tmp#{i}.new.gone")
      Object.send(:remove_const, "Tmp#{i}")
    end
    GC.auto_compact = true if GC.respond_to?(:auto_compact=)
    5.times { GC.start; GC.compact if GC.respond_to?(:compact) ; 10_000.times { |i| i.to_s } }
  )") == "");
  on_native = nullptr;
  int wrong = 0;
  a.v.with_lock_here([&](lock& lk) {
    for (const auto& [f, name] : kept) {
      rbprof::frame_text t;
      if (!a.v.describe(lk, f, t) || t.name != name) ++wrong;
    }
    a.v.forget_frames(lk);
  });
  CHECK(kept.size() > 1000);
  CHECK(wrong == 0);
  CHECK(run("GC.auto_compact = false if GC.respond_to?(:auto_compact=); 3.times { GC.start }") == "");
}

TEST_CASE("Samples may be taken while every allocation collects and moves objects") {
  attached a;
  int taken = 0;
  int bad = 0;
  points_seen = &a.s.points;
  a.s.at_point = [&](lock& lk) {
    if (taken == 12) return;  // on a slow machine the next one would come before this one is done
    ++taken;
    for (const auto& f : read_stack(a.v, lk, a.v.current(lk)).frames) {
      if (f.name.empty() || f.name.find("not described") != std::string::npos) ++bad;
    }
    if (taken % 4 == 0) a.v.forget_frames(lk);
  };
  {
    ticker t(a.v, 20'000'000);
    CHECK(run(R"(
      GC.auto_compact = true if GC.respond_to?(:auto_compact=)
      GC.stress = true
      def stressed(n); [1].each { |x| n.zero? ? "a#{x}" * 3 : stressed(n - 1) }; end
      t = Process.clock_gettime(1); stressed(4) while points < 12 && Process.clock_gettime(1) - t < 60
      GC.stress = false
      GC.auto_compact = false if GC.respond_to?(:auto_compact=)
    )") == "");
  }
  a.s.at_point = nullptr;
  CHECK(taken > 3);
  CHECK(bad == 0);
}
