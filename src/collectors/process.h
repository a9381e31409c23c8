/* SPDX-License-Identifier: BSD-2-Clause */
/* One collector's process, for collectors.c alone. Control plane, on the main thread. */
#ifndef COLLECTORS_PROCESS_H
#define COLLECTORS_PROCESS_H

#include <stdbool.h>

struct collector;

/* Start the tool into C's pipe and wait for its exec. 0, or -errno with nothing left behind. */
int collector_spawn(struct collector *c);
bool collector_is_running(const struct collector *c);
/* True once the process has ended; it is reaped without waiting. */
bool collector_reap(struct collector *c);
/* Put into C's state how the process ended, then AFTER (", restarted"), then its first error. */
void collector_describe_end(struct collector *c, const char *after);

#endif
