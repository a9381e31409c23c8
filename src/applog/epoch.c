/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words about an epoch after its number, or instead of it: results ("loss 0.31"), progress ("[10/500]", "45 %") and
 * elapsed time ("[00:12<00:14"), as training loops, tqdm and programs based on it, Keras and the trainer of Hugging
 * Face print them.
 */
#include <ctype.h>
#include <strings.h>

#include "applog/applog_impl.h"
#include "base/util.h"

/* Words for a measured value, when a number follows; in lower case. */
static const char *const results[] = {
	"acc",     "acc1",       "acc5",       "accuracy", "auc",    "bleu",   "dice",    "duration", "elapsed",
	"err",     "error",      "f1",         "iou",      "loss",   "losses", "mae",     "map",      "miou",
	"mse",     "ppl",        "perplexity", "psnr",     "reward", "rmse",   "runtime", "score",    "sec",
	"seconds", "throughput", "time",       "took",     "top1",   "top5",   "wer",
};

static bool is_token(char c)
{
	return isalnum((unsigned char)c) || c == '@';
}

/* Whether WORD is one of them, or is one before an @: "Acc@1". */
static bool is_result(const char *word, size_t len)
{
	const char *at = memchr(word, '@', len);

	len = at ? (size_t)(at - word) : len;
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		if (len == strlen(results[i]) && strncasecmp(word, results[i], len) == 0)
			return true;
	return false;
}

/* Whether WORD is a duration: "5.2s". */
static bool is_duration(const char *word, size_t len)
{
	size_t n = 0;

	while (n < len && is_digit(word[n]))
		n++;
	return n && n + 1 == len && word[n] == 's';
}

static bool has_digit(struct applog_piece s)
{
	while (s.p < s.end && !is_digit(*s.p))
		s.p++;
	return s.p < s.end;
}

/* Whether the result after WORD is of another epoch. */
static bool is_of_another(const char *word, size_t len)
{
	static const char *const words[] = { "best", "last", "prev", "previous" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (len == strlen(words[i]) && strncasecmp(word, words[i], len) == 0)
			return true;
	return false;
}

bool applog_is_result(struct applog_piece word)
{
	return is_result(word.p, (size_t)(word.end - word.p));
}

static bool has_results(struct applog_piece s)
{
	bool another = false;

	while (s.p < s.end) {
		const char *word = s.p;

		while (s.p < s.end && is_token(*s.p))
			s.p++;
		if (s.p == word)
			s.p++;
		else if (is_of_another(word, (size_t)(s.p - word)))
			another = true;
		else if (is_duration(word, (size_t)(s.p - word)) ||
			 (is_result(word, (size_t)(s.p - word)) && has_digit(s))) {
			if (!another)
				return true;
			another = false;
		}
	}
	return false;
}

/* --- progress ------------------------------------------------------------------------------------------ */

static void skip(struct applog_piece *s, const char *set)
{
	while (s->p < s->end && *s->p && strchr(set, *s->p))
		s->p++;
}

bool applog_take_ratio(struct applog_piece *s, float *part)
{
	struct applog_piece r = *s;
	int64_t n = applog_number_at(r), all;

	skip(&r, "0123456789");
	if (n < 0 || !one_of(&r, "/"))
		return false;
	skip(&r, " ");
	all = applog_number_at(r);
	skip(&r, "0123456789");
	if (all < 1 || n > all || (r.p < r.end && *r.p == '.'))
		return false;
	*part = (float)n / (float)all;
	*s = r;
	return true;
}

/* Takes "45%" or "45.5 %" at PIECE. */
static bool take_percent(struct applog_piece *piece, float *part)
{
	struct applog_piece r = *piece;
	int64_t n = applog_number_at(r);

	skip(&r, "0123456789");
	if (one_of(&r, "."))
		skip(&r, "0123456789");
	skip(&r, " ");
	if (n < 0 || n > 100 || !one_of(&r, "%"))
		return false;
	*part = (float)n / 100;
	*piece = r;
	return true;
}

/* Finds the ratio, else the percentage. "acc 98.1 %" is neither, since it follows a word. */
static void find_part(struct applog_piece s, float *part)
{
	for (bool word = false; s.p < s.end; s.p++) {
		bool number = is_digit(*s.p) && !word && s.p[-1] != '.';

		if (number && (applog_take_ratio(&s, part) ||
			       (*part < 0 && take_percent(&s, part) && s.p < s.end && *s.p != '|')))
			return;
		if (s.p == s.end)
			return;
		word = is_token(*s.p) || *s.p == '.';
		if (isalpha((unsigned char)*s.p))
			return;
	}
}

/* Takes "00:12" or "1:02:03" at PIECE, in ns. */
static bool take_clock(struct applog_piece *piece, uint64_t *ns)
{
	uint64_t v = 0;
	unsigned int parts = 0;

	do {
		int64_t n = applog_number_at(*piece);

		if (n < 0 || n > 100000)
			return false;
		v = 60 * v + (uint64_t)n;
		skip(piece, "0123456789");
	} while (++parts < 3 && one_of(piece, ":"));
	*ns = v * NSEC_PER_SEC;
	return parts > 1;
}

/* Finds the elapsed time as tqdm and fastai print it: "[00:12<00:14", "[10/38 00:12<00:14". */
static void find_elapsed(struct applog_piece s, struct phase_words *words)
{
	for (; s.p < s.end; s.p++) {
		struct applog_piece at = { s.p + 1, s.end };
		uint64_t ns;
		float part;

		if (*s.p == '[' && applog_take_ratio(&at, &part))
			skip(&at, " ");
		if (*s.p == '[' && take_clock(&at, &ns) && one_of(&at, "<")) {
			words->has_elapsed = true;
			words->elapsed_ns = ns;
			return;
		}
	}
}

void applog_words(struct phase_words *w, struct applog_piece rest)
{
	*w = (struct phase_words){ .part = -1 };
	find_part(rest, &w->part);
	find_elapsed(rest, w);
	w->results = has_results(rest);
	w->heading = true;
	for (; rest.p < rest.end; rest.p++)
		w->heading = w->heading && !isalnum((unsigned char)*rest.p);
}

/* --- lines without the word "epoch" --------------------------------------------------------------------- */

/* Returns the value of KEY, which is in quotes before a colon, whether itself in quotes or not; NULL: there is none. */
static const char *member(struct applog_piece s, const char *key)
{
	size_t len = strlen(key);

	for (; (size_t)(s.end - s.p) > len + 3; s.p++) {
		const char *p = s.p + len + 1;

		if ((*s.p != '\'' && *s.p != '"') || memcmp(s.p + 1, key, len) != 0 || *p != *s.p || p[1] != ':')
			continue;
		for (p += 2; p < s.end && *p == ' '; p++)
			;
		return p + (p < s.end && (*p == '\'' || *p == '"'));
	}
	return NULL;
}

/* Parses a number such as "12.5" at P, with up to 9 digits before the point. */
static bool decimal_at(const char *p, const char *end, double *ret, bool *whole)
{
	struct applog_piece s = { p, end };
	int64_t n = applog_number_at(s);
	double unit = 1;

	if (n < 0)
		return false;
	*ret = (double)n;
	skip(&s, "0123456789");
	*whole = !one_of(&s, ".");
	for (unsigned int i = 0; !*whole && i < 9 && s.p < s.end && is_digit(*s.p); i++)
		*ret += (unit /= 10) * (*s.p++ - '0');
	return true;
}

/*
 * Parses {'loss': 0.5, 'epoch': 1.25}, of the trainer of Hugging Face: its epoch counts epochs that are done, its
 * numbers are in quotes from version 5 on, and its last line has the length of all epochs. A whole number is the
 * epoch's own, as in logs of one JSON object a line.
 */
bool applog_parse_dict(struct applog_line *l, struct applog_piece s)
{
	struct phase_words w = { .part = -1, .results = true };
	const char *object = memchr(s.p, '{', (size_t)(s.end - s.p)), *value;
	double epoch, runtime;
	bool whole, any;

	if (!object)
		return false;
	value = member((struct applog_piece){ object, s.end }, "epoch");
	if (!value || !decimal_at(value, s.end, &epoch, &whole) || !has_results((struct applog_piece){ object, s.end }))
		return false;
	l->entry.number = (int64_t)epoch;
	if (!whole) { /* 1.25: a quarter of the second */
		bool done = epoch - (double)l->entry.number < 0.0005 && epoch > 0.5;

		w.part = done ? 1 : (float)(epoch - (double)l->entry.number);
		l->entry.number += !done;
	}
	value = member((struct applog_piece){ object, s.end }, "train_runtime");
	if (value && decimal_at(value, s.end, &runtime, &any) && runtime < 1e9)
		w.run_ns = (uint64_t)(runtime * 1e9);
	l->entry.words = w;
	return true;
}

/* Parses "50/50 [=====] - 3s 60ms/step", of the epoch in the heading before, as Keras prints it. */
bool applog_parse_bar(struct applog_line *l, struct applog_piece s)
{
	float part;

	skip(&s, " ");
	if (!applog_take_ratio(&s, &part))
		return false;
	skip(&s, " ");
	if (s.p == s.end || !(*s.p == '[' || *s.p == '-' || *s.p == '\xe2') ||
	    !memmem(s.p, (size_t)(s.end - s.p), "step", 4))
		return false;
	l->entry.number = -1;
	l->entry.words = (struct phase_words){ .part = part, .results = true };
	return true;
}
