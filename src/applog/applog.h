/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a line of a job's log says about its phases, and when it says so: MLPerf's lines, those of the DLIO
 * benchmark and others that begin with the time, and what the user has given rules for. Pure; trusts nothing.
 */
#ifndef APPLOG_APPLOG_H
#define APPLOG_APPLOG_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applog/entry.h"

#define APPLOG_RULES_MAX 32U
#define APPLOG_LINE_MAX 65536 /* of a line that is longer this much is looked at */

enum applog_clock {
	APPLOG_NO_TIME,
	APPLOG_UTC,
	APPLOG_LOCAL, /* by a wall clock of which the line does not tell the zone */
};

struct applog_time {
	enum applog_clock clock;
	int64_t s; /* since 1970-01-01 00:00 */
	uint32_t ns;
};

enum applog_found {
	APPLOG_NOTHING,
	APPLOG_PHASE,
	APPLOG_BROKEN, /* it is about a phase, and not whole */
};

struct applog_line {
	struct phase_entry entry; /* but for at_ns; the name lies in NAME */
	struct applog_time time;
	unsigned int rule; /* 1 + that which matched; 0: none */
	bool stamped; /* by a line of NOTHING too: it begins with TIME as DLIO's do */
	char name[PHASE_NAME_MAX];
};

/* REGEX=NAME, of --phase. */
struct applog_rules {
	struct applog_rule {
		regex_t regex;
		char name[PHASE_NAME_MAX];
		char *text;	/* as it was given */
		uint64_t lines; /* that it matched, of all logs */
	} rule[APPLOG_RULES_MAX];
	unsigned int n;
};

/* One more rule. 0; -EINVAL with ERROR; -E2BIG: there are too many. */
int applog_add_rule(struct applog_rules *rules, const char *text, char *error, size_t size);
void applog_free_rules(struct applog_rules *rules);

/* LINE of LEN bytes without its newline. RULES may be NULL. */
enum applog_found applog_parse(struct applog_line *ret, const struct applog_rules *rules, const char *line, size_t len);

/*
 * LEN of NAME without the word for a begin or an end (start, begin, stop, end) behind it and what parts it from
 * the name. Without one the event is PHASE_LASTS.
 */
size_t applog_event(const char *name, size_t len, enum phase_event *event);

/*
 * A time such as 2026-11-22T08:00:01.123456, 2026-11-22 08:00:01,123 or 2026-11-22T08:00:01+01:00 within the first
 * bytes of LINE: where it ends, or NULL.
 */
const char *applog_stamp(struct applog_time *ret, const char *line, size_t len, const char **begin);

/* Behind the terminal's escape sequence (colours, moves of the cursor) that begins at P; P: there is none. */
const char *applog_escape_end(const char *p, const char *end);

#endif
