/* SPDX-License-Identifier: BSD-2-Clause */
#include "applog/mllog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_bind.h"
#include "base/util.h"

/* Returns the rank in "0: ", "[0] ", "[1,0]<stdout>: " or "rank 0: " before the mark. */
int64_t mllog_rank(const char *line, size_t len)
{
	static const char *const before[] = { "", "[", "[1,", "rank ", "[rank" }, *const behind[] = { ":", "]" };
	char prefix[64], *end;
	const char *p;
	long rank;

	if (len >= sizeof(prefix))
		return -1;
	memcpy(prefix, line, len);
	prefix[len] = '\0';
	p = prefix + strspn(prefix, " \t");
	for (size_t i = ARRAY_SIZE(before); i--;) {
		size_t n = strlen(before[i]);

		if (strncmp(p, before[i], n) != 0 || p[n] < '0' || p[n] > '9')
			continue;
		rank = strtol(p + n, &end, 10);
		/* 08:00:01 is no rank */
		if (strncmp(end, behind[*p == '['], 1) == 0 && !(end[1] >= '0' && end[1] <= '9') && rank <= INT32_MAX)
			return rank;
	}
	return -1;
}

/* The members of a line that count, as it has them. */
struct line {
	char key[sizeof(((struct mllog *)0)->phase)], event[16], time_ms[32], duration[32];
	uint64_t start_ns, epoch, first_epoch; /* UINT64_MAX: none */
};

static const struct json_member members[] = {
	JSON_MEMBER("key", JSON_TEXT, line, key),
	JSON_MEMBER("event_type", JSON_TEXT, line, event),
	JSON_MEMBER("time_ms", JSON_LITERAL, line, time_ms),
	JSON_MEMBER("value.duration", JSON_LITERAL, line, duration),
	JSON_MEMBER("value.start", JSON_U64, line, start_ns),
	JSON_MEMBER("metadata.epoch_num", JSON_U64, line, epoch),
	JSON_MEMBER("metadata.first_epoch_num", JSON_U64, line, first_epoch),
	{ 0 },
};

static void take_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	json_bind(members, ctx, path, event, text, len);
}

static void take_phase(struct mllog *mllog, const char *key)
{
	static const char *const ends[] = { "_start", "_stop", "_end" };
	const size_t len = strlen(key);

	strcpy(mllog->phase, key);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && strcmp(key + len - n, ends[i]) == 0) {
			mllog->phase[len - n] = '\0';
			return;
		}
	}
}

/* Parses the digits of TEXT. Returns how many there are. */
static size_t digits(const char *text, size_t len, uint64_t *ret)
{
	size_t n = 0;

	for (*ret = 0; n < len && text[n] >= '0' && text[n] <= '9' && *ret < UINT64_MAX / 100; n++)
		*ret = *ret * 10 + (uint64_t)(text[n] - '0');
	return n;
}

/* Parses a duration: whole numbers are ns, as programs take them by time.perf_counter_ns(), others seconds. */
static bool parse_duration(const char *text, uint64_t *ret)
{
	const size_t len = strlen(text);
	double seconds;
	char *end;

	if (digits(text, len, ret) == len)
		return len > 0;
	seconds = strtod(text, &end);
	if (*end || !(seconds >= 0 && seconds < 1e9))
		return false;
	*ret = (uint64_t)(seconds * 1e9);
	return true;
}

static enum mllog_event event_of(const char *type)
{
	if (!strcmp(type, "INTERVAL_START"))
		return MLLOG_START;
	return strcmp(type, "INTERVAL_END") ? MLLOG_POINT : MLLOG_END;
}

#define EPOCHS_MAX 1000000000 /* and whole: one of 1.5 has no counterpart in other sources */

bool mllog_parse(struct mllog *ret, const char *line, size_t len)
{
	struct line values = { .epoch = UINT64_MAX, .first_epoch = UINT64_MAX };
	const char *mark = memmem(line, len, MLLOG_MARK, strlen(MLLOG_MARK)), *object;
	uint64_t epoch;

	if (!mark)
		return false;
	object = mark + strlen(MLLOG_MARK);
	if (json_read(object, (size_t)(line + len - object), take_value, &values) < 0 || !values.key[0])
		return false;
	epoch = values.epoch < EPOCHS_MAX ? values.epoch : values.first_epoch;
	*ret = (struct mllog){
		.rank = mllog_rank(line, (size_t)(mark - line)),
		.start_ns = values.start_ns,
		.epoch = epoch < EPOCHS_MAX ? (int64_t)epoch : -1,
		.event = event_of(values.event),
	};
	take_phase(ret, values.key);
	digits(values.time_ms, strlen(values.time_ms), &ret->time_ms);
	ret->has_duration = parse_duration(values.duration, &ret->duration_ns);
	return true;
}
