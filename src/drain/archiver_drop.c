/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See archiver.h: the oldest segments are dropped when the trace has grown beyond --keep, after their sums
 * went into rollup.out.
 */
#include <limits.h>
#include <unistd.h>

#include "base/util.h"
#include "drain/archiver_impl.h"
#include "trace/probe.h"
#include "trace/reader.h"
#include "trace/record.h"

#define ROLLUP_AHEAD_BYTES (256U << 10) /* segments dropped on a full disk are summed up all the same */

int archiver_begin_to_drop(struct archiver *archiver)
{
	char name[NAME_MAX + 1], header[4096];
	int r;

	segment_format(name, probes[DLT_rollup]->name, SEGMENT_LAST, PACK_NONE);
	r = sink_open(&archiver->rollup, archiver->dirfd, name);
	if (r < 0)
		return r;
	sink_header(&archiver->rollup, header, (size_t)(record_put_header(header, probes[DLT_rollup]) - header));
	r = sink_flush(&archiver->rollup);
	sink_keep_ahead(&archiver->rollup, ROLLUP_AHEAD_BYTES);
	return r;
}

/*
 * Fills BYTES[k->n_files] with each file's size, growing and closed; returns the trace's, rollup.out
 * included.
 */
static uint64_t count_bytes(const struct archiver *archiver, uint64_t bytes[static ARCHIVER_FILES_MAX])
{
	uint64_t sum = util_counted(&archiver->rollup.file_bytes);

	for (unsigned int i = 0; i < archiver->n_files; i++) {
		const struct sink *s = archiver->files[i].sink;

		bytes[i] = __atomic_load_n(&s->ended, __ATOMIC_RELAXED) ? 0 : util_counted(&s->file_bytes);
		sum += bytes[i];
	}
	for (size_t i = 0; i < archiver->n; i++) {
		if (archiver->segments[i]->file < archiver->n_files)
			bytes[archiver->segments[i]->file] += archiver->segments[i]->stored_bytes;
		sum += archiver->segments[i]->stored_bytes;
	}
	return sum;
}

/*
 * Returns the oldest segment by its last row, of any file with rows, or of the reference file OF; k->n:
 * there is none.
 */
static size_t oldest(const struct archiver *archiver, const struct archiver_file *of)
{
	size_t best = archiver->n;

	for (size_t i = 0; i < archiver->n; i++) {
		const struct archiver_segment *s = archiver->segments[i];
		const struct archiver_file *f = &archiver->files[s->file];

		if (s->file < archiver->n_files && s->seg.nr != SEGMENT_LAST && (of ? f == of : !f->reference) &&
		    (best == archiver->n || s->seg.last_ns < archiver->segments[best]->seg.last_ns))
			best = i;
	}
	return best;
}

/*
 * Returns the largest reference file, where these alone exceed --keep: a day of clocks is no reason to drop
 * marks.
 */
static const struct archiver_file *largest_reference(const struct archiver *archiver,
						     const uint64_t bytes[static ARCHIVER_FILES_MAX])
{
	unsigned int best = archiver->n_files;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < archiver->n_files; i++) {
		if (!archiver->files[i].reference)
			continue;
		sum += bytes[i];
		if (best == archiver->n_files || bytes[i] > bytes[best])
			best = i;
	}
	return sum > archiver->o.keep_bytes ? &archiver->files[best] : NULL;
}

/* Returns the next one to drop: rows, and reference files only when no more rows can go. k->n: none. */
static size_t next_to_drop(const struct archiver *k, const uint64_t bytes[static ARCHIVER_FILES_MAX])
{
	const struct archiver_file *reference;
	size_t i = oldest(k, NULL);

	if (i < k->n)
		return i;
	reference = largest_reference(k, bytes);
	return reference ? oldest(k, reference) : k->n;
}

/* Writes its roll-up into rollup.out, on the disk. Returns the number of rows. */
static int64_t sum_up(struct archiver *archiver, const struct archiver_segment *segment)
{
	int fd = archiver_open(archiver, segment);
	struct reader rd;
	int64_t rows;
	int r;

	if (fd < 0)
		return fd;
	r = reader_open_fd(&rd, fd, segment->pack, segment->stored_bytes);
	if (r < 0)
		return r;
	rows = rollup_rows(&archiver->sums, &rd, &archiver->rollup, segment->seg.nr);
	reader_close(&rd);
	r = sink_flush(&archiver->rollup);
	if (rows >= 0 && r < 0)
		return r;
	sink_to_disk(&archiver->rollup, UINT64_MAX); /* which counts what is refused */
	fdatasync(archiver->rollup.fd);
	return rows;
}

static void drop(struct archiver *archiver, size_t i)
{
	struct archiver_segment *segment = archiver->segments[i];
	struct archiver_file *file = &archiver->files[segment->file];
	int64_t rows = sum_up(archiver, segment);
	char name[NAME_MAX + 1];

	if (rows < (int64_t)segment->seg.rows)
		util_count(&archiver->not_summed, segment->seg.rows - (uint64_t)MAX(rows, 0));
	/* under both names, in case the plain one was left over */
	for (enum pack pack = PACK_NONE; pack <= segment->pack; pack++) {
		segment_format(name, segment->seg.base, segment->seg.nr, pack);
		if (pack == PACK_NONE || pack == segment->pack)
			unlinkat(archiver->dirfd, name, 0);
	}
	util_count(&file->dropped_rows, segment->seg.rows);
	util_count(&file->dropped_bytes, segment->seg.bytes);
	util_count(&archiver->dropped, 1);
	archiver_forget(archiver, i);
}

/* Drop until the trace is within --keep. A growing file is not a segment yet: it has to be closed first. */
void archiver_hold_to_keep(struct archiver *archiver)
{
	uint64_t bytes[ARCHIVER_FILES_MAX];
	bool over = false;

	while (archiver->o.keep_bytes && !over && count_bytes(archiver, bytes) > archiver->o.keep_bytes) {
		size_t i = next_to_drop(archiver, bytes);

		over = i == archiver->n;
		if (!over)
			drop(archiver, i);
	}
	if (over)
		__atomic_store_n(&archiver->want_split, true, __ATOMIC_RELAXED);
	__atomic_store_n(&archiver->over, over, __ATOMIC_RELAXED);
}

const struct sink *archiver_own(const struct archiver *archiver, unsigned int probe)
{
	return probe == DLT_rollup && archiver->o.keep_bytes ? &archiver->rollup : NULL;
}
