/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/meta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/scan/part.h"
#include "stats/top.h"

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_meta *m = r->meta = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	table_init(&m->sums, sizeof(struct report_meta_row), META_SUMS_MAX);
	return 0;
}

static void part_free(struct report *r)
{
	struct report_meta *m = r->meta;

	if (!m)
		return;
	for (uint32_t i = 0; i < m->sums.n; i++)
		free(((struct report_meta_row *)table_at(&m->sums, i))->folder);
	table_free(&m->sums);
	free(m);
}

static void add(struct report_meta_row *to, const struct report_meta_row *sums)
{
	to->count += sums->count;
	to->failed += sums->failed;
	to->ns += sums->ns;
	to->max_ns = MAX(to->max_ns, sums->max_ns);
	to->error = sums->error ? sums->error : to->error;
}

/* Returns the sums of SCAN's call and folder, NULL: there is no memory. Where there are many, new ones share a row. */
static struct report_meta_row *row_of(struct report_meta *meta, const struct scan *scan)
{
	const struct reader_field func = scan_field(scan, COL_FUNC), request = scan_field(scan, COL_REQUEST),
				  folder = scan_field(scan, COL_DIR);
	uint64_t key = table_key(func.p, func.len);
	struct report_meta_row *row;

	key = table_key_more(key, "\t", 1);
	key = table_key_more(key, request.p, request.len);
	key = table_key_more(key, "\t", 1);
	key = table_key_more(key, folder.p, folder.len);
	if (meta->sums.n >= META_SUMS_MAX - 1 && !table_find(&meta->sums, key))
		return table_get(&meta->sums, table_key("", 0));
	row = table_get(&meta->sums, key);
	if (!row || row->folder)
		return row;
	report_copy(row->func, sizeof(row->func), func);
	report_copy(row->request, sizeof(row->request), request);
	row->folder = strndup(folder.p, folder.len);
	return row;
}

static bool take(struct scan *scan, void *own)
{
	struct report_meta_row sums = {
		.count = scan_number(scan, COL_COUNT),
		.failed = scan_number(scan, COL_FAILED),
		.ns = scan_number(scan, COL_TIME_NS),
		.max_ns = scan_number(scan, COL_MAX_NS),
	}, *row = row_of(own, scan);

	scan_u64(scan, COL_ERRNO, &sums.error);
	if (row)
		add(row, &sums);
	return row;
}

static void part_read(struct report *r)
{
	struct scan_taker taker = { .take = take, .own = r->meta };

	scan_walk(r->folder, "meta_sums", &taker);
}

static void part_end(struct report *report)
{
	struct report_meta *meta = report->meta;
	struct report_meta_row rest = {}, *at;
	uint32_t shown = META_SHOWN;

	for (uint32_t i = 0; i < meta->sums.n; i++) {
		const struct report_meta_row *row = table_at(&meta->sums, i);

		if (!row->folder) {
			add(&rest, row);
			continue;
		}
		if (meta->n == shown)
			add(&rest, meta->row[shown - 1].ns < row->ns ? &meta->row[shown - 1] : row);
		at = TOP_PLACE(meta->row, meta->n, shown, e, e->ns, row->ns);
		if (at)
			*at = *row;
	}
	if (rest.count)
		meta->row[meta->n++] = rest;
}

const struct report_part report_meta_part = {
	.new = part_new,
	.read = part_read,
	.end = part_end,
	.free = part_free,
};
