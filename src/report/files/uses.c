/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/uses.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/files/path_filter.h"
#include "report/scan/lookup.h"
#include "report/scan/part.h"
#include "stats/top.h"

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_uses *u = r->uses = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	table_init(&u->uses, sizeof(struct report_use), REPORT_USES_MAX);
	table_init(&u->shm, sizeof(struct report_shm), REPORT_SHM_MAX);
	return 0;
}

static void free_files(struct report_top_file *top, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		free(top[i].path);
}

static void free_uses(struct report_top_use *top, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		free(top[i].path);
}

static void part_free(struct report *r)
{
	struct report_uses *uses = r->uses;

	if (!uses)
		return;
	free_files(uses->written, uses->n_written);
	free_files(uses->opened, uses->n_opened);
	free_files(uses->shared, uses->n_shared);
	free_uses(uses->by_bytes, uses->n_by_bytes);
	free_uses(uses->by_time, uses->n_by_time);
	for (unsigned int i = 0; i < uses->n_top_shm; i++)
		free(uses->top_shm[i].path);
	table_free(&uses->uses);
	table_free(&uses->shm);
	free(uses);
}

/* --- rows ---------------------------------------------------------------------------------------- */

struct report_use *report_uses_find(struct report_uses *u, uint64_t pid, uint64_t key)
{
	struct report_use *use = table_get(&u->uses, key);

	u->recent[pid % REPORT_USES_RECENT] = (struct report_use_recent){
		key,
		use ? (uint32_t)(use - (struct report_use *)u->uses.values) : REPORT_USES_MAX,
	};
	return use;
}

/* Programs set the size of shared memory by truncation and use it by mappings. */
void report_uses_shm_call(const struct scan *scan, const struct report_call_facts *facts)
{
	struct report_uses *uses = scan->report->uses;
	struct report_shm *shm = table_get(&uses->shm, facts->fid);
	uint64_t len;

	if (!shm)
		return;
	shm->fid = facts->fid;
	shm->calls++;
	shm->time_ns += facts->again_side ? 0 : facts->lat_ns;
	if (scan->kind == REPORT_MMAP && facts->bytes) {
		shm->maps++;
		shm->map_bytes += facts->bytes;
	}
	if (scan->kind == REPORT_SYNC && !facts->failed && scan_u64(scan, COL_LEN, &len) &&
	    (scan_is(scan, COL_FUNC, "ftruncate") || scan_is(scan, COL_FUNC, "truncate") ||
	     scan_is(scan, COL_FUNC, "io_uring:ftruncate")))
		shm->size = MAX(shm->size, len);
}

void report_uses_shm(struct scan *scan, uint64_t fid)
{
	struct report_shm *shm;
	uint64_t size;

	if (!path_filter_has(scan->report, scan_field(scan, COL_REALPATH)))
		return;
	shm = table_get(&scan->report->uses->shm, fid);
	if (!shm)
		return;
	shm->fid = fid;
	if (scan_u64(scan, COL_SIZE, &size))
		shm->size = MAX(shm->size, size);
}

/* --- what stands out ------------------------------------------------------------------------------ */

static uint64_t use_bytes(const struct report_use *use)
{
	return use->read_bytes + use->write_bytes;
}

static uint64_t use_time(const struct report_use *use)
{
	return use->time_ns;
}

static unsigned int pick_uses(struct report *report, struct report_top_use *top,
			      uint64_t (*key)(const struct report_use *use))
{
	const struct table *table = &report->uses->uses;
	unsigned int n = 0;

	for (uint32_t i = 0; i < table->n; i++) {
		const struct report_use *use = table_at(table, i);
		const struct report_file *file = table_find(&report->files, report_pair_fid(table->keys[i]));
		struct report_top_use *at = NULL;

		if (key(use) && !(file && file->unlisted))
			at = TOP_PLACE(top, n, REPORT_TOP, e, key(&e->sum), key(use));
		if (at)
			*at = (struct report_top_use){
				.pid = report_pair_pid(table->keys[i]),
				.fid = report_pair_fid(table->keys[i]),
				.sum = *use,
			};
	}
	for (unsigned int i = 0; i < n; i++)
		top[i].path = report_path_of(report, top[i].fid, NULL, 0);
	return n;
}

static uint64_t written_bytes(const struct report_file *f)
{
	return f->write_bytes;
}

static uint64_t opens(const struct report_file *f)
{
	return f->opens;
}

/*
 * Returns the key by which shared files are sorted; 0: the file has one user. Bytes count first, as otherwise libraries
 * would lead the list; files that are only mapped are sorted by their number of users.
 */
static uint64_t sharers(const struct report_file *f)
{
	uint64_t bytes = f->read_bytes + f->write_bytes;

	return f->users > 1 ? MIN(bytes, 1ULL << 42) << 20 | MIN(f->users, (1U << 20) - 1) : 0;
}

static bool shm_before(const struct report_shm *a, const struct report_shm *b)
{
	if (a->map_bytes != b->map_bytes)
		return a->map_bytes > b->map_bytes;
	return a->size > b->size;
}

static void pick_shm(struct report *report)
{
	struct report_uses *uses = report->uses;
	struct report_shm *top = uses->top_shm;
	unsigned int n = 0, at;

	for (uint32_t i = 0; i < uses->shm.n; i++) {
		const struct report_shm *shm = table_at(&uses->shm, i);

		if (n == REPORT_TOP_SHM && !shm_before(shm, &top[n - 1]))
			continue;
		n = MIN(n + 1, REPORT_TOP_SHM);
		for (at = n - 1; at > 0 && shm_before(shm, &top[at - 1]); at--)
			top[at] = top[at - 1];
		top[at] = *shm;
	}
	for (unsigned int i = 0; i < n; i++)
		top[i].path = report_path_of(report, top[i].fid, NULL, 0);
	uses->n_top_shm = n;
}

static void part_settle(struct report *r)
{
	struct report_uses *u = r->uses;

	u->n_written = report_pick_files(r, u->written, written_bytes);
	u->n_opened = report_pick_files(r, u->opened, opens);
	u->n_shared = report_pick_files(r, u->shared, sharers);
	u->n_by_bytes = pick_uses(r, u->by_bytes, use_bytes);
	u->n_by_time = pick_uses(r, u->by_time, use_time);
	pick_shm(r);
}

static void part_note(struct report *r)
{
	report_note_count(r, "too many processes and files", r->uses->left_out, "call is", "calls are",
			  "in no sum of a process and a file");
}

const struct report_part report_uses_part = {
	.new = part_new,
	.note = part_note,
	.settle = part_settle,
	.free = part_free,
};
