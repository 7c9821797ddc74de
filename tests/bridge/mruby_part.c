/* SPDX-FileCopyrightText: 2026 The rbprof authors
 * SPDX-License-Identifier: MIT */
#include "parts.h"

#include <mruby.h>
#include <mruby/compile.h>

static mrb_state* mrb;

static void run(void) { mrb_load_string(mrb, "def in_mruby; i = 0; i += 1 while i < 2_000_000; end; in_mruby"); }

int mruby_part(const rbprof_settings* s, const rbprof_settings* bad) {
  mrb = mrb_open();
  rbprof_bridge* const wrong = rbprof_new_mruby(mrb, bad);
  int failed = expect(rbprof_start(wrong) == RBPROF_INVALID, "an interval of 1 ns is refused", wrong);
  rbprof_free(wrong);
  rbprof_bridge* const p = rbprof_new_mruby(mrb, s);
  failed |= profile_with(p, run, "bridge-mruby.collapsed", "Object#in_mruby");
  failed |= expect(rbprof_start(p) == RBPROF_OK, "it starts again", p);
  rbprof_bridge* const second = rbprof_new_mruby(mrb, s);
  failed |= expect(rbprof_start(second) == RBPROF_BUSY, "a second profiler of the state is refused", second);
  rbprof_free(second);
  failed |= expect(rbprof_unbind(p) == RBPROF_OK, "it lets go of the thread", p);
  failed |= expect(rbprof_bind(p) == RBPROF_OK, "it takes the thread", p);
  rbprof_free(p);
  mrb_close(mrb);
  return failed;
}
