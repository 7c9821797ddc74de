/* SPDX-FileCopyrightText: 2026 The rbprof authors
 * SPDX-License-Identifier: MIT */
#include <ruby.h>

#include "parts.h"

static void run(void) {
  int failed = 0;
  rb_eval_string_protect("def in_ruby = 3_000_000.times { |i| i }\nin_ruby", &failed);
}

int ruby_part(const rbprof_settings* s) {
  static char name[] = "bridge";
  static char flag[] = "-e";
  static char nothing[] = "0";
  char* options[] = {name, flag, nothing, NULL};
  char** arguments = options;
  int count = 3;
  rbprof_bridge* const p = rbprof_new_cruby(s);
  int failed = expect(rbprof_start(p) != RBPROF_OK, "before Ruby is up it does not start", p);
  ruby_sysinit(&count, &arguments);
  RUBY_INIT_STACK;
  ruby_init();
  ruby_options(count, arguments);
  failed |= profile_with(p, run, "bridge-cruby.collapsed", "Object#in_ruby");
  failed |= expect(rbprof_bind(p) == RBPROF_INVALID, "in CRuby there is nothing to bind", p);
  rbprof_free(p);
  return ruby_cleanup(0) | failed;
}
