/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/status/recent_text.h"

#include <string.h>

#include "base/json_bind.h"
#include "base/json_read.h"
#include "base/util.h"

#define HEAD_LINES 2U /* a blank one, and the head */

static const struct json_member of_recent[] = {
	JSON_MEMBER("root", JSON_U64, recent_text, root),
	JSON_MEMBER("comm", JSON_TEXT, recent_text, comm),
	JSON_MEMBER("end_ns", JSON_U64, recent_text, end_ns),
	JSON_MEMBER("wall_ns", JSON_U64, recent_text, wall_ns),
	{ 0 },
};

static const struct json_member of_part[] = {
	JSON_MEMBER("what", JSON_TEXT, recent_part, what),
	JSON_MEMBER("who", JSON_TEXT, recent_part, owner),
	JSON_MEMBER("detail", JSON_TEXT, recent_part, detail),
	JSON_MEMBER("ns", JSON_U64, recent_part, ns),
	JSON_MEMBER("role", JSON_TEXT, recent_part, role),
	JSON_MEMBER("gil", JSON_BOOL, recent_part, gil),
	JSON_MEMBER("held", JSON_BOOL, recent_part, held),
	JSON_MEMBER("inferred", JSON_BOOL, recent_part, inferred),
	{ 0 },
};

static const struct json_member of_hang[] = {
	JSON_MEMBER("since_ns", JSON_U64, recent_text, hangs_since_ns),
	JSON_MEMBER("text", JSON_TEXT, recent_text, hang),
	{ 0 },
};

static void on_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct recent_text *recent = ctx;
	const bool room = recent->n <= RECENT_PARTS_MAX;
	const struct json_place places[] = {
		{ "parts[].", of_part, recent->n && room ? &recent->part[recent->n - 1] : NULL },
		{ "hang.", of_hang, recent },
		{ "", of_recent, recent },
	};
	const struct json_place *place;

	if (event == JSON_OPEN) {
		recent->n += !strcmp(path, "parts[]") && room;
		return;
	}
	place = json_place_of(places, &path);
	if (place->base)
		json_bind(place->members, place->base, path, event, text, len);
}

/* Returns the next part of a sentence about a hang, which has a line; NULL: that was the last one. */
static const char *next_part(const char *at)
{
	const char *comma = strstr(at, ", which ");

	return comma ? comma + strlen(", ") : NULL;
}

static unsigned int hang_lines(const struct recent_text *recent)
{
	unsigned int n = 0;

	for (const char *at = *recent->hang ? recent->hang : NULL; at; at = next_part(at))
		n++;
	return n;
}

unsigned int recent_text_read(struct recent_text *recent, const char *line)
{
	*recent = (struct recent_text){ 0 };
	if (!line || json_read(line, strlen(line), on_value, recent) < 0 || !recent->wall_ns)
		recent->n = 0;
	recent->n = MIN(recent->n, RECENT_PARTS_MAX);
	return recent->n ? HEAD_LINES + recent->n + hang_lines(recent) : 0;
}

/* Returns what stands behind the name of a process in ROLE; "" for the job's own. */
static const char *role_words(const char *role)
{
	static const struct {
		const char *role, *words;
	} roles[] = { { "worker", ", a worker" }, { "child", ", one of many" } };

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (!strcmp(role, roles[i].role))
			return roles[i].words;
	return "";
}

static void put_part(const struct recent_text *recent, const struct recent_part *part, FILE *out)
{
	fprintf(out, "%6.1f %%  %s", 100.0 * (double)part->ns / (double)recent->wall_ns, part->what);
	if (*part->detail)
		fprintf(out, ": %s", part->detail);
	if (*part->owner)
		fprintf(out, " (%s%s%s%s%s)", part->owner, role_words(part->role),
			part->gil ? ", with Python's lock" : "", part->held ? ", with a lock on a file" : "",
			part->inferred ? "; inferred" : "");
	fputc('\n', out);
}

static void put_hang(const struct recent_text *recent, uint64_t now_ns, FILE *out)
{
	const char *at = *recent->hang ? recent->hang : NULL, *next;

	if (at)
		fprintf(out, "it hangs, for %.0f s: ", (double)(now_ns - MIN(recent->hangs_since_ns, now_ns)) / 1e9);
	for (; at; at = next) {
		next = next_part(at);
		fprintf(out, "%s%.*s\n", at == recent->hang ? "" : "  ", next ? (int)(next - at - 1) : (int)strlen(at),
			at);
	}
}

void recent_text(const struct recent_text *recent, FILE *out)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	if (!recent->n)
		return;
	fprintf(out, "\nwhere %.1f s of process %llu (%s) went, until %.0f s ago:\n", (double)recent->wall_ns / 1e9,
		(unsigned long long)recent->root, recent->comm, (double)(now_ns - MIN(recent->end_ns, now_ns)) / 1e9);
	for (unsigned int i = 0; i < recent->n; i++)
		put_part(recent, &recent->part[i], out);
	put_hang(recent, now_ns, out);
}
