/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How regular files are read: what again, in which order, in what pieces; of each file, of each epoch, and of all.
 * What goes on where the last read by the same descriptor ended is sequential; the last places of 1 << WHY_PLACES_BITS
 * descriptors are remembered. What is done for each row of a trace is here, to be compiled into where they are taken.
 */
#ifndef REPORT_WHY_FILES_H
#define REPORT_WHY_FILES_H

#include "report/scan/scan.h"
#include "report/why/impl.h"

#define WHY_TINY 4096
#define WHY_SMALL (64U << 10)
#define WHY_WINDOW (128U << 10) /* of read-ahead, by default: a read of as much has to fetch */
#define WHY_PAGE 4096

/* Of one file: what each read of it looks at, and what only writes and those that fetch do. */
struct why_file {
	uint32_t epoch : 31; /* that the next five, and what was written, are of, plus one */
	uint32_t written : 1; /* something was, and is in the rest */
	uint32_t reads;
	uint64_t epoch_bytes, epoch_end, epoch_ns; /* read; the highest byte that was; time in calls */
	uint64_t end, disk_bytes; /* in all of the trace */
	uint32_t pid; /* who read or wrote it last, in the epoch; 0: nobody yet */
	uint32_t turns; /* how often another went on within it, in one epoch */
	uint32_t moved, small; /* reads and writes that moved something; of these, of less than 64 KiB and not all of it */
};
_Static_assert(sizeof(struct why_file) == 64, "it is to be one cache line");
struct why_file_rest {
	uint64_t fetched_ns; /* when a read of it last fetched from disk */
	uint64_t epoch_written, epoch_write_end; /* as of what was read */
	uint64_t write_end; /* the highest byte that was written */
	uint64_t direct_bytes; /* of those from disk, which nobody keeps in memory */
	uint32_t small_first, small_next; /* writes of less than 64 KiB: at its beginning, and behind that */
};

/* A read or write of FILE, on a disk or network. Values, and no pointer to where they are from, so that these may be constants. */
struct why_transfer {
	const struct report_file *file;
	uint64_t pid, fid, fd, bytes, disk_bytes, end_ns, lat_ns, requested, offset;
	bool write, accounted, has_offset, direct, append;
};

/* There is memory for sums of each file that the report knows. */
bool why_files_room(const struct report *r);
/* What F has is no more of the epoch that it was of. */
void why_files_end_epoch(struct why *w, struct why_file *f);
/* F may be one of those in E of which reads took longest. */
void why_files_rank(struct why_epoch *e, const struct why_file *f, uint64_t fid);
/* X is a write of F in E. */
void why_files_write(struct why *w, struct why_epoch *e, const struct why_transfer *x, struct why_file *f);
/* As if no read had ever fetched from disk. */
void why_forget_fetched(struct why *w);

/* --- of a file ------------------------------------------------------------------------------------ */

static inline size_t why_file_index(const struct report *r, const struct report_file *f)
{
	return (size_t)(f - (const struct report_file *)r->files.values);
}

/* NULL: there is no memory. */
static inline struct why_file *why_file_of(const struct report *r, const struct report_file *f)
{
	const size_t i = why_file_index(r, f);

	return i < r->why->n_files || why_files_room(r) ? &r->why->files[i] : NULL;
}

static inline struct why_file_rest *why_file_rest_of(const struct why *w, const struct why_file *f)
{
	return &w->files_rest[f - w->files];
}

/* A read of F has fetched from disk, at NS. */
static inline void why_fetched(struct report *r, const struct report_file *f, uint64_t ns)
{
	struct why_file *file = why_file_of(r, f);

	if (file)
		why_file_rest_of(r->why, file)->fetched_ns = ns;
}

/* Whether anybody's did in the second before NS: read-ahead may still be on its way. */
static inline bool why_fetched_lately(const struct report *r, const struct report_file *f, uint64_t ns)
{
	const size_t i = why_file_index(r, f);
	uint64_t fetched_ns = i < r->why->n_files ? r->why->files_rest[i].fetched_ns : 0;

	return fetched_ns && ns - fetched_ns < 1000000000;
}

/* What F has is of E from now on. */
static inline void why_file_begin_epoch(struct why *w, const struct why_epoch *e, struct why_file *f)
{
	const uint32_t nr = (uint32_t)(e - w->epoch) + 1;

	if (f->epoch == nr)
		return;
	why_files_end_epoch(w, f);
	f->epoch = nr;
	f->pid = 0;
}

/* --- of a transfer -------------------------------------------------------------------------------- */

/* Where X ended in its file, if that is behind LAST_END; of what has no offset it is behind what there was. */
static inline uint64_t why_end_of(const struct why_transfer *x, uint64_t last_end)
{
	const uint64_t end = (x->has_offset ? x->offset : last_end) + x->bytes;

	return end > last_end ? end : last_end;
}

/* Descriptors of one process and file are near each other: whose turn it is need not be known for these to be fetched. */
static inline struct why_place *why_place_of(const struct why *w, uint64_t pid, uint64_t fid, uint64_t fd, uint64_t *key)
{
	const uint64_t pair = (pid << 32 ^ fid) + 1; /* 0: nobody's */

	*key = pair ^ fd << 54;
	return &w->places[(pair * 0x9e3779b97f4a7c15ULL) >> (64 - WHY_PLACES_BITS) ^ (fd & 3)];
}

/*
 * A read of FD, which is FID, by PID will be in a row soon: what is known of these may be fetched, where the file is one of
 * most. It must be inlined: gcc takes a function that only fetches for one without effect, and leaves out calls of it.
 */
static inline __attribute__((always_inline)) void why_files_expect(const struct why *w, uint64_t pid, uint64_t fid, uint64_t fd)
{
	uint64_t key;

	if (fid - 1 < w->n_files)
		__builtin_prefetch(&w->files[fid - 1]);
	__builtin_prefetch(why_place_of(w, pid, fid, fd, &key));
}

/* X is where P's first was, or the file begins: who reads from there reads it once more, and does not jump. */
static inline bool why_is_restart(const struct why_place *p, uint64_t key, const struct why_transfer *x)
{
	return p->key != key || !x->offset || x->offset == p->first;
}

static inline void why_place_at(struct why_place *p, uint64_t key, const struct why_transfer *x)
{
	*p = (struct why_place){ .key = key, .next = x->offset + x->bytes, .first = p->key == key ? p->first : x->offset };
}

/* X made the disk read the pages that it asked for, and none ahead. */
static inline bool why_fetched_no_more(const struct why_transfer *x)
{
	const uint64_t end = (x->offset + x->requested + WHY_PAGE - 1) / WHY_PAGE, begin = x->offset / WHY_PAGE;

	return x->disk_bytes && x->disk_bytes <= (end - begin) * WHY_PAGE;
}

/* Where in the file, compared with the last read of it. */
static inline void why_place_read(struct why *w, struct why_epoch *e, const struct why_transfer *x)
{
	uint64_t key;
	struct why_place *p = why_place_of(w, x->pid, x->fid, x->fd, &key);
	const bool small = x->requested < WHY_WINDOW, next = p->next == x->offset;

	if (!why_is_restart(p, key, x)) {
		const bool in_vain = next && small && why_fetched_no_more(x);

		w->sums.sequential_small += next && small && x->accounted;
		w->sums.sequential_disk += in_vain;
		w->sums.sequential_disk_ns += in_vain ? x->lat_ns : 0;
		w->sums.jumps_ns += next ? 0 : x->lat_ns;
		e->placed++;
		e->sequential += next;
	}
	why_place_at(p, key, x);
}

static inline void why_count_place(struct why_sums *s, const struct why_transfer *x)
{
	bool misaligned = x->offset % WHY_PAGE || (x->direct && x->requested % WHY_PAGE);

	s->with_offset++;
	s->misaligned += misaligned;
	/* in the page cache it makes no difference */
	s->misaligned_ns += misaligned && (x->direct || x->disk_bytes || x->file->medium == REPORT_NETWORK) ? x->lat_ns : 0;
	if (x->direct) {
		s->direct++;
		s->direct_misaligned += misaligned;
	}
}

/* X is of F, in the epoch that it is of. Who begins at the beginning takes a file over, and does not share it. */
static inline void why_file_used(struct why_file *f, const struct why_transfer *x)
{
	f->turns += f->pid && f->pid != (uint32_t)x->pid && x->offset;
	f->pid = (uint32_t)x->pid;
}

/* X read a file from begin to end in one call: there is no larger one. */
static inline bool why_is_whole(const struct why_transfer *x)
{
	return x->has_offset & !x->offset & ((x->bytes < x->requested) | (x->file->size && x->bytes >= x->file->size));
}

static inline void why_add_read(struct why *w, struct why_epoch *e, const struct why_transfer *x, struct why_file *f)
{
	struct why_sums *s = &w->sums;
	const bool fetched = x->disk_bytes != 0; /* which nobody can foretell: nothing here branches on it */
	const bool part = !why_is_whole(x), tiny = part & (x->requested < WHY_TINY);
	/* a little that came with read-ahead, or with all of the file, is not what the disk was asked for */
	const bool small = fetched & part & (x->requested < WHY_SMALL) & (x->disk_bytes < WHY_SMALL) &
			   (!x->file->size | (x->disk_bytes < x->file->size));
	uint64_t nowhere; /* is where the time of one that fetched nothing goes */

	e->size[x->bytes ? 64 - (unsigned int)__builtin_clzll(x->bytes) : 0]++;
	e->unaccounted += !x->accounted;
	e->disk_bytes += x->disk_bytes;
	e->disk_reads += fetched;
	if (!x->bytes)
		return;
	e->reads++;
	e->read_bytes += x->bytes;
	s->tiny_reads += tiny;
	s->tiny_reads_ns += tiny ? x->lat_ns : 0;
	f->end = why_end_of(x, f->end);
	s->disk_reads += fetched;
	s->disk_reads_ns += fetched ? x->lat_ns : 0;
	s->disk_bytes += x->disk_bytes;
	s->small_disk_reads += small;
	s->small_disk_reads_ns += small ? x->lat_ns : 0;
	f->disk_bytes += x->disk_bytes;
	if (x->direct)
		why_file_rest_of(w, f)->direct_bytes += x->disk_bytes;
	*(fetched ? &why_file_rest_of(w, f)->fetched_ns : &nowhere) = x->end_ns;
	why_file_begin_epoch(w, e, f);
	why_file_used(f, x);
	f->epoch_end = why_end_of(x, f->epoch_end);
	f->epoch_bytes += x->bytes;
	f->epoch_ns += x->lat_ns;
	f->reads++;
	/* else it would be among them with less */
	if (e->n_slow < WHY_SLOW_FILES || f->epoch_ns >= e->slow[WHY_SLOW_FILES - 1].time_ns)
		why_files_rank(e, f, x->fid);
	if (x->has_offset)
		why_place_read(w, e, x);
}

/* What X adds to sums of its file, its epoch and all. */
static inline void why_add_transfer(struct report *r, const struct why_transfer *x)
{
	const uint64_t bytes = x->bytes;
	struct why *w = r->why;
	struct why_file *f = why_file_of(r, x->file);
	struct why_epoch *e = why_epoch_at(w, x->end_ns);

	if (!f)
		return;
	if (!e)
		e = w->outside;
	if (bytes) {
		if (x->has_offset)
			why_count_place(&w->sums, x);
		f->moved++;
		f->small += (x->requested < WHY_SMALL) & (x->write | !why_is_whole(x));
	}
	if (x->write) {
		const struct why_transfer copy = *x;

		why_files_write(w, e, &copy, f);
	} else {
		why_add_read(w, e, x, f);
	}
}

#endif
