/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/lookup.h"

#include <string.h>

#include "base/util.h"
#include "report/scan/scan.h"

/* The row of KIND at OFFSET into S; false when it can no longer be read. */
static bool row_again(struct report *r, struct scan *s, enum report_kind kind, uint64_t offset)
{
	struct reader *rd = &r->readers[kind];

	report_scan_columns(s, rd);
	s->row = 0;
	return reader_seek(rd, offset) == 0 && reader_next(rd, s->ahead) > 0;
}

char *report_path_of(struct report *r, uint64_t fid, char *fstype, size_t size)
{
	const struct report_file *f = table_find(&r->files, fid);
	struct reader_field path;
	struct scan s;

	if (!f || !f->row || !row_again(r, &s, REPORT_FILES, f->row - 1))
		return NULL;
	path = scan_field(&s, COL_REALPATH);
	if (fstype)
		report_copy(fstype, size, scan_field(&s, COL_FSTYPE));
	return reader_is(path, "-") ? NULL : strndup(path.p, path.len);
}

static void look_up_call(struct report *r, struct report_call *c)
{
	static const enum column targets[] = { COL_PATH, COL_FILE, COL_DISK };
	enum column func = c->kind == REPORT_BIO ? COL_T : COL_FUNC;
	struct scan s;
	uint64_t fid;

	if (!row_again(r, &s, c->kind, c->offset))
		return;
	reader_u64(scan_field(&s, COL_PID), &c->pid);
	reader_u64(scan_field(&s, COL_TID), &c->tid);
	report_copy(c->time, sizeof(c->time), scan_field(&s, COL_TIME));
	report_copy(c->comm, sizeof(c->comm), scan_field(&s, COL_COMM));
	report_copy(c->func, sizeof(c->func), scan_field(&s, func));
	if (reader_u64(scan_field(&s, COL_FID), &fid))
		c->target = report_path_of(r, fid, NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(targets) && !c->target; i++) {
		struct reader_field f = scan_field(&s, targets[i]);

		if (!reader_is(f, "-"))
			c->target = strndup(f.p, f.len);
	}
}

void report_look_up_calls(struct report *r, struct report_calls *calls)
{
	for (unsigned int i = 0; i < calls->n; i++)
		look_up_call(r, &calls->call[i]);
}

unsigned int report_pick_files(struct report *r, struct report_top_file *top,
			       uint64_t (*key)(const struct report_file *f))
{
	unsigned int n = 0, at;

	for (uint32_t i = 0; i < r->files.n; i++) {
		const struct report_file *f = table_at(&r->files, i);

		if (!report_is_file(f->type) || key(f) == 0 ||
		    (n == REPORT_TOP && key(f) <= key(&top[n - 1].sum)))
			continue;
		n = MIN(n + 1, REPORT_TOP);
		for (at = n - 1; at > 0 && key(&top[at - 1].sum) < key(f); at--)
			top[at] = top[at - 1];
		top[at] = (struct report_top_file){ .fid = r->files.keys[i], .sum = *f };
	}
	for (unsigned int i = 0; i < n; i++)
		top[i].path = report_path_of(r, top[i].fid, top[i].fstype, sizeof(top[i].fstype));
	return n;
}
