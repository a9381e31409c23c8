/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced status --watch': a running trace as it goes, on a terminal, as blocks of text or as JSON. */
#ifndef CMD_STATUS_WATCH_H
#define CMD_STATUS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Until the trace WHICH (NULL: the only one) ends, or we are interrupted: a look every INTERVAL_MS. The exit
 * status: 0, or 1 with a message when there is none to watch.
 */
int status_watch(const char *which, uint64_t interval_ms, bool json);

#endif
