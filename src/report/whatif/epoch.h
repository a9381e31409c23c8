/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which epoch is replayed, and where its batches and steps are: the longest iteration over a DataLoader, by the regions
 * dataloader.start, dataloader.fetch and data.batch. All instants are CLOCK_MONOTONIC.
 */
#ifndef REPORT_WHATIF_EPOCH_H
#define REPORT_WHATIF_EPOCH_H

#include "report/whatif/model.h"

struct report;

#define WHATIF_BATCHES_LEAST 20U

struct whatif_span {
	uint64_t begin_ns, end_ns;
};

/* A batch, as it was made. */
struct whatif_made {
	struct whatif_span span;
	uint64_t pid, tid;
	uint32_t worker;
};

struct whatif_epoch {
	struct whatif_loader loader;
	bool assumed; /* the trace lacks what LOADER is: workers were counted, the rest is PyTorch's default */
	uint64_t pid, tid; /* the trainer */
	int64_t number; /* -1: not given */
	struct whatif_span start, whole; /* dataloader.start; the epoch, up to the end of its last fetch */
	uint32_t batches; /* of the whole epoch */
	/* Its first N batches, which are looked at: */
	uint32_t n;
	uint64_t until_ns; /* the end of the last of their steps */
	struct whatif_span last; /* the fetch that found the end; 0: it is not in this part */
	struct whatif_span *fetches; /* N + 1, the last one for its begin only */
	struct whatif_made *made; /* N, in the order in which they were taken */
	struct whatif_span *saves; /* of the trainer, disjoint, in order */
	uint32_t n_saves;
};

/*
 * Finds the epoch of R. Returns 0; -ENODATA without regions of a DataLoader; -ENOTSUP with *WHY, a literal, when there
 * is one but it cannot be replayed; -ENOMEM. whatif_epoch_free() frees it in any case.
 */
int whatif_epoch_find(struct report *r, struct whatif_epoch *epoch, const char **why);
void whatif_epoch_free(struct whatif_epoch *epoch);

#endif
