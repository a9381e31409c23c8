/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How regular files are read: what again, in which order, in what pieces. What goes on where the last read of
 * the same process ended is sequential; the last places of PLACES pairs of process and file are remembered.
 */
#include "util.h"
#include "why_impl.h"

#define TINY 4096
#define SMALL (64U << 10)
#define WINDOW (128U << 10) /* of read-ahead, by default: a read of as much has to fetch */
#define PAGE 4096

/* What goes beyond the highest byte that was read has been read before. */
static uint64_t excess(uint64_t bytes, uint64_t end)
{
	return MAX(bytes, end) - end; /* no branch: which it is nobody can guess */
}

static void add_to_file(struct why *w, const struct why_transfer *x, struct why_file *f)
{
	uint64_t end = x->has_offset ? x->offset + x->bytes : f->end + x->bytes;
	uint64_t was = excess(f->bytes, f->end), was_disk = excess(f->disk_bytes, f->whole);

	f->end = MAX(f->end, end);
	f->whole = MAX(f->whole,
		       (MAX(f->end, x->file->size) + PAGE - 1) / PAGE * PAGE); /* read-ahead may take all of it */
	f->bytes += x->bytes;
	f->disk_bytes += x->disk_bytes;
	f->fetched_ns = x->disk_bytes ? x->end_ns : f->fetched_ns;
	w->sums.again_bytes += excess(f->bytes, f->end) - was;
	w->sums.again_disk_bytes += excess(f->disk_bytes, f->whole) - was_disk;
}

static void rank_file(struct why_epoch *e, const struct why_file *f, const struct why_transfer *x)
{
	struct why_slow_file *v = e->slow;
	unsigned int i = 0;

	if (e->n_slow == WHY_SLOW_FILES && f->epoch_ns < v[WHY_SLOW_FILES - 1].time_ns)
		return; /* else it would be among them with less */
	while (i < e->n_slow && v[i].fid != x->fid)
		i++;
	if (i == e->n_slow) {
		if (e->n_slow == WHY_SLOW_FILES && f->epoch_ns <= v[i - 1].time_ns)
			return;
		if (e->n_slow == WHY_SLOW_FILES)
			i--;
		else
			e->n_slow++;
	}
	v[i] = (struct why_slow_file){
		.fid = x->fid, .time_ns = f->epoch_ns, .bytes = f->epoch_bytes, .calls = f->reads
	};
	for (; i > 0 && v[i - 1].time_ns < v[i].time_ns; i--) {
		struct why_slow_file t = v[i];

		v[i] = v[i - 1];
		v[i - 1] = t;
	}
}

/* What F has is of the epoch of X from now on. */
static void begin_epoch(const struct why *w, const struct why_transfer *x, struct why_file *f)
{
	uint32_t nr = (uint32_t)(x->epoch - w->epoch) + 1;

	if (f->epoch == nr)
		return;
	f->epoch = nr;
	f->epoch_bytes = f->epoch_end = f->epoch_ns = f->epoch_written = f->epoch_write_end = 0;
	f->reads = 0;
}

static void add_to_epoch(struct why *w, const struct why_transfer *x, struct why_file *f)
{
	struct why_epoch *e = x->epoch;
	uint64_t was;

	begin_epoch(w, x, f);
	was = excess(f->epoch_bytes, f->epoch_end);
	f->epoch_end = MAX(f->epoch_end, x->has_offset ? x->offset + x->bytes : f->epoch_end + x->bytes);
	f->epoch_bytes += x->bytes;
	f->epoch_ns += x->lat_ns;
	f->reads++;
	e->again_bytes += excess(f->epoch_bytes, f->epoch_end) - was;
	rank_file(e, f, x);
}

static void count_read(struct why *w, const struct why_transfer *x)
{
	struct why_sums *s = &w->sums;
	struct why_epoch *e = x->epoch;

	if (e) {
		e->size[x->bytes ? 64 - (unsigned int)__builtin_clzll(x->bytes) : 0]++;
		e->reads += x->bytes > 0;
		e->read_bytes += x->bytes;
		e->disk_bytes += x->disk_bytes;
		e->disk_reads += x->disk_bytes > 0;
		e->unaccounted += !x->accounted;
	}
	if (!x->bytes)
		return;
	s->reads++;
	s->read_bytes += x->bytes;
	s->disk_reads += x->disk_bytes > 0;
	s->disk_bytes += x->disk_bytes;
	s->tiny_reads += x->requested < TINY;
	s->small_disk_reads += x->disk_bytes > 0 && x->requested < SMALL;
}

static struct why_place *place_of(const struct why *w, uint64_t pid, uint64_t fid, uint64_t *key)
{
	*key = (pid << 32 ^ fid) + 1; /* 0: nobody's */
	return &w->places[(*key * 0x9e3779b97f4a7c15ULL) >> (64 - WHY_PLACES_BITS)];
}

bool why_fetched_lately(const struct report *r, const struct report_file *f, uint64_t ns)
{
	uint64_t fetched_ns = r->why->files[f - (const struct report_file *)r->files.values].fetched_ns;

	return fetched_ns && ns - fetched_ns < NSEC_PER_SEC;
}

/* The same of a write: it is remembered beside the reads. */
static void place_write(struct why *w, const struct why_transfer *x)
{
	uint64_t key;
	struct why_place *p = place_of(w, x->pid | 1ULL << 31, x->fid, &key);

	if (p->key == key) {
		w->sums.placed_writes++;
		w->sums.sequential_writes += p->next == x->offset;
	}
	*p = (struct why_place){ .key = key, .next = x->offset + x->bytes };
}

static void add_write_to_epoch(struct why *w, const struct why_transfer *x, struct why_file *f)
{
	uint64_t was;

	begin_epoch(w, x, f);
	was = excess(f->epoch_written, f->epoch_write_end);
	f->epoch_write_end = MAX(f->epoch_write_end, x->has_offset ? x->offset + x->bytes : f->epoch_write_end + x->bytes);
	f->epoch_written += x->bytes;
	w->sums.rewritten_bytes += excess(f->epoch_written, f->epoch_write_end) - was;
}

static void count_write(struct why *w, const struct why_transfer *x, struct why_file *f)
{
	struct why_sums *s = &w->sums;

	s->writes++;
	s->write_bytes += x->bytes;
	s->small_writes += x->requested < SMALL;
	if (x->epoch) {
		x->epoch->writes++;
		x->epoch->write_bytes += x->bytes;
		add_write_to_epoch(w, x, f);
	}
	if (x->has_offset && x->bytes)
		place_write(w, x);
}

/* Where in the file, compared with the last read of it. */
static void place(struct why *w, const struct why_transfer *x)
{
	uint64_t key;
	struct why_place *p = place_of(w, x->pid, x->fid, &key);
	bool small = x->requested < WINDOW, next = p->next == x->offset;

	if (p->key == key) {
		w->sums.placed++;
		w->sums.sequential += next;
		w->sums.sequential_small += next && small && x->accounted;
		w->sums.sequential_disk += next && small && x->disk_bytes;
		if (x->epoch) {
			x->epoch->placed++;
			x->epoch->sequential += next;
		}
	}
	*p = (struct why_place){ .key = key, .next = x->offset + x->bytes };
}

void why_add_transfer(struct report *r, const struct why_transfer *x)
{
	struct why *w = r->why;
	struct why_sums *s = &w->sums;
	struct why_file *f;

	if (x->has_offset && x->bytes) {
		bool misaligned = x->offset % PAGE || (x->direct && x->requested % PAGE);

		s->with_offset++;
		s->misaligned += misaligned;
		s->direct += x->direct;
		s->direct_misaligned += x->direct && misaligned;
	}
	if (x->file->users > 1 && x->bytes) {
		s->shared++;
		s->small_shared += x->requested < SMALL;
	}
	f = &w->files[x->file - (const struct report_file *)r->files.values];
	if (x->write) {
		count_write(w, x, f);
		return;
	}
	count_read(w, x);
	if (!x->bytes)
		return;
	add_to_file(w, x, f);
	if (x->epoch)
		add_to_epoch(w, x, f);
	if (x->has_offset)
		place(w, x);
}
