/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/failed/failures.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/scan/lookup.h"

const char *const failure_kinds[FAILURE_KINDS] = {
	[FAILURE_CALL] = "call",
	[FAILURE_SIGNAL] = "signal",
	[FAILURE_STATUS] = "status",
};

/* --- adding ------------------------------------------------------------------------------------------------ */

static uint64_t key_of(const struct failure *like, const char *place, size_t len)
{
	char text[192];
	int n = snprintf(text, sizeof(text), "%d/%d/%d/%" PRIu64 "/%s/%s/", like->kind, like->code, like->sender,
			 like->sender_pid, like->call, like->comm);

	return table_key_more(table_key(text, (size_t)n), place, len);
}

static void remember(struct report_failed *failed, uint32_t tid, uint64_t at_ns, uint32_t group)
{
	if (failed->n_calls == FAILED_CALLS_MAX ||
	    util_room(&failed->calls, failed->n_calls, sizeof(*failed->calls)) < 0)
		return;
	failed->calls[failed->n_calls++] = (struct failed_call){ .at_ns = at_ns, .tid = tid, .group = group };
}

/* Returns LIKE's group. Where there are many, new places share one: their number stays right. */
static struct failure *group_of(struct report_failed *failed, const struct failure *like, const char *place,
				size_t *len)
{
	const uint64_t key = key_of(like, place, *len);

	if (failed->groups.n < FAILURES_MAX / 2 || table_find(&failed->groups, key))
		return table_get(&failed->groups, key);
	*len = 0;
	return table_get(&failed->groups, key_of(like, place, 0));
}

void failures_add(struct report_failed *failed, const struct failure *like, const char *place, size_t len,
		  uint64_t at_ns, uint32_t tid)
{
	struct failure *group = group_of(failed, like, place, &len);

	if (!group) {
		failed->left_out++;
		return;
	}
	if (!group->n) {
		*group = *like;
		group->slept_ns = 0;
		group->fid = len ? like->fid : 0;
		group->first_ns = group->last_ns = at_ns;
		group->folder = len && !like->fid ? strndup(place, len) : NULL;
	}
	group->n++;
	group->slept_ns += like->slept_ns;
	group->first_ns = MIN(group->first_ns, at_ns);
	group->last_ns = MAX(group->last_ns, at_ns);
	if (like->kind == FAILURE_CALL && tid)
		remember(failed, tid, at_ns, (uint32_t)(group - (struct failure *)table_at(&failed->groups, 0)));
}

/* --- the end ----------------------------------------------------------------------------------------------- */

/* Sets the folder of a failure whose file is known by its FID alone. */
static void find_folder(struct report *report, struct failure *failure)
{
	char *path = failure->fid ? report_path_of(report, failure->fid, NULL, 0) : NULL, *slash;

	if (!path)
		return;
	slash = strrchr(path, '/');
	if (slash && slash[1])
		snprintf(failure->file, sizeof(failure->file), "%s", slash + 1);
	if (slash)
		slash[slash == path] = '\0';
	failure->folder = path;
}

static bool is_like(const struct failure *one, const struct failure *other)
{
	return one->kind == other->kind && one->code == other->code && one->sender == other->sender &&
	       one->sender_pid == other->sender_pid && !strcmp(one->comm, other->comm) &&
	       !strcmp(one->call, other->call) && !one->folder == !other->folder &&
	       (!one->folder || !strcmp(one->folder, other->folder));
}

static void merge(struct failure *to, struct failure *from)
{
	if (from->first_ns < to->first_ns) {
		to->first_ns = from->first_ns;
		to->pid = from->pid;
		memcpy(to->file, from->file, sizeof(to->file));
	}
	to->last_ns = MAX(to->last_ns, from->last_ns);
	to->n += from->n;
	to->slept_ns += from->slept_ns;
	free(from->folder);
}

/* Of files of one folder there is one failure, with the first file as its example. */
static void merge_folders(struct report *report, struct report_failed *failed)
{
	for (uint32_t i = 0; i < failed->groups.n; i++) {
		struct failure failure = *(struct failure *)table_at(&failed->groups, i);
		uint32_t at = 0;

		find_folder(report, &failure);
		while (at < failed->n && !is_like(&failed->v[at], &failure))
			at++;
		if (at < failed->n)
			merge(&failed->v[at], &failure);
		else
			failed->v[failed->n++] = failure;
	}
	table_free(&failed->groups);
	table_init(&failed->groups, sizeof(struct failure), FAILURES_MAX);
}

/* Whether another failure explains the short write ONE: its disk was full, or its file too large. */
static bool is_explained(const struct report_failed *failed, const struct failure *one)
{
	for (uint32_t i = 0; i < failed->n && one->error == &failed_short_write; i++) {
		const struct failure *other = &failed->v[i];

		if (other->kind == FAILURE_CALL && other->code && !strcmp(other->comm, one->comm) && one->folder &&
		    other->folder && !strcmp(other->folder, one->folder))
			return true;
	}
	return false;
}

static void drop_explained(struct report_failed *failed)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < failed->n; i++) {
		if (is_explained(failed, &failed->v[i]))
			free(failed->v[i].folder);
		else
			failed->v[kept++] = failed->v[i];
	}
	failed->n = kept;
}

/* Processes that a signal ended come first, then calls, then exit statuses; of each the ones with the most. */
static int by_weight(const void *a, const void *b)
{
	static const unsigned int rank[FAILURE_KINDS] = {
		[FAILURE_SIGNAL] = 0,
		[FAILURE_CALL] = 1,
		[FAILURE_STATUS] = 2,
	};
	const struct failure *one = a, *other = b;

	if (one->kind != other->kind)
		return rank[one->kind] < rank[other->kind] ? -1 : 1;
	if (one->n != other->n)
		return one->n < other->n ? 1 : -1;
	return (one->first_ns > other->first_ns) - (one->first_ns < other->first_ns);
}

int failures_settle(struct report *report, struct report_failed *failed)
{
	failed->v = calloc(failed->groups.n + 1ULL, sizeof(*failed->v));
	if (!failed->v)
		return -ENOMEM;
	merge_folders(report, failed);
	drop_explained(failed);
	qsort(failed->v, failed->n, sizeof(*failed->v), by_weight);
	return 0;
}

void failures_free(struct report_failed *failed)
{
	for (uint32_t i = 0; i < failed->groups.n; i++)
		free(((struct failure *)table_at(&failed->groups, i))->folder);
	for (uint32_t i = 0; i < failed->n; i++) {
		free(failed->v[i].folder);
		free(failed->v[i].text);
	}
	table_free(&failed->groups);
	free(failed->calls);
	free(failed->ends);
	free(failed->v);
	free(failed);
}
