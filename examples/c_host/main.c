/* SPDX-FileCopyrightText: 2026 The rbprof authors
 * SPDX-License-Identifier: MIT
 *
 * A host in C99 through the bridge: it embeds mruby, calls Ruby each frame, and leaves a profile behind.
 *
 *     c-host [FILE]
 */
#include <mruby.h>
#include <mruby/compile.h>
#include <rbprof/host/bridge.h>

#include <stdio.h>
#include <stdlib.h>

static const char program[] =
    "def move(n); i = 0; i += 1 while i < n; end\n"
    "def draw(n); (1..n).map { |i| i.to_s }.join.size; end\n"
    "def frame; move(30_000); draw(300); end\n";

static int complain(const rbprof_bridge* profiler) {
  fprintf(stderr, "c-host: %s\n", rbprof_message(profiler));
  return 1;
}

static int play(mrb_state* mrb, int frames) {
  for (int i = 0; i < frames; ++i) {
    const int arena = mrb_gc_arena_save(mrb);
    mrb_funcall(mrb, mrb_top_self(mrb), "frame", 0);
    mrb_gc_arena_restore(mrb, arena);
    if (mrb->exc != NULL) {
      mrb_print_error(mrb);
      return 1;
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* const file = argc > 1 ? argv[1] : "c-host.pb.gz";
  mrb_state* const mrb = mrb_open();
  if (mrb == NULL) return 1;
  mrb_load_string(mrb, program);

  rbprof_settings settings;
  rbprof_settings_init(&settings);
  settings.interval_ns = 1000000;
  settings.overhead_percent = 5;
  settings.program = "c-host";
  rbprof_bridge* const profiler = rbprof_new_mruby(mrb, &settings);
  if (profiler == NULL) return complain(profiler);

  int failed = 0;
  if (rbprof_stop(profiler, NULL) != RBPROF_REFUSED) failed = 1; /* it does not run yet, and says so */
  fprintf(stderr, "c-host: stop before start: %s\n", rbprof_message(profiler));
  if (rbprof_start(profiler) == RBPROF_REFUSED) { /* the start that a stop came before is given up, once */
    fprintf(stderr, "c-host: %s\n", rbprof_message(profiler));
    if (rbprof_start(profiler) != RBPROF_OK) return complain(profiler);
  }
  failed |= play(mrb, 300);
  if (rbprof_stop(profiler, file) != RBPROF_OK) failed = complain(profiler);
  rbprof_free(profiler);
  mrb_close(mrb);
  if (!failed) printf("c-host: 300 frames, profile in %s\n", file);
  return failed;
}
