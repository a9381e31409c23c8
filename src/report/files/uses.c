/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/uses.h"

#include <stdlib.h>

#include "base/util.h"
#include "report/files/path_filter.h"
#include "report/scan/lookup.h"
#include "stats/top.h"

struct report_uses *report_uses_new(void)
{
	struct report_uses *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	table_init(&u->uses, sizeof(struct report_use), REPORT_USES_MAX);
	table_init(&u->shm, sizeof(struct report_shm), REPORT_SHM_MAX);
	return u;
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

void report_uses_free(struct report_uses *u)
{
	if (!u)
		return;
	free_files(u->written, u->n_written);
	free_files(u->opened, u->n_opened);
	free_files(u->shared, u->n_shared);
	free_uses(u->by_bytes, u->n_by_bytes);
	free_uses(u->by_time, u->n_by_time);
	for (unsigned int i = 0; i < u->n_top_shm; i++)
		free(u->top_shm[i].path);
	table_free(&u->uses);
	table_free(&u->shm);
	free(u);
}

/* --- rows ---------------------------------------------------------------------------------------- */

struct report_use *report_uses_find(struct report_uses *u, uint64_t pid, uint64_t key)
{
	struct report_use *use = table_get(&u->uses, key);

	u->recent[pid % REPORT_USES_RECENT] = (struct report_use_recent){
		key, use ? (uint32_t)(use - (struct report_use *)u->uses.values) : REPORT_USES_MAX,
	};
	return use;
}

/* Programs set the size of shared memory by truncation and use it by mappings. */
void report_uses_shm_call(const struct scan *s, const struct report_call_facts *c)
{
	struct report_uses *u = s->report->uses;
	struct report_shm *shm = table_get(&u->shm, c->fid);
	uint64_t len;

	if (!shm)
		return;
	shm->fid = c->fid;
	shm->calls++;
	shm->time_ns += c->again_side ? 0 : c->lat_ns;
	if (s->kind == REPORT_MMAP && c->bytes) {
		shm->maps++;
		shm->map_bytes += c->bytes;
	}
	if (s->kind == REPORT_SYNC && !c->failed && scan_u64(s, COL_LEN, &len) &&
	    (scan_is(s, COL_FUNC, "ftruncate") || scan_is(s, COL_FUNC, "truncate") ||
	     scan_is(s, COL_FUNC, "io_uring:ftruncate")))
		shm->size = MAX(shm->size, len);
}

void report_uses_shm(struct scan *s, uint64_t fid)
{
	struct report_shm *shm;
	uint64_t size;

	if (!path_filter_has(s->report, scan_field(s, COL_REALPATH)))
		return;
	shm = table_get(&s->report->uses->shm, fid);
	if (!shm)
		return;
	shm->fid = fid;
	if (scan_u64(s, COL_SIZE, &size))
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

static unsigned int pick_uses(struct report *r, struct report_top_use *top,
			      uint64_t (*key)(const struct report_use *use))
{
	const struct table *t = &r->uses->uses;
	unsigned int n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct report_use *use = table_at(t, i);
		struct report_top_use *at = key(use) ? TOP_PLACE(top, n, REPORT_TOP, e, key(&e->sum), key(use)) : NULL;

		if (at)
			*at = (struct report_top_use){
				.pid = report_pair_pid(t->keys[i]), .fid = report_pair_fid(t->keys[i]), .sum = *use,
			};
	}
	for (unsigned int i = 0; i < n; i++)
		top[i].path = report_path_of(r, top[i].fid, NULL, 0);
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

static void pick_shm(struct report *r)
{
	struct report_uses *u = r->uses;
	struct report_shm *top = u->top_shm;
	unsigned int n = 0, at;

	for (uint32_t i = 0; i < u->shm.n; i++) {
		const struct report_shm *shm = table_at(&u->shm, i);

		if (n == REPORT_TOP_SHM && !shm_before(shm, &top[n - 1]))
			continue;
		n = MIN(n + 1, REPORT_TOP_SHM);
		for (at = n - 1; at > 0 && shm_before(shm, &top[at - 1]); at--)
			top[at] = top[at - 1];
		top[at] = *shm;
	}
	for (unsigned int i = 0; i < n; i++)
		top[i].path = report_path_of(r, top[i].fid, NULL, 0);
	u->n_top_shm = n;
}

void report_uses_pick(struct report *r)
{
	struct report_uses *u = r->uses;

	u->n_written = report_pick_files(r, u->written, written_bytes);
	u->n_opened = report_pick_files(r, u->opened, opens);
	u->n_shared = report_pick_files(r, u->shared, sharers);
	u->n_by_bytes = pick_uses(r, u->by_bytes, use_bytes);
	u->n_by_time = pick_uses(r, u->by_time, use_time);
	pick_shm(r);
}
