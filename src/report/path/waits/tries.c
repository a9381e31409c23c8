/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/waits/tries.h"

#include <errno.h>
#include <string.h>

#include "base/error_name.h"
#include "base/util.h"
#include "report/scan/scan.h"

#define LEAST_ROWS 2 /* intervals: a search along a path fails often, too, and is over at once */

void path_tries_init(struct path_tries *tries, struct path_names *names)
{
	tries->names = names;
	table_init(&tries->all, sizeof(struct path_try), PATH_TRIES_MAX);
	table_init(&tries->pids, sizeof(uint32_t), PATH_TRIES_MAX);
}

void path_tries_free(struct path_tries *tries)
{
	table_free(&tries->all);
	table_free(&tries->pids);
}

/* fcntl(2), flock(2): a lock that another one holds. */
static bool is_lock(const struct scan *s, uint64_t error)
{
	return (error == EAGAIN || error == EACCES) &&
	       (scan_is(s, COL_FUNC, "flock") || scan_is(s, COL_REQUEST, "F_SETLK") ||
		scan_is(s, COL_REQUEST, "F_OFD_SETLK"));
}

static uint32_t name_of(struct path_tries *tries, const struct scan *s, uint64_t error, bool locks)
{
	const struct reader_field func = scan_field(s, COL_FUNC), folder = scan_field(s, COL_DIR);
	autofree char *text = NULL;

	text = locks ? util_fmt("in %.*s", (int)folder.len, folder.p) :
		       util_fmt("in %.*s (%.*s: %s)", (int)folder.len, folder.p, (int)func.len, func.p,
				error_name(error));
	return text ? path_name(tries->names, (struct reader_field){ text, strlen(text) }) : 0;
}

static uint64_t key_of(const struct scan *s, uint64_t pid, uint64_t error)
{
	const struct reader_field func = scan_field(s, COL_FUNC), request = scan_field(s, COL_REQUEST),
				  folder = scan_field(s, COL_DIR);
	uint64_t key = table_key(func.p, func.len);

	key = table_key_more(key, request.p, request.len);
	key = table_key_more(key, folder.p, folder.len);
	key = table_key_more(key, (const char *)&pid, sizeof(pid));
	return table_key_more(key, (const char *)&error, sizeof(error));
}

bool path_tries_take(struct scan *s, void *own)
{
	struct path_tries *tries = own;
	const uint64_t failed = scan_number(s, COL_FAILED), span_ns = scan_number(s, COL_SPAN_NS);
	uint64_t pid, error;
	struct path_try *try;
	uint32_t *newest;

	if (!failed || !scan_u64(s, COL_PID, &pid) || !scan_u64(s, COL_ERRNO, &error))
		return true;
	if (!is_lock(s, error) && error != ENOENT)
		return true;
	try = table_get(&tries->all, key_of(s, pid, error));
	newest = try ? table_get(&tries->pids, pid) : NULL;
	if (!newest)
		return true; /* no room: bounded */
	if (!try->rows) {
		try->begin_ns = s->time_ns - MIN(span_ns, s->time_ns);
		try->locks = is_lock(s, error);
		try->name = name_of(tries, s, error, try->locks);
		try->next = *newest;
		*newest = (uint32_t)(try - (struct path_try *)tries->all.values) + 1;
	}
	try->rows++;
	try->failed += failed;
	try->end_ns = MAX(try->end_ns, s->time_ns);
	return true;
}

static bool counts(const struct path_try *try, uint64_t at_ns)
{
	return try->begin_ns <= at_ns && at_ns < try->end_ns && try->failed >= PATH_TRIES_LEAST &&
	       (try->locks || try->rows >= LEAST_ROWS);
}

static bool is_better(const struct path_try *try, const struct path_try *than)
{
	if (!than || try->locks != than->locks)
		return !than || try->locks;
	return try->failed > than->failed;
}

const struct path_try *path_tries_at(const struct path_tries *tries, uint32_t pid, uint64_t at_ns)
{
	const uint32_t *newest = tries ? table_find(&tries->pids, pid) : NULL;
	const struct path_try *best = NULL, *try;

	for (uint32_t i = newest ? *newest : 0; i; i = try->next) {
		try = table_at(&tries->all, i - 1);
		if (counts(try, at_ns) && is_better(try, best))
			best = try;
	}
	return best;
}
