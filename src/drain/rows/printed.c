/* SPDX-License-Identifier: BSD-2-Clause */
/* See printed.h. */
#include "drain/rows/printed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "applog/applog.h"
#include "base/util.h"
#include "drain/rows/decode.h"
#include "drain/rows/stage.h"
#include "trace/config.h"
#include "trace/field.h"

#define PRINTED_LINE_MAX 2048 /* only the beginning of a longer line is searched */
#define SETS 64UL
#define WAYS 8UL /* streams that meet in a set: a new one replaces the one that was quiet longest */
#define STREAMS (SETS * WAYS)
#define HELD_MAX 256
#define COPIES 64 /* lines in which a copy is searched for */

#define HOLD_NS NSEC_PER_SEC
#define OPEN_NS \
	(HOLD_NS / 2) /* a line without an end for so long is searched: a bar's line ends when it is drawn again */
#define NEAR_NS (NSEC_PER_SEC / 4)
#define COPY_NS (10 * NSEC_PER_SEC) /* tee passes a line on at once, grep when its buffer is full */
#define TURN_NS (NSEC_PER_SEC / 10)
#define BYTES_PER_S \
	(4U << 20) /* looked at: a fifth of a CPU at most, as short lines are measured to take 15 to 50 ns a byte */
#define ROWS_PER_S 1000U

_Static_assert(PRINTED_LINE_MAX < RECORD_SEG_MAX && HELD_MAX < UINT16_MAX, "sizes");

/* Of a bar, or of other lines that report progress of one epoch: NUMBER -1 where it has none. */
struct bar {
	bool any;
	int64_t number;
	float part;
	uint64_t kept_ns; /* the last of its lines that is kept */
	uint64_t last_ns; /* its last line; a row that is kept only if no other one comes soon: */
	uint16_t slot; /* which waits there, */
	uint64_t row; /* if this is the row that waits there */
};

/* The output of one process to one descriptor. */
struct stream {
	uint64_t used_ns; /* its last write; 0: free */
	uint32_t tgid, fd, gaps;
	struct dlt_printed last; /* write */
	uint64_t text_ns; /* when the last byte of the open line was written */
	uint32_t len; /* of the open line */
	bool looked_at; /* the open line, as far as it goes */
	bool skip; /* to the end of the line */
	struct bar bars[2]; /* two at once: of epochs, and of the steps of one */
	unsigned int next_bar;
};

struct held {
	struct dlt_printed rec;
	char text[PRINTED_LINE_MAX + 1];
	uint64_t row; /* counts them; 0: free */
};

struct copy {
	uint64_t hash, at_ns;
	struct dlt_file_id id;
	uint32_t tgid, mode;
};

struct printed {
	struct stream streams[STREAMS];
	unsigned int n_open; /* with an open line that has not been searched */
	struct held held[HELD_MAX];
	uint16_t order[HELD_MAX], n_held; /* slots of HELD, by time */
	uint16_t free[HELD_MAX], n_free;
	uint64_t rows; /* that were ever held */
	struct copy copies[COPIES];
	unsigned int next_copy;
	uint64_t turned_ns;
	uint64_t second_ns; /* begin of the second, of which these are: */
	uint32_t bytes, second_rows;
	bool has_stamped; /* the first line with a time has been kept: a DLIO job's start */
	struct applog_rules rules;
	char lines[STREAMS][PRINTED_LINE_MAX];
};

static struct printed *printed_of(const struct decode *d)
{
	return d->state[DLT_printed];
}

/* --- rows that wait --------------------------------------------------------------------------------------- */

static void held_remove(struct printed *p, unsigned int at)
{
	p->held[p->order[at]].row = 0;
	p->free[p->n_free++] = p->order[at];
	memmove(p->order + at, p->order + at + 1, (size_t)(p->n_held - at - 1) * sizeof(*p->order));
	p->n_held--;
}

static void held_leave(struct printed *p, struct decode *d)
{
	decode_row(d, DLT_printed, &p->held[p->order[0]].rec.hdr);
	held_remove(p, 0);
}

static void leave_until(struct printed *p, struct decode *d, uint64_t until_ns)
{
	while (p->n_held && p->held[p->order[0]].rec.hdr.ts_ns <= until_ns)
		held_leave(p, d);
}

/* Makes a row of TEXT, which STREAM has written; returns its slot. */
static uint16_t held_put(struct printed *printed, struct decode *decode, const struct stream *stream, const char *text,
			 size_t len)
{
	struct held *held;
	unsigned int at;
	uint16_t slot;

	if (!printed->n_free)
		held_leave(printed, decode);
	slot = printed->free[--printed->n_free];
	held = &printed->held[slot];
	held->row = ++printed->rows;
	held->rec = stream->last;
	held->rec.hdr.ts_ns = stream->text_ns;
	held->rec.segs = (struct dlt_segs){ .len[0] = (uint16_t)(len + 1) };
	held->rec.hdr.size = (uint32_t)(sizeof(held->rec) + len + 1);
	memcpy(held->text, text, len);
	held->text[len] = '\0';
	for (at = printed->n_held++; at && printed->held[printed->order[at - 1]].rec.hdr.ts_ns > stream->text_ns; at--)
		printed->order[at] = printed->order[at - 1];
	printed->order[at] = slot;
	return slot;
}

static void held_take_back(struct printed *p, uint16_t slot)
{
	for (unsigned int i = 0; i < p->n_held; i++)
		if (p->order[i] == slot) {
			held_remove(p, i);
			return;
		}
}

/* --- lines ------------------------------------------------------------------------------------------------ */

static void leave_out(struct decode *d)
{
	util_count(&d->counts[DLT_printed].filtered, 1);
}

static void pass_over(struct decode *d)
{
	util_count(&d->counts[DLT_printed].unread, 1);
}

/* Returns the bar of L: that of its number, if it has not begun anew. */
static struct bar *bar_of(struct stream *stream, const struct phase_entry *entry)
{
	struct bar *bar;

	for (unsigned int i = 0; i < ARRAY_SIZE(stream->bars); i++) {
		bar = &stream->bars[i];
		if (bar->any && bar->number == entry->number) {
			bar->any = !(entry->words.part >= 0 && entry->words.part < bar->part);
			return bar;
		}
	}
	bar = &stream->bars[stream->next_bar++ % ARRAY_SIZE(stream->bars)];
	*bar = (struct bar){ .number = entry->number };
	return bar;
}

static void bar_put(struct printed *printed, struct decode *decode, struct stream *stream,
		    const struct phase_entry *entry, const char *text, size_t len)
{
	struct bar *bar = bar_of(stream, entry);
	bool first = !bar->any;

	bar->any = true;
	bar->part = entry->words.part;
	if (!first && bar->last_ns - bar->kept_ns < NEAR_NS && bar->row && printed->held[bar->slot].row == bar->row) {
		held_take_back(printed, bar->slot);
		leave_out(decode);
	} else if (!first) {
		bar->kept_ns = bar->last_ns;
	}
	bar->slot = held_put(printed, decode, stream, text, len);
	bar->row = first ? 0 : printed->held[bar->slot].row;
	bar->last_ns = stream->text_ns;
	if (first)
		bar->kept_ns = stream->text_ns;
}

/*
 * Another process has printed an equal line a moment ago, to a pipe or the like: this one passes on what it
 * reads there.
 */
static bool is_copy(struct printed *printed, const struct stream *stream, const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ULL; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	for (unsigned int i = 0; i < COPIES; i++) {
		const struct copy *c = &printed->copies[i];

		if (c->hash == hash && c->at_ns && c->tgid != stream->tgid && !S_ISREG(c->mode) &&
		    memcmp(&c->id, &stream->last.id, sizeof(c->id)) != 0 && stream->text_ns - c->at_ns < COPY_NS)
			return true;
	}
	printed->copies[printed->next_copy++ % COPIES] =
		(struct copy){ hash, stream->text_ns, stream->last.id, stream->tgid, stream->last.mode };
	return false;
}

/* Renders LINE as a terminal would show it. */
static size_t strip(char *ret, const char *line, size_t len)
{
	char *out = ret;

	for (const char *p = line, *end = line + len, *next; p < end; p = next) {
		next = applog_escape_end(p, end);
		if (next == p)
			*out++ = *next++;
	}
	return (size_t)(out - ret);
}

/* Searches the open line of STREAM, as far as it goes: a row, where it is about a phase. */
static void look(struct printed *printed, struct decode *decode, struct stream *stream)
{
	char text[PRINTED_LINE_MAX];
	size_t len = strip(text, printed->lines[stream - printed->streams], stream->len);
	struct applog_line l;
	enum applog_found found = len ? applog_parse(&l, &printed->rules, text, len) : APPLOG_NOTHING;

	util_count(&decode->counts[DLT_printed].lines, len > 0);
	if (found == APPLOG_NOTHING && !(len && l.stamped && !printed->has_stamped))
		return;
	printed->has_stamped |= l.stamped;
	if (is_copy(printed, stream, text, len)) {
		leave_out(decode);
		return;
	}
	if (printed->second_rows++ >= ROWS_PER_S) {
		pass_over(decode);
		return;
	}
	if (found == APPLOG_PHASE && (l.entry.event == PHASE_NEAR || l.entry.event == PHASE_STEP))
		bar_put(printed, decode, stream, &l.entry, text, len);
	else
		held_put(printed, decode, stream, text, len);
}

static void look_at_open(struct printed *p, struct decode *d, struct stream *s)
{
	if (!s->len || s->looked_at)
		return;
	look(p, d, s);
	s->looked_at = true;
	p->n_open--;
}

static void line_end(struct printed *p, struct decode *d, struct stream *s)
{
	look_at_open(p, d, s);
	s->len = 0;
	s->skip = false;
}

static void line_add(struct printed *printed, struct decode *decode, struct stream *stream, const char *text,
		     size_t len)
{
	char *line = printed->lines[stream - printed->streams];
	size_t n = MIN(len, PRINTED_LINE_MAX - stream->len);

	if (!len || stream->skip)
		return;
	printed->n_open += !stream->len || stream->looked_at;
	stream->looked_at = false;
	memcpy(line + stream->len, text, n);
	stream->len += (uint32_t)n;
	stream->text_ns = stream->last.hdr.ts_ns;
	if (n < len) {
		look_at_open(printed, decode, stream);
		stream->skip = true;
	}
}

/* --- streams ---------------------------------------------------------------------------------------------- */

/* The next text is not part of the open line. */
static void stream_cut(struct printed *p, struct stream *s)
{
	p->n_open -= s->len && !s->looked_at;
	s->len = 0;
	s->skip = false;
}

static struct stream *stream_of(struct printed *printed, struct decode *decode, const struct dlt_printed *rec)
{
	const uint64_t key = (uint64_t)rec->hdr.tgid << 32 | rec->fd;
	struct stream *set = &printed->streams[(key * 0x9e3779b97f4a7c15ULL >> 32) % SETS * WAYS], *stream = set;

	for (unsigned int i = 0; i < WAYS; i++) {
		if (set[i].used_ns && set[i].tgid == rec->hdr.tgid && set[i].fd == rec->fd)
			return &set[i];
		if (set[i].used_ns < stream->used_ns)
			stream = &set[i];
	}
	if (stream->used_ns)
		line_end(printed, decode, stream);
	*stream = (struct stream){ .tgid = rec->hdr.tgid, .fd = rec->fd, .gaps = rec->gaps, .last = *rec };
	return stream;
}

/* Where a line ends: tqdm draws over one by \r, Keras by \b. */
static const char *find_end(const char *p, const char *end)
{
	while (p < end && *p != '\n' && *p != '\r' && *p != '\b')
		p++;
	return p;
}

static void second_begin(struct printed *p, uint64_t now_ns)
{
	if (now_ns - p->second_ns < NSEC_PER_SEC)
		return;
	p->second_ns = now_ns;
	p->bytes = p->second_rows = 0;
}

void printed_take(struct decode *decode, const struct dlt_printed *rec, uint32_t len)
{
	const char *text = (const char *)(rec + 1), *end = text + len;
	struct printed *printed = printed_of(decode);
	struct stream *stream;

	if (!printed)
		return;
	stream = stream_of(printed, decode, rec);
	second_begin(printed, rec->hdr.ts_ns);
	if (memcmp(&stream->last.id, &rec->id, sizeof(rec->id)) != 0) /* dup2(), or another process of that number */
		line_end(printed, decode, stream);
	if (stream->gaps != rec->gaps)
		stream_cut(printed, stream);
	stream->used_ns = MAX(rec->hdr.ts_ns, 1);
	stream->gaps = rec->gaps;
	stream->last = *rec;
	if (printed->bytes + len > BYTES_PER_S) {
		pass_over(decode);
		stream_cut(printed, stream);
		return;
	}
	printed->bytes += len;
	for (const char *next; text < end; text = next + 1) {
		next = find_end(text, end);
		line_add(printed, decode, stream, text, (size_t)(next - text));
		if (next < end)
			line_end(printed, decode, stream);
	}
	if (rec->bytes > len) {
		pass_over(decode);
		stream_cut(printed, stream);
	}
}

/*
 * Searches lines without an end that have not grown since UNTIL_NS, in order of time: the original before
 * its copy.
 */
static void look_at_still(struct printed *printed, struct decode *decode, uint64_t until_ns)
{
	while (printed->n_open) {
		struct stream *first = NULL;

		for (struct stream *s = printed->streams; s < printed->streams + STREAMS; s++)
			if (s->len && !s->looked_at && s->text_ns <= until_ns &&
			    (!first || s->text_ns < first->text_ns))
				first = s;
		if (!first)
			return;
		look_at_open(printed, decode, first);
	}
}

/* --- the stage -------------------------------------------------------------------------------------------- */

static void turn(struct decode *d, uint64_t reached_ns)
{
	struct printed *p = printed_of(d);

	if (!p || reached_ns < p->turned_ns + TURN_NS)
		return;
	p->turned_ns = reached_ns;
	if (reached_ns < HOLD_NS)
		return;
	look_at_still(p, d, reached_ns - OPEN_NS);
	leave_until(p, d, reached_ns - HOLD_NS);
}

static void flush(struct decode *d)
{
	if (!printed_of(d))
		return;
	look_at_still(printed_of(d), d, UINT64_MAX);
	leave_until(printed_of(d), d, UINT64_MAX);
}

static void end(struct decode *d, uint64_t end_ns)
{
	flush(d);
}

static void printed_free(void *state)
{
	struct printed *p = state;

	if (p)
		applog_free_rules(&p->rules);
	free(p);
}

static int printed_open(struct decode *d)
{
	const struct config_list *phases = &d->cfg->phases;
	struct printed *printed = calloc(1, sizeof(*printed));
	char error[256];

	if (!printed)
		return -ENOMEM;
	d->state[DLT_printed] = printed;
	for (unsigned int i = 0; i < phases->n; i++) {
		int r = applog_add_rule(&printed->rules, phases->items[i], error, sizeof(error));

		if (r < 0)
			return r;
	}
	for (uint16_t i = 0; i < HELD_MAX; i++)
		printed->free[printed->n_free++] = i;
	return 0;
}

const struct drain_stage printed_stage = {
	.probe = DLT_printed,
	.open = printed_open,
	.turn = turn,
	.step = flush,
	.end = end,
	.free = printed_free,
};
