/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/lookup.h"

#include <string.h>

#include "base/util.h"
#include "report/scan/scan.h"
#include "stats/top.h"

char *report_path_of(struct report *report, uint64_t fid, char *fstype, size_t size)
{
	const struct report_file *f = table_find(&report->files, fid);
	struct reader_field path;
	struct scan s = { .report = report };

	if (!f || !f->row || !report->folder || scan_seek(&s, report->folder, "files", f->row - 1) < 0)
		return NULL;
	path = scan_field(&s, COL_REALPATH);
	if (fstype)
		report_copy(fstype, size, scan_field(&s, COL_FSTYPE));
	return reader_is(path, "-") ? NULL : strndup(path.p, path.len);
}

static void look_up_call(struct report *report, struct report_call *call)
{
	static const enum column targets[] = { COL_PATH, COL_FILE, COL_DISK };
	enum column func = call->kind == REPORT_BIO ? COL_T : COL_FUNC;
	struct scan s = { .report = report };
	uint64_t fid;

	if (scan_seek(&s, report->folder, report_kind_names[call->kind], call->offset) < 0)
		return;
	call->pid = scan_number(&s, COL_PID);
	call->tid = scan_number(&s, COL_TID);
	report_copy(call->time, sizeof(call->time), scan_field(&s, COL_TIME));
	report_copy(call->comm, sizeof(call->comm), scan_field(&s, COL_COMM));
	report_copy(call->func, sizeof(call->func), scan_field(&s, func));
	if (scan_u64(&s, COL_FID, &fid))
		call->target = report_path_of(report, fid, NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(targets) && !call->target; i++) {
		struct reader_field f = scan_field(&s, targets[i]);

		if (!reader_is(f, "-"))
			call->target = strndup(f.p, f.len);
	}
}

void report_look_up_calls(struct report *r, struct report_calls *calls)
{
	for (unsigned int i = 0; i < calls->n; i++)
		look_up_call(r, &calls->call[i]);
}

unsigned int report_pick_files(struct report *report, struct report_top_file *top,
			       uint64_t (*key)(const struct report_file *f))
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < report->files.n; i++) {
		const struct report_file *f = table_at(&report->files, i);
		struct report_top_file *at = NULL;

		if (report_is_file(f->type) && !f->unlisted && key(f))
			at = TOP_PLACE(top, n, REPORT_TOP, e, key(&e->sum), key(f));
		if (at)
			*at = (struct report_top_file){ .fid = report->files.keys[i], .sum = *f };
	}
	for (unsigned int i = 0; i < n; i++)
		top[i].path = report_path_of(report, top[i].fid, top[i].fstype, sizeof(top[i].fstype));
	return n;
}
