/* SPDX-FileCopyrightText: 2026 The rbprof authors
 * SPDX-License-Identifier: MIT */
#ifndef RBPROF_TESTS_BRIDGE_PARTS_H
#define RBPROF_TESTS_BRIDGE_PARTS_H

#include <rbprof/host/bridge.h>

/* The headers of the two VMs can't be in one source file. Each returns 0 when all was well. */
int ruby_part(const rbprof_settings* s);
int mruby_part(const rbprof_settings* s, const rbprof_settings* bad);

int expect(int good, const char* what, const rbprof_bridge* p);
/* Profiles two runs, the second of which goes to `file`. */
int profile_with(rbprof_bridge* p, void (*run)(void), const char* file, const char* method);

#endif
