/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/target.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/log.h"
#include "base/util.h"
#include "host/cgroup/container.h"
#include "host/cgroup/container_wait.h"
#include "host/rights/owner.h"
#include "host/stall/process_reader.h"
#include "kernel/snapshot.h"
#include "kernel/tracer.h"
#include "os/loop.h"

/* --- before the load -------------------------------------------------------------------------- */

static int resolve_pid(struct targets *ts, pid_t pid, char *error, size_t size)
{
	struct process *process = &ts->roots[ts->n_roots];
	pid_t tgid = process_of_thread(pid);
	int r = tgid < 0 ? tgid : process_read(process, tgid);
	const char *why = r == -ENOENT ? "no such process" : strerror(-r);

	if (!r && tgid == getpid())
		why = "dltraced itself cannot be traced", r = -EINVAL;
	else if (!r && process->kernel)
		why = "a kernel thread makes no system calls", r = -EINVAL;
	if (r < 0)
		snprintf(error, size, "--pid %d: %s", pid, why);
	else
		ts->n_roots++;
	return r;
}

int targets_add(struct targets *ts, int pidfd, char *error, size_t size)
{
	pid_t pid = owner_pidfd_pid(pidfd);
	int r = pid < 0 ? pid : resolve_pid(ts, pid, error, size);

	if (!r && owner_pidfd_ended(pidfd)) /* if not, the PID has not been reused up to here */
		r = -ESRCH;
	if (r == -ESRCH || pid < 0)
		snprintf(error, size, "--pid: the process has ended");
	return r;
}

static const char *why_no_cgroup(int r)
{
	if (r == -ENOENT)
		return "not in a cgroup hierarchy that is mounted here";
	return r == -EINVAL ? "a cgroup that does not exist yet cannot be named with . or .." : strerror(-r);
}

/* NR: the place of PATH among the options, from 1. */
static int resolve_cgroup(struct targets *ts, const struct cgroup_mounts *mounts, const char *path, uint8_t nr,
			  char *error, size_t size)
{
	unsigned int before = ts->cgroups.n;
	struct dlt_cgroup_key key;
	int r = cgroup_find(&ts->cgroups, mounts, path);

	if (!r && ts->cgroups.n == before)
		r = -ENOENT;
	if (r < 0) {
		snprintf(error, size, "--cgroup %s: %s", path, why_no_cgroup(r));
		return r;
	}
	for (unsigned int i = before; i < ts->cgroups.n; i++) {
		ts->cgroups.items[i].nr = nr;
		ts->cgroup_there[nr - 1] |= !cgroup_key(&ts->cgroups.items[i], &key);
	}
	if (!ts->cgroup_there[nr - 1])
		log_warn("--cgroup %s does not exist yet: the trace waits for it (if the name is wrong, end the trace)",
			 path);
	return 0;
}

static int resolve_container(struct targets *ts, const struct cgroup_mounts *m, const char *name, char *error,
			     size_t size)
{
	pid_t pid;
	int r = container_find(&ts->cgroups, &pid, m, name, -1, error, size);

	if (!r && pid)
		r = resolve_pid(ts, pid, error, size);
	return r;
}

/* Returns the setting whose limit the error R of inotify is about. */
static const char *setting_of(int r)
{
	if (r == -ENOSPC)
		return " (fs.inotify.max_user_watches)";
	return r == -EMFILE ? " (fs.inotify.max_user_instances)" : "";
}

/* Finds the containers, and waits for those that do not exist yet. The watch is opened first, so that none is missed.
 */
static int resolve_containers(struct targets *ts, const struct cgroup_mounts *cgroup_mounts,
			      const struct config_list *names, char *error, size_t size)
{
	struct cgroup_mounts mounts;
	int r = cgroup_mounts_read(&mounts), watched = r < 0 ? r : container_wait_open(&ts->wait, &mounts);

	for (unsigned int i = 0; i < names->n; i++) {
		if (!strcmp(names->items[i], "new"))
			continue;
		r = resolve_container(ts, cgroup_mounts, names->items[i], error, size);
		if (r < 0 && r != -ESRCH)
			return r;
		ts->container_there[i] = !r;
		if (!r)
			continue;
		if (watched < 0) {
			size_t len = strlen(error);

			snprintf(error + len, size - len, ", and cannot be waited for: %s%s", strerror(-watched),
				 setting_of(watched));
			return watched;
		}
		log_warn("%s: the trace waits for it (if the name is wrong, end the trace)", error);
		container_wait_for(ts->wait, names->items[i]);
	}
	if (ts->wait && !container_wait_count(ts->wait))
		container_wait_close(TAKE_PTR(ts->wait));
	return 0;
}

static bool has_names(const struct config_list *containers)
{
	for (unsigned int i = 0; i < containers->n; i++)
		if (strcmp(containers->items[i], "new"))
			return true;
	return false;
}

/* The user may mean a container's, which has this number only inside of it. */
static void warn_of_init(const struct config *cfg)
{
	for (unsigned int i = 0; i < cfg->n_pids; i++) {
		if (cfg->pids[i] != 1)
			continue;
		log_warn("--pid 1 is the first process of this machine, from which all others descend: all of them are "
			 "traced, as with --all (the first process of a container has another number here: --container "
			 "NAME)");
		return;
	}
}

int targets_resolve(struct targets *ts, const struct config *cfg, char *error, size_t size)
{
	struct cgroup_mounts mounts = {};
	int r = 0;

	*ts = (struct targets){ .all = cfg->all, .cfg = cfg };
	if (cfg->cgroups.n || cfg->containers.n) {
		r = cgroup_mounts_read(&mounts);
		if (r < 0)
			snprintf(error, size, "finding cgroups: %s", strerror(-r));
	}
	for (unsigned int i = 0; !r && i < cfg->n_pids; i++)
		r = resolve_pid(ts, cfg->pids[i], error, size);
	for (unsigned int i = 0; !r && i < cfg->cgroups.n; i++)
		r = resolve_cgroup(ts, &mounts, cfg->cgroups.items[i], (uint8_t)(i + 1), error, size);
	if (!r && has_names(&cfg->containers))
		r = resolve_containers(ts, &mounts, &cfg->containers, error, size);
	cgroup_mounts_free(&mounts);
	if (!r)
		warn_of_init(cfg);
	return r;
}

void targets_free(struct targets *ts)
{
	container_wait_close(TAKE_PTR(ts->wait));
	cgroup_list_free(&ts->cgroups);
	snapshot_close(ts->snapshot);
	ts->snapshot = NULL;
}

/* --- joining the target ----------------------------------------------------------------------- */

struct join {
	const struct targets *ts;
	struct tracer *tracer;
	struct snapshot *snapshot; /* NULL: no rows yet, processes are only followed */
	uint64_t *joined; /* by PID: the start time of the process that joined */
	unsigned int added;
};

/*
 * Adds PROCESS. Does nothing where PROCESS is in the target already, where PROCESS has joined before and is ending
 * (which may take long), or where another process has its PID by now. Returns 0 or -errno.
 */
static int join(struct join *j, const struct process *process)
{
	struct process now;
	char why[128];

	if (process->kernel || (uint32_t)process->pid >= j->tracer->cfg.max_tgid ||
	    tracer_target_has(j->tracer, process->pid) || j->joined[process->pid] == process->start_ticks)
		return 0;
	j->joined[process->pid] = process->start_ticks;
	tracer_target_add(j->tracer, process->pid);
	/* checked only after it was added: from then on the kernel side notices when it executes another program */
	if (process_read(&now, process->pid) < 0 || now.start_ticks != process->start_ticks ||
	    (j->ts->owned && !owner_is(process->pid, &j->ts->owner, why, sizeof(why)))) {
		tracer_target_remove(j->tracer, process->pid);
		return 0;
	}
	j->added++;
	return j->snapshot ? snapshot_want(j->snapshot, process->pid) : 0;
}

/* Whether P is dltraced, its client, or a child of one: a helper. (The workload, also a child, is added elsewhere.) */
static bool is_ours(const struct join *j, const struct process *p)
{
	pid_t client = j->ts->client;

	return p->pid == getpid() || p->ppid == getpid() || process_reader_is(p->pid, p->ppid) ||
	       (client && (p->pid == client || p->ppid == client));
}

/* Adds children of target processes, until a pass over all processes finds no more: the fork hook adds later ones. */
static int join_descendants(struct join *j)
{
	unsigned int before;
	int r = 0;

	do {
		autofree struct process *list = NULL;
		unsigned int round;
		size_t n = 0;

		before = j->added;
		r = process_list(&list, &n);
		do {
			round = j->added;
			for (struct process *p = list; !r && p < list + n; p++)
				if (tracer_target_has(j->tracer, p->ppid) && !is_ours(j, p))
					r = join(j, p);
		} while (!r && j->added > round);
	} while (!r && j->added > before);
	return r;
}

static int join_task(void *ctx, pid_t pid)
{
	struct process p;
	struct join *j = ctx;

	/* a threaded cgroup lists threads */
	pid = process_of_thread(pid);
	return pid < 0 || process_read(&p, pid) < 0 || is_ours(j, &p) ? 0 : join(j, &p);
}

static int join_cgroup(void *ctx, const char *dir)
{
	return cgroup_tasks(dir, join_task, ctx);
}

/*
 * Adds the cgroups and their processes. Once the tracer knows a cgroup, it follows moves into it: so the passes, which
 * go on until one finds nothing new, miss no process.
 */
static int join_cgroups(struct join *join, const struct cgroup_list *list)
{
	unsigned int before;
	int r = 0;

	for (unsigned int i = 0; !r && i < list->n; i++) {
		struct dlt_cgroup_key key;

		/* awaited, even if it exists: it may be made just now, or be removed and made again */
		r = tracer_cgroup_await(join->tracer, &list->items[i].path, list->items[i].nr);
		if (!r && !cgroup_key(&list->items[i], &key))
			r = tracer_cgroup_add(join->tracer, &key);
	}
	do {
		before = join->added;
		for (unsigned int i = 0; !r && i < list->n; i++)
			r = cgroup_walk(list->items[i].dir, join_cgroup, join);
	} while (!r && join->added > before);
	return r;
}

/*
 * Requests snapshot rows of the processes that have joined since tracer_follow(). None is left out; but as rows are on
 * already, a process that joins just now may have two rows.
 */
static int want_followed(struct join *j)
{
	int r = 0;

	for (uint32_t pid = 1; !r && pid < j->tracer->cfg.max_tgid; pid++)
		if (tracer_target_has(j->tracer, (pid_t)pid))
			r = snapshot_want(j->snapshot, (pid_t)pid);
	return r;
}

static int join_all(struct join *j, const struct targets *ts)
{
	int r = 0;

	if (ts->all)
		return snapshot_want(j->snapshot, 0);
	if (ts->followed)
		r = want_followed(j);
	if (ts->owned) /* targets_enter() added them */
		return r;
	for (unsigned int i = 0; !r && i < ts->n_roots; i++)
		r = join(j, &ts->roots[i]);
	if (!r && ts->n_roots)
		r = join_descendants(j);
	return r < 0 ? r : join_cgroups(j, &ts->cgroups);
}

static int join_with_snapshot(struct tracer *t, const struct targets *ts)
{
	autofree uint64_t *joined = calloc(t->cfg.max_tgid, sizeof(*joined));
	struct join j = { .ts = ts, .tracer = t, .snapshot = ts->snapshot, .joined = joined };
	int r = joined ? join_all(&j, ts) : -ENOMEM, taken = snapshot_take(j.snapshot);

	return r < 0 ? r : taken;
}

int targets_prepare(struct targets *ts, struct tracer *t, bool delayed)
{
	bool later = delayed || ts->wait;

	ts->followed = delayed || ts->owned;
	return ts->all || ts->n_roots || ts->cgroups.n || later ? snapshot_open(&ts->snapshot, t) : 0;
}

/* Adds PROCESS, a root or the workload, which must be OWNER's. Returns 0, or -errno with the reason in ERROR. */
static int enter(struct join *j, const struct process *process, char *error, size_t size)
{
	char why[128];
	int r;

	if (!owner_is(process->pid, &j->ts->owner, why, sizeof(why))) {
		snprintf(error, size, "process %d cannot be traced: %s", process->pid, why);
		return -EPERM;
	}
	r = join(j, process);
	if (r < 0 || tracer_target_has(j->tracer, process->pid))
		return r;
	snprintf(error, size, "process %d cannot be traced: it has ended, or belongs to another user now",
		 process->pid);
	return -ESRCH;
}

int targets_enter(struct targets *ts, struct tracer *tracer, char *error, size_t size)
{
	autofree uint64_t *joined = calloc(tracer->cfg.max_tgid, sizeof(*joined));
	struct join j = { .ts = ts, .tracer = tracer, .joined = joined };
	struct process workload;
	int r = joined ? 0 : -ENOMEM;

	*error = '\0';
	for (unsigned int i = 0; !r && i < ts->n_roots; i++)
		r = enter(&j, &ts->roots[i], error, size);
	if (!r && ts->n_roots)
		r = join_descendants(&j);
	if (!r && ts->workload)
		r = process_read(&workload, ts->workload) ?: enter(&j, &workload, error, size);
	if (r < 0 && !*error)
		snprintf(error, size, "cannot join the target: %s", strerror(-r));
	return r;
}

int targets_apply(struct targets *ts, struct tracer *t, char *error, size_t size)
{
	int r = ts->snapshot ? join_with_snapshot(t, ts) : 0;

	if (r < 0)
		snprintf(error, size, "cannot join the target: %s", strerror(-r));
	return r;
}

/* --- later targets ------------------------------------------------------------------------------ */

static int join_found(const struct targets *ts, const struct container_found *f)
{
	struct targets found = { .cgroups = f->cgroups, .snapshot = ts->snapshot };
	int r = 0;

	if (f->pid) {
		r = process_read(&found.roots[0], f->pid);
		found.n_roots = !r;
	}
	return r < 0 ? r : join_with_snapshot(ts->tracer, &found);
}

void targets_await_end(struct targets *ts, struct loop *loop)
{
	if (!ts->wait)
		return;
	loop_del(loop, container_wait_fd(ts->wait));
	container_wait_close(TAKE_PTR(ts->wait));
}

static int on_container(void *ctx, int fd, uint32_t events)
{
	struct targets *ts = ctx;
	struct container_found *found = container_wait_take(ts->wait);
	int r = found ? join_found(ts, found) : 0;

	for (unsigned int i = 0; found && i < ts->cfg->containers.n; i++)
		ts->container_there[i] |= ts->cfg->containers.items[i] == found->name;
	if (found && r < 0)
		log_warn("--container %s cannot be joined: %s", found->name, strerror(-r));
	else if (found)
		log_info("--container %s is there: traced from now on", found->name);
	if (found && --ts->awaited == 0) /* the last: end the waiting thread, which has all of root's rights */
		targets_await_end(ts, ts->loop);
	container_found_free(found);
	return 0;
}

int targets_await(struct targets *ts, struct tracer *tracer, struct loop *loop)
{
	int r;

	if (!ts->wait)
		return 0;
	ts->tracer = tracer;
	ts->loop = loop;
	ts->awaited = container_wait_count(ts->wait);
	r = loop_add(loop, container_wait_fd(ts->wait), EPOLLIN, on_container, ts);
	return r < 0 ? r : container_wait_start(ts->wait);
}

/* --- at the end --------------------------------------------------------------------------------- */

static __attribute__((format(printf, 3, 4))) void add_missing(char *text, size_t size, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	if (len)
		len += (size_t)snprintf(text + len, size - len, ", ");
	if (len >= size)
		return;
	va_start(ap, fmt);
	vsnprintf(text + len, size - len, fmt, ap);
	va_end(ap);
}

static bool container_came(const struct targets *ts, const struct tracer *t, unsigned int i)
{
	return strcmp(ts->cfg->containers.items[i], "new") ? ts->container_there[i] : tracer_new_containers(t) > 0;
}

void targets_missing(const struct targets *ts, const struct tracer *tracer, char *text, size_t size)
{
	const struct config_list none = { 0 };
	const struct config_list *cgroups = ts->cfg ? &ts->cfg->cgroups : &none,
				 *containers = ts->cfg ? &ts->cfg->containers : &none;

	*text = '\0';
	for (unsigned int i = 0; i < cgroups->n; i++)
		if (!ts->cgroup_there[i] && !tracer_cgroup_came(tracer, (uint8_t)(i + 1)))
			add_missing(text, size, "--cgroup %s", cgroups->items[i]);
	for (unsigned int i = 0; i < containers->n; i++)
		if (!container_came(ts, tracer, i))
			add_missing(text, size,
				    strcmp(containers->items[i], "new") ? "--container %s" :
									  "a new container (--container %s)",
				    containers->items[i]);
}
