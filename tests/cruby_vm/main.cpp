// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_session.hpp>
#include <rbprof/vm/cruby/ruby.hpp>

#include "host.hpp"

// Ruby's stack begins in this frame.
int main(int argc, char** argv) {
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  char name[] = "cruby_vm_test";
  char flag[] = "-e";
  char code[] = "0";
  char* options[] = {name, flag, code, nullptr};
  ruby_options(3, options);
  host::define_methods();
  // No ruby_cleanup(): the tests of the end do it in a child.
  return Catch::Session().run(argc, argv);
}
