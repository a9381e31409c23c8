/* SPDX-License-Identifier: BSD-2-Clause */
/* A leaf: what a moment of the job's time went to, by a cause that no other thread of the job stands behind. */
#ifndef REPORT_PATH_SUMS_LEAF_H
#define REPORT_PATH_SUMS_LEAF_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/timeline.h"

enum path_kind {
	PATH_CPU,
	PATH_CPU_READ,
	PATH_CPU_WRITE,
	PATH_CPU_METADATA,
	PATH_RUNQ,
	PATH_THROTTLED,
	PATH_DISK_READ,
	PATH_DISK_WRITE,
	PATH_DISK_SYNC,
	PATH_DISK_METADATA,
	PATH_DISK_FAULT,
	PATH_NETWORK,
	PATH_NETWORK_SEND,
	PATH_CLIENT,
	PATH_DEVICE,
	PATH_SLEEP,
	PATH_POLL,
	PATH_TIMEOUT,
	PATH_TERMINAL,
	PATH_STOPPED,
	PATH_LOCK,
	PATH_LOCK_TRIED,
	PATH_AWAITED,
	PATH_HELD,
	PATH_OUTSIDE,
	PATH_KERNEL,
	PATH_SIGNAL,
	PATH_INTERRUPT,
	PATH_SEVERAL,
	PATH_ENDING,
	PATH_UNENDED,
	PATH_UNBORN,
	PATH_CYCLE,
	PATH_UNKNOWN,
	PATH_KINDS,
};

struct path_kind_facts {
	const char *name; /* in JSON */
	const char *phrase; /* for people; the detail and the process follow */
	enum timeline_sum sum; /* in the timeline */
	bool works; /* a thread that does this brings the job on: a poller may wait for it */
};

extern const struct path_kind_facts path_kinds[PATH_KINDS];

/* What the process of a leaf is for the root. */
enum path_role {
	PATH_OWN, /* the root, or a process in charge: one that it started, and waited for */
	PATH_WORKER, /* serves one in charge: it ends waits of it while both live, as loaders do */
	PATH_CHILD, /* one of several short programs that one in charge has executed one after the other */
	PATH_ROLES,
};

extern const char *const path_roles[PATH_ROLES];

/* What the leaf's thread does by its own words: the innermost of its regions (docs/regions.md). */
enum path_doing {
	PATH_DOES_ANYTHING, /* it does not say */
	PATH_STARTS_LOADERS,
	PATH_FETCHES, /* waits for a batch, and takes it over */
	PATH_BATCHES, /* reads and collates one */
	PATH_COMPUTES,
	PATH_SAVES,
	PATH_LOADS,
	PATH_TALKS, /* to other ranks */
	PATH_DOINGS,
};

/* Names in JSON, and words for people; those of PATH_DOES_ANYTHING are NULL and "". */
extern const struct path_doing_facts {
	const char *name, *words;
} path_does[PATH_DOINGS];

/* Two leaves with equal members are one part of the path. */
struct path_leaf {
	enum path_kind kind;
	enum path_role role;
	enum path_doing doing;
	uint32_t process; /* the name of the thread's process; 0: not known */
	uint32_t detail; /* a name: of a file, a remote end, a call, a process outside the job; of a wait for a CPU, how
			    many of the CPUs the thread might use, if not all; 0: none */
	bool thread; /* of a thread that is not the process's first */
	bool held; /* while the thread held a lock on a file that the one before it waited for */
	bool rank; /* of a rank that others wait for, or of what serves it */
	bool gil; /* while the thread held Python's lock, which the one before it waited for */
	bool starting; /* while its process loaded programs and packages, before its data */
	bool open; /* a wait that had not ended when the trace did, or at the moment */
	bool inferred; /* a timer ended the wait: this is what other threads did meanwhile */
};

/* Whether a leaf of KIND is a wait for a disk, or for what serves files in its place. */
static inline bool path_is_storage(enum path_kind kind)
{
	return kind >= PATH_DISK_READ && kind <= PATH_DISK_FAULT;
}

/* Whether a leaf of KIND is of a thread that could run, and had no CPU. */
static inline bool path_could_run(enum path_kind kind)
{
	return kind == PATH_RUNQ || kind == PATH_THROTTLED;
}

/* Returns the leaf's key for a table: different leaves have different keys. */
uint64_t path_leaf_key(const struct path_leaf *leaf);

#endif
