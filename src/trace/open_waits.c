/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/open_waits.h"

#include <stddef.h>
#include <string.h>

#include "base/json.h"
#include "base/json_bind.h"
#include "base/util.h"

#define MANIFEST_MAX_BYTES (16U << 20)

static const struct json_member of_wait[] = {
	JSON_MEMBER("call", JSON_TEXT, open_wait, call),        JSON_MEMBER("comm", JSON_TEXT, open_wait, comm),
	JSON_MEMBER("inode", JSON_U64, open_wait, inode),       JSON_MEMBER("known", JSON_BOOL, open_wait, known),
	JSON_MEMBER("object", JSON_TEXT, open_wait, object),    JSON_MEMBER("pid", JSON_U64, open_wait, pid),
	JSON_MEMBER("since_ns", JSON_U64, open_wait, since_ns), JSON_MEMBER("threads", JSON_U64, open_wait, threads),
	JSON_MEMBER("tid", JSON_U64, open_wait, tid),           { 0 },
};

static const struct json_member of_end[] = {
	JSON_MEMBER("comm", JSON_TEXT, open_wait_end, comm),
	JSON_MEMBER("job", JSON_BOOL, open_wait_end, job),
	JSON_MEMBER("pid", JSON_U64, open_wait_end, pid),
	JSON_MEMBER("stopped", JSON_BOOL, open_wait_end, stopped),
	JSON_MEMBER("threads", JSON_U64, open_wait_end, threads),
	{ 0 },
};

static const struct json_member of_nothing[] = { { 0 } };

/* --- writing ------------------------------------------------------------------------------------------- */

static void put_end(struct json *json, const struct open_wait_end *end)
{
	json_object(json, NULL);
	json_u64(json, "pid", end->pid);
	json_str(json, "comm", end->comm);
	json_u64(json, "threads", end->threads);
	json_bool(json, "stopped", end->stopped);
	json_bool(json, "job", end->job);
	json_end(json);
}

static void put_wait(struct json *json, const struct open_wait *wait)
{
	json_object(json, NULL);
	json_u64(json, "pid", wait->pid);
	json_u64(json, "tid", wait->tid);
	json_str(json, "comm", wait->comm);
	json_u64(json, "threads", wait->threads);
	json_u64(json, "since_ns", wait->since_ns);
	json_str(json, "call", wait->call);
	json_str(json, "object", wait->object);
	json_u64_known(json, "inode", wait->inode, wait->inode);
	json_bool(json, "known", wait->known);
	json_row(json, "ends");
	for (uint64_t i = 0; i < MIN(wait->n_ends, OPEN_WAIT_ENDS_MAX); i++)
		put_end(json, &wait->ends[i]);
	json_end(json);
	json_end(json);
}

void open_waits_put(struct json *json, const struct open_waits *waits)
{
	json_array(json, "open_waits");
	for (uint64_t i = 0; i < waits->n; i++)
		put_wait(json, &waits->v[i]);
	json_end(json);
}

/* --- reading ------------------------------------------------------------------------------------------- */

static void take(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct open_waits *waits = ctx;
	struct open_wait *wait = waits->n && waits->n <= OPEN_WAITS_MAX ? &waits->v[waits->n - 1] : NULL;
	const bool has_end = wait && wait->n_ends && wait->n_ends <= OPEN_WAIT_ENDS_MAX;
	const struct json_place places[] = {
		{ "open_waits[].ends[].", of_end, has_end ? &wait->ends[wait->n_ends - 1] : NULL },
		{ "open_waits[].", of_wait, wait },
		{ "", of_nothing, NULL },
	};
	const struct json_place *place;

	if (event == JSON_OPEN) {
		waits->n += strcmp(path, "open_waits[]") == 0;
		if (wait)
			wait->n_ends += strcmp(path, "open_waits[].ends[]") == 0;
		return;
	}
	place = json_place_of(places, &path);
	if (place->base)
		json_bind(place->members, place->base, path, event, text, len);
}

int open_waits_parse(struct open_waits *waits, const char *text)
{
	int res;

	*waits = (struct open_waits){ 0 };
	res = json_read(text, strlen(text), take, waits);
	waits->n = MIN(waits->n, OPEN_WAITS_MAX);
	return res;
}

int open_waits_read_at(struct open_waits *waits, int dirfd)
{
	autoclose int fd = util_open_regular(dirfd, "manifest.json", 0);
	autofree char *text = NULL;
	int res = fd < 0 ? fd : util_read_fd(fd, MANIFEST_MAX_BYTES, &text, NULL);

	waits->n = 0;
	return res < 0 ? res : open_waits_parse(waits, text);
}
