/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets other than the workload: processes, cgroups and containers that the user names, found
 * before the load and joined to the target once process life is traced. Control plane. Logs one
 * line per cgroup or container that is waited for, and one when a container has come; the workload's
 * tree and "new" containers are the BPF side's.
 */
#ifndef SESSION_TARGET_H
#define SESSION_TARGET_H

#include <stddef.h>
#include <sys/types.h>

#include "host/cgroup.h"
#include "host/process.h"
#include "host/rights/owner.h"
#include "trace/config.h"

struct container_wait;
struct loop;
struct snapshot;
struct tracer;

struct targets {
	bool all;
	struct process roots[2 * CONFIG_LIST_MAX]; /* --pid, and containers that have no cgroup */
	unsigned int n_roots;
	struct cgroup_list cgroups;
	bool followed; /* --delay: there are processes in the target that have no rows yet */
	struct snapshot *snapshot; /* NULL: not needed */
	struct container_wait *wait; /* NULL: for none */
	unsigned int awaited;	     /* how many have not come */
	struct tracer *tracer;	     /* of targets_await() */
	struct loop *loop;
	bool owned;		     /* OWNER, a user without rights, reads the trace: */
	struct owner owner;	     /* all that joins must be this user's alone */
	pid_t workload, client;	     /* where OWNED: what joins too; who asked, and never joins. 0: none */
};

/*
 * Find what CFG names: its processes are there; cgroups and containers may be yet to be made.
 * 0, or -errno with one line in ERROR. Needs no tracer and changes nothing.
 */
int targets_resolve(struct targets *ts, const struct config *cfg, char *error, size_t size);

/*
 * After tracer_load(): what takes long is done here, so that joining does not have to wait for it.
 * DELAYED: tracer_follow() will be called. 0 or -errno.
 */
int targets_prepare(struct targets *ts, struct tracer *t, bool delayed);

/* Add the process of PIDFD to the roots. 0, or -errno with one line in ERROR. */
int targets_add(struct targets *ts, int pidfd, char *error, size_t size);

/*
 * Where OWNED, after tracer_follow() and before tracer_attach(): whoever is to join does so while no row
 * is written, so that none tells of a process that turns out to be somebody else's. 0, or -errno with
 * one line in ERROR.
 */
int targets_enter(struct targets *ts, struct tracer *t, char *error, size_t size);

/*
 * After tracer_attach(), so that nobody's child slips through: add the processes with their
 * descendants, the cgroups with what is in them, and write snapshot rows for all that was added,
 * here or since tracer_follow().
 * 0, or -errno with one line in ERROR.
 */
int targets_apply(struct targets *ts, struct tracer *t, char *error, size_t size);

/*
 * From now on containers that were not there join as they come, from LOOP; when the last has, nothing is
 * awaited any more (wait is NULL). 0 or -errno.
 */
int targets_await(struct targets *ts, struct tracer *t, struct loop *loop);
void targets_await_end(struct targets *ts, struct loop *loop);

void targets_free(struct targets *ts);

#endif
