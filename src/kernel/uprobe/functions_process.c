/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The libraries of a process are in /proc/PID/maps, and their files are opened by /proc/PID/map_files: that is the
 * mapped file itself, also where it has been removed or replaced.
 */
#include "kernel/uprobe/functions_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "base/util.h"
#include "host/mapping.h"
#include "host/process.h"
#include "host/stall/async_call.h"
#include "kernel/tracer.h"
#include "kernel/uprobe/uprobe.h"
#include "trace/probe.h"

#define MAPS_BYTES_MAX (32UL << 20)
#define MAPS_MS 500
#define AGAIN_NS NSEC_PER_SEC /* new libraries of old processes are looked for so often */

static bool link_add(struct functions *functions, const struct library *library, const struct library_function *fn,
		     const char *program, bool returns, pid_t pid)
{
	const struct uprobe_on on = { .fd = library->fd, .offset = fn->offset, .returns = returns, .pid = pid };
	const struct bpf_program *prog = bpf_object__find_program_by_name(fn->object->obj, program);
	struct bpf_link *link = prog && functions->n_links < LINKS_MAX ? uprobe_attach(prog, &on) : NULL;

	functions_end_if_abandoned(functions);
	if (!link) {
		util_count(&functions->counts.failed, 1);
		return false;
	}
	functions->links[functions->n_links++] = (struct link){ link, pid };
	return true;
}

/* The return first: what has begun with a probe ends with one. */
static void library_attach(struct functions *functions, struct attached *attached, const struct library *library,
			   bool needs_ends)
{
	for (unsigned int i = 0; i < library->n; i++) {
		const struct probe_function *is = library->v[i].is;

		if (is->needs_ends != needs_ends || (needs_ends && !attached->n_ends))
			continue;
		if (is->ends && !link_add(functions, library, &library->v[i], is->ends, true, attached->pid))
			continue;
		attached->n_ends +=
			link_add(functions, library, &library->v[i], is->begins, false, attached->pid) && is->ends;
	}
}

static bool is_seen(struct attached *attached, const struct mapping *mapping)
{
	for (unsigned int i = 0; i < attached->n_seen; i++)
		if (attached->seen[i].ino == mapping->ino && attached->seen[i].major == mapping->major &&
		    attached->seen[i].minor == mapping->minor)
			return true;
	if (attached->n_seen == SEEN_MAX)
		return true;
	attached->seen[attached->n_seen].ino = mapping->ino;
	attached->seen[attached->n_seen].major = mapping->major;
	attached->seen[attached->n_seen++].minor = mapping->minor;
	return false;
}

/* A process can lock its memory map, and the kernel then lets nobody read it: so a thread of its own reads. */
struct maps_read {
	struct async_call call;
	pid_t pid;
	char *text;
	int r;
};

static void maps_read(void *ctx)
{
	struct maps_read *m = ctx;

	m->r = process_text(m->pid, "maps", MAPS_BYTES_MAX, &m->text, NULL);
}

/* Reads the mappings of PID. Returns 0 or -errno; -ETIMEDOUT: it does not let us, and the thread is left alone. */
static int maps_get(pid_t pid, char **ret)
{
	struct maps_read *read = calloc(1, sizeof(*read));
	int r;

	if (!read)
		return -ENOMEM;
	*read = (struct maps_read){ .call = ASYNC_CALL_NONE, .pid = pid };
	r = async_call_begin(&read->call, maps_read, read);
	if (!r && !async_call_wait_unheld(&read->call, MAPS_MS))
		return -ETIMEDOUT;
	*ret = read->text;
	r = r ?: read->r;
	async_call_free(&read->call);
	free(read);
	return r;
}

/* It has no probes. */
static void process_locked(struct functions *f, struct attached *a)
{
	a->refused = true;
	util_count(&f->counts.failed, 1);
	functions_add_line(f, util_fmt("process %d has no probes: its mappings cannot be read, as its memory is locked",
				       a->pid));
}

/* Attaches to what ATTACHED has mapped since the last look. */
static void process_look(struct functions *functions, struct attached *attached)
{
	struct library *found[SEEN_MAX];
	unsigned int before = functions->n_links, n = 0;
	autofree char *maps = NULL;
	char *line, *next;
	int r;

	r = maps_get(attached->pid, &maps);
	functions_end_if_abandoned(functions);
	if (r == -ETIMEDOUT)
		process_locked(functions, attached);
	if (r < 0)
		return;
	for (line = maps; n < SEEN_MAX && line && *line; line = next) {
		struct mapping m;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!mapping_parse(line, &m) || !m.code || !m.ino || *m.path != '/')
			continue;
		if (!functions_want(functions, mapping_name(&m)) || is_seen(attached, &m))
			continue;
		found[n] = functions_library(functions, attached->pid, &m);
		n += found[n] != NULL;
	}
	for (unsigned int i = 0; i < n; i++)
		library_attach(functions, attached, found[i], false);
	for (unsigned int i = 0; i < n; i++)
		library_attach(functions, attached, found[i], true);
	if (!before && !functions->n_links && !*functions->error)
		snprintf(functions->error, sizeof(functions->error),
			 "process %d has no library with one of the functions that can have probes", attached->pid);
}

struct attached *functions_process(struct functions *functions, pid_t pid)
{
	for (unsigned int i = 0; i < PROCESSES_MAX; i++)
		if (functions->processes[i].pid == pid)
			return &functions->processes[i];
	return NULL;
}

/*
 * From Linux 6.11 on a probe on a return makes a system call on x86-64. Until about 6.14 a filter that does not know it
 * may refuse it, and that ends the process. Which kernels let it pass in any case is not known here.
 */
static bool returns_may_end(struct functions *f, pid_t pid)
{
	autofree char *status = NULL;
	unsigned long long mode = 0;

	if (!f->t->returns_call || process_text(pid, "status", PROCESS_TEXT_MAX, &status, NULL) < 0)
		return false;
	process_numbers(status, "\nSeccomp:\t", 10, &mode, 1);
	return mode;
}

static void process_refuse(struct functions *f, const struct attached *a)
{
	util_count(&f->counts.failed, 1);
	snprintf(f->error, sizeof(f->error),
		 "process %d has a filter of system calls (seccomp), and so no probes: from Linux 6.11 on "
		 "one on a return makes a system call, and a filter that refuses it ends the process; start the job by "
		 "dltraced",
		 a->pid);
	functions_add_line(f, util_fmt("%s", f->error));
}

void functions_meet(void *ctx, pid_t pid)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct functions *functions = ctx;
	struct attached *attached = functions_process(functions, pid);
	struct process p;
	unsigned int before;

	if (pid == functions->but || (attached && now_ns < attached->looked_ns + AGAIN_NS) || process_read(&p, pid) < 0)
		return;
	if (!attached && functions->began &&
	    !(p.ppid && functions_process(functions, p.ppid))) /* 0: a parent in another PID namespace */
		return;
	if (!attached)
		attached = functions_process(functions, 0);
	if (!attached) {
		util_count(&functions->counts.failed, !functions->full);
		functions->full = true;
		return;
	}
	before = attached->pid && attached->start_ticks == p.start_ticks ? attached->n_seen : 0;
	if (!attached->pid || attached->start_ticks != p.start_ticks)
		*attached = (struct attached){ .pid = pid, .start_ticks = p.start_ticks };
	attached->looked_ns = now_ns;
	if (attached->refused)
		return;
	attached->refused = returns_may_end(functions, pid);
	if (attached->refused)
		process_refuse(functions, attached);
	else
		process_look(functions, attached);
	if (!before && attached->n_seen)
		util_count(&functions->counts.processes, 1);
}
