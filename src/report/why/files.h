/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How regular files are read: repeats, order and sizes of reads; per file, per epoch, and in all. A read is sequential
 * when it begins where the last read by the same descriptor ended; the places of 1 << WHY_PLACES_BITS descriptors are
 * kept. The functions here run for each row of a trace and are inline for that reason.
 */
#ifndef REPORT_WHY_FILES_H
#define REPORT_WHY_FILES_H

#include "report/scan/scan.h"
#include "report/why/why_impl.h"

#define WHY_TINY 4096
#define WHY_SMALL (64U << 10)
#define WHY_WINDOW \
	(128U << 10) /* the default of read-ahead: a larger read needs more than that, and must fetch itself */
#define WHY_PAGE 4096

/* One file: the fields that each read uses; why_file_rest has those of writes and of reads that fetch. */
struct why_file {
	uint32_t epoch : 31; /* 1 + the epoch of the fields named epoch_*, of PID, and of what REST has of it */
	uint32_t written : 1; /* it was written to: see why_file_rest */
	uint32_t reads;
	uint64_t epoch_bytes, epoch_end, epoch_ns; /* bytes read; the end of the highest read; time in calls */
	uint64_t end, disk_bytes; /* in all of the trace */
	uint32_t pid; /* the process that read or wrote it last in the epoch; 0: none yet */
	uint32_t turns; /* how often, within one epoch, another process continued in the middle of it */
	uint32_t moved,
		small; /* reads and writes that moved bytes; those of less than 64 KiB, but not of the whole file */
};
_Static_assert(sizeof(struct why_file) == 64, "it is to be one cache line");
struct why_file_rest {
	uint64_t fetched_ns; /* when a read of it last fetched from a disk */
	uint64_t epoch_written, epoch_write_end; /* of writes, as epoch_bytes and epoch_end are of reads */
	uint64_t write_end; /* the end of the highest write */
	uint64_t direct_bytes; /* of disk_bytes, by O_DIRECT, which the page cache does not keep */
	uint32_t small_first, small_next; /* writes of less than 64 KiB: at its beginning; elsewhere */
};

/* A read or write of FILE, on a disk or network. It has values, not a pointer to the row, so that they can be
 * constants. */
struct why_transfer {
	const struct report_file *file;
	uint64_t pid, fid, fd, bytes, disk_bytes, end_ns, lat_ns, requested, offset;
	bool write, accounted, has_offset, direct, append;
};

/* Makes room for sums of each file that the report knows; false when memory is out. */
bool why_files_room(const struct report *r);
/* Closes FILE's epoch: adds its fields to the sums and clears them. */
void why_files_end_epoch(struct why *why, struct why_file *file);
/* Enters FILE among the files of EPOCH with the longest time in reads, if it is one. */
void why_files_rank(struct why_epoch *epoch, const struct why_file *file, uint64_t fid);
/* Adds TRANSFER, a write of FILE in EPOCH. */
void why_files_write(struct why *why, struct why_epoch *epoch, const struct why_transfer *transfer,
		     struct why_file *file);
/* Forgets all reads that fetched from disks. */
void why_forget_fetched(struct why *w);

/* --- of a file ------------------------------------------------------------------------------------ */

static inline size_t why_file_index(const struct report *r, const struct report_file *f)
{
	return (size_t)(f - (const struct report_file *)r->files.values);
}

/* Returns the sums of F; NULL when memory is out. */
static inline struct why_file *why_file_of(const struct report *r, const struct report_file *f)
{
	const size_t i = why_file_index(r, f);

	return i < r->why->n_files || why_files_room(r) ? &r->why->files[i] : NULL;
}

static inline struct why_file_rest *why_file_rest_of(const struct why *w, const struct why_file *f)
{
	return &w->files_rest[f - w->files];
}

/* Notes that a read of F fetched from a disk at NS. */
static inline void why_fetched(struct report *r, const struct report_file *f, uint64_t ns)
{
	struct why_file *file = why_file_of(r, f);

	if (file)
		why_file_rest_of(r->why, file)->fetched_ns = ns;
}

/* Whether any process's read of F fetched in the second before NS: its read-ahead may be in flight. */
static inline bool why_fetched_lately(const struct report *r, const struct report_file *f, uint64_t ns)
{
	const size_t i = why_file_index(r, f);
	uint64_t fetched_ns = i < r->why->n_files ? r->why->files_rest[i].fetched_ns : 0;

	return fetched_ns && ns - fetched_ns < 1000000000;
}

/* Makes E the epoch of F's fields. */
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

/* Returns the end of X in its file, or LAST_END if that is higher; a transfer without an offset begins at LAST_END. */
static inline uint64_t why_end_of(const struct why_transfer *x, uint64_t last_end)
{
	const uint64_t end = (x->has_offset ? x->offset : last_end) + x->bytes;

	return end > last_end ? end : last_end;
}

/* The descriptors of one process and file are in one cache line, so it can be prefetched before the descriptor is
 * known. */
static inline struct why_place *why_place_of(const struct why *w, uint64_t pid, uint64_t fid, uint64_t fd,
					     uint64_t *key)
{
	const uint64_t pair = (pid << 32 ^ fid) + 1; /* 0: nobody's */

	*key = pair ^ fd << 54;
	return &w->places[(pair * 0x9e3779b97f4a7c15ULL) >> (64 - WHY_PLACES_BITS) ^ (fd & 3)];
}

/*
 * Prefetches for a row that comes soon, of PID reading FD, which is FID; this helps where FIDs are small numbers, as
 * most are. It must be inlined: gcc thinks that a function which only prefetches has no effect, and drops its calls.
 */
static inline __attribute__((always_inline)) void why_files_expect(const struct why *w, uint64_t pid, uint64_t fid,
								   uint64_t fd)
{
	uint64_t key;

	if (fid - 1 < w->n_files)
		__builtin_prefetch(&w->files[fid - 1]);
	__builtin_prefetch(why_place_of(w, pid, fid, fd, &key));
}

/* Whether X begins where P's first read began, or at the file's begin: then the file is read again, which is not a
 * jump. */
static inline bool why_is_restart(const struct why_place *p, uint64_t key, const struct why_transfer *x)
{
	return p->key != key || !x->offset || x->offset == p->first;
}

static inline void why_place_at(struct why_place *p, uint64_t key, const struct why_transfer *x)
{
	*p = (struct why_place){ .key = key,
				 .next = x->offset + x->bytes,
				 .first = p->key == key ? p->first : x->offset };
}

/* Whether X made the disk read the pages that it asked for, without read-ahead. */
static inline bool why_fetched_no_more(const struct why_transfer *x)
{
	const uint64_t end = (x->offset + x->requested + WHY_PAGE - 1) / WHY_PAGE, begin = x->offset / WHY_PAGE;

	return x->disk_bytes && x->disk_bytes <= (end - begin) * WHY_PAGE;
}

/* Compares the place of TRANSFER with the last read by its descriptor. */
static inline void why_place_read(struct why *why, struct why_epoch *epoch, const struct why_transfer *transfer)
{
	uint64_t key;
	struct why_place *place = why_place_of(why, transfer->pid, transfer->fid, transfer->fd, &key);
	const bool small = transfer->requested < WHY_WINDOW, next = place->next == transfer->offset;

	if (!why_is_restart(place, key, transfer)) {
		const bool in_vain = next && small && why_fetched_no_more(transfer);

		why->sums.sequential_small += next && small && transfer->accounted;
		why->sums.sequential_disk += in_vain;
		why->sums.sequential_disk_ns += in_vain ? transfer->lat_ns : 0;
		why->sums.jumps_ns += next ? 0 : transfer->lat_ns;
		epoch->placed++;
		epoch->sequential += next;
	}
	why_place_at(place, key, transfer);
}

static inline void why_count_place(struct why_sums *sums, const struct why_transfer *transfer)
{
	bool misaligned = transfer->offset % WHY_PAGE || (transfer->direct && transfer->requested % WHY_PAGE);

	sums->with_offset++;
	sums->misaligned += misaligned;
	/* alignment makes no difference in the page cache */
	sums->misaligned_ns +=
		misaligned && (transfer->direct || transfer->disk_bytes || transfer->file->medium == REPORT_NETWORK) ?
			transfer->lat_ns :
			0;
	if (transfer->direct) {
		sums->direct++;
		sums->direct_misaligned += misaligned;
	}
}

/* Notes the process of X as F's user in its epoch. One that begins at offset 0 takes the file over and does not share
 * it. */
static inline void why_file_used(struct why_file *f, const struct why_transfer *x)
{
	f->turns += f->pid && f->pid != (uint32_t)x->pid && x->offset;
	f->pid = (uint32_t)x->pid;
}

/* Whether X read a whole file in one call, so that no larger call is possible. */
static inline bool why_is_whole(const struct why_transfer *x)
{
	return x->has_offset & !x->offset & ((x->bytes < x->requested) | (x->file->size && x->bytes >= x->file->size));
}

static inline void why_add_read(struct why *why, struct why_epoch *epoch, const struct why_transfer *transfer,
				struct why_file *file)
{
	struct why_sums *sums = &why->sums;
	const bool fetched =
		transfer->disk_bytes != 0; /* the processor cannot predict it, so nothing here branches on it */
	const bool part = !why_is_whole(transfer), tiny = part & (transfer->requested < WHY_TINY);
	/* a small read that read-ahead serves, or that reads a whole small file, is not a small request to the disk */
	const bool small = fetched & part & (transfer->requested < WHY_SMALL) & (transfer->disk_bytes < WHY_SMALL) &
			   (!transfer->file->size | (transfer->disk_bytes < transfer->file->size));
	uint64_t *fetched_ns, nowhere; /* takes the time of a read that fetched nothing */

	epoch->size[transfer->bytes ? 64 - (unsigned int)__builtin_clzll(transfer->bytes) : 0]++;
	epoch->unaccounted += !transfer->accounted;
	epoch->disk_bytes += transfer->disk_bytes;
	epoch->disk_reads += fetched;
	if (!transfer->bytes)
		return;
	epoch->reads++;
	epoch->read_bytes += transfer->bytes;
	sums->tiny_reads += tiny;
	sums->tiny_reads_ns += tiny ? transfer->lat_ns : 0;
	file->end = why_end_of(transfer, file->end);
	sums->disk_reads += fetched;
	sums->disk_reads_ns += fetched ? transfer->lat_ns : 0;
	sums->disk_bytes += transfer->disk_bytes;
	sums->small_disk_reads += small;
	sums->small_disk_reads_ns += small ? transfer->lat_ns : 0;
	file->disk_bytes += transfer->disk_bytes;
	if (transfer->direct)
		why_file_rest_of(why, file)->direct_bytes += transfer->disk_bytes;
	fetched_ns = fetched ? &why_file_rest_of(why, file)->fetched_ns : &nowhere;
	*fetched_ns = transfer->end_ns;
	why_file_begin_epoch(why, epoch, file);
	why_file_used(file, transfer);
	file->epoch_end = why_end_of(transfer, file->epoch_end);
	file->epoch_bytes += transfer->bytes;
	file->epoch_ns += transfer->lat_ns;
	file->reads++;
	/* also when it is among the slow files already, to keep its time there current */
	if (epoch->n_slow < WHY_SLOW_FILES || file->epoch_ns >= epoch->slow[WHY_SLOW_FILES - 1].time_ns)
		why_files_rank(epoch, file, transfer->fid);
	if (transfer->has_offset)
		why_place_read(why, epoch, transfer);
}

/* Adds TRANSFER to the sums of its file, its epoch and the trace. */
static inline void why_add_transfer(struct report *report, const struct why_transfer *transfer)
{
	const uint64_t bytes = transfer->bytes;
	struct why *why = report->why;
	struct why_file *file = why_file_of(report, transfer->file);
	struct why_epoch *epoch = why_epoch_at(why, transfer->end_ns);

	if (!file)
		return;
	if (!epoch)
		epoch = why->outside;
	if (bytes) {
		if (transfer->has_offset)
			why_count_place(&why->sums, transfer);
		file->moved++;
		file->small += (transfer->requested < WHY_SMALL) & (transfer->write | !why_is_whole(transfer));
	}
	if (transfer->write) {
		const struct why_transfer copy = *transfer;

		why_files_write(why, epoch, &copy, file);
	} else {
		why_add_read(why, epoch, transfer, file);
	}
}

#endif
