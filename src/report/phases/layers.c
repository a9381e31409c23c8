/* SPDX-License-Identifier: BSD-2-Clause */
/* See layers.h. */
#include "report/phases/layers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"

#define PROCESSES_MAX (1U << 18) /* with their layers */
#define THREADS_MAX 4096
#define SPANS_ROOM (2U << 20) /* of all sets together: 64 MiB */
#define SPANS_LEAST 64 /* of each set, whatever the others have */

/* LAYER_NONE as a parent: the trace. */
static const struct {
	const char *name;
	enum region_layer_id parent;
} known[LAYERS] = {
	[LAYER_TRAINING] = { "training", LAYER_NONE },
	[LAYER_EPOCH] = { "epoch", LAYER_TRAINING },
	[LAYER_COMPUTE] = { "compute", LAYER_EPOCH },
	[LAYER_COMM] = { "comm", LAYER_EPOCH },
	[LAYER_DEVICE] = { "device", LAYER_EPOCH },
	[LAYER_FETCH] = { "fetch", LAYER_EPOCH },
	[LAYER_LOADER] = { "data loader", LAYER_FETCH },
	[LAYER_READER] = { "reader", LAYER_LOADER },
	[LAYER_READER_CALLS] = { "reader calls", LAYER_READER },
	[LAYER_CHECKPOINT] = { "checkpoint", LAYER_EPOCH },
	[LAYER_CHECKPOINT_CALLS] = { "checkpoint calls", LAYER_CHECKPOINT },
	[LAYER_CALLS] = { "calls", LAYER_NONE },
};

/*
 * The layer of a category, of a name, or of both; the first that fits counts. A name of DFTracer's programs begins with
 * the class; DLIOBenchmark is DLIO's (https://github.com/argonne-lcf/dlio_benchmark). What iter() of DFTracer calls
 * NAME.yield is the work on an item, which has regions of its own.
 */
static const struct {
	const char *cat, *name; /* NULL: any; the name's last words, behind a dot if there are others */
	enum region_layer_id layer;
} names[] = {
	{ "pipeline", "train", LAYER_TRAINING }, { NULL, "DLIOBenchmark.run", LAYER_TRAINING },
	{ "pipeline", "epoch", LAYER_EPOCH },    { NULL, "DLIOBenchmark._train", LAYER_EPOCH },
	{ NULL, "yield", LAYER_NONE },           { "device", NULL, LAYER_DEVICE },
	{ "dataloader", "fetch", LAYER_FETCH },  { "reader", NULL, LAYER_READER },
	{ "data", "preprocess", LAYER_READER },  { "data", "item", LAYER_READER },
	{ "data_loader", "iter", LAYER_FETCH },  { "data_loader", NULL, LAYER_LOADER },
	{ "dataloader", NULL, LAYER_LOADER },    { "data", NULL, LAYER_LOADER },
};

/* Of regions that none of these names, by their part of a step. */
static const enum region_layer_id of_part[STEP_PARTS] = {
	[STEP_FETCH] = LAYER_FETCH, [STEP_COMPUTE] = LAYER_COMPUTE, [STEP_CHECKPOINT] = LAYER_CHECKPOINT,
	[STEP_COMM] = LAYER_COMM,   [STEP_OTHER] = LAYER_NONE,
};

/* The sets of calls, by place. */
static const enum region_layer_id of_calls[] = { LAYER_CALLS, LAYER_READER_CALLS, LAYER_CHECKPOINT_CALLS };

/* When a thread was in a region of these layers; closed before calls come. */
struct thread {
	struct spans reader, checkpoint;
};

void region_layers_init(struct region_layers *layers)
{
	for (unsigned int i = 0; i < LAYERS; i++)
		layers->v[i].name = known[i].name;
	table_init(&layers->processes, sizeof(bool), PROCESSES_MAX);
	table_init(&layers->threads, sizeof(struct thread), THREADS_MAX);
}

static void spans_all_free(struct region_layers *layers)
{
	for (unsigned int i = 0; i < LAYERS; i++)
		spans_free(&layers->v[i].spans);
	for (unsigned int i = 0; i < LAYERS_SOURCES; i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(of_calls); j++)
			spans_free(&layers->calls[i][j]);
	for (uint32_t i = 0; i < layers->threads.n; i++) {
		struct thread *thread = table_at(&layers->threads, i);

		spans_free(&thread->reader);
		spans_free(&thread->checkpoint);
	}
}

void region_layers_free(struct region_layers *layers)
{
	spans_all_free(layers);
	table_free(&layers->threads);
	table_free(&layers->processes);
}

/* --- what belongs to a layer ------------------------------------------------------------------------------- */

static bool is_cat(const struct step_region *region, const char *cat)
{
	return !cat || (region->cat_len == strlen(cat) && !strncasecmp(region->cat, cat, region->cat_len));
}

static bool is_name(const struct step_region *region, const char *name)
{
	const size_t len = name ? strlen(name) : 0, at = region->name_len - len;

	return !name || (region->name_len >= len && !strncasecmp(region->name + at, name, len) &&
			 (!at || region->name[at - 1] == '.'));
}

static enum region_layer_id layer_of(const struct step_region *region, enum step_part part)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_cat(region, names[i].cat) && is_name(region, names[i].name))
			return names[i].layer;
	return of_part[part];
}

/* --- regions, and calls ------------------------------------------------------------------------------------ */

/* Adds a span. A set grows as long as all sets together have room. */
static void add_span(struct region_layers *layers, struct spans *to, uint64_t begin_ns, uint64_t end_ns)
{
	const size_t had = to->room;

	to->max = MAX(had + (SPANS_ROOM - MIN(layers->spans_room, SPANS_ROOM)), SPANS_LEAST);
	spans_add(to, begin_ns, end_ns);
	layers->spans_room += to->room - had;
}

static void add(struct region_layers *layers, enum region_layer_id id, uint64_t pid, uint64_t ns, int64_t bytes)
{
	const uint64_t pair[] = { id, pid };
	struct region_layer *layer = &layers->v[id];
	bool *process = table_get(&layers->processes, table_key((const char *)pair, sizeof(pair)));

	layer->n++;
	layer->total_ns += ns;
	if (bytes >= 0) {
		layer->bytes += (uint64_t)bytes;
		layer->with_bytes++;
	}
	if (process && !*process) {
		*process = true;
		layer->processes++;
	}
}

static uint64_t thread_key(uint64_t pid, uint64_t tid)
{
	const uint64_t key[] = { pid, tid };

	return table_key((const char *)key, sizeof(key));
}

void region_layers_take(struct region_layers *layers, const struct step_region *region, enum step_part part)
{
	const enum region_layer_id id = layer_of(region, part);
	struct thread *thread;

	if (id == LAYER_NONE)
		return;
	layers->any = true;
	add(layers, id, region->pid, region->end_ns - region->begin_ns, region->bytes);
	add_span(layers, &layers->v[id].spans, region->begin_ns, region->end_ns);
	if (id != LAYER_READER && id != LAYER_CHECKPOINT)
		return;
	thread = table_get(&layers->threads, thread_key(region->pid, region->tid));
	if (thread)
		add_span(layers, id == LAYER_READER ? &thread->reader : &thread->checkpoint, region->begin_ns,
			 region->end_ns);
	else
		layers->left_out++;
}

void region_layers_regions_end(struct region_layers *layers)
{
	for (uint32_t i = 0; i < layers->threads.n; i++) {
		struct thread *thread = table_at(&layers->threads, i);

		spans_close(&thread->reader);
		spans_close(&thread->checkpoint);
	}
}

void region_layers_call(struct region_layers *layers, const struct layer_call *call)
{
	struct thread *thread = table_find(&layers->threads, thread_key(call->pid, call->tid));
	/* a thread is in one call at a time: as one ends in the region, it began there, too */
	const bool in[] = {
		true,
		thread && spans_within(&thread->reader, call->end_ns - 1, call->end_ns),
		thread && spans_within(&thread->checkpoint, call->end_ns - 1, call->end_ns),
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(of_calls); i++) {
		if (!in[i])
			continue;
		add(layers, of_calls[i], call->pid, call->end_ns - call->begin_ns, call->bytes);
		add_span(layers, &layers->calls[call->source][i], call->begin_ns, call->end_ns);
	}
}

/* --- sums ---------------------------------------------------------------------------------------------------- */

/* Makes TO the union of the sets FROM[], of LAYERS_SOURCES files. */
static void join(struct region_layers *layers, struct spans *to, unsigned int set)
{
	size_t at[LAYERS_SOURCES] = { 0 };

	for (;;) {
		const struct span *first = NULL;
		unsigned int from = 0;

		for (unsigned int i = 0; i < LAYERS_SOURCES; i++) {
			const struct spans *s = &layers->calls[i][set];

			if (at[i] < s->n && (!first || s->v[at[i]].end_ns < first->end_ns)) {
				first = &s->v[at[i]];
				from = i;
			}
		}
		if (!first)
			return;
		add_span(layers, to, first->begin_ns, first->end_ns);
		at[from]++;
	}
}

void region_layers_end(struct region_layers *layers)
{
	struct spans *compute = &layers->v[LAYER_COMPUTE].spans;

	for (unsigned int i = 0; i < ARRAY_SIZE(of_calls); i++)
		join(layers, &layers->v[of_calls[i]].spans, i);
	for (unsigned int i = 0; i < LAYERS; i++)
		spans_close(&layers->v[i].spans);
	for (unsigned int i = 0; i < LAYERS; i++) {
		struct region_layer *layer = &layers->v[i];
		enum region_layer_id parent = known[i].parent;

		while (parent != LAYER_NONE && !layers->v[parent].n)
			parent = known[parent].parent;
		layer->covered_ns = layer->spans.total_ns - MIN(layer->spans.glued_ns, layer->spans.total_ns);
		layer->with_compute_ns = MIN(spans_both(&layer->spans, compute, 0, UINT64_MAX), layer->covered_ns);
		if (parent == LAYER_NONE)
			continue;
		layer->parent = known[parent].name;
		layer->in_parent_ns =
			MIN(spans_both(&layer->spans, &layers->v[parent].spans, 0, UINT64_MAX), layer->covered_ns);
	}
	spans_all_free(layers);
	table_free(&layers->threads);
	table_free(&layers->processes);
}
