/* SPDX-License-Identifier: BSD-2-Clause */
/* sd_notify(3) without its library: one datagram to $NOTIFY_SOCKET. Nothing happens without one. */
#ifndef OS_NOTIFY_H
#define OS_NOTIFY_H

#include <stdint.h>

/* Send STATE, lines of NAME=VALUE. 0, also where no socket is set; or -errno. */
int notify_send(const char *state);

/* Returns half of systemd's watchdog interval (WATCHDOG_USEC, WATCHDOG_PID), in ns; 0: none. */
uint64_t notify_watchdog_ns(void);

#endif
