/* SPDX-License-Identifier: BSD-2-Clause */
/* Phrases about a phase after the time, as DLIO and programs with similar words print them. */
#include <ctype.h>
#include <strings.h>

#include "applog/applog_impl.h"
#include "applog/mllog.h"
#include "base/util.h"

static bool is_of_word(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || is_digit(c) || c == '_';
}

static bool take_whole_word(struct applog_piece *piece, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(piece->end - piece->p) < len || strncasecmp(piece->p, word, len) != 0)
		return false;
	if (piece->p + len < piece->end && is_of_word(piece->p[len]))
		return false;
	piece->p += len;
	while (piece->p < piece->end && *piece->p == ' ')
		piece->p++;
	return true;
}

/* Takes WORD, in lower case. For most lines of a log the first letter decides, so it is compared first. */
static inline bool take_word(struct applog_piece *s, const char *word)
{
	return s->p < s->end && (*s->p | 0x20) == *word && take_whole_word(s, word);
}

struct event_word {
	const char *word;
	enum phase_event event;
};

/* Before a noun: "Starting epoch 3", "end of epoch 3". Plain "start" is mostly a setting: "Start epoch: 0". */
static const struct event_word verbs[] = {
	{ "begin", PHASE_BEGINS },
	{ "beginning of", PHASE_BEGINS },
	{ "beginning", PHASE_BEGINS },
	{ "completed", PHASE_ENDS },
	{ "done with", PHASE_ENDS },
	{ "end of", PHASE_ENDS },
	{ "ended", PHASE_ENDS },
	{ "ending", PHASE_ENDS },
	{ "finished", PHASE_ENDS },
	{ "start of", PHASE_BEGINS },
	{ "started", PHASE_BEGINS },
	{ "starting", PHASE_BEGINS },
	{ NULL, 0 },
};

/* After a noun: "Epoch 3 finished", "Training is complete". */
static const struct event_word predicates[] = {
	{ "begins", PHASE_BEGINS },
	{ "complete", PHASE_ENDS },
	{ "completed", PHASE_ENDS },
	{ "done", PHASE_ENDS },
	{ "ended", PHASE_ENDS },
	{ "ends", PHASE_ENDS },
	{ "finished", PHASE_ENDS },
	{ "started", PHASE_BEGINS },
	{ "starting", PHASE_BEGINS },
	{ "starts", PHASE_BEGINS },
	{ NULL, 0 },
};

static bool take_event(struct applog_piece *s, const struct event_word *words, enum phase_event *ret)
{
	for (; words->word; words++)
		if (take_word(s, words->word)) {
			*ret = words->event;
			return true;
		}
	return false;
}

/* The phases; of several in a row the first in this table: "training epoch 3", "epoch 3 validation". */
static const struct {
	const char *word, *name;
} nouns[] = {
	{ "eval", "eval" },   { "evaluation", "eval" }, { "validation", "eval" },   { "checkpoint", "checkpoint" },
	{ "epoch", "epoch" }, { "block", "block" },     { "training", "training" },
};

static size_t take_noun(struct applog_piece *s)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(nouns) && !take_word(s, nouns[i].word))
		i++;
	return i;
}

static void skip(struct applog_piece *s, const char *set)
{
	while (s->p < s->end && *s->p && strchr(set, *s->p))
		s->p++;
}

/* Takes "3", and for an epoch also ": 3", "[3/10]" and "3 of 10". */
static void take_number(struct applog_piece *piece, bool is_epoch, int64_t *ret)
{
	struct applog_piece n = *piece;
	int64_t v;

	if (is_epoch)
		skip(&n, " :=#[");
	v = applog_number_at(n);
	if (v < 0)
		return;
	if (*ret < 0)
		*ret = v;
	skip(&n, "0123456789");
	*piece = n;
	skip(&n, " ");
	if (is_epoch && (one_of(&n, "/") || take_word(&n, "of"))) {
		skip(&n, " ");
		skip(&n, "0123456789");
		*piece = n;
	}
	skip(piece, is_epoch ? " ]" : " ");
}

/* Returns whether there was one. */
static bool take_nouns(struct applog_line *line, struct applog_piece *piece)
{
	size_t first = ARRAY_SIZE(nouns), noun;

	if (!take_word(piece, "saving"))
		take_word(piece, "loading");
	line->entry.number = -1;
	while ((noun = take_noun(piece)) < ARRAY_SIZE(nouns)) {
		take_number(piece, strcmp(nouns[noun].word, "epoch") == 0, &line->entry.number);
		first = MIN(first, noun);
	}
	if (first == ARRAY_SIZE(nouns))
		return false;
	applog_set_name(line, nouns[first].name, strlen(nouns[first].name));
	return true;
}

/* Whether S is progress of an epoch, not its number: "10 of 500 steps", ": 45 %". */
static bool is_part(struct applog_piece s)
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

/* Takes the predicate of "Epoch 1 finished" or "epoch [1/10]: done in 5 s". */
static bool take_predicate(struct applog_piece s, enum phase_event *ret)
{
	skip(&s, " :,-|");
	if (!take_word(&s, "is"))
		take_word(&s, "has");
	return take_event(&s, predicates, ret) && !is_part(s);
}

/*
 * Words that make a line about another thing than the epoch: "Epoch 3 [Eval] ...", "Validation: epoch 3 ...", "Epoch 3
 * not finished".
 */
static const char *const others[] = { "eval", "evaluation", "test", "val", "valid", "validation" };

/* Whether the last word before PHRASE is WORD. */
static bool is_behind(const char *begin, const char *phrase, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(phrase - begin) >= len && strncasecmp(phrase - len, word, len) == 0 &&
	       (phrase - len == begin || !is_of_word(phrase[-(ptrdiff_t)len - 1]));
}

/* Whether only a logger's prefix precedes PHRASE, and no word that belongs to it: "resumed from epoch 3/10". */
static bool is_first(const char *begin, const char *phrase)
{
	const char *word;

	while (phrase > begin && phrase[-1] == ' ')
		phrase--;
	for (word = phrase; word > begin && !is_of_word(word[-1]);)
		word--;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (is_behind(begin, word, others[i]))
			return false;
	/* "Train Epoch: 1 [640/60000 (1%)]" */
	return phrase == begin || !islower((unsigned char)phrase[-1]) || is_behind(begin, phrase, "train") ||
	       is_behind(begin, phrase, "training");
}

static bool is_other(struct applog_piece s)
{
	if (s.end - s.p > 1 && *s.p == '.' && is_digit(s.p[1])) /* "epoch 0.5" */
		return true;
	skip(&s, " :,-|[(");
	return take_word(&s, "block") || take_word(&s, "eval") || take_word(&s, "not");
}

/*
 * Whether a line is about an epoch without naming its begin or end: "Epoch 1/10" alone, as Keras and others begin one;
 * "epoch 1: loss 0.3", which most print after it; "Epoch 1:  45%
 *
 * ", a bar.
 */
static bool is_near(struct applog_line *l, const char *begin, const char *phrase, struct applog_piece rest)
{
	if (strcmp(l->name, "epoch") != 0 || l->entry.number < 0 || !is_first(begin, phrase) || is_other(rest))
		return false;
	l->entry.event = PHASE_NEAR;
	applog_words(&l->entry.words, rest);
	return true;
}

/* Parses HERE, in the text that begins at BEGIN. */
static bool parse_here(struct applog_line *l, const char *begin, struct applog_piece here)
{
	const char *phrase = here.p;

	if (take_event(&here, verbs, &l->entry.event))
		return take_nouns(l, &here);
	if (!take_nouns(l, &here))
		return false;
	return take_predicate(here, &l->entry.event) || is_near(l, begin, phrase, here);
}

/* Returns the first phrase after the time, at any word; or NULL. */
static const char *find_phrase(struct applog_line *line, struct applog_piece s)
{
	const char *begin = s.p;
	bool word = false; /* within a word */

	for (; s.p < s.end; s.p++) {
		bool word_before = word;

		word = is_of_word(*s.p);
		if (word && !word_before && parse_here(line, begin, s))
			return s.p;
	}
	return NULL;
}

/* Whether the text may have a noun. */
static bool has_phrase(const char *line, size_t len)
{
	static const char *const words[] = { "poch", "POCH", "raining", "val", "alidation", "heckpoint", "lock " };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (memmem(line, len, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Parses a line about an epoch without a phrase. */
static bool parse_other(struct applog_line *l, struct applog_piece s)
{
	if (s.p == s.end ||
	    !(memmem(s.p, (size_t)(s.end - s.p), "epoch", 5) ? applog_parse_dict(l, s) : applog_parse_bar(l, s)))
		return false;
	l->entry.event = PHASE_NEAR;
	applog_set_name(l, "epoch", 5);
	return true;
}

/* Parses the text S behind the time, of which DLIO's lines have one in their own form. */
static bool parse_text(struct applog_line *l, struct applog_piece s)
{
	const char *phrase = has_phrase(s.p, (size_t)(s.end - s.p)) ? find_phrase(l, s) : NULL;

	if (phrase && l->stamped && phrase == s.p + 1)
		l->entry.source = PHASE_DLIO;
	return phrase || applog_parse_step_form(l, s);
}

enum applog_found applog_parse_phrase(struct applog_line *applog_line, const char *line, size_t len, const char *before,
				      const char *after)
{
	const struct applog_piece text = { after ? after : line, line + len };

	applog_line->entry = (struct phase_entry){ .source = PHASE_LOG, .number = -1, .rank = -1 };
	if (parse_other(applog_line, text))
		return APPLOG_PHASE;
	if (!applog_parse_epoch_form(applog_line, text) && !parse_text(applog_line, text))
		return APPLOG_NOTHING;
	applog_line->entry.rank = mllog_rank(line, before ? MIN((size_t)(before - line), APPLOG_RANK_BYTES) : 0);
	return APPLOG_PHASE;
}
