/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parsers of a line: each looks at the rest of it. */
#ifndef APPLOG_APPLOG_IMPL_H
#define APPLOG_APPLOG_IMPL_H

#include <string.h>

#include "applog/applog.h"

#define APPLOG_RANK_BYTES 63 /* a launcher's prefix of a line */

/* The rest of a line; taking advances P. */
struct applog_piece {
	const char *p, *end;
};

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes a byte of SET, if one is next. */
static inline bool one_of(struct applog_piece *s, const char *set)
{
	if (s->p == s->end || !*s->p || !strchr(set, *s->p))
		return false;
	s->p++;
	return true;
}

/* applog.c */
/* Cuts NAME to fit. */
void applog_set_name(struct applog_line *l, const char *name, size_t len);
/* Returns the value of the digits at S; -1: there are none, or too many. */
int64_t applog_number_at(struct applog_piece s);

/* phrase.c. BEFORE: the begin of the time; AFTER: its end; both NULL without one. */
enum applog_found applog_parse_phrase(struct applog_line *applog_line, const char *line, size_t len, const char *before,
				      const char *after);

/* Whether WORD is one for a measured value. */
bool applog_is_result(struct applog_piece word);
/* Takes "10/500" or "10/ 500" at S; *PART: the quotient. */
bool applog_take_ratio(struct applog_piece *s, float *part);
/* Takes the words of REST, the text after the number of an epoch. */
void applog_words(struct phase_words *w, struct applog_piece rest);
/* Parse lines about an epoch without a phrase of it; all of L but its name is set. */
bool applog_parse_dict(struct applog_line *l, struct applog_piece s);
bool applog_parse_bar(struct applog_line *l, struct applog_piece s);

/* formats.c: parse lines of a known program about an epoch; about a step. All of L is set but its rank. */
bool applog_parse_epoch_form(struct applog_line *l, struct applog_piece s);
bool applog_parse_step_form(struct applog_line *l, struct applog_piece s);

/* rules.c: parses by the first rule that matches. */
enum applog_found applog_parse_rules(struct applog_line *applog_line, const struct applog_rules *rules,
				     const char *line, size_t len);

#endif
