/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The job's phases: by the MLPerf lines of its output (workload.out), by `dltraced mark' (marks.out).
 * Phases of one name are one; those of several ranks too, from when the first is in it. Phases may lie
 * in each other: each is looked at alone.
 */
#include "report_cpu_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "mllog.h"
#include "text.h"
#include "util.h"

enum { TEXT, REALTIME_NS = 0 };
static const char *const columns[] = { "TEXT", NULL };
static const char *const clock_columns[] = { "REALTIME_NS", NULL };

#define LINE_MAX_BYTES 65536
#define OFFSETS_MAX 1024

/* Begun and not ended: by rank and phase. */
struct open_phase {
	uint64_t start_ns; /* 0: it is not */
};

struct phases {
	struct table open; /* of struct open_phase */
	uint64_t unpaired;
	uint32_t mark;	   /* 1 + the phase that the last mark began, or 0 */
	uint64_t mark_ns;
	/* CLOCK_REALTIME - CLOCK_MONOTONIC, where it changes */
	struct { uint64_t from_ns, ns; } offsets[OFFSETS_MAX];
	uint32_t n_offsets;
	char text[LINE_MAX_BYTES];
};

/* --- intervals ----------------------------------------------------------------------------------------- */

/* Its number, or CPU_PHASES_MAX when there are too many. */
static uint32_t phase_of(struct report_cpu *r, const char *name, size_t len, const char *source)
{
	char escaped[CPU_PHASE_NAME_MAX];
	uint32_t i;

	len = MIN(len, (sizeof(escaped) - 1) / 4);
	*text_put_piece(escaped, name, len) = '\0';
	for (i = 0; i < r->n_phases; i++)
		if (r->phases[i].source == source && strcmp(r->phases[i].name, escaped) == 0)
			return i;
	if (i == CPU_PHASES_MAX)
		return i;
	memcpy(r->phases[i].name, escaped, sizeof(escaped));
	r->phases[i].source = source;
	return r->n_phases++;
}

static void interval_add(struct report_cpu *r, uint32_t phase, uint64_t start_ns, uint64_t end_ns, bool open)
{
	struct cpu_phase *p = phase < CPU_PHASES_MAX ? &r->phases[phase] : NULL;
	uint32_t room = p ? p->room ? 2 * p->room : 16 : 0;
	struct cpu_interval *v;

	if (!p)
		return;
	p->times++;
	p->open += open;
	if (p->n == p->room) {
		v = p->room < CPU_INTERVALS_MAX ? reallocarray(p->v, room, sizeof(*v)) : NULL;
		if (!v) { /* the last one then goes on */
			if (p->n)
				p->v[p->n - 1].end_ns = MAX(p->v[p->n - 1].end_ns, end_ns);
			return;
		}
		p->v = v;
		p->room = room;
	}
	p->v[p->n++] = (struct cpu_interval){ start_ns, MAX(start_ns, end_ns) };
}

static uint64_t open_key(uint32_t phase, int64_t rank)
{
	return report_cpu_pair(phase, (uint32_t)rank);
}

static void begins(struct phases *ph, uint32_t phase, int64_t rank, uint64_t now_ns)
{
	struct open_phase *o = table_get(&ph->open, open_key(phase, rank));

	if (!o)
		return;
	ph->unpaired += o->start_ns != 0;
	o->start_ns = now_ns;
}

static void ends(struct report_cpu *r, struct phases *ph, uint32_t phase, int64_t rank, uint64_t now_ns)
{
	struct open_phase *o = table_find(&ph->open, open_key(phase, rank));

	if (o && o->start_ns)
		interval_add(r, phase, o->start_ns, now_ns, false);
	else
		ph->unpaired++;
	if (o)
		o->start_ns = 0;
}

/* --- workload.out --------------------------------------------------------------------------------------- */

static bool clock_row(struct cpu_scan *s)
{
	struct phases *ph = s->own;
	uint64_t realtime_ns, ns;

	if (!cpu_u64(s, REALTIME_NS, &realtime_ns))
		return false;
	ns = realtime_ns - s->time_ns;
	if (ph->n_offsets == OFFSETS_MAX ||
	    (ph->n_offsets && ns - ph->offsets[ph->n_offsets - 1].ns + NSEC_PER_MSEC <= 2 * NSEC_PER_MSEC))
		return true;
	ph->offsets[ph->n_offsets].from_ns = s->time_ns;
	ph->offsets[ph->n_offsets++].ns = ns;
	return true;
}

/*
 * When the line was meant: the job's own time, since its output may come late out of a buffer. It counts
 * for nothing when it is later than the line itself, or before the trace.
 */
static uint64_t when(const struct report_cpu *r, const struct phases *ph, uint64_t row_ns, uint64_t time_ms)
{
	uint64_t ns;

	for (uint32_t i = ph->n_offsets; i-- && time_ms && time_ms < UINT64_MAX / NSEC_PER_MSEC;) {
		ns = time_ms * NSEC_PER_MSEC - ph->offsets[i].ns;
		if ((i == 0 || ns >= ph->offsets[i].from_ns) && ns <= row_ns && ns >= r->manifest.start_ns)
			return ns;
	}
	return row_ns;
}

static bool output_row(struct cpu_scan *s)
{
	struct phases *ph = s->own;
	struct reader_field f = cpu_field(s, TEXT);
	struct mllog m;
	uint32_t phase;
	uint64_t ns;

	if (f.len > sizeof(ph->text) || !mllog_parse(&m, ph->text, text_unescape(ph->text, f.p, f.len)) ||
	    m.event == MLLOG_POINT)
		return true;
	phase = phase_of(s->r, m.phase, strlen(m.phase), "mllog");
	ns = when(s->r, ph, s->time_ns, m.time_ms);
	if (m.event == MLLOG_START)
		begins(ph, phase, m.rank, ns);
	else
		ends(s->r, ph, phase, m.rank, ns);
	return true;
}

/* --- marks.out ------------------------------------------------------------------------------------------ */

/* LEN of TEXT without the word for a begin (EVENT 1) or an end (2) and what parts it from the name. */
static size_t mark_name(const char *text, size_t len, int *event)
{
	static const struct { const char *word; int event; } words[] = {
		{ "start", 1 }, { "begin", 1 }, { "stop", 2 }, { "end", 2 },
	};

	*event = 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i].word);

		if (len < n + 2 || memcmp(text + len - n, words[i].word, n) != 0 || !text[len - n - 1] ||
		    !strchr(" _:-.", text[len - n - 1]))
			continue;
		*event = words[i].event;
		return len - n - 1;
	}
	return len;
}

static void mark_ends(struct report_cpu *r, struct phases *ph, uint64_t now_ns, bool open)
{
	if (ph->mark)
		interval_add(r, ph->mark - 1, ph->mark_ns, now_ns, open);
	ph->mark = 0;
}

static bool mark_row(struct cpu_scan *s)
{
	struct phases *ph = s->own;
	struct reader_field f = cpu_field(s, TEXT);
	uint32_t phase;
	size_t len;
	int event;

	if (f.len > sizeof(ph->text))
		return false;
	len = text_unescape(ph->text, f.p, f.len);
	len = mark_name(ph->text, len, &event);
	if (!len)
		return true;
	phase = phase_of(s->r, ph->text, len, "marks");
	if (event == 1)
		begins(ph, phase, -1, s->time_ns);
	else if (event == 2)
		ends(s->r, ph, phase, -1, s->time_ns);
	if (event)
		return true;
	mark_ends(s->r, ph, s->time_ns, false);
	ph->mark = phase < CPU_PHASES_MAX ? phase + 1 : 0;
	ph->mark_ns = s->time_ns;
	return true;
}

/* --- all of it ------------------------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
	const struct cpu_interval *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* In order, and what overlaps or touches made one. */
static void put_in_order(struct cpu_phase *p)
{
	uint32_t n = 0;

	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_start);
	for (uint32_t i = 0; i < p->n; i++) {
		if (n && p->v[i].start_ns <= p->v[n - 1].end_ns)
			p->v[n - 1].end_ns = MAX(p->v[n - 1].end_ns, p->v[i].end_ns);
		else
			p->v[n++] = p->v[i];
	}
	p->n = n;
	for (uint32_t i = 0; i < n; i++)
		p->wall_ns += p->v[i].end_ns - p->v[i].start_ns;
}

int report_cpu_phases(struct report_cpu *r, int dirfd)
{
	struct phases *ph = calloc(1, sizeof(*ph));
	uint64_t end_ns = r->manifest.end_ns ? r->manifest.end_ns : INT64_MAX;

	if (!ph)
		return -ENOMEM;
	table_init(&ph->open, sizeof(struct open_phase), CPU_CELLS_MAX);
	report_cpu_scan(r, dirfd, "time_align", clock_columns, clock_row, ph);
	report_cpu_scan(r, dirfd, "workload", columns, output_row, ph);
	report_cpu_scan(r, dirfd, "marks", columns, mark_row, ph);
	for (uint32_t i = 0; i < ph->open.n; i++) {
		const struct open_phase *o = table_at(&ph->open, i);

		if (o->start_ns)
			interval_add(r, (uint32_t)(ph->open.keys[i] >> 32), o->start_ns, end_ns, true);
	}
	mark_ends(r, ph, end_ns, true);
	for (uint32_t i = 0; i < r->n_phases; i++)
		put_in_order(&r->phases[i]);
	if (ph->unpaired)
		report_cpu_note(r, "phases: %" PRIu64 " begins or ends have no other side and were left out",
				ph->unpaired);
	table_free(&ph->open);
	free(ph);
	return 0;
}

/* What lasts until the trace ends does so until its last row. */
void report_cpu_phases_end(struct report_cpu *r)
{
	for (uint32_t i = 0; i < r->n_phases; i++) {
		struct cpu_phase *p = &r->phases[i];

		for (uint32_t k = 0; k < p->n; k++) {
			struct cpu_interval *v = &p->v[k];
			uint64_t end_ns = MAX(MIN(v->end_ns, MAX(r->end_ns, r->manifest.end_ns)), v->start_ns);

			p->wall_ns -= v->end_ns - end_ns;
			v->end_ns = end_ns;
		}
	}
}

/* How much of [FROM, TO] lies in P. */
static uint64_t overlap_ns(const struct cpu_phase *p, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t low = 0, high = p->n;
	uint64_t sum = 0;

	while (low < high) { /* the first that ends behind FROM */
		uint32_t middle = low + (high - low) / 2;

		if (p->v[middle].end_ns <= from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < p->n && p->v[low].start_ns < to_ns; low++)
		sum += MIN(p->v[low].end_ns, to_ns) - MAX(p->v[low].start_ns, from_ns);
	return sum;
}

void report_cpu_phase_add(struct report_cpu *r, uint32_t task, uint64_t from_ns, uint64_t to_ns, uint64_t run_ns)
{
	for (uint32_t i = 0; i < r->n_phases && to_ns > from_ns; i++) {
		uint64_t in_ns = overlap_ns(&r->phases[i], from_ns, to_ns), *sum;

		if (!in_ns)
			continue;
		in_ns = (uint64_t)((double)run_ns * ((double)in_ns / (double)(to_ns - from_ns)) + 0.5);
		sum = table_get(&r->phase_tasks, report_cpu_pair(i, task));
		if (sum)
			*sum += in_ns;
		r->phases[i].run_ns += in_ns;
	}
}
