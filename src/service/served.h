/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace that a user without rights has asked the service for: a process of its own, started by the
 * daemon for one connection (`dltraced serve', which nobody calls by hand). It reads the request, checks
 * it, and runs a session like any other, with files touched as that user and nothing told but of that
 * user's processes. Control plane.
 */
#ifndef SERVICE_SERVED_H
#define SERVICE_SERVED_H

#include <stdint.h>

/* Serve the connection that is our standard input; MAX_BUFFER bytes of rings. The exit status. */
int served_run(uint64_t max_buffer_bytes);

#endif
