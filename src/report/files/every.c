/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/every.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/files/streams.h"
#include "report/scan/lookup.h"
#include "report/scan/part.h"

static int part_new(struct report *r, const struct report_options *o)
{
	if (!o->every_file)
		return 0;
	r->every = calloc(1, sizeof(*r->every));
	return r->every ? 0 : -ENOMEM;
}

static void part_free(struct report *r)
{
	struct report_every *every = r->every;

	if (!every)
		return;
	for (uint32_t i = 0; i < r->uses->shm.n; i++)
		free(((struct report_shm *)table_at(&r->uses->shm, i))->path);
	for (uint32_t i = 0; i < r->streams->logs.n; i++)
		free(((struct report_log *)table_at(&r->streams->logs, i))->path);
	for (uint32_t i = 0; i < every->n_files; i++)
		free(every->files[i].path);
	free(every->files);
	free(every->uses);
	free(every);
}

/* PLACE gets 1 + the index in FILES of each entry of the report's table; 0: it is none that is shown. */
static void add_files(struct report *r, uint32_t *place)
{
	struct report_every *every = r->every;

	for (uint32_t i = 0; i < r->files.n; i++) {
		const struct report_file *file = table_at(&r->files, i);
		struct report_top_file *row = &every->files[every->n_files];

		if (!report_is_file(file->type) || file->unlisted || !file->calls)
			continue;
		*row = (struct report_top_file){ .fid = table_key_at(&r->files, i), .sum = *file };
		row->path = report_path_of(r, row->fid, row->fstype, sizeof(row->fstype));
		place[i] = ++every->n_files;
	}
}

static void add_uses(struct report *r, const uint32_t *place)
{
	const struct table *uses = &r->uses->uses;
	struct report_every *every = r->every;

	for (uint32_t i = 0; i < uses->n; i++) {
		const uint64_t key = table_key_at(uses, i);
		const struct report_file *file = table_find(&r->files, report_pair_fid(key));
		const uint32_t at = file ? place[file - (const struct report_file *)r->files.values] : 0;

		if (at)
			every->uses[every->n_uses++] = (struct report_top_use){
				.pid = report_pair_pid(key),
				.fid = report_pair_fid(key),
				.sum = *(const struct report_use *)table_at(uses, i),
				.path = every->files[at - 1].path,
			};
	}
}

/* Those that stand out have copies of these entries, with paths of their own. */
static void add_paths(struct report *r)
{
	for (uint32_t i = 0; i < r->uses->shm.n; i++) {
		struct report_shm *shm = table_at(&r->uses->shm, i);

		shm->path = report_path_of(r, shm->fid, NULL, 0);
	}
	for (uint32_t i = 0; i < r->streams->logs.n; i++) {
		struct report_log *log = table_at(&r->streams->logs, i);

		log->path = report_path_of(r, log->fid, NULL, 0);
	}
}

static void part_settle(struct report *r)
{
	autofree uint32_t *place = r->every ? calloc(r->files.n + 1ULL, sizeof(*place)) : NULL;

	if (!r->every)
		return;
	r->every->files = calloc(r->files.n + 1ULL, sizeof(*r->every->files));
	r->every->uses = calloc(r->uses->uses.n + 1ULL, sizeof(*r->every->uses));
	if (!place || !r->every->files || !r->every->uses) {
		report_note(r, "the tables of every file: not enough memory");
		return;
	}
	add_paths(r);
	add_files(r, place);
	add_uses(r, place);
}

const struct report_part report_every_part = {
	.new = part_new,
	.settle = part_settle,
	.free = part_free,
};
