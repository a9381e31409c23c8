/* SPDX-License-Identifier: BSD-2-Clause */
/* The map of memory as JSON, for the page. Bins are joined until there are few enough rectangles. */
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"
#include "report/memory/memory_map.h"
#include "report/show/timeline/timeline_json.h"

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

static void parts(const struct memory_map *map, struct json *json)
{
	json_array(json, "parts");
	for (uint32_t i = 0; i < map->n_parts; i++) {
		char addr[24];

		snprintf(addr, sizeof(addr), "0x%llx", (unsigned long long)map->part[i].begin);
		json_row(json, NULL);
		json_u64(json, NULL, map->part[i].line);
		json_u64(json, NULL, map->part[i].lines);
		json_u64(json, NULL, map->part[i].pid);
		json_str(json, NULL, addr);
		json_end(json);
	}
	json_end(json);
	json_array(json, "names");
	for (uint32_t i = 0; i < map->n_names; i++) {
		json_row(json, NULL);
		json_u64(json, NULL, map->name[i].line);
		json_u64(json, NULL, map->name[i].lines);
		json_u64(json, NULL, map->name[i].pid);
		json_str(json, NULL, map->name[i].text);
		json_end(json);
	}
	json_end(json);
}

static void rects(const struct report *report, struct json *json)
{
	const struct memory_map *map = report->memory;
	uint32_t n, fold = 1;
	autofree struct cells_rect *rect = cells_rects(&map->cells, fold, &n);

	while (n > report_at_most(report, RECTS_SHOWN, RECTS_LEAST) && fold < map->cells.bins) {
		free(rect);
		fold *= 2;
		rect = cells_rects(&map->cells, fold, &n);
	}
	json_u64(json, "bin_ns", map->bin_ns * fold);
	json_u64(json, "bins", (map->cells.bins + fold - 1) / fold);
	json_array(json, "rects");
	for (uint32_t i = 0; i < n; i++) {
		json_row(json, NULL);
		json_u64(json, NULL, rect[i].x);
		json_u64(json, NULL, rect[i].y);
		json_u64(json, NULL, rect[i].w);
		json_u64(json, NULL, rect[i].h);
		json_u64(json, NULL, rect[i].level);
		json_u64(json, NULL, rect[i].hue);
		json_end(json);
	}
	json_end(json);
}

static void blocks(const struct report *report, struct json *json)
{
	const struct memory_map *map = report->memory;
	const uint32_t n = MIN(map->n_blocks, report_at_most(report, MEMORY_BLOCKS_MAX, BLOCKS_LEAST));

	json_u64(json, "min_bytes", map->options.min_bytes);
	json_array(json, "blocks");
	for (uint32_t i = 0; i < n; i++) {
		const struct memory_block *block = &map->block[i];

		json_row(json, NULL);
		json_u64(json, NULL, report_timeline_ns(report->timeline, block->b.begin_ns));
		json_u64(json, NULL, report_timeline_ns(report->timeline, block->b.end_ns));
		json_f64(json, NULL, block->y);
		json_f64(json, NULL, block->height);
		json_u64(json, NULL, block->b.size);
		json_u64(json, NULL, block->b.pid);
		json_u64_known(json, NULL, block->site < map->n_sites, block->site);
		json_end(json);
	}
	json_end(json);
	json_u64(json, "blocks_left_out", map->all_blocks - n);
	json_array(json, "stacks");
	for (uint32_t i = 0; i < map->n_sites; i++)
		json_str(json, NULL, map->site[i].stack);
	json_end(json);
}

void report_memory_json(const struct report *report, struct json *json)
{
	const struct memory_map *map = report->memory;

	if (!map || !report->timeline)
		return;
	json_object(json, NULL);
	report_timeline_host(json, report->timeline);
	sources(report, json);
	json_u64(json, "begin_ns", report_timeline_ns(report->timeline, map->begin_ns));
	json_u64(json, "lines", map->cells.lines);
	json_u64(json, "line_bytes", map->line_bytes);
	rects(report, json);
	parts(map, json);
	blocks(report, json);
	json_u64(json, "parts_left_out", map->parts_left_out);
	json_u64(json, "processes_left_out", map->processes_left_out);
	json_end(json);
}
