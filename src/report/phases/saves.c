/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds checkpoints among the writes of files. */
#include "report/phases/saves.h"

#include <stdlib.h>

#include "base/util.h"
#include "stats/table.h"

#define NEAR_NS (200 * NSEC_PER_MSEC) /* writes of several files within this time are one checkpoint */
/* a longer pause in a file's writes, without a sync or the like, ends a run: tensors may come from a GPU meanwhile */
#define GAP_NS (2 * NSEC_PER_SEC)
#define LINE_BYTES (64U << 10) /* a shorter run is no part of a checkpoint by itself */
#define PART_BYTES (1U << 20) /* the least size of a checkpoint's file */
#define SAVE_BYTES (16U << 20) /* the least size of a checkpoint */
#define MARKS_LOOKED_AT 4096 /* of one file: hostile traces have more */
#define TIMES 4 /* if a file's open is not known, it must be written at this many times the trace's mean rate */

/* Writes of one file, from the first to the last, or to a pause. */
struct run {
	uint64_t fid, begin_ns, end_ns, bytes;
	bool opened; /* right before its first write */
};

struct mark {
	uint64_t fid, begin_ns, end_ns;
	enum phase_save_mark what;
};

struct phase_saves {
	struct run *run;
	struct mark *mark;
	uint32_t n_runs, n_marks;
	struct table last; /* 1 + the index of the last run, by FID */
	uint64_t bytes; /* written in all */
};

struct phase_saves *phase_saves_new(void)
{
	struct phase_saves *s = calloc(1, sizeof(*s));

	if (s)
		table_init(&s->last, sizeof(uint32_t), PHASE_SAVES_MAX);
	return s;
}

void phase_saves_free(struct phase_saves *s)
{
	if (!s)
		return;
	table_free(&s->last);
	free(s->run);
	free(s->mark);
	free(s);
}

/* Makes room in *V for one more of SIZE after the first N. Returns false when there are too many. */
static bool grow(void *v, uint32_t n, size_t size)
{
	return n < PHASE_SAVES_MAX && util_room(v, n, size) == 0;
}

/* --- rows -------------------------------------------------------------------------------------------------- */

void phase_saves_write(struct phase_saves *saves, uint64_t fid, uint64_t at_ns, uint64_t lat_ns, uint64_t bytes)
{
	const uint64_t begin_ns = at_ns - MIN(lat_ns, at_ns);
	uint32_t *last = table_get(&saves->last, fid);
	struct run *run = last && *last ? &saves->run[*last - 1] : NULL;

	saves->bytes += bytes;
	if (run && begin_ns < run->end_ns + NEAR_NS) {
		run->begin_ns = MIN(run->begin_ns, begin_ns);
		run->end_ns = MAX(run->end_ns, at_ns);
		run->bytes += bytes;
		return;
	}
	/* the last run was too short, for example a log's line: this one takes its place */
	if (run && run->bytes < LINE_BYTES && begin_ns >= run->end_ns + GAP_NS) {
		*run = (struct run){ .fid = fid, .begin_ns = begin_ns, .end_ns = at_ns, .bytes = bytes };
		return;
	}
	if (!last || !grow(&saves->run, saves->n_runs, sizeof(*saves->run)))
		return;
	saves->run[saves->n_runs] = (struct run){ .fid = fid, .begin_ns = begin_ns, .end_ns = at_ns, .bytes = bytes };
	*last = ++saves->n_runs;
}

void phase_saves_mark(struct phase_saves *s, uint64_t fid, enum phase_save_mark what, uint64_t at_ns, uint64_t lat_ns)
{
	if (grow(&s->mark, s->n_marks, sizeof(*s->mark)))
		s->mark[s->n_marks++] = (struct mark){ fid, at_ns - MIN(lat_ns, at_ns), at_ns, what };
}

/* --- files -------------------------------------------------------------------------------------------------- */

static int by_run(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->fid != y->fid)
		return x->fid < y->fid ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int by_mark(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->fid != y->fid)
		return x->fid < y->fid ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The opens, syncs and the like of one file. */
struct marks {
	const struct mark *v;
	uint32_t n;
};

/* Returns the marks of FID, from *AT on, and advances *AT. */
static struct marks marks_of(const struct phase_saves *s, uint64_t fid, uint32_t *at)
{
	struct marks m;

	while (*at < s->n_marks && s->mark[*at].fid < fid)
		++*at;
	m = (struct marks){ s->n_marks ? s->mark + *at : NULL, 0 };
	while (*at + m.n < s->n_marks && m.n < MARKS_LOOKED_AT && s->mark[*at + m.n].fid == fid)
		m.n++;
	return m;
}

static bool is_marked(const struct marks *m, uint64_t begin_ns, uint64_t end_ns)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->v[i].end_ns > begin_ns && m->v[i].begin_ns < end_ns)
			return true;
	return false;
}

/* Extends the run to the open right before it, and to the sync and rename right after it. */
static void widen(struct run *run, const struct marks *marks)
{
	const uint64_t first_ns = run->begin_ns;

	for (uint32_t i = 0; i < marks->n; i++) {
		const struct mark *k = &marks->v[i];

		if (k->what == PHASE_OPENED && k->end_ns <= first_ns && k->end_ns + NEAR_NS > first_ns) {
			run->begin_ns = MIN(run->begin_ns, k->begin_ns);
			run->opened = true;
		}
		if (k->what == PHASE_FLUSHED && k->end_ns > run->end_ns && k->begin_ns < run->end_ns + NEAR_NS)
			run->end_ns = k->end_ns;
	}
}

/* Joins runs of one file with only a pause between them; each is extended by its marks. */
static void join_runs(struct phase_saves *saves)
{
	uint32_t n = 0, at = 0;

	if (saves->n_runs)
		qsort(saves->run, saves->n_runs, sizeof(*saves->run), by_run);
	if (saves->n_marks)
		qsort(saves->mark, saves->n_marks, sizeof(*saves->mark), by_mark);
	for (uint32_t i = 0; i < saves->n_runs; i++) {
		struct run *r = &saves->run[i], *before = n ? &saves->run[n - 1] : NULL;
		const struct marks m = marks_of(saves, r->fid, &at);

		if (before && before->fid == r->fid && r->begin_ns < before->end_ns + GAP_NS &&
		    !is_marked(&m, before->end_ns, r->begin_ns)) {
			before->end_ns = MAX(before->end_ns, r->end_ns);
			before->bytes += r->bytes;
		} else {
			saves->run[n++] = *r;
		}
	}
	saves->n_runs = n;
	at = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct marks m = marks_of(saves, saves->run[i].fid, &at);

		widen(&saves->run[i], &m);
	}
}

/* --- checkpoints --------------------------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Whether the run is a part of a checkpoint. A log is written all the time; a file that was open before must stand out.
 */
static bool is_part(const struct phase_saves *s, const struct run *r, uint64_t trace_ns)
{
	const uint64_t ns = MAX(r->end_ns - r->begin_ns, 1);

	if (r->bytes < PART_BYTES || 2 * ns > trace_ns)
		return false;
	return r->opened || (double)r->bytes / (double)ns >= TIMES * (double)s->bytes / (double)trace_ns;
}

struct phase_save *phase_saves_find(struct phase_saves *saves, uint64_t begin_ns, uint64_t end_ns, uint32_t *n)
{
	struct phase_save *save, *last = NULL;
	uint32_t count = 0;

	*n = 0;
	join_runs(saves);
	if (saves->n_runs)
		qsort(saves->run, saves->n_runs, sizeof(*saves->run), by_begin);
	save = calloc(saves->n_runs + 1, sizeof(*save));
	for (uint32_t i = 0; save && i < saves->n_runs; i++) {
		const struct run *run = &saves->run[i];

		if (!is_part(saves, run, end_ns - begin_ns))
			continue;
		if (last && run->begin_ns < last->end_ns + NEAR_NS) {
			last->end_ns = MAX(last->end_ns, run->end_ns);
			last->bytes += run->bytes;
			continue;
		}
		last = &save[count++];
		*last = (struct phase_save){ run->begin_ns, run->end_ns, run->bytes };
	}
	for (uint32_t i = 0; i < count; i++)
		if (save[i].bytes >= SAVE_BYTES)
			save[(*n)++] = save[i];
	return save;
}
