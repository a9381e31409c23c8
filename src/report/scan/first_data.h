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

#define FIRST_DATA_BYTES (256U << 10) /* so many bytes, read without a break, are not a settings file */
#define FIRST_DATA_READS 16 /* so many reads without a break are not one either */
#define FIRST_DATA_BREAK_NS NSEC_PER_SEC

struct first_data {
	bool settled; /* the reads since BEGIN_NS are of data */
	uint32_t reads;
	uint64_t bytes;
	uint64_t first_ns; /* the first read of any file that may be data; 0: none */
	uint64_t begin_ns, last_ns; /* since the last break */
	uint64_t map_ns; /* the first map of such a file; 0: none */
};

static inline uint64_t first_data_earlier(uint64_t a_ns, uint64_t b_ns)
{
	return !a_ns || (b_ns && b_ns < a_ns) ? b_ns : a_ns;
}

/* Adds a read that began at AT_NS; reads come in order of time. */
static inline void first_data_read(struct first_data *data, uint64_t at_ns, uint64_t bytes)
{
	if (data->settled)
		return;
	data->first_ns = first_data_earlier(data->first_ns, at_ns);
	if (!data->begin_ns || at_ns > data->last_ns + FIRST_DATA_BREAK_NS) {
		data->begin_ns = at_ns;
		data->bytes = data->reads = 0;
	}
	data->last_ns = at_ns;
	data->bytes += bytes;
	data->settled = ++data->reads >= FIRST_DATA_READS || data->bytes >= FIRST_DATA_BYTES;
}

static inline void first_data_map(struct first_data *d, uint64_t at_ns)
{
	d->map_ns = first_data_earlier(d->map_ns, at_ns);
}

/* Returns when the data begins, 0 for never. A process that never read much without a break has data from its first
 * read. */
static inline uint64_t first_data_ns(const struct first_data *d)
{
	return first_data_earlier(d->settled ? d->begin_ns : d->first_ns, d->map_ns);
}

#endif
