/* SPDX-License-Identifier: BSD-2-Clause */
#include "applog/mllog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
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

static void take_phase(struct mllog *mllog, const char *key, size_t len)
{
	static const char *const ends[] = { "_start", "_stop", "_end" };

	json_read_string(mllog->phase, sizeof(mllog->phase), key, len);
	len = strlen(mllog->phase);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && strcmp(mllog->phase + len - n, ends[i]) == 0) {
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

static bool is(const char *text, size_t len, const char *expected)
{
	return len == strlen(expected) && memcmp(text, expected, len) == 0;
}

/* Parses a duration: whole numbers are ns, as programs take them by time.perf_counter_ns(), others seconds. */
static bool parse_duration(const char *text, size_t len, uint64_t *ret)
{
	char number[32], *end;
	double seconds;

	if (digits(text, len, ret) == len)
		return len > 0;
	if (len >= sizeof(number) || text[0] == '-')
		return false;
	memcpy(number, text, len);
	number[len] = '\0';
	seconds = strtod(number, &end);
	if (*end || !(seconds >= 0 && seconds < 1e9))
		return false;
	*ret = (uint64_t)(seconds * 1e9);
	return true;
}

static void take_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	bool epoch = strcmp(path, "metadata.epoch_num") == 0;
	struct mllog *mllog = ctx;
	uint64_t number;

	if (event == JSON_STRING && strcmp(path, "key") == 0) {
		take_phase(mllog, text, len);
	} else if (event == JSON_STRING && strcmp(path, "event_type") == 0) {
		mllog->event = is(text, len, "INTERVAL_START") ? MLLOG_START :
			       is(text, len, "INTERVAL_END")   ? MLLOG_END :
								 MLLOG_POINT;
	} else if (event == JSON_WORD && strcmp(path, "time_ms") == 0) {
		digits(text, len, &mllog->time_ms);
	} else if (event == JSON_WORD && strcmp(path, "value.duration") == 0) {
		mllog->has_duration = parse_duration(text, len, &mllog->duration_ns);
	} else if (event == JSON_WORD && strcmp(path, "value.start") == 0) {
		if (digits(text, len, &number) == len)
			mllog->start_ns = number;
	} else if (event == JSON_WORD && (epoch || strcmp(path, "metadata.first_epoch_num") == 0)) {
		/* Only whole numbers: an epoch of 1.5 has no counterpart in other sources. */
		if (len <= 9 && digits(text, len, &number) == len && (mllog->epoch < 0 || epoch))
			mllog->epoch = (int64_t)number;
	}
}

bool mllog_parse(struct mllog *ret, const char *line, size_t len)
{
	const char *mark = memmem(line, len, MLLOG_MARK, strlen(MLLOG_MARK)), *object;

	if (!mark)
		return false;
	object = mark + strlen(MLLOG_MARK);
	*ret = (struct mllog){ .rank = mllog_rank(line, (size_t)(mark - line)), .epoch = -1 };
	return json_read(object, (size_t)(line + len - object), take_value, ret) == 0 && ret->phase[0];
}
