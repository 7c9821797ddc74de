/* SPDX-FileCopyrightText: 2026 The rbprof authors
 * SPDX-License-Identifier: MIT */
#ifndef RBPROF_HOST_BRIDGE_H
#define RBPROF_HOST_BRIDGE_H

/* rbprof for hosts in C, or in a C++ before 20. This header is C99. There is one source file for each VM,
 * rbprof/app/bridge_cruby.cpp and bridge_mruby.cpp: the host compiles the one that it needs as C++20, with the flags
 * of rbprof::cruby or rbprof::mruby and of rbprof::output, and links it. Both may be in one program.
 *
 *     rbprof_settings s;
 *     rbprof_settings_init(&s);
 *     rbprof_bridge* p = rbprof_new_mruby(mrb, &s);
 *     if (rbprof_start(p) != RBPROF_OK) puts(rbprof_message(p));
 *     ... Ruby runs here ...
 *     if (rbprof_stop(p, "game.pb.gz") != RBPROF_OK) puts(rbprof_message(p));
 *     rbprof_free(p);
 *
 * Nothing is thrown out of these functions, and no VM exception leaves them. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rbprof_bridge rbprof_bridge;
struct mrb_state;

/* What became of a call; rbprof_message says it in words, and what to do. */
typedef enum rbprof_code {
  RBPROF_OK = 0,
  RBPROF_INVALID = 1,  /* a setting or an argument is out of range */
  RBPROF_REFUSED = 2,  /* not now: not running, running already, the VM is not up or does not fit */
  RBPROF_BUSY = 3,     /* another profiler is attached to this VM */
  RBPROF_LATE = 4,     /* the VM did not answer in time; nothing is lost, ask again */
  RBPROF_NO_ROOM = 5,  /* the process has no lane, no timer left */
  RBPROF_FAILED = 6    /* anything else, such as a file that can't be written */
} rbprof_code;

typedef struct rbprof_settings {
  uint32_t size;           /* of this struct; set by rbprof_settings_init */
  int collector;           /* 1: the collector's time is its own */
  uint64_t interval_ns;    /* between two samples */
  double overhead_percent; /* of wall time, at most 20 */
  const char* program;     /* shown by viewers; NULL: the VM's name */
} rbprof_settings;

/* Any thread. Fills in the defaults; call it before setting anything. */
void rbprof_settings_init(rbprof_settings* s);

/* Any thread. A profiler that does not run yet; `s` may be NULL. NULL when there is no memory. */
rbprof_bridge* rbprof_new_cruby(const rbprof_settings* s);
rbprof_bridge* rbprof_new_mruby(struct mrb_state* mrb, const rbprof_settings* s);

/* As rbprof::cruby::profiler and rbprof::mruby::profiler: start on a thread that holds the VM lock, or drives the
 * state; stop and flush on any thread. `file` gets what was recorded since the last flush: *.html a flame graph,
 * *.collapsed stacks in lines, *.pb pprof, any other pprof in gzip. NULL: it is dropped. */
rbprof_code rbprof_start(rbprof_bridge* p);
rbprof_code rbprof_flush(rbprof_bridge* p, const char* file);
rbprof_code rbprof_stop(rbprof_bridge* p, const char* file);

/* mruby: the calling thread drives the state from now on, or no more. CRuby: RBPROF_INVALID. */
rbprof_code rbprof_bind(rbprof_bridge* p);
rbprof_code rbprof_unbind(rbprof_bridge* p);

/* Of the last call that failed, on any thread; good until the next call with `p`. Never NULL. */
const char* rbprof_message(const rbprof_bridge* p);
int rbprof_is_running(const rbprof_bridge* p);

/* Stops when running; what was recorded is lost then. NULL is allowed. Before the VM goes down. */
void rbprof_free(rbprof_bridge* p);

#ifdef __cplusplus
}
#endif

#endif /* RBPROF_HOST_BRIDGE_H */
