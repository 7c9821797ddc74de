/* SPDX-FileCopyrightText: 2026 The rbprof authors
 * SPDX-License-Identifier: MIT
 *
 * Both bridges in one program in C99: each profiles its VM, and says what is wrong when something is.
 */
#include "parts.h"

#include <stdio.h>
#include <string.h>

int expect(int good, const char* what, const rbprof_bridge* p) {
  if (!good) fprintf(stderr, "bridge: %s (last message: %s)\n", what, rbprof_message(p));
  return good ? 0 : 1;
}

int profile_with(rbprof_bridge* p, void (*run)(void), const char* file, const char* method) {
  int failed = expect(rbprof_start(p) == RBPROF_OK, "it starts", p);
  failed |= expect(rbprof_start(p) == RBPROF_REFUSED && strlen(rbprof_message(p)) > 0, "a second start is refused", p);
  failed |= expect(rbprof_is_running(p) == 1, "it runs", p);
  run();
  failed |= expect(rbprof_flush(p, NULL) == RBPROF_OK, "it flushes", p);
  run();
  failed |= expect(rbprof_stop(p, file) == RBPROF_OK, "it stops", p);
  failed |= expect(rbprof_stop(p, file) == RBPROF_REFUSED, "a second stop is refused", p);
  failed |= expect(rbprof_is_running(p) == 0, "it does not run", p);
  FILE* const written = fopen(file, "r");
  int found = 0;
  char line[4096];
  while (written != NULL && fgets(line, sizeof line, written) != NULL) found |= strstr(line, method) != NULL;
  if (written != NULL) fclose(written);
  return failed | expect(found, "the file has the method", p);
}

int main(void) {
  rbprof_settings s;
  rbprof_settings_init(&s);
  rbprof_settings bad = s;
  bad.interval_ns = 1;
  s.interval_ns = 1000000;
  s.overhead_percent = 20;
  const int failed = mruby_part(&s, &bad) | ruby_part(&s);
  rbprof_free(NULL);
  return failed;
}
