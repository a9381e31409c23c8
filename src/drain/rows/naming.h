/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of hosts in what programs send and receive. The bytes are anybody's: whatever they are, nothing beyond them is
 * read. Pure.
 */
#ifndef DRAIN_ROWS_NAMING_H
#define DRAIN_ROWS_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dlt_peer;

#define NAMING_HOST_MAX 254 /* with the NUL: RFC 1035, 3.1 */

/* Sets NAME to the host that a TLS ClientHello, perhaps cut off, names (server_name, RFC 6066, 3). Returns whether it
 * does. */
bool naming_hello(const uint8_t *data, size_t len, char name[static NAMING_HOST_MAX]);

/*
 * Sets NAME to the host that the answer of a name server (RFC 1035, 4), perhaps cut off, is about, and ADDRESSES, of
 * port 0, to its addresses. Returns how many: MAX at most; 0: it is no such answer.
 */
size_t naming_dns(const uint8_t *data, size_t len, char name[static NAMING_HOST_MAX], struct dlt_peer *addresses,
		  size_t max);

#endif
