/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much longer reads of a disk took while it also wrote. A read counts as one beside writes when the disk finished a
 * write within the 10 ms before the stretch of 10 ms in which the read was queued: that does not depend on how long the
 * read took. Pure. Requests come in the order of their ends; all times ns.
 */
#ifndef REPORT_DISK_INTERFERENCE_H
#define REPORT_DISK_INTERFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#define INTERFERENCE_BIN_NS 10000000
#define INTERFERENCE_BINS 1024 /* for a read that is longer, it is not known whether there were writes */

struct interference {
	uint64_t read_ns; /* of the job's reads, by the caller */
	uint64_t bin; /* of the last write, 1 + its number; 0: none */
	uint64_t wrote[INTERFERENCE_BINS / 64];
};

/* A write ended at AT_NS. */
void interference_write(struct interference *i, uint64_t at_ns);
/* Returns whether a read that was queued at BEGIN_NS, and ended after the last write, was beside writes. */
bool interference_read(const struct interference *i, uint64_t begin_ns);

#endif
