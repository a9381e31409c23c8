/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layers of a training job, from an epoch down to the calls of its readers: how long each was at work, how much of
 * that while the layer above it was, and while anything computed. Layers are recognized by the names of regions, those
 * of dltraced and of DFTracer's programs. Times are unions over all processes, as readers are other processes than the
 * trainers that wait for them. Regions come first, in the order of their ends; then calls, a file after the other, each
 * in the order of ends. Memory is bounded.
 */
#ifndef REPORT_PHASES_LAYERS_H
#define REPORT_PHASES_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/phases/step_region.h"
#include "report/phases/steps.h"
#include "stats/spans.h"
#include "stats/table.h"

enum region_layer_id {
	LAYER_TRAINING,
	LAYER_EPOCH,
	LAYER_COMPUTE,
	LAYER_COMM,
	LAYER_DEVICE,
	LAYER_FETCH,
	LAYER_LOADER,
	LAYER_READER,
	LAYER_READER_CALLS,
	LAYER_CHECKPOINT,
	LAYER_CHECKPOINT_CALLS,
	LAYER_CALLS,
	LAYERS,
	LAYER_NONE = LAYERS,
};

#define LAYERS_SOURCES 8 /* files of calls */

struct region_layer {
	const char *name;
	const char *parent; /* the next one above it that has regions; NULL: none has */
	uint64_t n, processes;
	uint64_t total_ns; /* of all threads, added up */
	uint64_t bytes, with_bytes; /* that regions name, or calls moved; how many did */
	uint64_t covered_ns; /* in which there was at least one; this and the following at the end */
	uint64_t in_parent_ns,
		with_compute_ns; /* of that, with one of the parent, or of LAYER_COMPUTE, at the same time */
	struct spans spans;
};

struct region_layers {
	struct region_layer v[LAYERS];
	bool any;
	uint64_t left_out; /* regions whose thread had no room: calls in them are in no layer but the last */
	struct table processes; /* by a hash of layer and process */
	struct table threads; /* those with regions of readers and checkpoints */
	struct spans calls[LAYERS_SOURCES][3]; /* by file, as their ends start over with each */
	size_t spans_room; /* of all sets of spans */
};

void region_layers_init(struct region_layers *layers);
void region_layers_free(struct region_layers *layers);
/* Takes a region, of which PART is what phase_steps_part() says. */
void region_layers_take(struct region_layers *layers, const struct step_region *region, enum step_part part);
/* To be called after the last region. */
void region_layers_regions_end(struct region_layers *layers);
/* To be called after the last call. */
void region_layers_end(struct region_layers *layers);

struct layer_call {
	unsigned int source; /* which file it is from, below LAYERS_SOURCES */
	uint64_t pid, tid, begin_ns, end_ns;
	int64_t bytes; /* -1: none were to be moved */
};
/* Takes a call on a file. Only where `any' is set. */
void region_layers_call(struct region_layers *layers, const struct layer_call *call);

#endif
