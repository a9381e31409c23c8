/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/why/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Returns how many of BYTES were moved again: those beyond END, the end of the highest read or write. */
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

bool why_files_room(const struct report *r)
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
	if (w->n_files)
		memcpy(files, w->files, w->n_files * sizeof(*files));
	memset(&files[w->n_files], 0, (room - w->n_files) * sizeof(*files));
	memset(&rest[w->n_files], 0, (room - w->n_files) * sizeof(*rest));
	free(w->files);
	w->files = files;
	w->n_files = room;
	return true;
}

void why_forget_fetched(struct why *w)
{
	for (size_t i = 0; i < w->n_files; i++)
		w->files_rest[i].fetched_ns = 0;
}

/* --- sums ----------------------------------------------------------------------------------------- */

/* Returns how many bytes of F there were to fetch; END is the end of its highest read. Read-ahead may fetch all of F. */
static uint64_t whole_of(const struct report_file *f, uint64_t end)
{
	return (MAX(end, f->size) + WHY_PAGE - 1) / WHY_PAGE * WHY_PAGE;
}

void why_files_rank(struct why_epoch *e, const struct why_file *f, uint64_t fid)
{
	struct why_slow_file *v = e->slow;
	unsigned int i = 0;

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

void why_files_end_epoch(struct why *w, struct why_file *f)
{
	struct why_epoch *e;

	if (!f->epoch)
		return;
	e = &w->epoch[f->epoch - 1];
	e->again_bytes += excess(f->epoch_bytes, f->epoch_end);
	if (f->written) {
		struct why_file_rest *rest = why_file_rest_of(w, f);

		e->rewritten_bytes += excess(rest->epoch_written, rest->epoch_write_end);
		rest->epoch_written = rest->epoch_write_end = 0;
	}
	f->epoch = f->written = f->reads = 0;
	f->epoch_bytes = f->epoch_end = f->epoch_ns = 0;
}

/*
 * Compares the place of a write with the last one, kept beside those of reads. An append goes to the end of the file so
 * far, whichever process wrote it.
 */
static void place_write(struct why *w, const struct why_transfer *x, struct why_file_rest *rest)
{
	const bool append = x->append || x->offset == rest->write_end;
	uint64_t key;
	struct why_place *p = why_place_of(w, x->pid | 1ULL << 31, x->fid, x->fd, &key);

	if ((append && p->key == key) || !why_is_restart(p, key, x)) {
		const bool next = append || p->next == x->offset;

		w->sums.placed_writes++;
		w->sums.sequential_writes += next;
		w->sums.write_jumps_ns += next ? 0 : x->lat_ns;
	}
	why_place_at(p, key, x);
	rest->write_end = why_end_of(x, rest->write_end);
}

void why_files_write(struct why *w, struct why_epoch *e, const struct why_transfer *x, struct why_file *f)
{
	const uint64_t bytes = x->bytes;
	struct why_file_rest *rest = why_file_rest_of(w, f);

	e->writes++;
	e->write_bytes += bytes;
	if (x->requested < WHY_SMALL) {
		w->sums.all_small_writes++;
		w->sums.small_writes_ns += x->lat_ns;
		*(x->has_offset && !x->offset ? &rest->small_first : &rest->small_next) += 1;
	}
	why_file_begin_epoch(w, e, f);
	why_file_used(f, x);
	f->written = true;
	rest->epoch_write_end = why_end_of(x, rest->epoch_write_end);
	rest->epoch_written += bytes;
	if (x->has_offset && bytes)
		place_write(w, x, rest);
}

/* --- all of them ---------------------------------------------------------------------------------- */

static void add_file(struct why *w, const struct report_file *f, struct why_file *sums)
{
	struct why_sums *s = &w->sums;

	const struct why_file_rest *rest = why_file_rest_of(w, sums);

	why_files_end_epoch(w, sums);
	/* a file that was written in one call had the largest possible write */
	s->small_writes += rest->small_next ? rest->small_first + (uint64_t)rest->small_next : 0;
	s->again_bytes += excess(f->read_bytes, sums->end);
	s->again_disk_bytes += excess(sums->disk_bytes - rest->direct_bytes, whole_of(f, sums->end));
	if (sums->turns && sums->turns >= MAX(f->users, 2)) { /* more turns than users: one of them came back to it */
		s->shared += sums->moved;
		s->small_shared += sums->small;
		s->small_shared_ns += f->calls ? (uint64_t)((double)f->time_ns * sums->small / (double)f->calls) : 0;
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

/* Adds the writes of O, unless the job reads the file: then they are not meant for people. */
static void add_output(struct report *r, const struct why_output *o)
{
	const struct report_file *f = table_find(&r->files, o->fid);
	struct why_sums *s = &r->why->sums;

	if (f && f->read_bytes)
		return;
	s->stdout_writes += o->writes;
	s->stdout_bytes += o->bytes;
	s->stdout_ns += o->ns;
}

void why_files_end(struct report *r)
{
	struct why *w = r->why;

	for (uint32_t i = 0; i < MIN(w->n_files, r->files.n); i++)
		add_file(w, table_at(&r->files, i), &w->files[i]);
	for (uint32_t i = 0; i < w->n_epochs; i++)
		add_epoch(&w->sums, &w->epoch[i]);
	add_epoch(&w->sums, w->outside);
	for (uint32_t i = 0; i < w->output.n; i++)
		add_output(r, table_at(&w->output, i));
}
