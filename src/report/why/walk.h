/* SPDX-License-Identifier: BSD-2-Clause */
/* Between walk.c, which goes through calls by time, and switches.c, which goes along with switches. */
#ifndef REPORT_WHY_WALK_H
#define REPORT_WHY_WALK_H

#include "report/scan/scan.h"
#include "report/why/calls.h"
#include "report/why/impl.h"

/* Who a PID is; neither: of the target, and of no part in this. */
struct why_role {
	struct why_loader *loader;
	struct why_trainer *trainer;
	struct cover *main, *others; /* the trainer's threads */
	uint32_t work;		     /* see why_add_work() */
};

/* sched_switch.out, at its next row. */
struct why_switches {
	struct scan scan;
	bool open, more;
	struct table threads; /* since when a loader's thread runs, by TID */
	struct table faults;  /* waits in page faults, by TID */
};

struct why_walk {
	struct report *r;
	struct why *why;
	struct table roles; /* by PID */
	uint64_t last_pid;
	struct why_role *last_role, nobody;
	struct cover *covers;
	struct why_doubts doubts;
	struct why_switches switches;
};

/* A stretch of time of who has ROLE. */
struct why_stretch {
	struct report *r;
	struct why *why;
	const struct why_role *role;
	enum why_state state;
	bool main; /* the trainer's main thread */
};

struct why_role *why_role_of(struct why_walk *w, uint64_t pid);
/* For cover_add(): a part of struct why_stretch that is nobody else's. */
void why_loader_stretch(void *stretch, uint64_t begin_ns, uint64_t end_ns);
void why_trainer_stretch(void *stretch, uint64_t begin_ns, uint64_t end_ns);

/* Where there are no switches there is no more of them. */
void why_switches_open(struct why_switches *s, struct report *r);
/* The next one, of those there are. */
void why_switches_take(struct why_walk *w);
/* ROW is of a thread that may have waited for pages before it. */
void why_switches_call(struct why_walk *w, const struct why_call_row *row);
void why_switches_end(struct why_walk *w);

#endif
