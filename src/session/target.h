/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets beside the workload: processes, cgroups and containers that the user names. They are found before the
 * programs are loaded, and added to the target once the life of processes is traced. Logs a line for each cgroup or
 * container that does not exist yet, and another line when a container has come. The BPF side follows the workload's
 * tree and "new" containers. Control plane.
 */
#ifndef SESSION_TARGET_H
#define SESSION_TARGET_H

#include <stddef.h>
#include <sys/types.h>

#include "host/cgroup/cgroup.h"
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
	bool followed; /* --delay or OWNED: processes have joined before rows were on, so they need snapshot rows */
	struct snapshot *snapshot; /* NULL: not needed */
	struct container_wait *wait; /* NULL: none is awaited */
	unsigned int awaited; /* how many containers have not come */
	bool cgroup_there[CONFIG_LIST_MAX], container_there[CONFIG_LIST_MAX]; /* by their place among the options */
	const struct config *cfg; /* of targets_resolve(); NULL where OWNED */
	struct tracer *tracer; /* from targets_await() */
	struct loop *loop;
	bool owned; /* OWNER, a user without rights, will read the trace */
	struct owner owner; /* where OWNED: each process that joins must be this user's alone */
	pid_t workload, client; /* where OWNED: the workload, which joins; the client, which never joins. 0: none */
};

/*
 * Finds the targets of CFG. Processes must exist; cgroups and containers may be made later. Returns 0, or -errno with
 * one line in ERROR. Needs no tracer and changes nothing on the machine.
 */
int targets_resolve(struct targets *ts, const struct config *cfg, char *error, size_t size);

/*
 * To be called after tracer_load(): opens the snapshot, if one will be needed, as that is slow. DELAYED:
 * tracer_follow() will be called. Returns 0 or -errno.
 */
int targets_prepare(struct targets *ts, struct tracer *t, bool delayed);

/* Adds the process of PIDFD to the roots. Returns 0, or -errno with one line in ERROR. */
int targets_add(struct targets *ts, int pidfd, char *error, size_t size);

/*
 * Where OWNED: adds the processes before any row is written, so that no row shows a process that turns out to be
 * another user's. To be called after tracer_follow(), before tracer_attach(). Returns 0, or -errno with one line in
 * ERROR.
 */
int targets_enter(struct targets *ts, struct tracer *tracer, char *error, size_t size);

/*
 * Adds the processes with their descendants, and the cgroups with their processes. Writes snapshot rows for all that
 * were added here or since tracer_follow(). To be called after tracer_attach(), so that no child is missed. Returns 0,
 * or -errno with one line in ERROR.
 */
int targets_apply(struct targets *ts, struct tracer *t, char *error, size_t size);

/* Lets LOOP add each awaited container when it comes; after the last, WAIT is NULL. Returns 0 or -errno. */
int targets_await(struct targets *ts, struct tracer *tracer, struct loop *loop);
void targets_await_end(struct targets *ts, struct loop *loop);

/*
 * Writes into TEXT the options, separated by commas, whose cgroup or container has never been there; "": each was.
 * TRACER is the tracer of the trace, which has ended.
 */
void targets_missing(const struct targets *ts, const struct tracer *tracer, char *text, size_t size);

void targets_free(struct targets *ts);

#endif
