/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/status/frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_bind.h"
#include "base/util.h"

static const struct json_member of_frame[] = {
	JSON_MEMBER("phase", JSON_TEXT, frame, phase),
	JSON_MEMBER("elapsed_ms", JSON_U64, frame, elapsed_ms),
	JSON_MEMBER("rows", JSON_U64, frame, rows),
	JSON_MEMBER("lost", JSON_U64, frame, lost),
	JSON_MEMBER("interval_ms", JSON_U64, frame, interval_ms),
	JSON_MEMBER("processes_alive", JSON_U64, frame, alive),
	JSON_MEMBER("processes_with_calls", JSON_U64, frame, with_calls),
	{ 0 },
};

static const struct json_member of_sum[] = {
	JSON_MEMBER("pid", JSON_U64, frame_sum, pid),
	JSON_MEMBER("comm", JSON_TEXT, frame_sum, comm),
	JSON_MEMBER("calls", JSON_U64, frame_sum, calls),
	JSON_MEMBER("read_bytes", JSON_U64, frame_sum, read_bytes),
	JSON_MEMBER("written_bytes", JSON_U64, frame_sum, written_bytes),
	JSON_MEMBER("fetched_bytes", JSON_U64, frame_sum, fetched_bytes),
	JSON_MEMBER("file_reads", JSON_U64, frame_sum, reads),
	JSON_MEMBER("disk_reads", JSON_U64, frame_sum, disk_reads),
	JSON_MEMBER("latency_p99_ns", JSON_U64, frame_sum, p99_ns),
	{ 0 },
};

static const struct json_member of_call[] = {
	JSON_MEMBER("pid", JSON_U64, frame_call, pid),    JSON_MEMBER("tid", JSON_U64, frame_call, tid),
	JSON_MEMBER("comm", JSON_TEXT, frame_call, comm), JSON_MEMBER("probe", JSON_TEXT, frame_call, probe),
	JSON_MEMBER("call", JSON_TEXT, frame_call, name), JSON_MEMBER("running_ms", JSON_U64, frame_call, running_ms),
	JSON_MEMBER("file", JSON_TEXT, frame_call, file), JSON_MEMBER("fd", JSON_LITERAL, frame_call, fd),
	JSON_MEMBER("addr", JSON_U64, frame_call, addr),  { 0 },
};

static const struct json_member of_region[] = {
	JSON_MEMBER("pid", JSON_U64, frame_region, pid),
	JSON_MEMBER("tid", JSON_U64, frame_region, tid),
	JSON_MEMBER("comm", JSON_TEXT, frame_region, comm),
	JSON_MEMBER("name", JSON_TEXT, frame_region, name),
	JSON_MEMBER("epoch", JSON_LITERAL, frame_region, epoch),
	JSON_MEMBER("step", JSON_LITERAL, frame_region, step),
	JSON_MEMBER("running_ms", JSON_U64, frame_region, running_ms),
	{ 0 },
};

static void on_open(struct frame *f, const char *path, const char *text)
{
	if (!strcmp(path, "running") && text[-1] == '[')
		f->running = f->running ?: text;
	else if (!strcmp(path, "processes[]"))
		f->sum = f->n_sums < FRAME_SUMS_MAX ? &f->sums[f->n_sums++] : NULL;
	else if (!strcmp(path, "regions[]"))
		f->region = f->n_regions < LIVE_REGIONS_MAX ? &f->regions[f->n_regions++] : NULL;
	else if (!strcmp(path, "running[]"))
		f->call = f->n_calls < LIVE_CALLS_MAX ? &f->calls[f->n_calls++] : NULL;
}

/* Adds NAME, of an error, and how many calls have failed by it. Both are another process's words. */
static void add_failed(struct frame *frame, const char *name, const char *number, size_t len)
{
	const size_t used = strlen(frame->failed);

	if (strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == strlen(name) && strspn(number, "0123456789") == len)
		snprintf(frame->failed + used, sizeof(frame->failed) - used, "%s%s %.*s", used ? ", " : "", name,
			 (int)len, number);
}

static void on_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct frame *frame = ctx;
	const struct json_place places[] = {
		{ "all.", of_sum, &frame->all },
		{ "processes[].", of_sum, frame->sum },
		{ "regions[].", of_region, frame->region },
		{ "running[].", of_call, frame->call },
		{ "", of_frame, frame },
	};
	static const char of_failed[] = "failed_calls.";
	const struct json_place *place;

	if (event == JSON_OPEN) {
		on_open(frame, path, text);
		return;
	}
	if (event == JSON_WORD && !strncmp(path, of_failed, strlen(of_failed))) {
		add_failed(frame, path + strlen(of_failed), text, len);
		return;
	}
	place = json_place_of(places, &path);
	if (place->base)
		json_bind(place->members, place->base, path, event, text, len);
}

int frame_read(struct frame *f, const char *line, size_t len)
{
	*f = (struct frame){};
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ') /* invalid even in a string (RFC 8259, 7) */
			return -EBADMSG;
	return json_read(line, len, on_value, f) < 0 || !f->running ? -EBADMSG : 0;
}

void frame_print_json(const struct frame *frame, const char *line, const char *recent)
{
	struct json j = { .flat = true };

	json_array(&j, NULL);
	for (unsigned int i = 0; i < frame->n_calls; i++) {
		const struct frame_call *call = &frame->calls[i];

		json_object(&j, NULL);
		json_u64(&j, "pid", call->pid);
		json_u64(&j, "tid", call->tid);
		json_str(&j, "comm", call->comm);
		json_str(&j, "probe", call->probe);
		json_str(&j, "call", call->name);
		json_u64(&j, "running_ms", call->running_ms);
		json_str(&j, "file", *call->file ? call->file : NULL);
		json_end(&j);
	}
	json_end(&j);
	if (!j.error)
		printf("%.*s%.*s,\"path\": %s}\n", (int)(frame->running - 1 - line), line, (int)j.len, j.buf,
		       recent ?: "null");
	json_free(&j);
}
