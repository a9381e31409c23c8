/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a process began to read its data. A script reads a settings file and then imports modules for seconds, so a few
 * bytes long before the rest are not where the data begins.
 */
#ifndef REPORT_SCAN_FIRST_DATA_H
#define REPORT_SCAN_FIRST_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

#define FIRST_DATA_BYTES (256U << 10) /* so many bytes, read or mapped without a break, are not a settings file */
#define FIRST_DATA_CALLS 16 /* so many calls without a break are not one either */
#define FIRST_DATA_BREAK_NS NSEC_PER_SEC

struct first_data {
	bool settled; /* the calls since BEGIN_NS are of data */
	uint32_t calls;
	uint64_t bytes;
	uint64_t first_ns; /* the first read or map of any file that may be data; 0: none */
	uint64_t begin_ns, last_ns; /* since the last break */
};

/* Adds a read, or a map, of BYTES that began at AT_NS; they come in order of time. */
static inline void first_data_take(struct first_data *data, uint64_t at_ns, uint64_t bytes)
{
	if (data->settled)
		return;
	if (!data->first_ns)
		data->first_ns = at_ns;
	if (!data->begin_ns || at_ns > data->last_ns + FIRST_DATA_BREAK_NS) {
		data->begin_ns = at_ns;
		data->bytes = data->calls = 0;
	}
	data->last_ns = at_ns;
	data->bytes += bytes;
	data->settled = ++data->calls >= FIRST_DATA_CALLS || data->bytes >= FIRST_DATA_BYTES;
}

/* Returns when the data begins, 0 for never. A process that never read or mapped much without a break has data from the
 * first of these calls. */
static inline uint64_t first_data_ns(const struct first_data *data)
{
	return data->settled ? data->begin_ns : data->first_ns;
}

#endif
