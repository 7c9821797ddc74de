// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include "host.hpp"

using namespace host;
using words = std::vector<std::string>;

namespace {

/// The frames above `native`.
words above(const words& all, std::size_t n) {
  REQUIRE(all.size() > n);
  CHECK(all[0] == "Kernel#native@<cfunc>");
  return words(all.begin() + 1, all.begin() + 1 + static_cast<std::ptrdiff_t>(n));
}

}  // namespace

TEST_CASE("Methods are named by the class of their definition, singletons with a dot") {
  state s;
  REQUIRE(s.run(R"(
    class Svc
      def self.boot; native; end
      class Inner; class << self; def go; native; end; end; end
      def work; native; end
    end
    class Heir < Svc; end
    module Mixin; def mixin_spin; native; end; end
    class User; include Mixin; end
    def top_level; native; end
    SOLO = Object.new
    def SOLO.solo; native; end
    class Odd
      define_method(:dyn) { native }
      def method_missing(name, *args) = name == :ghost ? native : super
    end
  )").empty());
  CHECK(above(stack_at(s, "Svc.boot"), 1) == words{"Svc.boot@3"});
  CHECK(above(stack_at(s, "Svc::Inner.go"), 1) == words{"Svc::Inner.go@4"});
  CHECK(above(stack_at(s, "Heir.new.work"), 1) == words{"Svc#work@5"});
  CHECK(above(stack_at(s, "User.new.mixin_spin"), 1) == words{"Mixin#mixin_spin@8"});
  CHECK(above(stack_at(s, "top_level"), 1) == words{"Object#top_level@10"});
  CHECK(above(stack_at(s, "SOLO.solo"), 1) == words{"#<Object>#solo@12"});
  CHECK(above(stack_at(s, "Odd.new.dyn"), 1) == words{"Odd#dyn@14"});
  CHECK(above(stack_at(s, "Odd.new.ghost"), 1) == words{"Odd#method_missing@15"});
  CHECK(above(stack_at(s, "Class.new { def zz; native; end }.new.zz"), 1) == words{"#<Class>#zz@1"});
}

TEST_CASE("What is not in a method has the name of its place, with the line that runs") {
  state s;
  CHECK(stack_at(s, "1\nnative") == words{"Kernel#native@<cfunc>", "<main>@2"});
  CHECK(stack_at(s, "[1].each do\n native\nend") ==
        words{"Kernel#native@<cfunc>", "block in <main>@2", "Array#each@0", "<main>@1"});
  CHECK(stack_at(s, "class Klass\n native\nend") == words{"Kernel#native@<cfunc>", "<class:Klass>@2", "<main>@1"});
  CHECK(stack_at(s, "module Mod\n native\nend") == words{"Kernel#native@<cfunc>", "<module:Mod>@2", "<main>@1"});
  CHECK(stack_at(s, "def outer\n [1].each { native }\nend\nouter") ==
        words{"Kernel#native@<cfunc>", "block in Object#outer@2", "Array#each@0", "Object#outer@2", "<main>@4"});
}

TEST_CASE("Methods in C, and what they call, are in the stack") {
  state s;
  const words all = stack_at(s, "def given\n native\nend\ncall_from_c(-> {\n given })");
  CHECK(all.front() == "Kernel#native@<cfunc>");
  CHECK(all[1] == "Object#given@2");
  CHECK(all[2] == "block in <main>@5");
  CHECK(std::find(all.begin(), all.end(), "Kernel#call_from_c@<cfunc>") != all.end());
  CHECK(all.back().starts_with("<main>@"));
}

TEST_CASE("A fiber's stack is its own: it has no frame of the one that resumed it") {
  state s;
  const words all = stack_at(s, "def inside\n native\nend\ndef resumer(f)\n f.resume\nend\nresumer(Fiber.new { inside })");
  CHECK(all == words{"Kernel#native@<cfunc>", "Object#inside@2", "block in <main>@7"});
}

TEST_CASE("Code of eval has its own file and line, and the program's end is no frame of what comes after") {
  state s;
  const words all = stack_at(s, "def named\n eval('native')\nend\nnamed");
  CHECK(all[0] == "Kernel#native@<cfunc>");
  CHECK(std::find(all.begin(), all.end(), "Object#named@2") != all.end());
  // The host calls a method by itself, after the program.
  REQUIRE(s.run("def later\n native\nend").empty());
  adapter v;
  v.options.state = s.mrb;
  sink to;
  REQUIRE(v.attach(to).ok());
  words called;
  s.on_native = [&] {
    v.with_lock_here([&](lock& lk) {
      std::vector<frame> frames(50);
      const rbprof::captured got = v.capture(lk, v.current(lk), frames);
      for (std::size_t i = 0; i < got.count; ++i) {
        rbprof::frame_text t;
        CHECK(v.describe(lk, frames[i], t));
        called.push_back(t.name);
      }
    });
  };
  (void)mrb_funcall(s.mrb, mrb_top_self(s.mrb), "later", 0);
  s.on_native = nullptr;
  CHECK(called == words{"Kernel#native", "Object#later"});
}

TEST_CASE("A stack that is too deep is cut at the root, and says so") {
  state s;
  const std::string down = "def down(n)\n n == 0 ? native : down(n - 1)\nend\n";
  REQUIRE(s.run(down).empty());
  bool cut = false;
  const std::size_t depth = stack_at(s, "down(20)", 400, &cut).size();
  CHECK(depth == 23);
  CHECK_FALSE(cut);
  const words some = stack_at(s, "down(20)", 10, &cut);
  CHECK(some.size() == 10);
  CHECK(cut);
  CHECK(some.front() == "Kernel#native@<cfunc>");
}
