/* SPDX-License-Identifier: BSD-2-Clause */
/* The map of memory as JSON, for the page. Bins are joined until there are few enough rectangles. */
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"
#include "report/memory/memory_map.h"
#include "report/show/svg/memory.h"
#include "report/timeline.h"

#define RECTS_SHOWN 40000 /* about 800 KiB */
#define RECTS_LEAST 500
#define BLOCKS_LEAST 50

static void sources(const struct report *r, struct json *j)
{
	json_row(j, "sources");
	for (enum access_source i = 0; i < ACCESS_SOURCES; i++)
		if (r->accesses->by[i])
			json_str(j, NULL, access_source_names[i]);
	json_end(j);
}

static void parts(const struct memory_map *m, struct json *j)
{
	json_array(j, "parts");
	for (uint32_t i = 0; i < m->n_parts; i++) {
		char addr[24];

		snprintf(addr, sizeof(addr), "0x%llx", (unsigned long long)m->part[i].begin);
		json_row(j, NULL);
		json_u64(j, NULL, m->part[i].line);
		json_u64(j, NULL, m->part[i].lines);
		json_u64(j, NULL, m->part[i].pid);
		json_str(j, NULL, addr);
		json_end(j);
	}
	json_end(j);
	json_array(j, "names");
	for (uint32_t i = 0; i < m->n_names; i++) {
		json_row(j, NULL);
		json_u64(j, NULL, m->name[i].line);
		json_u64(j, NULL, m->name[i].lines);
		json_u64(j, NULL, m->name[i].pid);
		json_str(j, NULL, m->name[i].text);
		json_end(j);
	}
	json_end(j);
}

static void rects(const struct report *r, struct json *j)
{
	const struct memory_map *m = r->memory;
	uint32_t n, fold = 1;
	autofree struct cells_rect *v = cells_rects(&m->cells, fold, &n);

	while (n > report_at_most(r, RECTS_SHOWN, RECTS_LEAST) && fold < m->cells.bins) {
		free(v);
		fold *= 2;
		v = cells_rects(&m->cells, fold, &n);
	}
	json_u64(j, "bin_ns", m->bin_ns * fold);
	json_u64(j, "bins", (m->cells.bins + fold - 1) / fold);
	json_array(j, "rects");
	for (uint32_t i = 0; i < n; i++) {
		json_row(j, NULL);
		json_u64(j, NULL, v[i].x);
		json_u64(j, NULL, v[i].y);
		json_u64(j, NULL, v[i].w);
		json_u64(j, NULL, v[i].h);
		json_u64(j, NULL, v[i].level);
		json_u64(j, NULL, v[i].hue);
		json_end(j);
	}
	json_end(j);
}

static void blocks(const struct report *r, struct json *j)
{
	const struct memory_map *m = r->memory;
	const uint32_t n = MIN(m->n_blocks, report_at_most(r, MEMORY_BLOCKS_MAX, BLOCKS_LEAST));

	json_u64(j, "min_bytes", m->options.min_bytes);
	json_array(j, "blocks");
	for (uint32_t i = 0; i < n; i++) {
		const struct memory_block *b = &m->block[i];

		json_row(j, NULL);
		json_u64(j, NULL, report_timeline_ns(r->timeline, b->b.begin_ns));
		json_u64(j, NULL, report_timeline_ns(r->timeline, b->b.end_ns));
		json_f64(j, NULL, b->y);
		json_f64(j, NULL, b->height);
		json_u64(j, NULL, b->b.size);
		json_u64(j, NULL, b->b.pid);
		json_u64_known(j, NULL, b->site < m->n_sites, b->site);
		json_end(j);
	}
	json_end(j);
	json_u64(j, "blocks_left_out", m->all_blocks - n);
	json_array(j, "stacks");
	for (uint32_t i = 0; i < m->n_sites; i++)
		json_str(j, NULL, m->site[i].stack);
	json_end(j);
}

void report_memory_json(const struct report *r, struct json *j)
{
	const struct memory_map *m = r->memory;

	if (!m || !r->timeline)
		return;
	json_object(j, NULL);
	report_timeline_host(j, r->timeline);
	sources(r, j);
	json_u64(j, "begin_ns", report_timeline_ns(r->timeline, m->begin_ns));
	json_u64(j, "lines", m->cells.lines);
	json_u64(j, "line_bytes", m->line_bytes);
	rects(r, j);
	parts(m, j);
	blocks(r, j);
	json_u64(j, "parts_left_out", m->parts_left_out);
	json_u64(j, "processes_left_out", m->processes_left_out);
	json_end(j);
}
