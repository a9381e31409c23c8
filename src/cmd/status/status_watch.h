/* SPDX-License-Identifier: BSD-2-Clause */
/* One running trace, as it sends frames: receives them, has what they lack found, and has them printed. */
#ifndef CMD_STATUS_STATUS_WATCH_H
#define CMD_STATUS_STATUS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `dltraced status --watch': shows the running trace WHICH (NULL: the only one) every INTERVAL_MS: on a terminal, as
 * blocks of text, or as JSON. Ends with the trace, or by a signal. Returns 0, or 1 after a message when something
 * failed.
 */
int status_watch(const char *which, uint64_t interval_ms, bool json);

#endif
