/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How regular files are read: what again, in which order, in what pieces. What goes on where the last read of
 * the same process ended is sequential; the last places of PLACES pairs of process and file are remembered.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_scan.h"
#include "util.h"
#include "why_impl.h"

#define TINY 4096
#define SMALL (64U << 10)
#define WINDOW (128U << 10) /* of read-ahead, by default: a read of as much has to fetch */
#define PAGE 4096

/* What goes beyond the highest byte that was read has been read before. */
static uint64_t excess(uint64_t bytes, uint64_t end)
{
	return MAX(bytes, end) - end;
}

/* --- of each file --------------------------------------------------------------------------------- */

int why_files_begin(struct why *w)
{
	w->places = calloc(1U << WHY_PLACES_BITS, sizeof(*w->places));
	return w->places ? 0 : -ENOMEM;
}

/* For as many as the report has room for. */
static bool make_room(const struct report *r)
{
	const uint32_t room = r->files.room;
	struct why *w = r->why;
	struct why_file *files = aligned_alloc(sizeof(*files), room * sizeof(*files));
	struct why_file_rest *rest = reallocarray(w->files_rest, room, sizeof(*rest));

	if (rest)
		w->files_rest = rest;
	if (!files || !rest) {
		free(files);
		w->error = -ENOMEM;
		return false;
	}
	memcpy(files, w->files, w->n_files * sizeof(*files));
	memset(&files[w->n_files], 0, (room - w->n_files) * sizeof(*files));
	memset(&rest[w->n_files], 0, (room - w->n_files) * sizeof(*rest));
	free(w->files);
	w->files = files;
	w->n_files = room;
	return true;
}

static size_t index_of(const struct report *r, const struct report_file *f)
{
	return (size_t)(f - (const struct report_file *)r->files.values);
}

/* NULL: there is no memory. */
static struct why_file *file_of(const struct report *r, const struct report_file *f)
{
	const size_t i = index_of(r, f);

	return i < r->why->n_files || make_room(r) ? &r->why->files[i] : NULL;
}

static struct why_file_rest *rest_of(const struct why *w, const struct why_file *f)
{
	return &w->files_rest[f - w->files];
}

void why_fetched(struct report *r, const struct report_file *f, uint64_t ns)
{
	struct why_file *file = file_of(r, f);

	if (file)
		rest_of(r->why, file)->fetched_ns = ns;
}

bool why_fetched_lately(const struct report *r, const struct report_file *f, uint64_t ns)
{
	const size_t i = index_of(r, f);
	uint64_t fetched_ns = i < r->why->n_files ? r->why->files_rest[i].fetched_ns : 0;

	return fetched_ns && ns - fetched_ns < NSEC_PER_SEC;
}

void why_forget_fetched(struct why *w)
{
	for (size_t i = 0; i < w->n_files; i++)
		w->files_rest[i].fetched_ns = 0;
}

/* --- sums ----------------------------------------------------------------------------------------- */

/* Where X ended in its file: of what has no offset it is behind what there was. */
static uint64_t end_of(const struct why_transfer *x, uint64_t was)
{
	return (x->has_offset ? x->offset : was) + x->call->bytes;
}

/* What of F there was to fetch, where its highest byte is END: read-ahead may take all of it. */
static uint64_t whole_of(const struct report_file *f, uint64_t end)
{
	return (MAX(end, f->size) + PAGE - 1) / PAGE * PAGE;
}

static void rank_file(struct why_epoch *e, const struct why_file *f, uint64_t fid)
{
	struct why_slow_file *v = e->slow;
	unsigned int i = 0;

	if (e->n_slow == WHY_SLOW_FILES && f->epoch_ns < v[WHY_SLOW_FILES - 1].time_ns)
		return; /* else it would be among them with less */
	while (i < e->n_slow && v[i].fid != fid)
		i++;
	if (i == e->n_slow) {
		if (e->n_slow == WHY_SLOW_FILES && f->epoch_ns <= v[i - 1].time_ns)
			return;
		if (e->n_slow == WHY_SLOW_FILES)
			i--;
		else
			e->n_slow++;
	}
	v[i] = (struct why_slow_file){ .fid = fid, .time_ns = f->epoch_ns, .bytes = f->epoch_bytes, .calls = f->reads };
	for (; i > 0 && v[i - 1].time_ns < v[i].time_ns; i--) {
		struct why_slow_file t = v[i];

		v[i] = v[i - 1];
		v[i - 1] = t;
	}
}

/* What F has is no more of the epoch that it was of. */
static void end_epoch(struct why *w, struct why_file *f)
{
	struct why_file_rest *rest = rest_of(w, f);
	struct why_epoch *e;

	if (!f->epoch)
		return;
	e = &w->epoch[f->epoch - 1];
	e->again_bytes += excess(f->epoch_bytes, f->epoch_end);
	e->rewritten_bytes += excess(rest->epoch_written, rest->epoch_write_end);
	f->epoch = f->reads = 0;
	f->epoch_bytes = f->epoch_end = f->epoch_ns = 0;
	rest->epoch_written = rest->epoch_write_end = 0;
}

/* It is of E from now on. */
static inline void begin_epoch(struct why *w, const struct why_epoch *e, struct why_file *f)
{
	uint32_t nr = (uint32_t)(e - w->epoch) + 1;

	if (f->epoch == nr)
		return;
	end_epoch(w, f);
	f->epoch = nr;
}

static struct why_place *place_of(const struct why *w, uint64_t pid, uint64_t fid, uint64_t *key)
{
	*key = (pid << 32 ^ fid) + 1; /* 0: nobody's */
	return &w->places[(*key * 0x9e3779b97f4a7c15ULL) >> (64 - WHY_PLACES_BITS)];
}

/* Where in the file, compared with the last read of it. */
static inline void place_read(struct why *w, struct why_epoch *e, const struct why_transfer *x)
{
	const struct report_call_facts *c = x->call;
	uint64_t key;
	struct why_place *p = place_of(w, c->pid, c->fid, &key);
	bool small = x->requested < WINDOW, next = p->next == x->offset;

	if (p->key == key) {
		w->sums.sequential_small += next && small && c->accounted;
		w->sums.sequential_disk += next && small && c->disk_bytes;
		e->placed++;
		e->sequential += next;
	}
	*p = (struct why_place){ .key = key, .next = x->offset + c->bytes };
}

/* The same of a write: it is remembered beside the reads. */
static void place_write(struct why *w, const struct why_transfer *x)
{
	const struct report_call_facts *c = x->call;
	uint64_t key;
	struct why_place *p = place_of(w, c->pid | 1ULL << 31, c->fid, &key);

	if (p->key == key) {
		w->sums.placed_writes++;
		w->sums.sequential_writes += p->next == x->offset;
	}
	*p = (struct why_place){ .key = key, .next = x->offset + c->bytes };
}

static inline void count_place(struct why_sums *s, const struct why_transfer *x)
{
	bool misaligned = x->offset % PAGE || (x->direct && x->requested % PAGE);

	s->with_offset++;
	s->misaligned += misaligned;
	if (x->direct) {
		s->direct++;
		s->direct_misaligned += misaligned;
	}
}

static void add_write(struct why *w, struct why_epoch *e, const struct why_transfer *x, struct why_file *f)
{
	const uint64_t bytes = x->call->bytes;
	struct why_file_rest *rest = rest_of(w, f);

	e->writes++;
	e->write_bytes += bytes;
	w->sums.small_writes += x->requested < SMALL;
	begin_epoch(w, e, f);
	rest->epoch_write_end = MAX(rest->epoch_write_end, end_of(x, rest->epoch_write_end));
	rest->epoch_written += bytes;
	if (x->has_offset && bytes)
		place_write(w, x);
}

static inline void add_read(struct why *w, struct why_epoch *e, const struct why_transfer *x, struct why_file *f)
{
	const struct report_call_facts *c = x->call;
	struct why_sums *s = &w->sums;

	e->size[c->bytes ? 64 - (unsigned int)__builtin_clzll(c->bytes) : 0]++;
	e->unaccounted += !c->accounted;
	if (c->disk_bytes) {
		e->disk_bytes += c->disk_bytes;
		e->disk_reads++;
	}
	if (!c->bytes)
		return;
	e->reads++;
	e->read_bytes += c->bytes;
	s->tiny_reads += x->requested < TINY;
	f->end = MAX(f->end, end_of(x, f->end));
	if (c->disk_bytes) {
		s->disk_reads++;
		s->disk_bytes += c->disk_bytes;
		s->small_disk_reads += x->requested < SMALL;
		f->disk_bytes += c->disk_bytes;
		rest_of(w, f)->fetched_ns = x->end_ns;
	}
	begin_epoch(w, e, f);
	f->epoch_end = MAX(f->epoch_end, end_of(x, f->epoch_end));
	f->epoch_bytes += c->bytes;
	f->epoch_ns += x->lat_ns;
	f->reads++;
	rank_file(e, f, c->fid);
	if (x->has_offset)
		place_read(w, e, x);
}

void why_add_transfer(struct report *r, const struct why_transfer *x)
{
	const uint64_t bytes = x->call->bytes;
	struct why *w = r->why;
	struct why_file *f = file_of(r, x->call->file);
	struct why_epoch *e = why_epoch_at(w, x->end_ns);

	if (!f)
		return;
	if (!e)
		e = w->outside;
	if (bytes) {
		if (x->has_offset)
			count_place(&w->sums, x);
		f->moved++;
		f->small += x->requested < SMALL;
	}
	if (x->call->write)
		add_write(w, e, x, f);
	else
		add_read(w, e, x, f);
}

/* --- all of them ---------------------------------------------------------------------------------- */

static void add_file(struct why *w, const struct report_file *f, struct why_file *sums)
{
	struct why_sums *s = &w->sums;

	end_epoch(w, sums);
	s->again_bytes += excess(f->read_bytes, sums->end);
	s->again_disk_bytes += excess(sums->disk_bytes, whole_of(f, sums->end));
	if (f->users > 1) {
		s->shared += sums->moved;
		s->small_shared += sums->small;
	}
}

static void add_epoch(struct why_sums *s, const struct why_epoch *e)
{
	s->reads += e->reads;
	s->read_bytes += e->read_bytes;
	s->writes += e->writes;
	s->write_bytes += e->write_bytes;
	s->placed += e->placed;
	s->sequential += e->sequential;
}

void why_files_end(struct report *r)
{
	struct why *w = r->why;

	for (uint32_t i = 0; i < MIN(w->n_files, r->files.n); i++)
		add_file(w, table_at(&r->files, i), &w->files[i]);
	for (uint32_t i = 0; i < w->n_epochs; i++)
		add_epoch(&w->sums, &w->epoch[i]);
	add_epoch(&w->sums, w->outside);
}
