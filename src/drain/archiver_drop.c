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

int archiver_begin_to_drop(struct archiver *k)
{
	char name[NAME_MAX + 1], header[4096];
	int r;

	segment_format(name, probes[DLT_rollup]->name, SEGMENT_LAST, PACK_NONE);
	r = sink_open(&k->rollup, k->dirfd, name);
	if (r < 0)
		return r;
	sink_header(&k->rollup, header, (size_t)(record_put_header(header, probes[DLT_rollup]) - header));
	r = sink_flush(&k->rollup);
	sink_keep_ahead(&k->rollup, ROLLUP_AHEAD_BYTES);
	return r;
}

/*
 * Fills BYTES[k->n_files] with each file's size, growing and closed; returns the trace's, rollup.out
 * included.
 */
static uint64_t count_bytes(const struct archiver *k, uint64_t bytes[static ARCHIVER_FILES_MAX])
{
	uint64_t sum = util_counted(&k->rollup.file_bytes);

	for (unsigned int i = 0; i < k->n_files; i++) {
		const struct sink *s = k->files[i].sink;

		bytes[i] = __atomic_load_n(&s->ended, __ATOMIC_RELAXED) ? 0 : util_counted(&s->file_bytes);
		sum += bytes[i];
	}
	for (size_t i = 0; i < k->n; i++) {
		if (k->segments[i]->file < k->n_files)
			bytes[k->segments[i]->file] += k->segments[i]->stored_bytes;
		sum += k->segments[i]->stored_bytes;
	}
	return sum;
}

/*
 * Returns the oldest segment by its last row, of any file with rows, or of the reference file OF; k->n:
 * there is none.
 */
static size_t oldest(const struct archiver *k, const struct archiver_file *of)
{
	size_t best = k->n;

	for (size_t i = 0; i < k->n; i++) {
		const struct archiver_segment *s = k->segments[i];
		const struct archiver_file *f = &k->files[s->file];

		if (s->file < k->n_files && s->seg.nr != SEGMENT_LAST && (of ? f == of : !f->reference) &&
		    (best == k->n || s->seg.last_ns < k->segments[best]->seg.last_ns))
			best = i;
	}
	return best;
}

/*
 * Returns the largest reference file, where these alone exceed --keep: a day of clocks is no reason to drop
 * marks.
 */
static const struct archiver_file *largest_reference(const struct archiver *k, const uint64_t bytes[static ARCHIVER_FILES_MAX])
{
	unsigned int best = k->n_files;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < k->n_files; i++) {
		if (!k->files[i].reference)
			continue;
		sum += bytes[i];
		if (best == k->n_files || bytes[i] > bytes[best])
			best = i;
	}
	return sum > k->o.keep_bytes ? &k->files[best] : NULL;
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
static int64_t sum_up(struct archiver *k, const struct archiver_segment *s)
{
	int fd = archiver_open(k, s);
	struct reader rd;
	int64_t rows;
	int r;

	if (fd < 0)
		return fd;
	r = reader_open_fd(&rd, fd, s->pack, s->stored_bytes);
	if (r < 0)
		return r;
	rows = rollup_rows(&k->sums, &rd, &k->rollup, s->seg.nr);
	reader_close(&rd);
	r = sink_flush(&k->rollup);
	if (rows >= 0 && r < 0)
		return r;
	sink_to_disk(&k->rollup, UINT64_MAX); /* which counts what is refused */
	fdatasync(k->rollup.fd);
	return rows;
}

static void drop(struct archiver *k, size_t i)
{
	struct archiver_segment *s = k->segments[i];
	struct archiver_file *f = &k->files[s->file];
	int64_t rows = sum_up(k, s);
	char name[NAME_MAX + 1];

	if (rows < (int64_t)s->seg.rows)
		util_count(&k->not_summed, s->seg.rows - (uint64_t)MAX(rows, 0));
	/* under both names, in case the plain one was left over */
	for (enum pack pack = PACK_NONE; pack <= s->pack; pack++) {
		segment_format(name, s->seg.base, s->seg.nr, pack);
		if (pack == PACK_NONE || pack == s->pack)
			unlinkat(k->dirfd, name, 0);
	}
	util_count(&f->dropped_rows, s->seg.rows);
	util_count(&f->dropped_bytes, s->seg.bytes);
	util_count(&k->dropped, 1);
	archiver_forget(k, i);
}

/* Drop until the trace is within --keep. A growing file is not a segment yet: it has to be closed first. */
void archiver_hold_to_keep(struct archiver *k)
{
	uint64_t bytes[ARCHIVER_FILES_MAX];
	bool over = false;

	while (k->o.keep_bytes && !over && count_bytes(k, bytes) > k->o.keep_bytes) {
		size_t i = next_to_drop(k, bytes);

		over = i == k->n;
		if (!over)
			drop(k, i);
	}
	if (over)
		__atomic_store_n(&k->want_split, true, __ATOMIC_RELAXED);
	__atomic_store_n(&k->over, over, __ATOMIC_RELAXED);
}
