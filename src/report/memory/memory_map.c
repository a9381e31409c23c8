/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/memory/memory_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/memory/stacks.h"
#include "report/scan/lookup.h"
#include "stats/top.h"

#define MIN_BYTES 4096

void memory_map_free(struct memory_map *map)
{
	if (!map)
		return;
	for (uint32_t i = 0; i < map->n_names; i++)
		free(map->name[i].text);
	for (uint32_t i = 0; i < map->n_sites; i++)
		free(map->site[i].stack);
	cells_free(&map->cells);
	free(map->part);
	free(map->name);
	free(map);
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

static void keep_block(void *own, const struct access_block *block)
{
	struct memory_map *m = own;
	struct memory_block *at;
	uint64_t begin, end;

	if (block->size < m->options.min_bytes || block->pid >= TOUCHED_SPACES ||
	    !clip(&m->options, block->addr, block->size, &begin, &end))
		return;
	m->all_blocks++;
	at = TOP_PLACE(m->block, m->n_blocks, MEMORY_BLOCKS_MAX, e, e->b.size, block->size);
	if (at)
		*at = (struct memory_block){ .b = *block };
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
static void read_blocks(struct report *report, struct memory_map *map, uint64_t *first_ns, uint64_t *last_ns)
{
	struct reading g = { .map = map, .live = access_live_new(ACCESSES_LIVE_MAX) };
	struct scan_taker taker = { .take = take_alloc, .own = &g };

	if (!g.live || !report->alloc.present)
		goto out;
	scan_walk(report->folder, "alloc", &taker);
	access_live_end(g.live, MAX(g.last_ns, report->accesses->last_ns), keep_block, map);
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
static void range_of_touched(struct memory_map *map, const struct touched *touched, uint32_t i)
{
	const struct touched_block *b = table_at(&touched->blocks, i);
	uint64_t first = TOUCHED_PAGES, last = 0;

	for (uint64_t page = 0; page < TOUCHED_PAGES; page++)
		if (b->last[page]) {
			first = MIN(first, page);
			last = page;
		}
	if (first <= last)
		range_add(map, touched_space(touched, i), touched_at(touched, i) + first * TOUCHED_PAGE,
			  (last - first + 1) * TOUCHED_PAGE);
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
static void keep_processes(struct memory_map *map)
{
	autofree struct process *all = calloc(map->n_parts, sizeof(*all));
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; all && i < map->n_parts; i++) {
		n += !n || all[n - 1].pid != map->part[i].pid;
		all[n - 1].pid = map->part[i].pid;
		all[n - 1].bytes += map->part[i].used;
	}
	if (n <= MEMORY_PROCESSES)
		return;
	qsort(all, n, sizeof(*all), by_bytes);
	for (uint32_t i = 0; i < map->n_parts; i++) {
		uint32_t k = 0;

		while (k < MEMORY_PROCESSES && all[k].pid != map->part[i].pid)
			k++;
		if (k < MEMORY_PROCESSES)
			map->part[kept++] = map->part[i];
	}
	map->n_parts = kept;
	map->processes_left_out = n - MEMORY_PROCESSES;
}

struct joined {
	uint64_t lines;
	uint32_t n, left_out;
};

/* Joins the ranges, which are in order, to parts of whole lines of SIZE. Puts those with LEAST bytes or more into TO.
 */
static struct joined join(const struct memory_map *map, uint64_t size, uint64_t least, struct memory_part *to)
{
	struct memory_part now = { .pid = UINT64_MAX };
	struct joined j = { 0 };

	for (uint32_t i = 0; i <= map->n_parts; i++) {
		const struct memory_part *part = i < map->n_parts ? &map->part[i] : NULL;

		if (part && part->pid == now.pid && down(part->begin, size) <= now.end) {
			now.end = MAX(now.end, up(part->end, size));
			now.used += part->used;
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
		if (!part)
			break;
		now = *part;
		now.begin = down(part->begin, size);
		now.end = up(part->end, size);
	}
	return j;
}

/*
 * Makes the parts, with lines as short as their number allows. Where the user has not set their length, many small
 * processes and parts would make them long: these are left out. Returns whether there are any parts.
 */
static bool make_parts(struct memory_map *map)
{
	const bool automatic = !map->options.block_bytes;
	const uint64_t most = automatic ? MEMORY_LINES : MEMORY_LINES_MAX;
	uint64_t size = automatic ? TOUCHED_PAGE : map->options.block_bytes;
	struct memory_part *joined = calloc((size_t)map->n_parts + 1, sizeof(*joined));
	struct joined j;

	if (!map->n_parts || !joined) {
		free(joined);
		return false;
	}
	qsort(map->part, map->n_parts, sizeof(*map->part), by_address);
	if (automatic)
		keep_processes(map);
	while ((j = join(map, size, automatic ? size / MEMORY_PART_LEAST : 0, joined)).lines > most &&
	       size < TOUCHED_END)
		size *= 2;
	free(map->part);
	map->part = joined;
	map->n_parts = j.n;
	map->parts_left_out = j.left_out;
	map->line_bytes = size;
	while (map->n_parts > 1 && map->part[map->n_parts - 1].line + map->part[map->n_parts - 1].lines > most) {
		map->n_parts--;
		map->parts_left_out++;
	}
	return map->n_parts != 0;
}

/* Returns the first part of PID that ends after ADDR; NULL: there is none. */
static const struct memory_part *part_at(const struct memory_map *map, uint64_t pid, uint64_t addr)
{
	uint32_t low = 0, high = map->n_parts;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		const struct memory_part *p = &map->part[mid];

		if (p->pid < pid || (p->pid == pid && p->end <= addr))
			low = mid + 1;
		else
			high = mid;
	}
	return low < map->n_parts && map->part[low].pid == pid ? &map->part[low] : NULL;
}

/* Puts the place of each block; one that spans several parts ends with the first one. */
static void place_blocks(struct memory_map *map)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < map->n_blocks; i++) {
		struct memory_block b = map->block[i];
		const struct memory_part *p;
		uint64_t begin, end;

		clip(&map->options, b.b.addr, b.b.size, &begin, &end);
		p = part_at(map, b.b.pid, begin);
		if (!p || begin < p->begin)
			continue;
		b.y = p->line + (double)(begin - p->begin) / (double)map->line_bytes;
		b.height = (double)(MIN(end, p->end) - begin) / (double)map->line_bytes;
		map->block[n++] = b;
	}
	map->n_blocks = n;
}

/* --- cells ---------------------------------------------------------------------------------------------- */

/* The bins of an interval: those whose middles are in it, or the one that its own middle is in. */
static void bins_of(const struct memory_map *map, uint64_t at_ns, uint64_t span_ns, uint32_t *first, uint32_t *end)
{
	const uint64_t all_ns = map->bin_ns * map->cells.bins, last = MIN(at_ns - map->begin_ns, all_ns);
	const uint64_t from = last - MIN(span_ns, last), half = map->bin_ns / 2;

	*first = (uint32_t)((from + half) / map->bin_ns);
	*end = (uint32_t)MIN((last + half) / map->bin_ns, map->cells.bins);
	if (*first >= *end) {
		*first = (uint32_t)MIN((from + (last - from) / 2) / map->bin_ns, map->cells.bins - 1);
		*end = *first + 1;
	}
}

/* Adds the part of ROW from FROM to END, which is in one line. */
static void cell_add(struct memory_map *map, const struct access_row *row, uint64_t at_ns, uint64_t from, uint64_t end,
		     uint32_t line)
{
	const double part = (double)(end - from) / (double)row->bytes;
	struct cells_add add = {
		.line = line,
		.touched = part * (double)access_bytes(row),
		.written = part * (double)row->written,
		.known = row->has_written,
		.interval = row->source == ACCESS_FAULTS ? 0 : at_ns,
	};
	uint32_t last;

	for (bins_of(map, at_ns, row->span_ns, &add.bin, &last); add.bin < last; add.bin++)
		cells_add(&map->cells, &add);
}

static bool take_access(struct scan *scan, void *own)
{
	struct memory_map *map = own;
	const struct memory_part *part;
	struct access_row row;
	uint64_t begin, end;

	if (!access_row(&row, scan) || !access_bytes(&row) || scan->time_ns < map->begin_ns ||
	    !clip(&map->options, row.addr, row.bytes, &begin, &end))
		return true;
	for (part = part_at(map, row.pid, begin);
	     part && part < map->part + map->n_parts && part->pid == row.pid && part->begin < end; part++)
		for (uint64_t from = MAX(begin, part->begin), to; from < MIN(end, part->end); from = to) {
			to = MIN(down(from, map->line_bytes) + map->line_bytes, end);
			cell_add(map, &row, scan->time_ns, from, to,
				 part->line + (uint32_t)((from - part->begin) / map->line_bytes));
		}
	return true;
}

#define RUN_NS_MAX (1ULL << 62) /* as the times of rows have; the manifest may be made up, too */

/* Sets the axis of time, from BEGIN to END. */
static bool make_cells(struct memory_map *m, uint64_t begin_ns, uint64_t end_ns, uint64_t span_ns)
{
	const uint64_t ns = MIN(MAX(end_ns - MIN(begin_ns, end_ns), 1), RUN_NS_MAX),
		       most = m->options.bin_ns ? MEMORY_BINS_MAX : MEMORY_BINS;

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

static void find_lines(const struct report *report, const struct memory_map *map, struct line *lines)
{
	const struct touched *touched = &report->accesses->memory;
	const uint64_t step = MIN(map->line_bytes, TOUCHED_BLOCK);

	for (uint32_t i = 0; i < touched->blocks.n; i++) {
		const struct touched_block *b = table_at(&touched->blocks, i);
		const uint64_t at = touched_at(touched, i), pid = touched_space(touched, i);
		const struct memory_part *p = part_at(map, pid, at);

		for (uint64_t from = p ? MAX(at, p->begin) : 0; p && from < MIN(at + TOUCHED_BLOCK, p->end);
		     from += step)
			vote(&lines[p->line + (from - p->begin) / map->line_bytes], pid, b->tag);
	}
	for (uint32_t i = 0; i < map->n_blocks; i++) { /* the largest first */
		const struct memory_block *block = &map->block[i];
		const double end = block->y + block->height;

		for (uint32_t y = (uint32_t)block->y; y < map->cells.lines && y < end; y++) {
			struct line *l = &lines[y];

			if (l->has_site || access_tag_kind(l->tag) == ACCESS_FILE)
				continue;
			l->pid = block->b.pid;
			l->site = block->b.site;
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

static char *name_of(struct report *report, const struct memory_map *map, const struct line *line)
{
	const uint64_t fid = access_tag_fid(line->tag);
	const char *stack = line->has_site ? stack_of(map, line->site) : NULL;
	char *path;

	if (stack)
		return strndup(stack, strcspn(stack, " "));
	if (line->has_site)
		return line->site ? util_fmt("SITE %llu", (unsigned long long)line->site) : strdup("allocated");
	if (access_tag_kind(line->tag) != ACCESS_FILE)
		return strdup(access_tag_kind(line->tag) == ACCESS_UNKNOWN ?
				      "memory" :
				      access_kind_names[access_tag_kind(line->tag)]);
	path = fid ? report_path_of(report, fid, NULL, 0) : NULL;
	return path ? path : util_fmt("FID %llu", (unsigned long long)fid);
}

/* Puts the names of lines that follow each other in a part and are of one thing. */
static void make_names(struct report *report, struct memory_map *map)
{
	autofree struct line *lines = calloc(map->cells.lines, sizeof(*lines));

	if (!lines)
		return;
	find_lines(report, map, lines);
	for (uint32_t i = 0; i < map->n_parts; i++)
		for (uint32_t y = map->part[i].line, n; y < map->part[i].line + map->part[i].lines; y += n) {
			for (n = 1; y + n < map->part[i].line + map->part[i].lines && are_one(&lines[y], &lines[y + n]);
			     n++)
				;
			if (lines[y].any && util_room(&map->name, map->n_names, sizeof(*map->name)) == 0)
				map->name[map->n_names++] = (struct memory_name){
					.pid = lines[y].pid,
					.line = y,
					.lines = n,
					.text = name_of(report, map, &lines[y]),
				};
		}
}

/* Reads the stacks of the largest blocks. */
static void read_stacks(struct report *report, struct memory_map *map)
{
	struct stack_place places[MEMORY_SITES_MAX];

	for (uint32_t i = 0; i < map->n_blocks; i++) {
		const uint64_t id = map->block[i].b.site;
		uint32_t k = 0;

		while (k < map->n_sites && map->site[k].id != id)
			k++;
		if (id && k == map->n_sites && k < MEMORY_SITES_MAX)
			map->site[map->n_sites++].id = id;
		map->block[i].site = id && k < MEMORY_SITES_MAX ? k : MEMORY_SITES_MAX;
	}
	for (uint32_t i = 0; i < map->n_sites; i++)
		places[i] = (struct stack_place){ map->site[i].id, &map->site[i].stack };
	stacks_read_apart(report->folder, places, map->n_sites);
}

/* --- the map --------------------------------------------------------------------------------------------- */

static bool make(struct report *report, struct memory_map *map)
{
	const struct report_accesses *accesses = report->accesses;
	struct scan_taker taker = { .take = take_access, .own = map };
	uint64_t first_ns = 0, last_ns = 0;

	read_blocks(report, map, &first_ns, &last_ns);
	for (uint32_t i = 0; i < accesses->memory.blocks.n; i++)
		range_of_touched(map, &accesses->memory, i);
	for (uint32_t i = 0; i < map->n_blocks; i++)
		range_add(map, map->block[i].b.pid, map->block[i].b.addr, map->block[i].b.size);
	if (!make_parts(map))
		return false;
	place_blocks(map);
	if (accesses->rows) {
		first_ns = accesses->first_ns;
		last_ns = MAX(last_ns, accesses->last_ns);
	}
	if (!make_cells(map, first_ns, last_ns, accesses->least_span_ns))
		return false;
	if (accesses->present)
		scan_walk(report->folder, "access", &taker);
	read_stacks(report, map);
	make_names(report, map);
	return true;
}

void memory_map_read(struct report *report, const struct memory_options *options)
{
	struct memory_map *map = report->alloc.present || report->accesses->present ? calloc(1, sizeof(*map)) : NULL;

	if (!map)
		return;
	if (options)
		map->options = *options;
	map->options.min_bytes = MAX(map->options.min_bytes, options && options->min_bytes ? 1 : MIN_BYTES);
	if (make(report, map))
		report->memory = map;
	else
		memory_map_free(map);
}
