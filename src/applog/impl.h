/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the parts that take a line of a log apart: each looks at the rest of it. */
#ifndef APPLOG_IMPL_H
#define APPLOG_IMPL_H

#include <string.h>

#include "applog/applog.h"

#define APPLOG_RANK_BYTES 63 /* that launchers put before a line */

/* The rest of a line; taking something from it moves P. */
struct applog_piece {
	const char *p, *end;
};

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Take a byte of SET, where there is one. */
static inline bool one_of(struct applog_piece *s, const char *set)
{
	if (s->p == s->end || !*s->p || !strchr(set, *s->p))
		return false;
	s->p++;
	return true;
}

/* applog.c */
/* Cut to fit. */
void applog_set_name(struct applog_line *l, const char *name, size_t len);
/* Digits at S: their value, -1 where there are none or too many. */
int64_t applog_number_at(struct applog_piece s);

/* phrase.c: BEFORE: where the time begins; AFTER: where it ends; both NULL without one. */
enum applog_found applog_parse_phrase(struct applog_line *l, const char *line, size_t len, const char *before,
				      const char *after);

/* epoch.c */
bool applog_has_results(struct applog_piece s);
/* What REST, behind the number of an epoch, says of it. */
void applog_words(struct phase_words *w, struct applog_piece rest);
/* Lines about an epoch that have no phrase of it; all of L but its name is set. */
bool applog_parse_dict(struct applog_line *l, struct applog_piece s);
bool applog_parse_bar(struct applog_line *l, struct applog_piece s);

/* rules.c: by the first rule that matches. */
enum applog_found applog_parse_rules(struct applog_line *l, const struct applog_rules *rules, const char *line, size_t len);

#endif
