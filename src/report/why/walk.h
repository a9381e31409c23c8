/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by walk.c, which walks the calls by time, and fault_rows.c, which follows with the page faults. */
#ifndef REPORT_WHY_WALK_H
#define REPORT_WHY_WALK_H

#include "base/util.h"
#include "report/scan/scan.h"
#include "report/why/calls.h"
#include "report/why/why_impl.h"

/* The role of a PID; with neither loader nor trainer, it has no part in the analysis. */
struct why_role {
	struct why_loader *loader;
	struct why_trainer *trainer;
	struct cover *main; /* the trainer's main thread */
	uint32_t work; /* see why_add_work() */
};

/* fault.out, positioned at its next row of a program's own page fault with a time. */
struct why_fault_rows {
	struct scan scan;
	bool open, more;
};

struct why_walk {
	struct report *r;
	struct why *why;
	struct table roles; /* by PID */
	uint64_t last_pid;
	struct why_role *last_role, nobody;
	struct cover *covers;
	struct why_fault_rows fault_rows;
};

/* A stretch of time of the process with ROLE. */
struct why_stretch {
	struct report *r;
	struct why *why;
	const struct why_role *role;
	enum why_state state;
};

struct why_role *why_role_of(struct why_walk *w, uint64_t pid);
/* For cover_add(): adds a part of a struct why_stretch that no other stretch covers. */
void why_loader_stretch(void *stretch, uint64_t begin_ns, uint64_t end_ns);
void why_trainer_stretch(void *stretch, uint64_t begin_ns, uint64_t end_ns);

/* Adds a stretch of a loader: what no other stretch covers counts for it. */
static inline void why_loader_add(struct why_stretch *x, uint64_t begin_ns, uint64_t end_ns)
{
	cover_add(&x->role->loader->cover, begin_ns, end_ns, why_loader_stretch, x);
}

/* Adds a call on a file, or a wait for pages, of a loader or a trainer, to the I/O of the trainer's steps. */
void why_add_io(const struct why_stretch *stretch, uint64_t begin_ns, uint64_t end_ns);

/* F has no rows at all when the trace has no times of page faults. */
void why_fault_rows_open(struct why_fault_rows *f, struct report *r);
/* Takes the next row; there must be one. */
void why_fault_rows_take(struct why_walk *walk);

#endif
