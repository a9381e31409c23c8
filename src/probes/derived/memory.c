/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.out: rows made by the drain (src/drain/memory.c) from /proc/meminfo; nothing in the kernel. */
#include "dlt/memory.h"

#include "trace/probe.h"

#define AT(member) offsetof(struct dlt_memory, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the reading, ns", AT(hdr.ts_ns)),
	{ "FREE", "unused memory, bytes", FIELD_S64, AT(free), .unit = "bytes" },
	{ "AVAILABLE", "memory that programs can get without swapping, as estimated, bytes", FIELD_S64, AT(available),
	  .unit = "bytes" },
	{ "CACHED", "page cache, SHMEM included, bytes", FIELD_S64, AT(cached), .unit = "bytes" },
	{ "DIRTY", "pages of files that wait to be written to disk, bytes", FIELD_S64, AT(dirty), .unit = "bytes" },
	{ "WRITEBACK", "pages of files that are being written to disk, bytes", FIELD_S64, AT(writeback),
	  .unit = "bytes" },
	{ "ANON", "memory of programs that is of no file, bytes", FIELD_S64, AT(anon), .unit = "bytes" },
	{ "SHMEM", "shared memory and tmpfs, bytes", FIELD_S64, AT(shmem), .unit = "bytes" },
	{ "SWAP_FREE", "unused swap space, bytes", FIELD_S64, AT(swap_free), .unit = "bytes" },
};
#undef AT

const struct probe memory_probe = {
	.name = "memory",
	.help = "the machine's memory, read once an interval: page cache, dirty pages, write-back, programs, swap",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_memory),
	.flags = PROBE_SELECTABLE,
};
