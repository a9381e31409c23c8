/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/show/recent_json.h"

#include "base/json.h"
#include "base/util.h"
#include "report/hang/hang.h"
#include "report/path/recent.h"

#define LEAST 200U /* smaller parts of the time are added up */

/* In a trace that goes on, a wait is open because it has not ended. */
static const char *phrase_of(const struct path_leaf *leaf)
{
	return leaf->open && leaf->kind == PATH_UNENDED ? "waiting, not ended yet" : path_kinds[leaf->kind].phrase;
}

static void put_part(const struct path_recent *recent, const struct path_sum *sum, struct json *json)
{
	const char *process = path_name_text(&recent->names, sum->leaf.process);
	autofree char *thread = process && sum->leaf.thread ? util_fmt("%s's thread", process) : NULL;

	json_object(json, NULL);
	json_str(json, "kind", path_kinds[sum->leaf.kind].name);
	json_str(json, "what", phrase_of(&sum->leaf));
	json_str(json, "who", thread ? thread : process);
	json_str(json, "detail", path_name_text(&recent->names, sum->leaf.detail));
	json_u64(json, "ns", sum->ns);
	json_str(json, "role", path_roles[sum->leaf.role]);
	json_bool(json, "gil", sum->leaf.gil);
	json_bool(json, "held", sum->leaf.held);
	json_bool(json, "inferred", sum->leaf.inferred);
	json_bool(json, "open", sum->leaf.open);
	json_end(json);
}

/* Puts the largest parts, and the rest of them as one. */
static void put_parts(const struct path_recent *recent, struct json *json)
{
	const struct path_sums *sums = &recent->sums;
	const uint64_t wall_ns = recent->end_ns - recent->begin_ns;
	const bool all = sums->n <= RECENT_PARTS_MAX;
	uint64_t rest_ns = wall_ns;
	uint32_t n = 0;

	json_array(json, "parts");
	for (; n < sums->n && n < RECENT_PARTS_MAX - !all && sums->v[n].ns >= wall_ns / LEAST; n++) {
		put_part(recent, &sums->v[n], json);
		rest_ns -= sums->v[n].ns;
	}
	if (rest_ns) {
		json_object(json, NULL);
		json_str(json, "kind", "other");
		json_str(json, "what", "other");
		json_u64(json, "ns", rest_ns);
		json_end(json);
	}
	json_end(json);
}

/* Puts what the job hangs in, if nobody will end that. */
static void put_hang(const struct report_hang *hang, uint64_t pid, struct json *json)
{
	const struct open_wait *wait = hang ? hang_of_job(hang, pid) : NULL;
	autofree char *text = NULL;
	size_t len;
	FILE *out = wait && hang_is_stuck(hang, wait) ? open_memstream(&text, &len) : NULL;

	if (!out)
		return;
	hang_sentence(hang, wait, out);
	if (fclose(out) || !text)
		return;
	json_object(json, "hang");
	json_u64(json, "since_ns", hang_since(hang, wait));
	json_str(json, "text", text);
	json_end(json);
}

void recent_json(const struct path_recent *recent, const struct report_hang *hang, struct json *json)
{
	json_object(json, NULL);
	json_u64(json, "root", recent->pid);
	json_str(json, "comm", path_name_text(&recent->names, recent->name));
	json_u64(json, "begin_ns", recent->begin_ns);
	json_u64(json, "end_ns", recent->end_ns);
	json_u64(json, "wall_ns", recent->end_ns - recent->begin_ns);
	put_parts(recent, json);
	put_hang(hang, recent->pid, json);
	json_end(json);
}
