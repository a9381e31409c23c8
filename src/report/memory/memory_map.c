/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/memory/memory_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/memory/stacks.h"
#include "report/scan/lookup.h"
#include "stats/top.h"

#define MIN_BYTES 4096

void memory_map_free(struct memory_map *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n_names; i++)
		free(m->name[i].text);
	for (uint32_t i = 0; i < m->n_sites; i++)
		free(m->site[i].stack);
	cells_free(&m->cells);
	free(m->part);
	free(m->name);
	free(m);
}

/* --- blocks ------------------------------------------------------------------------------------------ */

/* Sets *BEGIN and *END to the part of BYTES from ADDR that is in the range of O. Returns whether there is any. */
static bool clip(const struct memory_options *o, uint64_t addr, uint64_t bytes, uint64_t *begin, uint64_t *end)
{
	*begin = MAX(addr, o->from);
	*end = addr < TOUCHED_END ? addr + MIN(bytes, TOUCHED_END - addr) : addr;
	if (o->to)
		*end = MIN(*end, o->to);
	return *begin < *end;
}

static void keep_block(void *own, const struct access_block *b)
{
	struct memory_map *m = own;
	struct memory_block *at;
	uint64_t begin, end;

	if (b->size < m->options.min_bytes || b->pid >= TOUCHED_SPACES || !clip(&m->options, b->addr, b->size, &begin, &end))
		return;
	m->all_blocks++;
	at = TOP_PLACE(m->block, m->n_blocks, MEMORY_BLOCKS_MAX, e, e->b.size, b->size);
	if (at)
		*at = (struct memory_block){ .b = *b };
}

struct reading {
	struct memory_map *map;
	struct access_live *live;
	uint64_t first_ns, last_ns;
};

static bool take_alloc(struct scan *s, void *own)
{
	struct reading *g = own;

	g->first_ns = g->first_ns ? g->first_ns : s->time_ns;
	g->last_ns = s->time_ns;
	access_live_take(g->live, s);
	access_live_until(g->live, UINT64_MAX, keep_block, g->map);
	return true;
}

/* Reads the largest blocks. Returns the time of alloc.out in *FIRST and *LAST, 0 without rows. */
static void read_blocks(struct report *r, struct memory_map *m, uint64_t *first_ns, uint64_t *last_ns)
{
	struct reading g = { .map = m, .live = access_live_new(ACCESSES_LIVE_MAX) };
	struct scan_taker taker = { .take = take_alloc, .own = &g };

	if (!g.live || !r->alloc.present)
		goto out;
	scan_walk(r->folder, "alloc", &taker);
	access_live_end(g.live, MAX(g.last_ns, r->accesses->last_ns), keep_block, m);
	*first_ns = g.first_ns;
	*last_ns = g.last_ns;
out:
	access_live_free(g.live);
}

/* --- lines ---------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct memory_part *x = a, *y = b;

	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : (x->begin > y->begin) - (x->begin < y->begin);
}

/* Adds the part of BYTES from ADDR that is in the map's range. */
static void range_add(struct memory_map *m, uint64_t pid, uint64_t addr, uint64_t bytes)
{
	struct memory_part p = { .pid = pid };

	if (!clip(&m->options, addr, bytes, &p.begin, &p.end) || util_room(&m->part, m->n_parts, sizeof(p)) < 0)
		return;
	p.used = p.end - p.begin;
	m->part[m->n_parts++] = p;
}

/* Adds the pages of a block of memory that were touched, as one range. */
static void range_of_touched(struct memory_map *m, const struct touched *t, uint32_t i)
{
	const struct touched_block *b = table_at(&t->blocks, i);
	uint64_t first = TOUCHED_PAGES, last = 0;

	for (uint64_t page = 0; page < TOUCHED_PAGES; page++)
		if (b->last[page]) {
			first = MIN(first, page);
			last = page;
		}
	if (first <= last)
		range_add(m, touched_space(t, i), touched_at(t, i) + first * TOUCHED_PAGE, (last - first + 1) * TOUCHED_PAGE);
}

static uint64_t down(uint64_t addr, uint64_t size)
{
	return addr - addr % size;
}

static uint64_t up(uint64_t addr, uint64_t size)
{
	return down(addr + size - 1, size);
}

struct process {
	uint64_t pid, bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Keeps the ranges, which are in order, of the MEMORY_PROCESSES with the most bytes. */
static void keep_processes(struct memory_map *m)
{
	autofree struct process *all = calloc(m->n_parts, sizeof(*all));
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; all && i < m->n_parts; i++) {
		n += !n || all[n - 1].pid != m->part[i].pid;
		all[n - 1].pid = m->part[i].pid;
		all[n - 1].bytes += m->part[i].used;
	}
	if (n <= MEMORY_PROCESSES)
		return;
	qsort(all, n, sizeof(*all), by_bytes);
	for (uint32_t i = 0; i < m->n_parts; i++) {
		uint32_t k = 0;

		while (k < MEMORY_PROCESSES && all[k].pid != m->part[i].pid)
			k++;
		if (k < MEMORY_PROCESSES)
			m->part[kept++] = m->part[i];
	}
	m->n_parts = kept;
	m->processes_left_out = n - MEMORY_PROCESSES;
}

struct joined {
	uint64_t lines;
	uint32_t n, left_out;
};

/* Joins the ranges, which are in order, to parts of whole lines of SIZE. Puts those with LEAST bytes or more into TO. */
static struct joined join(const struct memory_map *m, uint64_t size, uint64_t least, struct memory_part *to)
{
	struct memory_part now = { .pid = UINT64_MAX };
	struct joined j = { 0 };

	for (uint32_t i = 0; i <= m->n_parts; i++) {
		const struct memory_part *p = i < m->n_parts ? &m->part[i] : NULL;

		if (p && p->pid == now.pid && down(p->begin, size) <= now.end) {
			now.end = MAX(now.end, up(p->end, size));
			now.used += p->used;
			continue;
		}
		if (now.pid != UINT64_MAX && now.used < least) {
			j.left_out++;
		} else if (now.pid != UINT64_MAX) {
			now.line = (uint32_t)MIN(j.lines, UINT32_MAX);
			now.lines = (uint32_t)MIN((now.end - now.begin) / size, UINT32_MAX);
			j.lines += now.lines;
			to[j.n++] = now;
		}
		if (!p)
			break;
		now = *p;
		now.begin = down(p->begin, size);
		now.end = up(p->end, size);
	}
	return j;
}

/*
 * Makes the parts, with lines as short as their number allows. Where the user has not set their length, many small processes
 * and parts would make them long: these are left out. Returns whether there are any parts.
 */
static bool make_parts(struct memory_map *m)
{
	const bool automatic = !m->options.block_bytes;
	const uint64_t most = automatic ? MEMORY_LINES : MEMORY_LINES_MAX;
	uint64_t size = automatic ? TOUCHED_PAGE : m->options.block_bytes;
	struct memory_part *joined = calloc((size_t)m->n_parts + 1, sizeof(*joined));
	struct joined j;

	if (!m->n_parts || !joined) {
		free(joined);
		return false;
	}
	qsort(m->part, m->n_parts, sizeof(*m->part), by_address);
	if (automatic)
		keep_processes(m);
	while ((j = join(m, size, automatic ? size / MEMORY_PART_LEAST : 0, joined)).lines > most && size < TOUCHED_END)
		size *= 2;
	free(m->part);
	m->part = joined;
	m->n_parts = j.n;
	m->parts_left_out = j.left_out;
	m->line_bytes = size;
	while (m->n_parts > 1 && m->part[m->n_parts - 1].line + m->part[m->n_parts - 1].lines > most) {
		m->n_parts--;
		m->parts_left_out++;
	}
	return m->n_parts != 0;
}

/* Returns the first part of PID that ends after ADDR; NULL: there is none. */
static const struct memory_part *part_at(const struct memory_map *m, uint64_t pid, uint64_t addr)
{
	uint32_t low = 0, high = m->n_parts;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		const struct memory_part *p = &m->part[mid];

		if (p->pid < pid || (p->pid == pid && p->end <= addr))
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->n_parts && m->part[low].pid == pid ? &m->part[low] : NULL;
}

/* Puts the place of each block; one that spans several parts ends with the first one. */
static void place_blocks(struct memory_map *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_blocks; i++) {
		struct memory_block b = m->block[i];
		const struct memory_part *p;
		uint64_t begin, end;

		clip(&m->options, b.b.addr, b.b.size, &begin, &end);
		p = part_at(m, b.b.pid, begin);
		if (!p || begin < p->begin)
			continue;
		b.y = p->line + (double)(begin - p->begin) / (double)m->line_bytes;
		b.height = (double)(MIN(end, p->end) - begin) / (double)m->line_bytes;
		m->block[n++] = b;
	}
	m->n_blocks = n;
}

/* --- cells ---------------------------------------------------------------------------------------------- */

/* The bins of an interval: those whose middles are in it, or the one that its own middle is in. */
static void bins_of(const struct memory_map *m, uint64_t at_ns, uint64_t span_ns, uint32_t *first, uint32_t *end)
{
	const uint64_t all_ns = m->bin_ns * m->cells.bins, last = MIN(at_ns - m->begin_ns, all_ns);
	const uint64_t from = last - MIN(span_ns, last), half = m->bin_ns / 2;

	*first = (uint32_t)((from + half) / m->bin_ns);
	*end = (uint32_t)MIN((last + half) / m->bin_ns, m->cells.bins);
	if (*first >= *end) {
		*first = (uint32_t)MIN((from + (last - from) / 2) / m->bin_ns, m->cells.bins - 1);
		*end = *first + 1;
	}
}

/* Adds the part of ROW from FROM to END, which is in one line. */
static void cell_add(struct memory_map *m, const struct access_row *row, uint64_t at_ns, uint64_t from, uint64_t end,
		     uint32_t line)
{
	const double part = (double)(end - from) / (double)row->bytes;
	struct cells_add add = {
		.line = line, .touched = part * (double)access_bytes(row), .written = part * (double)row->written,
		.known = row->has_written, .interval = row->source == ACCESS_FAULTS ? 0 : at_ns,
	};
	uint32_t last;

	for (bins_of(m, at_ns, row->span_ns, &add.bin, &last); add.bin < last; add.bin++)
		cells_add(&m->cells, &add);
}

static bool take_access(struct scan *s, void *own)
{
	struct memory_map *m = own;
	const struct memory_part *p;
	struct access_row row;
	uint64_t begin, end;

	if (!access_row(&row, s) || !access_bytes(&row) || s->time_ns < m->begin_ns ||
	    !clip(&m->options, row.addr, row.bytes, &begin, &end))
		return true;
	for (p = part_at(m, row.pid, begin); p && p < m->part + m->n_parts && p->pid == row.pid && p->begin < end; p++)
		for (uint64_t from = MAX(begin, p->begin), to; from < MIN(end, p->end); from = to) {
			to = MIN(down(from, m->line_bytes) + m->line_bytes, end);
			cell_add(m, &row, s->time_ns, from, to, p->line + (uint32_t)((from - p->begin) / m->line_bytes));
		}
	return true;
}

#define RUN_NS_MAX (1ULL << 62) /* as the times of rows have; the manifest may be made up, too */

/* Sets the axis of time, from BEGIN to END. */
static bool make_cells(struct memory_map *m, uint64_t begin_ns, uint64_t end_ns, uint64_t span_ns)
{
	const uint64_t ns = MIN(MAX(end_ns - MIN(begin_ns, end_ns), 1), RUN_NS_MAX), most = m->options.bin_ns ? MEMORY_BINS_MAX : MEMORY_BINS;

	m->begin_ns = begin_ns;
	m->bin_ns = MAX(m->options.bin_ns ? m->options.bin_ns : MIN(span_ns, ns), (ns + most - 1) / most);
	return cells_init(&m->cells, (uint32_t)((ns + m->bin_ns - 1) / m->bin_ns),
			  m->part[m->n_parts - 1].line + m->part[m->n_parts - 1].lines, (double)m->line_bytes) == 0;
}

/* --- names ---------------------------------------------------------------------------------------------- */

/* A line's file or kind, by the most of its touched blocks, or the stack of the largest block that it shows. */
struct line {
	uint64_t pid, tag, site;
	uint32_t votes;
	bool any, has_site;
};

static void vote(struct line *l, uint64_t pid, uint64_t tag)
{
	l->pid = pid;
	l->any = true;
	if (!l->votes)
		l->tag = tag;
	l->votes += l->tag == tag ? 1 : UINT32_MAX;
}

static void find_lines(const struct report *r, const struct memory_map *m, struct line *lines)
{
	const struct touched *t = &r->accesses->memory;
	const uint64_t step = MIN(m->line_bytes, TOUCHED_BLOCK);

	for (uint32_t i = 0; i < t->blocks.n; i++) {
		const struct touched_block *b = table_at(&t->blocks, i);
		const uint64_t at = touched_at(t, i), pid = touched_space(t, i);
		const struct memory_part *p = part_at(m, pid, at);

		for (uint64_t from = p ? MAX(at, p->begin) : 0; p && from < MIN(at + TOUCHED_BLOCK, p->end); from += step)
			vote(&lines[p->line + (from - p->begin) / m->line_bytes], pid, b->tag);
	}
	for (uint32_t i = 0; i < m->n_blocks; i++) { /* the largest first */
		const struct memory_block *b = &m->block[i];
		const double end = b->y + b->height;

		for (uint32_t y = (uint32_t)b->y; y < m->cells.lines && y < end; y++) {
			struct line *l = &lines[y];

			if (l->has_site || access_tag_kind(l->tag) == ACCESS_FILE)
				continue;
			l->pid = b->b.pid;
			l->site = b->b.site;
			l->any = l->has_site = true;
		}
	}
}

static bool are_one(const struct line *a, const struct line *b)
{
	if (!a->any || !b->any || a->pid != b->pid || a->has_site != b->has_site)
		return false;
	return a->has_site ? a->site == b->site : a->tag == b->tag;
}

static const char *stack_of(const struct memory_map *m, uint64_t id)
{
	for (uint32_t i = 0; id && i < m->n_sites; i++)
		if (m->site[i].id == id)
			return m->site[i].stack;
	return NULL;
}

static char *name_of(struct report *r, const struct memory_map *m, const struct line *l)
{
	const uint64_t fid = access_tag_fid(l->tag);
	const char *stack = l->has_site ? stack_of(m, l->site) : NULL;
	char *path;

	if (stack)
		return strndup(stack, strcspn(stack, " "));
	if (l->has_site)
		return l->site ? util_fmt("SITE %llu", (unsigned long long)l->site) : strdup("allocated");
	if (access_tag_kind(l->tag) != ACCESS_FILE)
		return strdup(access_tag_kind(l->tag) == ACCESS_UNKNOWN ? "memory" : access_kind_names[access_tag_kind(l->tag)]);
	path = fid ? report_path_of(r, fid, NULL, 0) : NULL;
	return path ? path : util_fmt("FID %llu", (unsigned long long)fid);
}

/* Puts the names of lines that follow each other in a part and are of one thing. */
static void make_names(struct report *r, struct memory_map *m)
{
	autofree struct line *lines = calloc(m->cells.lines, sizeof(*lines));

	if (!lines)
		return;
	find_lines(r, m, lines);
	for (uint32_t i = 0; i < m->n_parts; i++)
		for (uint32_t y = m->part[i].line, n; y < m->part[i].line + m->part[i].lines; y += n) {
			for (n = 1; y + n < m->part[i].line + m->part[i].lines && are_one(&lines[y], &lines[y + n]); n++)
				;
			if (lines[y].any && util_room(&m->name, m->n_names, sizeof(*m->name)) == 0)
				m->name[m->n_names++] = (struct memory_name){
					.pid = lines[y].pid, .line = y, .lines = n, .text = name_of(r, m, &lines[y]),
				};
		}
}

/* Reads the stacks of the largest blocks. */
static void read_stacks(struct report *r, struct memory_map *m)
{
	struct stack_place places[MEMORY_SITES_MAX];

	for (uint32_t i = 0; i < m->n_blocks; i++) {
		const uint64_t id = m->block[i].b.site;
		uint32_t k = 0;

		while (k < m->n_sites && m->site[k].id != id)
			k++;
		if (id && k == m->n_sites && k < MEMORY_SITES_MAX)
			m->site[m->n_sites++].id = id;
		m->block[i].site = id && k < MEMORY_SITES_MAX ? k : MEMORY_SITES_MAX;
	}
	for (uint32_t i = 0; i < m->n_sites; i++)
		places[i] = (struct stack_place){ m->site[i].id, &m->site[i].stack };
	stacks_read_apart(r->folder, places, m->n_sites);
}

/* --- the map --------------------------------------------------------------------------------------------- */

static bool make(struct report *r, struct memory_map *m)
{
	const struct report_accesses *a = r->accesses;
	struct scan_taker taker = { .take = take_access, .own = m };
	uint64_t first_ns = 0, last_ns = 0;

	read_blocks(r, m, &first_ns, &last_ns);
	for (uint32_t i = 0; i < a->memory.blocks.n; i++)
		range_of_touched(m, &a->memory, i);
	for (uint32_t i = 0; i < m->n_blocks; i++)
		range_add(m, m->block[i].b.pid, m->block[i].b.addr, m->block[i].b.size);
	if (!make_parts(m))
		return false;
	place_blocks(m);
	if (a->rows) {
		first_ns = a->first_ns;
		last_ns = MAX(last_ns, a->last_ns);
	}
	if (!make_cells(m, first_ns, last_ns, a->least_span_ns))
		return false;
	if (a->present)
		scan_walk(r->folder, "access", &taker);
	read_stacks(r, m);
	make_names(r, m);
	return true;
}

void memory_map_read(struct report *r, const struct memory_options *o)
{
	struct memory_map *m = r->alloc.present || r->accesses->present ? calloc(1, sizeof(*m)) : NULL;

	if (!m)
		return;
	if (o)
		m->options = *o;
	m->options.min_bytes = MAX(m->options.min_bytes, o && o->min_bytes ? 1 : MIN_BYTES);
	if (make(r, m))
		r->memory = m;
	else
		memory_map_free(m);
}
