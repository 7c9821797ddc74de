// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include <rbprof/vm/cruby/interrupted.hpp>
#include <rbprof/vm/cruby/names.hpp>
#include <rbprof/vm/cruby/thread_words.hpp>

#include "host.hpp"

namespace detail = rbprof::vm::cruby_detail;

TEST_CASE("Addresses are taken out of names") {
  CHECK(detail::without_addresses("#<Class:0x00007f12ab>") == "#<Class>");
  CHECK(detail::without_addresses("#<#<Class:0x1>:0x2>") == "#<#<Class>>");
  CHECK(detail::without_addresses("A:0x") == "A:0x");
  CHECK(detail::without_addresses("tail:0xff") == "tail");
  CHECK(detail::without_addresses("Foo::Bar") == "Foo::Bar");
}

TEST_CASE("The prefix of a label is found, whatever it is made of") {
  const auto prefix = [](std::string_view s) { return s.substr(0, detail::label_prefix(s)); };
  CHECK(prefix("bar") == "");
  CHECK(prefix("block in bar") == "block in ");
  CHECK(prefix("block (12 levels) in bar") == "block (12 levels) in ");
  CHECK(prefix("rescue in block in bar") == "rescue in block in ");
  CHECK(prefix("block in rescue in Foo#bar") == "block in rescue in ");
  CHECK(prefix("block (x levels) in bar") == "");
  CHECK(prefix("block () in bar") == "");
}

TEST_CASE("The random tail of a compiled template goes, digits of a program stay") {
  const auto trim = [](std::string_view s, std::string_view file = "a.erb") {
    return std::string(detail::without_template_tail(s, file));
  };
  CHECK(trim("_tpl_page_html__123_456") == "_tpl_page_html");
  CHECK(trim("_tpl_page_html___123_456") == "_tpl_page_html");
  CHECK(trim("_tpl_page_html__123_456", "a.rb") == "_tpl_page_html__123_456");
  CHECK(trim("step__2") == "step__2");
  CHECK(trim("step_1_2") == "step_1_2");
  CHECK(trim("__1_2") == "__1_2");
  CHECK(trim("v2") == "v2");
}

TEST_CASE("The place where a thread began is read from its text") {
  using detail::invoke_location;
  CHECK(invoke_location("#<Thread:0x00007f a.rb:12 run>", "") == "a.rb:12");
  CHECK(invoke_location("#<Thread:0x00007f@my name a.rb:12 sleep_forever>", "my name") == "a.rb:12");
  CHECK(invoke_location("#<My::Thread:0x00007f@n /with space/a.rb:12 dead>", "n") == "/with space/a.rb:12");
  CHECK(invoke_location("#<Thread:0x00007f run>", "") == "");
  CHECK(invoke_location("mine", "") == "");
}

TEST_CASE("The function that runs jobs is found by the unwind tables") {
  static host::adapter v;
  static host::sink s(v);
  REQUIRE(v.attach(s).ok());
  host::on_native = [&] { CHECK(v.request_safe_point() == rbprof::request_result::accepted); };
  CHECK(host::run("native; 1000.times { |i| i.to_s }") == "");
  host::on_native = nullptr;
  CHECK(s.points >= 1);
  const std::size_t size = detail::process::self().flush_range();
  if constexpr (host::foreign) {
    CHECK(size == 0);  // not needed there
  } else {
    CHECK(size > 16);
    CHECK(size < 4096);
  }
  CHECK(v.detach().ok());
}
