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

/* Where X ended in its file: of what has no offset it is behind what there was. */
static uint64_t end_of(const struct why_call_row *x, uint64_t was)
{
	return (why_call_is(x, WHY_CALL_OFFSET) ? x->kept.offset : was) + x->kept.bytes;
}

static struct why_file_rest *rest_of(const struct why *w, const struct why_file *f)
{
	return &w->files_rest[f - w->files];
}

static void add_to_file(struct why *w, const struct why_call_row *x, struct why_file *f)
{
	uint64_t end = end_of(x, f->end);
	uint64_t was = excess(f->bytes, f->end), was_disk = excess(f->disk_bytes, f->whole);

	f->end = MAX(f->end, end);
	f->whole = MAX(f->whole,
		       (MAX(f->end, x->file->size) + PAGE - 1) / PAGE * PAGE); /* read-ahead may take all of it */
	f->bytes += x->kept.bytes;
	f->disk_bytes += x->kept.disk_bytes;
	if (x->kept.disk_bytes)
		rest_of(w, f)->fetched_ns = x->kept.end_ns;
	w->sums.again_bytes += excess(f->bytes, f->end) - was;
	w->sums.again_disk_bytes += excess(f->disk_bytes, f->whole) - was_disk;
}

static void rank_file(struct why_epoch *e, const struct why_file *f, const struct why_call_row *x)
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

/* What F has is of E from now on. */
static void begin_epoch(const struct why *w, const struct why_epoch *e, struct why_file *f)
{
	uint32_t nr = (uint32_t)(e - w->epoch) + 1;

	if (f->epoch == nr)
		return;
	f->epoch = nr;
	f->epoch_bytes = f->epoch_end = f->epoch_ns = 0;
	rest_of(w, f)->epoch_written = rest_of(w, f)->epoch_write_end = 0;
	f->reads = 0;
}

static void add_to_epoch(struct why *w, struct why_epoch *e, const struct why_call_row *x, struct why_file *f)
{
	uint64_t was;

	begin_epoch(w, e, f);
	was = excess(f->epoch_bytes, f->epoch_end);
	f->epoch_end = MAX(f->epoch_end, end_of(x, f->epoch_end));
	f->epoch_bytes += x->kept.bytes;
	f->epoch_ns += x->kept.lat_ns;
	f->reads++;
	e->again_bytes += excess(f->epoch_bytes, f->epoch_end) - was;
	rank_file(e, f, x);
}

static void count_read(struct why *w, struct why_epoch *e, const struct why_call_row *x)
{
	struct why_sums *s = &w->sums;

	if (e) {
		e->size[x->kept.bytes ? 64 - (unsigned int)__builtin_clzll(x->kept.bytes) : 0]++;
		e->reads += x->kept.bytes > 0;
		e->read_bytes += x->kept.bytes;
		e->disk_bytes += x->kept.disk_bytes;
		e->disk_reads += x->kept.disk_bytes > 0;
		e->unaccounted += !why_call_is(x, WHY_CALL_ACCOUNTED);
	}
	if (!x->kept.bytes)
		return;
	s->reads++;
	s->read_bytes += x->kept.bytes;
	s->disk_reads += x->kept.disk_bytes > 0;
	s->disk_bytes += x->kept.disk_bytes;
	s->tiny_reads += x->kept.requested < TINY;
	s->small_disk_reads += x->kept.disk_bytes > 0 && x->kept.requested < SMALL;
}

static struct why_place *place_of(const struct why *w, uint64_t pid, uint64_t fid, uint64_t *key)
{
	*key = (pid << 32 ^ fid) + 1; /* 0: nobody's */
	return &w->places[(*key * 0x9e3779b97f4a7c15ULL) >> (64 - WHY_PLACES_BITS)];
}

bool why_fetched_lately(const struct report *r, const struct report_file *f, uint64_t ns)
{
	uint64_t fetched_ns = r->why->files_rest[f - (const struct report_file *)r->files.values].fetched_ns;

	return fetched_ns && ns - fetched_ns < NSEC_PER_SEC;
}

/* The same of a write: it is remembered beside the reads. */
static void place_write(struct why *w, const struct why_call_row *x)
{
	uint64_t key;
	struct why_place *p = place_of(w, x->kept.pid | 1ULL << 31, x->fid, &key);

	if (p->key == key) {
		w->sums.placed_writes++;
		w->sums.sequential_writes += p->next == x->kept.offset;
	}
	*p = (struct why_place){ .key = key, .next = x->kept.offset + x->kept.bytes };
}

static void add_write_to_epoch(struct why *w, const struct why_epoch *e, const struct why_call_row *x,
			       struct why_file *f)
{
	struct why_file_rest *rest = rest_of(w, f);
	uint64_t was;

	begin_epoch(w, e, f);
	was = excess(rest->epoch_written, rest->epoch_write_end);
	rest->epoch_write_end = MAX(rest->epoch_write_end, end_of(x, rest->epoch_write_end));
	rest->epoch_written += x->kept.bytes;
	w->sums.rewritten_bytes += excess(rest->epoch_written, rest->epoch_write_end) - was;
}

static void count_write(struct why *w, struct why_epoch *e, const struct why_call_row *x, struct why_file *f)
{
	struct why_sums *s = &w->sums;

	s->writes++;
	s->write_bytes += x->kept.bytes;
	s->small_writes += x->kept.requested < SMALL;
	if (e) {
		e->writes++;
		e->write_bytes += x->kept.bytes;
		add_write_to_epoch(w, e, x, f);
	}
	if (why_call_is(x, WHY_CALL_OFFSET) && x->kept.bytes)
		place_write(w, x);
}

/* Where in the file, compared with the last read of it. */
static void place(struct why *w, struct why_epoch *e, const struct why_call_row *x)
{
	uint64_t key;
	struct why_place *p = place_of(w, x->kept.pid, x->fid, &key);
	bool small = x->kept.requested < WINDOW, next = p->next == x->kept.offset;

	if (p->key == key) {
		w->sums.placed++;
		w->sums.sequential += next;
		w->sums.sequential_small += next && small && why_call_is(x, WHY_CALL_ACCOUNTED);
		w->sums.sequential_disk += next && small && x->kept.disk_bytes;
		if (e) {
			e->placed++;
			e->sequential += next;
		}
	}
	*p = (struct why_place){ .key = key, .next = x->kept.offset + x->kept.bytes };
}

void why_add_transfer(struct report *r, struct why_epoch *e, const struct why_call_row *x)
{
	struct why *w = r->why;
	struct why_sums *s = &w->sums;
	struct why_file *f;

	if (why_call_is(x, WHY_CALL_OFFSET) && x->kept.bytes) {
		bool misaligned = x->kept.offset % PAGE || (why_call_is(x, WHY_CALL_DIRECT) && x->kept.requested % PAGE);

		s->with_offset++;
		s->misaligned += misaligned;
		s->direct += why_call_is(x, WHY_CALL_DIRECT);
		s->direct_misaligned += why_call_is(x, WHY_CALL_DIRECT) && misaligned;
	}
	if (x->file->users > 1 && x->kept.bytes) {
		s->shared++;
		s->small_shared += x->kept.requested < SMALL;
	}
	f = &w->files[x->file - (const struct report_file *)r->files.values];
	if (why_call_is(x, WHY_CALL_WRITE)) {
		count_write(w, e, x, f);
		return;
	}
	count_read(w, e, x);
	if (!x->kept.bytes)
		return;
	add_to_file(w, x, f);
	if (e)
		add_to_epoch(w, e, x, f);
	if (why_call_is(x, WHY_CALL_OFFSET))
		place(w, e, x);
}
