/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a process came to its data. Scripts read a file of settings, and then import for seconds: a little that was read long
 * before the rest is not where the data begins.
 */
#ifndef REPORT_SCAN_FIRST_DATA_H
#define REPORT_SCAN_FIRST_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

#define FIRST_DATA_BYTES (256U << 10) /* read without a break, this is no file of settings */
#define FIRST_DATA_READS 16	      /* nor are so many reads */
#define FIRST_DATA_BREAK_NS NSEC_PER_SEC

struct first_data {
	bool settled; /* what was read since BEGIN_NS is data */
	uint32_t reads;
	uint64_t bytes;
	uint64_t first_ns;	    /* the first read of any file that may be data; 0: none */
	uint64_t begin_ns, last_ns; /* since the last break */
	uint64_t map_ns;	    /* the first map of such a file; 0: none */
};

static inline uint64_t first_data_earlier(uint64_t a_ns, uint64_t b_ns)
{
	return !a_ns || (b_ns && b_ns < a_ns) ? b_ns : a_ns;
}

/* A read that began at AT_NS; in the order of time. */
static inline void first_data_read(struct first_data *d, uint64_t at_ns, uint64_t bytes)
{
	if (d->settled)
		return;
	d->first_ns = first_data_earlier(d->first_ns, at_ns);
	if (!d->begin_ns || at_ns > d->last_ns + FIRST_DATA_BREAK_NS) {
		d->begin_ns = at_ns;
		d->bytes = d->reads = 0;
	}
	d->last_ns = at_ns;
	d->bytes += bytes;
	d->settled = ++d->reads >= FIRST_DATA_READS || d->bytes >= FIRST_DATA_BYTES;
}

static inline void first_data_map(struct first_data *d, uint64_t at_ns)
{
	d->map_ns = first_data_earlier(d->map_ns, at_ns);
}

/* 0: never. Where it never read much without a break, all that it read is its data. */
static inline uint64_t first_data_ns(const struct first_data *d)
{
	return first_data_earlier(d->settled ? d->begin_ns : d->first_ns, d->map_ns);
}

#endif
