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
	if (b->n == WRITEBACKS_MAX || util_room(&b->v, b->n, sizeof(*b->v)) < 0)
		return false;
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
static void apply_first(struct writebacks *writebacks, uint32_t n, bool all)
{
	const uint64_t until_ns = n < writebacks->n_writes && !all ? writebacks->write[n].begin_ns : UINT64_MAX;
	uint32_t late = 0, i = 0;

	qsort(writebacks->late, writebacks->n_late, sizeof(*writebacks->late), by_begin);
	while (i < n || (late < writebacks->n_late && writebacks->late[late].begin_ns < until_ns)) {
		const bool is_late = late < writebacks->n_late &&
				     (i == n || writebacks->late[late].begin_ns < writebacks->write[i].begin_ns);

		apply(writebacks, is_late ? &writebacks->late[late++] : &writebacks->write[i++]);
	}
	writebacks->n_writes -= n;
	memmove(writebacks->write, writebacks->write + n, writebacks->n_writes * sizeof(*writebacks->write));
	writebacks->n_late -= late;
	memmove(writebacks->late, writebacks->late + late, writebacks->n_late * sizeof(*writebacks->late));
}

/* --- writes ------------------------------------------------------------------------------------------- */

static bool begin(struct writebacks *writebacks)
{
	if (writebacks->write)
		return true;
	if (writebacks->n)
		qsort(writebacks->v, writebacks->n, sizeof(*writebacks->v), by_issue);
	writebacks->write = calloc(WRITEBACKS_WRITES, sizeof(*writebacks->write));
	writebacks->late = calloc(WRITEBACKS_LATE, sizeof(*writebacks->late));
	if (writebacks->write && writebacks->late)
		return true;
	free(writebacks->write);
	free(writebacks->late);
	writebacks->write = writebacks->late = NULL;
	return false;
}

void writebacks_write(struct writebacks *writebacks, const struct writebacks_write *write)
{
	uint32_t at;

	if (!writebacks->n || !begin(writebacks))
		return;
	if (writebacks->n_writes == WRITEBACKS_WRITES || writebacks->n_late == WRITEBACKS_LATE)
		apply_first(writebacks, writebacks->n_writes / 2, false);
	if (writebacks->n_late == WRITEBACKS_LATE)
		apply_first(writebacks, writebacks->n_writes, true);
	for (at = writebacks->n_writes; at && writebacks->write[at - 1].begin_ns > write->begin_ns; at--)
		if (writebacks->n_writes - at == STEPS) {
			writebacks->late[writebacks->n_late++] = *write;
			return;
		}
	memmove(writebacks->write + at + 1, writebacks->write + at,
		(writebacks->n_writes - at) * sizeof(*writebacks->write));
	writebacks->write[at] = *write;
	writebacks->n_writes++;
}

void writebacks_end(struct writebacks *b)
{
	if (begin(b))
		apply_first(b, b->n_writes, true);
	compare(b, UINT64_MAX);
}
