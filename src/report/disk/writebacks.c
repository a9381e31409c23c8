/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/disk/writebacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define STEPS 32 /* usually not more writes run at the same time: so a write moves by at most so many places */

void writebacks_init(struct writebacks *b, writebacks_fn take, void *ctx)
{
	*b = (struct writebacks){ .take = take, .ctx = ctx };
	writers_init(&b->writers);
}

void writebacks_free(struct writebacks *b)
{
	writers_free(&b->writers);
	free(b->v);
	free(b->write);
	free(b->late);
}

bool writebacks_add(struct writebacks *b, const struct writeback *x)
{
	if (b->n == b->room) {
		const uint32_t room = b->room ? 2 * b->room : 1024;
		struct writeback *v = room > WRITEBACKS_MAX ? NULL : reallocarray(b->v, room, sizeof(*v));

		if (!v)
			return false;
		b->v = v;
		b->room = room;
	}
	b->v[b->n++] = *x;
	return true;
}

/* --- comparing ---------------------------------------------------------------------------------------- */

struct part {
	struct writebacks *b;
	const struct writeback *x;
};

static void take(void *ctx, uint64_t len, uint32_t pid)
{
	const struct part *p = ctx;

	p->b->take(p->b->ctx, p->x, len, pid);
}

/* Compares the write-backs up to AT_NS. */
static void compare(struct writebacks *b, uint64_t at_ns)
{
	for (; b->next < b->n && b->v[b->next].issued_ns <= at_ns; b->next++) {
		struct part part = { b, &b->v[b->next] };

		writers_take(&b->writers, part.x->fid, part.x->off, part.x->bytes, take, &part);
	}
}

static void apply(struct writebacks *b, const struct writebacks_write *w)
{
	b->out_of_order += w->begin_ns < b->compared_ns;
	b->compared_ns = MAX(b->compared_ns, w->begin_ns);
	compare(b, w->begin_ns);
	writers_write(&b->writers, w->fid, w->off, w->len, w->pid);
}

static int by_begin(const void *a, const void *b)
{
	const struct writebacks_write *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int by_issue(const void *a, const void *b)
{
	const struct writeback *x = a, *y = b;

	return (x->issued_ns > y->issued_ns) - (x->issued_ns < y->issued_ns);
}

/* Takes the first N writes, and the late ones that began before the write after these; with ALL, all late ones. */
static void apply_first(struct writebacks *b, uint32_t n, bool all)
{
	const uint64_t until_ns = n < b->n_writes && !all ? b->write[n].begin_ns : UINT64_MAX;
	uint32_t late = 0, i = 0;

	qsort(b->late, b->n_late, sizeof(*b->late), by_begin);
	while (i < n || (late < b->n_late && b->late[late].begin_ns < until_ns)) {
		const bool is_late = late < b->n_late && (i == n || b->late[late].begin_ns < b->write[i].begin_ns);

		apply(b, is_late ? &b->late[late++] : &b->write[i++]);
	}
	b->n_writes -= n;
	memmove(b->write, b->write + n, b->n_writes * sizeof(*b->write));
	b->n_late -= late;
	memmove(b->late, b->late + late, b->n_late * sizeof(*b->late));
}

/* --- writes ------------------------------------------------------------------------------------------- */

static bool begin(struct writebacks *b)
{
	if (b->write)
		return true;
	if (b->n)
		qsort(b->v, b->n, sizeof(*b->v), by_issue);
	b->write = calloc(WRITEBACKS_WRITES, sizeof(*b->write));
	b->late = calloc(WRITEBACKS_LATE, sizeof(*b->late));
	if (b->write && b->late)
		return true;
	free(b->write);
	free(b->late);
	b->write = b->late = NULL;
	return false;
}

void writebacks_write(struct writebacks *b, const struct writebacks_write *w)
{
	uint32_t at;

	if (!b->n || !begin(b))
		return;
	if (b->n_writes == WRITEBACKS_WRITES || b->n_late == WRITEBACKS_LATE)
		apply_first(b, b->n_writes / 2, false);
	if (b->n_late == WRITEBACKS_LATE)
		apply_first(b, b->n_writes, true);
	for (at = b->n_writes; at && b->write[at - 1].begin_ns > w->begin_ns; at--)
		if (b->n_writes - at == STEPS) {
			b->late[b->n_late++] = *w;
			return;
		}
	memmove(b->write + at + 1, b->write + at, (b->n_writes - at) * sizeof(*b->write));
	b->write[at] = *w;
	b->n_writes++;
}

void writebacks_end(struct writebacks *b)
{
	if (begin(b))
		apply_first(b, b->n_writes, true);
	compare(b, UINT64_MAX);
}
