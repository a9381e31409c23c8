/* SPDX-License-Identifier: BSD-2-Clause */
/* files.out, the FID table: who a file is, told once by whichever probe meets it first. */
#include "dlt/files.h"

#include "drain/rows/decode.h"
#include "trace/probe.h"

static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC when the file was first seen, ns", offsetof(struct dlt_files, hdr.ts_ns)),
	{ "FID", "number of this file, from 1; never reused", FIELD_FID, offsetof(struct dlt_files, file) },
	{ "DEV", "major:minor of its file system, of btrfs: of its subvolume", FIELD_FILEDEV,
	  offsetof(struct dlt_files, file) },
	{ "INO", "inode number", FIELD_U64, offsetof(struct dlt_files, file.id.ino) },
	{ "TYPE", "reg dir chr blk fifo sock lnk anon shm memfd", FIELD_FILETYPE, offsetof(struct dlt_files, file) },
	{ "FSTYPE", "file system", FIELD_WORD, offsetof(struct dlt_files, file.fstype),
	  sizeof(((struct dlt_file *)0)->fstype) },
	{ "SIZE", "size when it was first seen, bytes", FIELD_U64, offsetof(struct dlt_files, file.size),
	  .unit = "bytes" },
	{ "STATE", "ok deleted unreachable truncated", FIELD_FILESTATE, offsetof(struct dlt_files, file) },
	{ "REALPATH", "full path; a later row with the same FID is a rename, or a copy-up", FIELD_REALPATH,
	  offsetof(struct dlt_files, file) },
	{ "REALDEV", "on overlayfs: DEV of the file with the data", FIELD_REALDEV,
	  offsetof(struct dlt_files, file.at) },
	{ "REALINO", "INO of that file", FIELD_REALINO, offsetof(struct dlt_files, file.at) },
};

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	const struct dlt_files *rec = (const void *)hdr;
	size_t len;
	const char *seg = record_seg(&files_probe, rec, offsetof(struct dlt_files, segs), 0, &len);

	decode_file(d, hdr, &rec->file, seg, len);
}

const struct probe files_probe = {
	.name = "files",
	.help = "the table of FIDs: every file that another row refers to",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_files),
	.flags = PROBE_REFERENCE | PROBE_WHOLE | PROBE_NEVER_PAUSED,
	.when = WHEN_ROWS,
	.ahead_bytes = 256U << 10,
	.decode = decode,
};
