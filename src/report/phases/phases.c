/* SPDX-License-Identifier: BSD-2-Clause */
/* Records phases: a begin and its end meet by name and rank. lists.c makes lists of them. */
#include "report/phases/phases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/util.h"
#include "stats/timeline.h"

#define LASTING_MAX 4096 /* ranks */
/* in a log without ranks, the longest time between the lines of two ranks about the same begin */
#define AGAIN_NS (10 * NSEC_PER_SEC)

const char *const phase_kind_names[PHASE_KINDS] = {
	[PHASE_INIT] = "init",   [PHASE_EPOCH] = "epoch",           [PHASE_TRAINING] = "training",
	[PHASE_EVAL] = "eval",   [PHASE_CHECKPOINT] = "checkpoint", [PHASE_MARK] = "mark",
	[PHASE_OTHER] = "other",
};

const char *const phase_source_names[PHASE_SOURCES] = {
	[PHASE_REGIONS] = "regions", [PHASE_MLLOG] = "mllog",     [PHASE_DLIO] = "dlio",         [PHASE_LOG] = "log",
	[PHASE_MARKS] = "marks",     [PHASE_WORKERS] = "workers", [PHASE_INFERRED] = "inferred",
};

/* A phase that has begun. */
struct begun {
	uint64_t since_ns;
	uint64_t until_ns; /* it was over by then, if no end of it is recorded */
	int64_t number;
	uint32_t name; /* of a phase that lasts until the next one: 1 + its name; 0: none does */
	bool is_open;
	bool heading; /* the line is a heading, which need not be a begin */
};

struct phases *phases_new(void)
{
	struct phases *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	table_init(&p->by_name, sizeof(uint32_t), PHASES_NAMES_MAX);
	table_init(&p->open, sizeof(struct begun), PHASES_MAX);
	table_init(&p->lasting, sizeof(struct begun), LASTING_MAX);
	phase_steps_init(&p->steps);
	region_sums_init(&p->region_sums);
	region_layers_init(&p->layers);
	return p;
}

void phases_free(struct phases *phases)
{
	if (!phases)
		return;
	table_free(&phases->by_name);
	table_free(&phases->open);
	table_free(&phases->lasting);
	for (unsigned int k = 0; k < PHASE_KINDS; k++)
		free(phases->lanes[k].v);
	for (unsigned int i = 0; i < phases->n_notes; i++)
		free(phases->notes[i]);
	for (unsigned int i = 0; i < phases->n_rules; i++)
		free(phases->rules[i].text);
	free(phases->rules);
	epoch_groups_free(&phases->near);
	phase_workers_free(&phases->workers);
	phase_steps_free(&phases->steps);
	region_sums_free(&phases->region_sums);
	region_layers_free(&phases->layers);
	data_dirs_free(&phases->data_dirs);
	free(phases->ends.v);
	free(phases->recorded.v);
	free(phases->all.v);
	free(phases->names);
	free(phases);
}

/* --- names ------------------------------------------------------------------------------------------- */

static bool is_between(char c)
{
	return !c || strchr(" \t_-.:/,;()[]", c);
}

/* Whether a word of NAME is WORD, or, unless WHOLE, begins with it. */
static bool has_word(const char *name, const char *word, bool whole)
{
	size_t len = strlen(word);

	for (const char *s = name; *s; s++) {
		if (s > name && !is_between(s[-1]))
			continue;
		if (strncasecmp(s, word, len) == 0 &&
		    (!whole || is_between(s[len]) || (s[len] >= '0' && s[len] <= '9')))
			return true;
	}
	return false;
}

enum phase_kind phase_kind_of(const char *name, enum phase_source source)
{
	static const struct {
		const char *word;
		bool whole;
		enum phase_kind kind;
	} words[] = {
		{ "checkpoint", false, PHASE_CHECKPOINT },
		{ "ckpt", false, PHASE_CHECKPOINT },
		{ "eval", false, PHASE_EVAL },
		{ "valid", false, PHASE_EVAL },
		{ "epoch", false, PHASE_EPOCH },
		{ "init", false, PHASE_INIT },
		{ "setup", false, PHASE_INIT },
		{ "startup", false, PHASE_INIT },
		{ "start-up", false, PHASE_INIT },
		{ "steady", true, PHASE_TRAINING },
		{ "train", false, PHASE_TRAINING },
		{ "block", true, PHASE_TRAINING },
		{ "run", true, PHASE_TRAINING },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (has_word(name, words[i].word, words[i].whole))
			return words[i].kind;
	return source == PHASE_MARKS ? PHASE_MARK : PHASE_OTHER;
}

/* Returns the name's index in p->names, added when new; PHASES_NONE: there are too many. */
uint32_t phases_name(struct phases *phases, enum phase_source source, const char *name, size_t len)
{
	char escaped[PHASE_NAME_MAX], key[PHASE_NAME_MAX + 1], plain[PHASE_NAME_MAX] = "";
	size_t n;
	uint32_t *at;

	len = MIN(len, (sizeof(escaped) - 1) / 4);
	memcpy(plain, name, len);
	*text_put_piece(escaped, name, len) = '\0';
	n = strlen(escaped);
	key[0] = (char)source;
	memcpy(key + 1, escaped, n);
	at = table_get(&phases->by_name, table_key(key, n + 1));
	if (!at)
		return PHASES_NONE;
	if (*at)
		return *at - 1;
	if (util_room(&phases->names, phases->n_names, sizeof(*phases->names)) < 0)
		return PHASES_NONE;
	phases->names[phases->n_names] = (struct phase_name){ .source = source };
	memcpy(phases->names[phases->n_names].name, escaped, n + 1);
	phases->names[phases->n_names].kind = phase_kind_of(plain, source);
	*at = ++phases->n_names;
	return *at - 1;
}

const struct phase *phases_at(const struct phases *p, uint64_t ns)
{
	const struct phase *found = NULL;

	for (uint32_t i = 0; i < p->all.n && p->all.v[i].begin_ns <= ns; i++)
		if (ns < p->all.v[i].end_ns)
			found = &p->all.v[i];
	return found;
}

bool phases_are_unnamed(const struct phases *p)
{
	for (uint32_t i = 0; i < p->all.n; i++)
		if (p->names[p->all.v[i].name].source != PHASE_INFERRED)
			return false;
	return p->printed_lines > 0;
}

const char *phases_label(const struct phases *p, const struct phase *phase, char buf[PHASE_LABEL_MAX])
{
	const char *name = p->names[phase->name].name;

	if (phase->number < 0)
		snprintf(buf, PHASE_LABEL_MAX, "%s", name);
	else
		snprintf(buf, PHASE_LABEL_MAX, "%s %lld", name, (long long)phase->number);
	return buf;
}

bool phases_is_called(const struct phases *phases, const struct phase *phase, const char *name)
{
	const struct phase_name *of = &phases->names[phase->name];
	char label[PHASE_LABEL_MAX];

	return !strcmp(phases_label(phases, phase, label), name) || !strcmp(of->name, name) ||
	       !strcmp(phase_kind_names[of->kind], name);
}

/* --- lists ------------------------------------------------------------------------------------------- */

static struct phase whole(uint32_t name, const struct begun *b, int64_t rank, uint64_t end_ns)
{
	return (struct phase){
		.begin_ns = b->since_ns,
		.end_ns = MAX(b->since_ns, end_ns),
		.number = b->number,
		.rank = rank,
		.ranks = 1,
		.name = name,
		.unfinished = end_ns == PHASE_NO_END,
	};
}

static void add_whole(struct phases *p, uint32_t name, const struct begun *b, int64_t rank, uint64_t end_ns)
{
	const struct phase phase = whole(name, b, rank, end_ns);

	p->left_out += !phases_put(&p->recorded, &phase);
}

void phases_add(struct phases *p, enum phase_source source, const char *name, uint64_t begin_ns, uint64_t end_ns,
		bool inferred)
{
	const struct begun b = { .since_ns = begin_ns, .number = -1 };
	uint32_t i = phases_name(p, source, name, strlen(name));
	struct phase phase = whole(i, &b, -1, end_ns);

	phase.inferred = inferred;
	p->left_out += i == PHASES_NONE || !phases_put(&p->recorded, &phase);
}

/* --- begins and ends ---------------------------------------------------------------------------------- */

/* Returns the key of WHAT and RANK. An unknown rank is 2^32 - 1. */
static uint64_t key_of(uint32_t what, int64_t rank)
{
	return (uint64_t)what << 32 | (uint32_t)rank;
}

static int64_t rank_of(uint64_t key)
{
	return (uint32_t)key == UINT32_MAX ? -1 : (int64_t)(uint32_t)key;
}

/* An epoch begins or has ended, which also ends evaluations and checkpoints within it. */
static void epoch_bounds(struct phases *phases, uint32_t name, const struct phase_entry *entry)
{
	if (phases->names[name].kind != PHASE_EPOCH || entry->source == PHASE_MLLOG)
		return;
	for (uint32_t i = 0; i < phases->n_names; i++) {
		const struct phase_name *inner = &phases->names[i];
		struct begun *b;

		if (inner->source != entry->source || (inner->kind != PHASE_EVAL && inner->kind != PHASE_CHECKPOINT))
			continue;
		b = table_find(&phases->open, key_of(i, entry->rank));
		if (b && b->is_open && b->since_ns <= entry->at_ns)
			b->until_ns = MIN(b->until_ns, entry->at_ns);
	}
}

/* Whether T repeats B's begin, as the line of another rank, in a log without ranks. */
static bool is_again(const struct begun *b, const struct phase_entry *t)
{
	return b->is_open && t->source != PHASE_MLLOG && t->number >= 0 && t->number == b->number &&
	       t->at_ns - b->since_ns < AGAIN_NS;
}

/* Ends BEGUN, which is open, where the next phase of its name begins. An earlier begin is from another log, and does
 * not. */
static void next_begins(struct phases *phases, uint32_t name, const struct begun *begun,
			const struct phase_entry *entry)
{
	uint64_t next_ns = entry->at_ns < begun->since_ns ? PHASE_NO_END : entry->at_ns;
	struct phase phase = whole(name, begun, entry->rank, MIN(begun->until_ns, next_ns));

	phase.until_next = true;
	phase.heading = begun->heading;
	if (entry->source == PHASE_MLLOG)
		phases->unpaired++;
	else
		phases->left_out += !phases_put(&phases->recorded, &phase);
}

static void begins(struct phases *phases, uint32_t name, const struct phase_entry *entry)
{
	struct begun *begun = table_get(&phases->open, key_of(name, entry->rank));

	if (!begun) {
		phases->left_out++;
		return;
	}
	if (is_again(begun, entry))
		return;
	if (begun->is_open)
		next_begins(phases, name, begun, entry);
	*begun = (struct begun){ .since_ns = entry->at_ns,
				 .until_ns = PHASE_NO_END,
				 .number = entry->number,
				 .is_open = true,
				 .heading = entry->event == PHASE_NEAR };
	epoch_bounds(phases, name, entry);
}

/* Ends the lasting phase of T's source and rank, if it is NAME or NAME is PHASES_NONE. Returns whether there was one.
 */
static bool lasting_ends(struct phases *p, uint32_t name, const struct phase_entry *t)
{
	struct begun *b = table_find(&p->lasting, key_of(t->source, t->rank));

	if (!b || !b->name || (name != PHASES_NONE && b->name != name + 1))
		return false;
	add_whole(p, b->name - 1, b, t->rank, t->at_ns);
	b->name = 0;
	return true;
}

/* Keeps an end without a begin: NAME may have lines at its ends only. */
static void lone_end(struct phases *p, uint32_t name, const struct phase_entry *t)
{
	const struct phase end = { .end_ns = t->at_ns, .number = t->number, .rank = t->rank, .ranks = 1, .name = name };

	if (!phases_put(&p->ends, &end))
		p->left_out++;
}

static void ends(struct phases *phases, uint32_t name, const struct phase_entry *entry)
{
	struct begun *begun = table_find(&phases->open, key_of(name, entry->rank));

	phases->names[name].has_ends = true;
	epoch_bounds(phases, name, entry);
	if (begun && begun->is_open && begun->heading && lasting_ends(phases, name, entry))
		return;
	if (begun && begun->is_open) {
		add_whole(phases, name, begun, entry->rank, entry->at_ns);
		begun->is_open = false;
	} else if (!lasting_ends(phases, name, entry)) {
		lone_end(phases, name, entry);
	}
}

static void lasts(struct phases *p, uint32_t name, const struct phase_entry *t)
{
	struct begun *b;

	lasting_ends(p, PHASES_NONE, t);
	b = table_get(&p->lasting, key_of(t->source, t->rank));
	if (b)
		*b = (struct begun){ .since_ns = t->at_ns, .number = t->number, .name = name + 1 };
	else
		p->left_out++;
}

/* It is its line that ends it. Its begin is its own, but where another line began it. */
static void lasted(struct phases *phases, uint32_t name, const struct phase_entry *entry)
{
	const struct begun *b = table_find(&phases->open, key_of(name, entry->rank));
	const struct begun own = { .since_ns = entry->at_ns - MIN(entry->lasted_ns, entry->at_ns),
				   .number = entry->number };

	if (b && b->is_open) {
		ends(phases, name, entry);
		return;
	}
	phases->names[name].has_ends = true;
	add_whole(phases, name, &own, entry->rank, entry->at_ns);
}

/* Keeps lines about epochs, in case no pair of lines begins and ends one. */
static void near_epoch(struct phases *phases, const struct phase_entry *entry)
{
	struct phase_entry near = *entry;

	if (entry->event == PHASE_ENDS)
		near.words = (struct phase_words){ .part = 1, .results = true };
	else if (entry->event != PHASE_NEAR)
		near.words = (struct phase_words){ .part = 0 };
	phases->near_lines += entry->event == PHASE_NEAR;
	if (entry->event == PHASE_NEAR || entry->number >= 0)
		epoch_groups_add(&phases->near, &near);
}

/* A heading may be a begin: it is one where the log has ends, too. */
static void heading(struct phases *p, const struct phase_entry *t)
{
	uint32_t name = t->words.heading ? phases_name(p, t->source, t->name, t->name_len) : PHASES_NONE;
	const struct begun *b = name == PHASES_NONE ? NULL : table_find(&p->open, key_of(name, t->rank));

	if (name != PHASES_NONE && !(b && b->is_open && b->number == t->number))
		begins(p, name, t);
}

void phases_record(struct phases *phases, const struct phase_entry *entry)
{
	uint32_t name;

	if (entry->event == PHASE_STEP) {
		step_lines_add(&phases->step_lines, entry);
		return;
	}
	name = entry->event == PHASE_NEAR ? PHASES_NONE :
					    phases_name(phases, entry->source, entry->name, entry->name_len);
	if (entry->event == PHASE_NEAR || (name != PHASES_NONE && entry->source == PHASE_LOG && !entry->by_rule &&
					   phases->names[name].kind == PHASE_EPOCH))
		near_epoch(phases, entry);
	if (entry->event == PHASE_NEAR) {
		heading(phases, entry);
		return;
	}
	if (name != PHASES_NONE) {
		phases->names[name].by_rule |= entry->by_rule;
		phases->names[name].has_begins |= entry->event != PHASE_ENDS;
	}
	if (name == PHASES_NONE)
		phases->left_out++;
	else if (entry->event == PHASE_BEGINS)
		begins(phases, name, entry);
	else if (entry->event == PHASE_ENDS)
		ends(phases, name, entry);
	else if (entry->event == PHASE_WHOLE)
		lasted(phases, name, entry);
	else
		lasts(phases, name, entry);
}

/* --- after all lines -------------------------------------------------------------------------------------- */

/* Drops phases that end with the next one's begin, where the log has ends: the true end of such a phase is not known.
 */
static void drop_cut_off(struct phases *phases)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < phases->recorded.n; i++) {
		const struct phase *phase = &phases->recorded.v[i];

		if (phase->until_next && (phase->heading || phases->names[phase->name].has_ends))
			phases->unpaired += !phase->heading;
		else
			phases->recorded.v[n++] = phases->recorded.v[i];
	}
	phases->recorded.n = n;
}

static void leave_open(struct phases *phases)
{
	for (uint32_t i = 0; i < phases->open.n; i++) {
		struct begun *b = table_at(&phases->open, i);
		uint32_t name = (uint32_t)(phases->open.keys[i] >> 32);

		if (b->is_open && !(b->heading && !phases->names[name].has_ends))
			add_whole(phases, name, b, rank_of(phases->open.keys[i]),
				  phases->names[name].has_ends ? PHASE_NO_END : b->until_ns);
		b->is_open = false;
	}
	for (uint32_t i = 0; i < phases->lasting.n; i++) {
		struct begun *b = table_at(&phases->lasting, i);

		if (b->name)
			add_whole(phases, b->name - 1, b, rank_of(phases->lasting.keys[i]), PHASE_NO_END);
		b->name = 0;
	}
}

void phases_trace(struct phases *p, uint64_t begin_ns, uint64_t end_ns, bool begins, bool ends)
{
	p->trace.begin_ns = begin_ns;
	p->trace.end_ns = end_ns;
	p->trace.begins = begins;
	p->trace.ends = ends;
}

int phases_close(struct phases *phases, uint64_t begin_ns)
{
	drop_cut_off(phases);
	leave_open(phases);
	phases->trace.begin_ns = phases->trace.begin_ns ? phases->trace.begin_ns : begin_ns;
	if (!phases->closed) {
		phases_derive(phases, NULL);
		phases->unpaired += phases->lone_ends;
	}
	phases->closed = true;
	return phases_make_lists(phases, begin_ns, &phases->outside);
}

int phases_settle(struct phases *p, const struct timeline *t)
{
	phases_trace(p, MAX(p->trace.begin_ns, t->begin_ns), MAX(p->trace.end_ns, t->end_ns), p->trace.begins,
		     p->trace.ends);
	phases_derive(p, t);
	return phases_make_lists(p, p->trace.begin_ns, NULL); /* phases outside were counted before */
}
