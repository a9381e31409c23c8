/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/lives/doings.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "trace/reader.h"
#include "trace/window.h"

#define DEPTH_MAX 64U /* regions within each other; what is deeper counts for the one around it */

/* docs/regions.md: names of deep learning, without ai. Others say nothing of what a thread waits for. */
static const struct {
	const char *cat, *name; /* NAME: NULL: any */
	enum path_doing doing;
} known[] = {
	{ "dataloader", "start", PATH_STARTS_LOADERS },
	{ "dataloader", NULL, PATH_FETCHES },
	{ "data", NULL, PATH_BATCHES },
	{ "compute", NULL, PATH_COMPUTES },
	{ "device", NULL, PATH_COMPUTES },
	{ "checkpoint", "save", PATH_SAVES },
	{ "checkpoint", "load", PATH_LOADS },
	{ "comm", NULL, PATH_TALKS },
};

static enum path_doing doing_of(struct reader_field cat, struct reader_field name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (reader_is(cat, known[i].cat) && (!known[i].name || reader_is(name, known[i].name)))
			return known[i].doing;
	return PATH_DOES_ANYTHING;
}

/* --- rows -------------------------------------------------------------------------------------------------- */

static int take(struct path_doings *doings, uint64_t tid, uint64_t begin_ns, uint64_t end_ns, enum path_doing doing)
{
	const uint32_t life = path_lives_find(doings->lives, tid, end_ns);

	if (!life)
		return 0;
	if (util_room(&doings->v, doings->n, sizeof(*doings->v)) < 0)
		return -ENOMEM;
	doings->v[doings->n++] = (struct path_doing_row){ { begin_ns, life }, end_ns, doing };
	return 0;
}

static int read_rows(struct path_doings *doings, struct reader *reader, uint32_t max)
{
	const unsigned int cat = reader_column(reader, "CAT"), name = reader_column(reader, "NAME"),
			   tid = reader_column(reader, "TID"), at = reader_column(reader, "TIMESTAMP"),
			   lat = reader_column(reader, "LAT_NS");
	struct reader_row row;

	while (doings->n < max && reader_next(reader, &row) > 0) {
		const enum path_doing doing = doing_of(reader_field(&row, cat), reader_field(&row, name));
		uint64_t end_ns, lat_ns, thread;

		if (!doing || !reader_u64(reader_field(&row, at), &end_ns) ||
		    !reader_u64(reader_field(&row, lat), &lat_ns) || !reader_u64(reader_field(&row, tid), &thread) ||
		    lat_ns > end_ns || !lat_ns)
			continue;
		if (take(doings, thread, end_ns - lat_ns, end_ns, doing) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* --- one over another ------------------------------------------------------------------------------------------ */

/* The regions of one thread that have begun, and the pieces of time that they leave to each other. */
struct nest {
	struct path_doing_row open[DEPTH_MAX];
	unsigned int depth;
	uint64_t at_ns;
	struct path_doings *to;
};

/* The time up to END belongs to the innermost one. */
static int advance(struct nest *nest, uint64_t end_ns)
{
	const struct path_doing_row *open = &nest->open[nest->depth - 1];
	struct path_doings *to = nest->to;

	if (end_ns <= nest->at_ns)
		return 0;
	if (util_room(&to->v, to->n, sizeof(*to->v)) < 0)
		return -ENOMEM;
	to->v[to->n++] = (struct path_doing_row){ { nest->at_ns, open->row.life }, end_ns, open->doing };
	nest->at_ns = end_ns;
	return 0;
}

/* Ends those that end by UNTIL. Below the last one may be some, as regions of several lanes are not within each other.
 */
static int leave(struct nest *nest, uint64_t until_ns)
{
	unsigned int left = 0;
	int res = 0;

	while (res == 0 && nest->depth && nest->open[nest->depth - 1].end_ns <= until_ns) {
		res = advance(nest, nest->open[nest->depth - 1].end_ns);
		nest->depth--;
	}
	for (unsigned int i = 0; i < nest->depth; i++)
		if (nest->open[i].end_ns > until_ns)
			nest->open[left++] = nest->open[i];
	nest->depth = left;
	return res;
}

static int enter(struct nest *nest, const struct path_doing_row *row)
{
	int res = leave(nest, row->row.at_ns);

	if (res == 0 && nest->depth)
		res = advance(nest, row->row.at_ns);
	if (nest->depth == DEPTH_MAX)
		return res;
	nest->at_ns = MAX(nest->at_ns, row->row.at_ns);
	nest->open[nest->depth++] = *row;
	return res;
}

/* Makes pieces, of which none is over another, of the rows. */
static int flatten(struct path_doings *doings)
{
	struct path_doings flat = { .lives = doings->lives };
	int res = 0;

	flat.of = path_rows_sort(&doings->v, doings->n, sizeof(*doings->v), doings->lives->n);
	if (!flat.of)
		return -ENOMEM;
	for (uint32_t life = 0; life < doings->lives->n && res == 0; life++) {
		const struct path_range range = flat.of[life];
		struct nest nest = { .to = &flat };

		flat.of[life].first = flat.n;
		for (uint32_t i = range.first; i < range.first + range.n && res == 0; i++)
			res = enter(&nest, &doings->v[i]);
		if (res == 0)
			res = leave(&nest, UINT64_MAX);
		flat.of[life].n = flat.n - flat.of[life].first;
	}
	path_doings_free(doings);
	*doings = flat;
	return res;
}

int path_doings_read(struct path_doings *doings, const struct path_lives *lives, int dirfd, const struct window *window,
		     uint32_t max)
{
	struct reader reader;
	int res;

	*doings = (struct path_doings){ .lives = lives };
	if (reader_open(&reader, dirfd, "regions.out") < 0)
		return 0;
	window_read(window, &reader);
	if (reader.end_ns) /* a region that ends behind the part may have begun in it */
		reader.end_ns = UINT64_MAX;
	res = read_rows(doings, &reader, max);
	reader_close(&reader);
	return res == 0 && doings->n ? flatten(doings) : res;
}

void path_doings_free(struct path_doings *doings)
{
	free(doings->v);
	free(doings->of);
	*doings = (struct path_doings){ .n = 0 };
}

/* --- looked up ------------------------------------------------------------------------------------------------- */

enum path_doing path_doings_at(const struct path_doings *doings, uint32_t life, uint64_t at_ns, uint64_t *until_ns)
{
	const struct path_range range = doings && doings->of ? doings->of[life] : (struct path_range){ 0 };
	uint32_t low = range.first, high = range.first + range.n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (doings->v[mid].end_ns <= at_ns)
			low = mid + 1;
		else
			high = mid;
	}
	*until_ns = UINT64_MAX;
	if (low == range.first + range.n)
		return PATH_DOES_ANYTHING;
	if (doings->v[low].row.at_ns > at_ns) {
		*until_ns = doings->v[low].row.at_ns;
		return PATH_DOES_ANYTHING;
	}
	*until_ns = doings->v[low].end_ns;
	return doings->v[low].doing;
}
