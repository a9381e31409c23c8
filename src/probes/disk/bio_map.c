/* SPDX-License-Identifier: BSD-2-Clause */
/* bio_map.out: the extents of requests that have several, which bio's programs send (bpf/bio/bio_map.bpf.h). */
#include "dlt/bio.h"

#include "probes/disk/bio.h"
#include "trace/probe.h"

#define AT(member) offsetof(struct dlt_bio_map, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC when the driver got the request, ns", AT(hdr.ts_ns)),
	{ "DISK", "name of the whole disk", FIELD_WORD, AT(disk), .arg = DLT_DISK_LEN },
	{ "SECTOR", "first sector of 512 bytes", FIELD_S64, AT(sector), .unit = "sectors" },
	{ "BYTES", "length", FIELD_U32, AT(bytes), .unit = "bytes" },
	{ "KIND", "as in bio.out", FIELD_NAME, AT(kind), .names = bio_kind_names },
	FIELD_FID_OF(struct dlt_bio_map, id),
	{ "FOFF", "where in the file it begins, bytes", FIELD_S64, AT(file_off), .unit = "bytes" },
	{ "WPID", "for a write: process that dirtied its first page, or wrote with direct I/O", FIELD_S64,
	  AT(writer_tgid) },
	{ "WTID", "thread that did", FIELD_S64, AT(writer_tid) },
	FIELD_FILE_OF(struct dlt_bio_map, id),
};
#undef AT

const struct probe bio_map_probe = {
	.name = "bio_map",
	.help = "the pieces of disk requests that have several, each a contiguous range of one file",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_bio_map),
	.flags = PROBE_SELECTABLE,
	.needs = DLT_bio,
};
