/* SPDX-License-Identifier: BSD-2-Clause */
#include "applog.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mllog.h"
#include "util.h"

#define STAMP_WITHIN 256 /* bytes: the time is near the begin of a line */
#define RULE_BYTES 4096	 /* of a line that a rule is tried on */
#define RANK_BYTES 63	 /* that launchers put before a line */
#define PARTS 10	 /* \0 to \9 */

/* --- when ------------------------------------------------------------------------------------------- */

struct piece {
	const char *p, *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* N digits, of a number from LEAST to MOST. */
static bool digits(struct piece *s, unsigned int n, unsigned int least, unsigned int most, unsigned int *ret)
{
	unsigned int v = 0;

	for (; n; n--) {
		if (s->p == s->end || !is_digit(*s->p))
			return false;
		v = 10 * v + (unsigned int)(*s->p++ - '0');
	}
	*ret = v;
	return v >= least && v <= most;
}

static bool one_of(struct piece *s, const char *set)
{
	if (s->p == s->end || !*s->p || !strchr(set, *s->p))
		return false;
	s->p++;
	return true;
}

static int64_t days_since_1970(unsigned int year, unsigned int month, unsigned int day)
{
	static const unsigned short before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
	unsigned int y = month > 2 ? year : year - 1; /* whose leap day is over */

	return 365 * ((int64_t)year - 1970) + (y / 4 - y / 100 + y / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400) +
	       before[month - 1] + day - 1;
}

static unsigned int days_of(unsigned int year, unsigned int month)
{
	bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

	return month == 2 ? 28U + leap : 30 + (month + (month > 7)) % 2;
}

static void fraction(struct piece *s, struct applog_time *ret)
{
	uint32_t unit = 100000000;
	struct piece f = *s;

	if (!one_of(&f, ".,") || f.p == f.end || !is_digit(*f.p))
		return;
	for (; f.p < f.end && is_digit(*f.p); f.p++, unit /= 10)
		ret->ns += unit * (uint32_t)(*f.p - '0');
	s->p = f.p;
}

/* Z, +01:00, +0100; a blank that Python and others put before it too. */
static void zone(struct piece *s, struct applog_time *ret)
{
	struct piece z = *s;
	unsigned int hours, minutes;
	bool west;

	if (z.p < z.end && *z.p == ' ')
		z.p++;
	if (z.p == s->p && one_of(&z, "Z")) {
		ret->clock = APPLOG_UTC;
		s->p = z.p;
		return;
	}
	west = z.p < z.end && *z.p == '-';
	if (!one_of(&z, "+-") || !digits(&z, 2, 0, 14, &hours))
		return;
	one_of(&z, ":");
	if (!digits(&z, 2, 0, 59, &minutes) || (z.p < z.end && is_digit(*z.p)))
		return;
	ret->clock = APPLOG_UTC;
	ret->s -= (west ? -60 : 60) * ((int64_t)hours * 60 + minutes);
	s->p = z.p;
}

/* At the begin of S. */
static bool stamp_at(struct piece *s, struct applog_time *ret)
{
	unsigned int year, month, day, hour, minute, second;

	if (!digits(s, 4, 1970, 2199, &year) || !one_of(s, "-/") || !digits(s, 2, 1, 12, &month) || !one_of(s, "-/") ||
	    !digits(s, 2, 1, days_of(year, month), &day) || !one_of(s, "T ") || !digits(s, 2, 0, 23, &hour) ||
	    !one_of(s, ":") || !digits(s, 2, 0, 59, &minute) || !one_of(s, ":") || !digits(s, 2, 0, 60, &second) ||
	    (s->p < s->end && is_digit(*s->p)))
		return false;
	*ret = (struct applog_time){
		.clock = APPLOG_LOCAL,
		.s = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second,
	};
	fraction(s, ret);
	zone(s, ret);
	return true;
}

const char *applog_stamp(struct applog_time *ret, const char *line, size_t len, const char **begin)
{
	const char *last = line + MIN(len, STAMP_WITHIN);

	for (const char *p = line; p < last; p++) {
		struct piece s = { p, line + len };

		if (!is_digit(*p) || (p > line && is_digit(p[-1])) || !stamp_at(&s, ret))
			continue;
		if (begin)
			*begin = p;
		return s.p;
	}
	*ret = (struct applog_time){ .clock = APPLOG_NO_TIME };
	return NULL;
}

/* --- what ------------------------------------------------------------------------------------------- */

size_t applog_event(const char *name, size_t len, enum phase_event *event)
{
	static const struct { const char *word; enum phase_event event; } words[] = {
		{ "start", PHASE_BEGINS }, { "begin", PHASE_BEGINS }, { "stop", PHASE_ENDS }, { "end", PHASE_ENDS },
	};

	*event = PHASE_LASTS;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i].word);

		if (len < n + 2 || memcmp(name + len - n, words[i].word, n) != 0 || !name[len - n - 1] ||
		    !strchr(" _:-.", name[len - n - 1]))
			continue;
		*event = words[i].event;
		return len - n - 1;
	}
	return len;
}

static void set_name(struct applog_line *l, const char *name, size_t len)
{
	l->told.name_len = (uint32_t)MIN(len, sizeof(l->name) - 1);
	memmove(l->name, name, l->told.name_len);
	l->name[l->told.name_len] = '\0';
	l->told.name = l->name;
}

/* Digits at S: their value, -1 where there are none or too many. */
static int64_t number_at(struct piece s)
{
	int64_t v = 0;
	const char *p = s.p;

	for (; p < s.end && is_digit(*p) && p - s.p < 10; p++)
		v = 10 * v + (*p - '0');
	return p == s.p || p - s.p == 10 ? -1 : v;
}

/* "epoch 3": the number is not part of the name. */
static void split_number(struct applog_line *l)
{
	size_t len = l->told.name_len, n = len;

	while (n && is_digit(l->name[n - 1]))
		n--;
	if (n == len || !n || !strchr(" _-", l->name[n - 1]))
		return;
	l->told.number = number_at((struct piece){ l->name + n, l->name + len });
	if (l->told.number >= 0)
		set_name(l, l->name, n - 1);
}

/* --- MLPerf ------------------------------------------------------------------------------------------ */

static enum applog_found parse_mllog(struct applog_line *l, const char *line, size_t len)
{
	struct mllog m;

	if (!mllog_parse(&m, line, len))
		return APPLOG_BROKEN;
	if (m.event == MLLOG_POINT)
		return APPLOG_NOTHING;
	l->told = (struct phase_told){
		.event = m.event == MLLOG_START ? PHASE_BEGINS : PHASE_ENDS, .source = PHASE_MLLOG, .number = m.epoch,
		.rank = m.rank,
	};
	set_name(l, m.phase, strlen(m.phase));
	if (m.time_ms && m.time_ms < (uint64_t)INT64_MAX / NSEC_PER_MSEC)
		l->time = (struct applog_time){
			.clock = APPLOG_UTC, .s = (int64_t)(m.time_ms / 1000), .ns = (uint32_t)(m.time_ms % 1000) * 1000000,
		};
	return APPLOG_PHASE;
}

/* --- DLIO, and whoever says it so --------------------------------------------------------------------- */

static bool is_of_word(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || is_digit(c) || c == '_';
}

static bool take_whole_word(struct piece *s, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(s->end - s->p) < len || strncasecmp(s->p, word, len) != 0)
		return false;
	if (s->p + len < s->end && is_of_word(s->p[len]))
		return false;
	s->p += len;
	while (s->p < s->end && *s->p == ' ')
		s->p++;
	return true;
}

/* WORD is in lower case. Most are not there by their first letter, which each line of a log is asked for often. */
static inline bool take_word(struct piece *s, const char *word)
{
	return s->p < s->end && (*s->p | 0x20) == *word && take_whole_word(s, word);
}

struct event_word {
	const char *word;
	enum phase_event event;
};

/* With a noun behind them: "Starting epoch 3", "end of epoch 3". Plain "start" is of settings mostly: "Start epoch: 0". */
static const struct event_word verbs[] = {
	{ "begin", PHASE_BEGINS },    { "beginning of", PHASE_BEGINS }, { "beginning", PHASE_BEGINS },
	{ "completed", PHASE_ENDS },  { "done with", PHASE_ENDS },   { "end of", PHASE_ENDS },
	{ "ended", PHASE_ENDS },      { "ending", PHASE_ENDS },	     { "finished", PHASE_ENDS },
	{ "start of", PHASE_BEGINS }, { "started", PHASE_BEGINS },   { "starting", PHASE_BEGINS }, { NULL, 0 },
};

/* Behind a noun: "Epoch 3 finished", "Training is complete". */
static const struct event_word predicates[] = {
	{ "begins", PHASE_BEGINS },  { "complete", PHASE_ENDS }, { "completed", PHASE_ENDS }, { "done", PHASE_ENDS },
	{ "ended", PHASE_ENDS },     { "ends", PHASE_ENDS },	 { "finished", PHASE_ENDS },  { "started", PHASE_BEGINS },
	{ "starting", PHASE_BEGINS }, { "starts", PHASE_BEGINS }, { NULL, 0 },
};

static bool take_event(struct piece *s, const struct event_word *words, enum phase_event *ret)
{
	for (; words->word; words++)
		if (take_word(s, words->word)) {
			*ret = words->event;
			return true;
		}
	return false;
}

/* What begins or ends; of several in a row the first of these: "training epoch 3", "epoch 3 validation". */
static const struct { const char *word, *name; } nouns[] = {
	{ "eval", "eval" },   { "evaluation", "eval" }, { "validation", "eval" },  { "checkpoint", "checkpoint" },
	{ "epoch", "epoch" }, { "block", "block" },	{ "training", "training" },
};

static size_t take_noun(struct piece *s)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(nouns) && !take_word(s, nouns[i].word))
		i++;
	return i;
}

static void skip(struct piece *s, const char *set)
{
	while (s->p < s->end && *s->p && strchr(set, *s->p))
		s->p++;
}

/* "3", and of an epoch ": 3", "[3/10]", "3 of 10" too. OF_ALL: it says of how many. */
static void take_number(struct piece *s, bool is_epoch, int64_t *ret, bool *of_all)
{
	struct piece n = *s;
	int64_t v;

	if (is_epoch)
		skip(&n, " :#[");
	v = number_at(n);
	if (v < 0)
		return;
	if (*ret < 0)
		*ret = v;
	skip(&n, "0123456789");
	*s = n;
	skip(&n, " ");
	if (is_epoch && (one_of(&n, "/") || take_word(&n, "of"))) {
		skip(&n, " ");
		*of_all = number_at(n) >= 0;
		skip(&n, "0123456789");
		*s = n;
	}
	skip(s, is_epoch ? " ]" : " ");
}

/* Whether there was one. */
static bool take_nouns(struct applog_line *l, struct piece *s, bool *of_all)
{
	size_t first = ARRAY_SIZE(nouns), noun;

	if (!take_word(s, "saving"))
		take_word(s, "loading");
	l->told.number = -1;
	while ((noun = take_noun(s)) < ARRAY_SIZE(nouns)) {
		take_number(s, strcmp(nouns[noun].word, "epoch") == 0, &l->told.number, of_all);
		first = MIN(first, noun);
	}
	if (first == ARRAY_SIZE(nouns))
		return false;
	set_name(l, nouns[first].name, strlen(nouns[first].name));
	return true;
}

/* "10 of 500 steps", ": 45 %": how much of it, and not that. */
static bool is_part(struct piece s)
{
	const char *begin = s.p;

	skip(&s, " :(");
	if (s.p == s.end || !is_digit(*s.p))
		return false;
	if (s.p == begin)
		return true;
	skip(&s, "0123456789. ");
	return s.p < s.end && *s.p == '%';
}

/* "Epoch 1 finished", "epoch [1/10]: done in 5 s". */
static bool take_predicate(struct piece s, enum phase_event *ret)
{
	skip(&s, " :,-|");
	if (!take_word(&s, "is"))
		take_word(&s, "has");
	return take_event(&s, predicates, ret) && !is_part(s);
}

static bool says_nothing(struct piece s)
{
	while (s.p < s.end && !isalnum((unsigned char)*s.p))
		s.p++;
	return s.p == s.end;
}

/*
 * "Epoch 1/10" and no more: so Keras and others begin one. With a loss behind it, it may have ended. Before it may be what
 * a logger puts there, but no word that it belongs to, as in "resumed from epoch 3/10".
 */
static bool is_heading(const struct applog_line *l, const char *begin, const char *phrase, struct piece rest, bool of_all)
{
	bool alone = says_nothing((struct piece){ begin, phrase });

	if (strcmp(l->name, "epoch") != 0 || l->told.number < 0 || !says_nothing(rest))
		return false;
	while (phrase > begin && phrase[-1] == ' ')
		phrase--;
	return alone || (of_all && !islower((unsigned char)phrase[-1]));
}

/* At HERE, in the text that begins at BEGIN. */
static bool parse_here(struct applog_line *l, const char *begin, struct piece here)
{
	const char *phrase = here.p;
	bool of_all = false;

	if (take_event(&here, verbs, &l->told.event))
		return take_nouns(l, &here, &of_all);
	if (!take_nouns(l, &here, &of_all))
		return false;
	if (take_predicate(here, &l->told.event))
		return true;
	l->told.event = PHASE_BEGINS;
	return is_heading(l, begin, phrase, here, of_all);
}

/* Behind the time, as its first word or a later one: where it is, or NULL. */
static const char *find_phrase(struct applog_line *l, struct piece s)
{
	const char *begin = s.p;
	bool word = false; /* within one */

	for (; s.p < s.end; s.p++) {
		bool was_word = word;

		word = is_of_word(*s.p);
		if (word && !was_word && parse_here(l, begin, s))
			return s.p;
	}
	return NULL;
}

/* It has a noun, perhaps. */
static bool has_phrase(const char *line, size_t len)
{
	static const char *const words[] = { "poch", "POCH", "raining", "val", "alidation", "heckpoint", "lock " };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (memmem(line, len, words[i], strlen(words[i])))
			return true;
	return false;
}

/* BEFORE: where the time begins; AFTER: where it ends; both NULL without one. */
static enum applog_found parse_phrase(struct applog_line *l, const char *line, size_t len, const char *before,
				      const char *after)
{
	const char *phrase;

	l->told = (struct phase_told){ .source = PHASE_LOG, .number = -1, .rank = -1 };
	phrase = find_phrase(l, (struct piece){ after ? after : line, line + len });
	if (!phrase)
		return APPLOG_NOTHING;
	if (l->stamped && phrase == after + 1)
		l->told.source = PHASE_DLIO;
	l->told.rank = mllog_rank(line, before ? MIN((size_t)(before - line), RANK_BYTES) : 0);
	return APPLOG_PHASE;
}

/* --- rules -------------------------------------------------------------------------------------------- */

/* A \N in NAME for which the pattern has no group: that N, or NULL. */
static const char *beyond_groups(const char *name, size_t groups)
{
	for (const char *p = name; (p = strchr(p, '\\')); p++)
		if (is_digit(p[1]) && (size_t)(p[1] - '0') > groups)
			return p + 1;
	return NULL;
}

int applog_add_rule(struct applog_rules *rules, const char *text, char *error, size_t size)
{
	struct applog_rule *rule = &rules->rule[rules->n];
	const char *name = strrchr(text, '=');
	autofree char *regex = name ? strndup(text, (size_t)(name - text)) : NULL;
	const char *beyond;
	int res;

	if (rules->n == APPLOG_RULES_MAX) {
		snprintf(error, size, "at most %u rules", APPLOG_RULES_MAX);
		return -E2BIG;
	}
	snprintf(error, size, "not REGEX=NAME");
	if (!name || name == text || !name[1])
		return -EINVAL;
	if (strlen(name + 1) >= sizeof(rule->name)) {
		snprintf(error, size, "a name has at most %zu bytes", sizeof(rule->name) - 1);
		return -EINVAL;
	}
	if (!regex)
		return -ENOMEM;
	res = regcomp(&rule->regex, regex, REG_EXTENDED | REG_NEWLINE);
	if (res) {
		regerror(res, &rule->regex, error, size);
		return -EINVAL;
	}
	beyond = beyond_groups(name + 1, rule->regex.re_nsub);
	if (beyond) {
		snprintf(error, size, "\\%c is of no group: the pattern has %zu ( )", *beyond, rule->regex.re_nsub);
		regfree(&rule->regex);
		return -EINVAL;
	}
	strcpy(rule->name, name + 1);
	rules->n++;
	return 0;
}

void applog_free_rules(struct applog_rules *rules)
{
	while (rules->n)
		regfree(&rules->rule[--rules->n].regex);
}

/* The rule's name with \1 and the like replaced by what they matched, cut to fit. */
static size_t substitute(char ret[PHASE_NAME_MAX], const char *name, const char *line, const regmatch_t part[PARTS])
{
	size_t len = 0;

	for (const char *p = name; *p && len < PHASE_NAME_MAX - 1; p++) {
		const regmatch_t *m = *p == '\\' && is_digit(p[1]) ? &part[p[1] - '0'] : NULL;
		size_t n;

		if (!m) {
			ret[len++] = *p;
			continue;
		}
		n = m->rm_so >= 0 ? MIN((size_t)(m->rm_eo - m->rm_so), PHASE_NAME_MAX - 1 - len) : 0;
		memcpy(ret + len, line + (n ? m->rm_so : 0), n);
		len += n;
		p++;
	}
	return len;
}

static enum applog_found parse_rule(struct applog_line *l, const struct applog_rule *rule, const char *line, size_t len)
{
	regmatch_t part[PARTS] = { { .rm_so = 0, .rm_eo = (regoff_t)len } };
	char name[PHASE_NAME_MAX];
	size_t n;

	if (regexec(&rule->regex, line, PARTS, part, REG_STARTEND) != 0)
		return APPLOG_NOTHING;
	n = substitute(name, rule->name, line, part);
	l->told = (struct phase_told){ .source = PHASE_LOG, .number = -1, .rank = mllog_rank(line, MIN(len, RANK_BYTES)) };
	n = applog_event(name, n, &l->told.event);
	set_name(l, name, n);
	split_number(l);
	return l->told.name_len ? APPLOG_PHASE : APPLOG_BROKEN;
}

static enum applog_found parse_rules(struct applog_line *l, const struct applog_rules *rules, const char *line, size_t len)
{
	char text[RULE_BYTES + 1]; /* a string, for the C library */
	enum applog_found found = APPLOG_NOTHING;

	len = MIN(len, RULE_BYTES);
	memcpy(text, line, len);
	text[len] = '\0';
	for (unsigned int i = 0; i < rules->n && found == APPLOG_NOTHING; i++)
		found = parse_rule(l, &rules->rule[i], text, len);
	return found;
}

/* --- all of it ------------------------------------------------------------------------------------------ */

enum applog_found applog_parse(struct applog_line *ret, const struct applog_rules *rules, const char *line, size_t len)
{
	const char *before = NULL, *after;
	enum applog_found found;

	*ret = (struct applog_line){ 0 };
	len = MIN(len, APPLOG_LINE_MAX);
	if (memmem(line, len, MLLOG_MARK, strlen(MLLOG_MARK)) &&
	    (found = parse_mllog(ret, line, len)) != APPLOG_NOTHING)
		return found;
	after = applog_stamp(&ret->time, line, len, &before);
	ret->stamped = after && before[10] == 'T' && ret->time.clock == APPLOG_LOCAL;
	if (rules && rules->n && (found = parse_rules(ret, rules, line, len)) != APPLOG_NOTHING)
		return found;
	return has_phrase(line, len) ? parse_phrase(ret, line, len, before, after) : APPLOG_NOTHING;
}
