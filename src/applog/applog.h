/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses lines of a job's log for its phases and their times: MLPerf's lines, those of the DLIO benchmark, others that
 * begin with the time, and those that match the user's rules. Pure; trusts nothing.
 */
#ifndef APPLOG_APPLOG_H
#define APPLOG_APPLOG_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applog/entry.h"

#define APPLOG_RULES_MAX 32U
#define APPLOG_LINE_MAX 65536 /* of a longer line, only so much is parsed */

enum applog_clock {
	APPLOG_NO_TIME,
	APPLOG_UTC,
	APPLOG_LOCAL, /* of a wall clock whose zone the line does not have */
};

struct applog_time {
	enum applog_clock clock;
	int64_t s; /* since 1970-01-01 00:00 */
	uint32_t ns;
};

enum applog_found {
	APPLOG_NOTHING,
	APPLOG_PHASE,
	APPLOG_BROKEN, /* about a phase, but cut or damaged */
};

struct applog_line {
	struct phase_entry entry; /* without at_ns; the name lies in NAME */
	struct applog_time time;
	unsigned int rule; /* 1 + the rule that matched; 0: none */
	bool stamped; /* begins with TIME, as DLIO's lines do; for NOTHING as well */
	char name[PHASE_NAME_MAX];
};

/* REGEX=NAME, of --phase. */
struct applog_rules {
	struct applog_rule {
		regex_t regex;
		char name[PHASE_NAME_MAX];
		char *text; /* as given */
		uint64_t lines; /* that it matched, in all logs */
	} rule[APPLOG_RULES_MAX];
	unsigned int n;
};

/* Adds a rule. Returns 0; -EINVAL with ERROR; -E2BIG when there are too many. */
int applog_add_rule(struct applog_rules *rules, const char *text, char *error, size_t size);
void applog_free_rules(struct applog_rules *rules);

/* Parses LINE of LEN bytes, without its newline. RULES may be NULL. */
enum applog_found applog_parse(struct applog_line *ret, const struct applog_rules *rules, const char *line, size_t len);

/*
 * Returns the length of NAME without the word for a begin or end (start, begin, stop, end) at its end and the separator
 * before that. Without such a word, the event is PHASE_LASTS.
 */
size_t applog_event(const char *name, size_t len, enum phase_event *event);

/*
 * Parses a time such as 2026-11-22T08:00:01.123456, 2026-11-22 08:00:01,123 or 2026-11-22T08:00:01+01:00 within the
 * first bytes of LINE. Returns its end, or NULL.
 */
const char *applog_stamp(struct applog_time *ret, const char *line, size_t len, const char **begin);

/* Returns the end of the terminal's escape sequence (colors, cursor moves) that begins at P; P: there is none. */
const char *applog_escape_end(const char *p, const char *end);

#endif
