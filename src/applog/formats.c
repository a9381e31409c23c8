/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of training programs that name an epoch or a step in a fixed form. A row of the table is a form; its patterns
 * are in a small language (elements[]), as a regular expression costs too much for each line that a job prints.
 */
#include <ctype.h>

#include "applog/applog_impl.h"
#include "base/util.h"

#define TABLE_COLUMN 10 /* where the second column of fastai's table begins */
#define MARKS_MAX 4 /* in a line, the first of which are tried */

/* A line being matched. */
struct match {
	const char *line; /* begin of the text */
	struct applog_piece s;
	int64_t number, step; /* -1: none so far */
	float part;
};

/* --- elements ------------------------------------------------------------------------------------------- */

static void skip_digits(struct applog_piece *s)
{
	while (s->p < s->end && is_digit(*s->p))
		s->p++;
}

static void skip_blanks(struct applog_piece *s)
{
	while (one_of(s, " \t"))
		;
}

static bool take_whole(struct match *m, int64_t *ret)
{
	*ret = applog_number_at(m->s);
	skip_digits(&m->s);
	return *ret >= 0;
}

static bool take_epoch(struct match *m)
{
	return take_whole(m, &m->number);
}

static bool take_any_whole(struct match *m)
{
	int64_t any;

	return take_whole(m, &any);
}

/* Takes "100", and also "100/1000". */
static bool take_step(struct match *match)
{
	struct match all;

	if (!take_whole(match, &match->step))
		return false;
	all = *match;
	skip_blanks(&all.s);
	if (!one_of(&all.s, "/"))
		return true;
	skip_blanks(&all.s);
	if (!take_any_whole(&all))
		return false;
	match->s = all.s;
	return true;
}

static bool take_part(struct match *m)
{
	return applog_take_ratio(&m->s, &m->part);
}

/* Takes "nan" and "inf", as a loss may be. */
static bool take_no_number(struct applog_piece *s)
{
	if (s->end - s->p < 3 || (strncmp(s->p, "nan", 3) != 0 && strncmp(s->p, "inf", 3) != 0))
		return false;
	s->p += 3;
	return true;
}

/* Takes "0.5", "12", "1e-05", "-1.2", "nan". */
static bool take_decimal_of(struct applog_piece *piece)
{
	struct applog_piece e;

	one_of(piece, "-");
	if (piece->p == piece->end || !is_digit(*piece->p))
		return take_no_number(piece);
	skip_digits(piece);
	if (one_of(piece, "."))
		skip_digits(piece);
	e = *piece;
	if (one_of(&e, "eE") && (one_of(&e, "+-"), e.p < e.end) && is_digit(*e.p)) {
		skip_digits(&e);
		*piece = e;
	}
	return true;
}

static bool take_decimal(struct match *m)
{
	return take_decimal_of(&m->s);
}

/* Takes a number with six places, as fastai prints each value of its table, or "None". */
static bool take_six_places(struct match *match)
{
	struct applog_piece *piece = &match->s;
	const char *point;

	if (piece->end - piece->p >= 4 && strncmp(piece->p, "None", 4) == 0) {
		piece->p += 4;
		return true;
	}
	if (take_no_number(piece))
		return true;
	one_of(piece, "-");
	skip_digits(piece);
	point = piece->p;
	if (!one_of(piece, "."))
		return false;
	skip_digits(piece);
	return piece->p - point == 7;
}

static bool take_blanks(struct match *m)
{
	const char *begin = m->s.p;

	skip_blanks(&m->s);
	return m->s.p > begin;
}

/* Takes as many of the columns that ONE takes as follow, each after blanks. Returns whether there was one. */
static bool take_columns(struct match *m, bool (*one)(struct match *m))
{
	struct match next = *m;
	bool any = false;

	while (take_blanks(&next) && one(&next)) {
		any = true;
		*m = next;
	}
	return any;
}

static bool take_decimals(struct match *m)
{
	return take_columns(m, take_decimal);
}

static bool take_all_six_places(struct match *m)
{
	return take_columns(m, take_six_places);
}

/* Takes "00:12" or "1:02:03". */
static bool take_clock(struct match *m)
{
	for (unsigned int parts = 0;; parts++) {
		int64_t any;

		if (!take_whole(m, &any))
			return false;
		if (parts == 2 || !one_of(&m->s, ":"))
			return parts > 0;
	}
}

static bool take_to_column(struct match *m)
{
	skip_blanks(&m->s);
	return m->s.p - m->line == TABLE_COLUMN;
}

static bool take_end(struct match *m)
{
	skip_blanks(&m->s);
	return m->s.p == m->s.end;
}

/* Takes the punctuation between a step and its results. */
static bool take_between(struct match *m)
{
	while (one_of(&m->s, " \t:,|]-"))
		;
	return true;
}

/* Takes "loss 0.5", "loss = 0.5" or "train loss: 0.5". */
static bool take_result(struct match *match)
{
	for (unsigned int words = 0; words < 2; words++) {
		const char *word = match->s.p;
		bool is_result;

		while (match->s.p < match->s.end && isalpha((unsigned char)*match->s.p))
			match->s.p++;
		is_result = applog_is_result((struct applog_piece){ word, match->s.p });
		while (one_of(&match->s, " =:_"))
			;
		if (is_result && match->s.p < match->s.end)
			return is_digit(*match->s.p) || *match->s.p == '-' || take_no_number(&match->s);
	}
	return false;
}

/* In a pattern: %X, for these X; a blank for any blanks, or none; %*TEXT for all up to TEXT; else the byte itself. */
static const struct {
	char sign;
	bool (*take)(struct match *m);
} elements[] = {
	{ 'e', take_epoch },   { 's', take_step },     { 'r', take_part },       { 'd', take_any_whole },
	{ 'f', take_decimal }, { 'F', take_decimals }, { '1', take_six_places }, { '6', take_all_six_places },
	{ '_', take_blanks },  { 't', take_clock },    { '|', take_to_column },  { '$', take_end },
	{ ',', take_between }, { 'R', take_result },
};

static bool take_element(struct match *m, char sign)
{
	for (size_t i = 0; i < ARRAY_SIZE(elements); i++)
		if (elements[i].sign == sign)
			return elements[i].take(m);
	return false;
}

/* Skips to the text at PATTERN, up to its end or the next %. */
static bool skip_to(struct match *m, const char *pattern)
{
	const char *at = memmem(m->s.p, (size_t)(m->s.end - m->s.p), pattern, strcspn(pattern, "%"));

	if (at)
		m->s.p = at;
	return at;
}

static bool matches(struct match *match, const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern == ' ') {
			skip_blanks(&match->s);
		} else if (*pattern == '%' && pattern[1] == '*') {
			if (!skip_to(match, pattern++ + 2))
				return false;
		} else if (*pattern == '%') {
			if (!take_element(match, *++pattern))
				return false;
		} else if (match->s.p == match->s.end || *match->s.p++ != *pattern) {
			return false;
		}
	}
	return true;
}

/* --- forms ---------------------------------------------------------------------------------------------- */

/* What a line of a form means. */
enum meaning {
	A_BEGIN, /* of the epoch */
	AN_END,
	A_RESULT, /* of the epoch, or of a part of it */
	A_ROW, /* the same, in fastai's table */
	A_VALIDATION,
	A_STEP,
};

/*
 * MARK is a text by which a line is found; NULL: none. It begins with a letter or |. The pattern begins behind it; with
 * BACK, at the bytes of BACK before it, of which a blank may separate it; without MARK, at the begin of the text.
 */
struct form {
	const char *mark, *back, *pattern;
	enum meaning meaning;
};

#define NUMBERS "0123456789/|"

static const struct form epoch_forms[] = {
	/* ESPnet, and FunASR: "1/20epoch started", "1epoch:train:1-50batch: loss=...", "1epoch results: [train]
	   loss=..." */
	{ "epoch started", NUMBERS, "%e/%d epoch started", A_BEGIN },
	{ "epoch:train:", NUMBERS, "%eepoch:train:%d-%dbatch:", A_RESULT },
	{ "epoch results:", NUMBERS, "%eepoch results:", AN_END },
	/* fastai: "0         1.102223    0.367693    0.916667  00:12" */
	{ NULL, NULL, "%e%|%1%6%_%t%$", A_ROW },
	/* mmengine: "Epoch(train) [1][ 50/100]  lr: ..." */
	{ "Epoch(train)", NULL, " [%e][ %r]", A_RESULT },
	{ "Epoch(val)", NULL, " [%e][ %d", A_VALIDATION },
	/* timm: "Train: 0 [  50/1251 (  4%)]  Loss: ...", "Test: [   0/48]  Time: ..." */
	{ "Train: ", NULL, "%e [ %r (", A_RESULT },
	{ "Test: ", NULL, "[ %r] Time:", A_VALIDATION },
	/* torchtune: "1|20|Loss: 0.85:  10%|..." */
	{ "|Loss: ", NUMBERS, "%e|%d|Loss: %f", A_RESULT },
	/* YOLO: "      1/25     0.721G      1.222      1.679          5        512: 100%|...| 4/4 [...", and without a
	   bar */
	{ NULL, NULL, " %e/%d%_%fG%F :", A_RESULT },
	{ NULL, NULL, " %e/%d%_%fG%_%f%_%f%F%$", A_RESULT },
	{ "Class", NULL, "%_Images%_Instances%*: ", A_VALIDATION },
	{ "classes", NULL, "%_top1_acc%_top5_acc:", A_VALIDATION },
};

static const struct form step_forms[] = {
	/* detectron2: "[11/21 10:00:00 d2.utils.events]:  eta: 0:12:33  iter: 19  total_loss: ..." */
	{ "d2.utils.events]:", NULL, "%*iter: %s", A_STEP },
	/* mmengine without epochs: "Iter(train) [  50/10000]  lr: ..." */
	{ "Iter(train)", NULL, " [ %s]", A_STEP },
	/* Megatron: " iteration      100/     500 | consumed samples: ..." */
	{ "iteration", NULL, "%_%s | consumed samples:", A_STEP },
	/* TensorFlow: "INFO:tensorflow:loss = 2.3, step = 101 (0.5 sec)", "INFO:tensorflow:global step 10: loss = 2.8"
	 */
	{ "loss = ", NULL, "%f, step = %s", A_STEP },
	{ "global step", NULL, "%_%s%,%R", A_STEP },
	/* others: "Step 100: loss = 2.3", "iter 100: loss 2.3456, time 12.34ms" */
	{ "Step", NULL, "%_%s%,%R", A_STEP },
	{ "step", NULL, "%_%s%,%R", A_STEP },
	{ "iter", NULL, "%_%s%,%R", A_STEP },
};

/* --- lines ---------------------------------------------------------------------------------------------- */

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Whether only a logger's prefix is before AT: no word that the text at AT goes on with. */
static bool is_first(const char *line, const char *at)
{
	if (at > line && is_of_word(at[-1]))
		return false;
	while (at > line && at[-1] == ' ')
		at--;
	return at == line || !islower((unsigned char)at[-1]);
}

/* Matches FORM in S, where its MARK is at AT. RET: what was found, and the rest of the text. */
static bool matches_at(struct match *ret, const struct form *form, struct applog_piece s, const char *at)
{
	const char *begin = at;

	if (form->back && begin > s.p && begin[-1] == ' ')
		begin--;
	while (form->back && begin > s.p && strchr(form->back, begin[-1]))
		begin--;
	*ret = (struct match){ .line = s.p, .s = s, .number = -1, .step = -1, .part = -1 };
	if (form->back)
		ret->s.p = begin;
	else
		ret->s.p = at + (form->mark ? strlen(form->mark) : 0);
	return is_first(s.p, begin) && matches(ret, form->pattern);
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Matches the forms whose mark is at P. MARKS: counts them. */
static const struct form *form_at(struct match *ret, const struct form *forms, size_t n, struct applog_piece s,
				  const char *p, unsigned int *marks)
{
	for (size_t i = 0; i < n && *marks < MARKS_MAX; i++) {
		const char *mark = forms[i].mark;

		if (!mark || *mark != *p || (size_t)(s.end - p) < strlen(mark) || memcmp(p, mark, strlen(mark)) != 0)
			continue;
		if (matches_at(ret, &forms[i], s, p))
			return &forms[i];
		++*marks;
	}
	return NULL;
}

/* Forms without a mark begin with a number. */
static bool begins_with_number(struct applog_piece s)
{
	skip_blanks(&s);
	return s.p < s.end && is_digit(*s.p);
}

/* Returns the form of S; NULL: none. Marks are looked for where letters begin, which are few places of a line. */
static const struct form *form_of(struct match *ret, const struct form *forms, size_t n, struct applog_piece s)
{
	const bool number = begins_with_number(s);
	const struct form *found = NULL;
	uint32_t first = 0; /* of the bytes that begin a mark, by their last five bits */
	unsigned int marks = 0;
	bool letter = false, before;

	for (size_t i = 0; i < n; i++) {
		if (forms[i].mark)
			first |= 1U << (*forms[i].mark & 31);
		else if (number && matches_at(ret, &forms[i], s, s.p))
			return &forms[i];
	}
	for (const char *p = s.p; p < s.end && !found; p++) {
		before = letter;
		letter = is_letter(*p);
		if (((letter && !before) || *p == '|') && first >> (*p & 31) & 1)
			found = form_at(ret, forms, n, s, p, &marks);
	}
	return found;
}

/* Returns what a line that matched FORM is. */
static struct phase_entry entry_of(const struct form *form, const struct match *match)
{
	static const enum phase_event events[] = {
		[A_BEGIN] = PHASE_BEGINS, [AN_END] = PHASE_ENDS,       [A_RESULT] = PHASE_NEAR,
		[A_ROW] = PHASE_NEAR,     [A_VALIDATION] = PHASE_NEAR, [A_STEP] = PHASE_STEP,
	};
	struct phase_entry e = {
		.event = events[form->meaning], .source = PHASE_LOG, .number = match->number, .rank = -1
	};

	applog_words(&e.words, match->s);
	e.words.part = match->part >= 0 ? match->part : e.words.part;
	e.words.results = true;
	e.words.heading = false;
	e.words.row = form->meaning == A_ROW;
	e.words.validates = form->meaning == A_VALIDATION;
	e.words.step = match->step;
	return e;
}

static bool parse(struct applog_line *l, const struct form *forms, size_t n, struct applog_piece s)
{
	struct match m;
	const struct form *f = form_of(&m, forms, n, s);

	if (f)
		l->entry = entry_of(f, &m);
	return f;
}

bool applog_parse_epoch_form(struct applog_line *l, struct applog_piece s)
{
	if (!parse(l, epoch_forms, ARRAY_SIZE(epoch_forms), s))
		return false;
	applog_set_name(l, "epoch", strlen("epoch"));
	return true;
}

bool applog_parse_step_form(struct applog_line *l, struct applog_piece s)
{
	if (!parse(l, step_forms, ARRAY_SIZE(step_forms), s))
		return false;
	applog_set_name(l, "training", strlen("training"));
	return true;
}
