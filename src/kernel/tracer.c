/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel side of a trace: objects with hooks of their own, and the order of loading and attaching. */
#include "kernel/tracer.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/log.h"
#include "base/util.h"
#include "host/rights/sudo_command.h"
#include "kernel/object.h"
#include "kernel/preempt.h"
#include "kernel/uring.h"
#include "trace/probe_mask.h"

#define INIT_PID_NS_INO 0xeffffffc /* PROC_PID_INIT_INO, include/linux/proc_ns.h */
#define INIT_USER_NS_INO 0xeffffffd

/* libbpf's messages, one level lower than ours: its warnings show with -v. A verifier's log is long. */
static int libbpf_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	autofree char *text = NULL;
	char *rest, *line;

	if (log_get_level() < LOG_LEVEL_DEBUG || level == LIBBPF_DEBUG || vasprintf(&text, fmt, ap) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		log_debug("%s", line);
	return 0;
}

int tracer_check(char *error, size_t size)
{
	static const char btf[] = "/sys/kernel/btf/vmlinux";
	struct bpf_insn prog[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
				   { .code = BPF_JMP | BPF_EXIT } }; /* r0 = 0 */
	char hint[PATH_MAX];
	struct stat st;
	int fd, r;

	if (access("/sys/kernel", F_OK) < 0) {
		snprintf(
			error, size,
			"/sys is not mounted, where the kernel's types (BTF) are: mount -t sysfs sysfs /sys, or give a "
			"container the host's (docker run -v /sys:/sys:ro)");
		return -ENOENT;
	}
	if (access(btf, R_OK) < 0) {
		snprintf(error, size, "%s is missing: this kernel has no BTF; it needs CONFIG_DEBUG_INFO_BTF=y", btf);
		return -ENOENT;
	}
	if (!stat("/proc/self/ns/user", &st) && st.st_ino != INIT_USER_NS_INO) {
		snprintf(error, size,
			 "this is a user namespace (a rootless container, unshare -U), whose root is not the "
			 "kernel's and may not trace: run dltraced outside of it");
		return -EPERM;
	}
	/*
	 * the kernel side's process numbers are the initial namespace's, but ours and those of our /proc
	 * are not
	 */
	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != INIT_PID_NS_INO) {
		snprintf(error, size,
			 "this is a container with its own PID namespace: "
			 "run dltraced on the host, or in a container with the host's PID namespace (docker run "
			 "--pid=host)");
		return -EOPNOTSUPP;
	}
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, "dlt_check", "GPL", prog, ARRAY_SIZE(prog), NULL);
	if (fd < 0) {
		r = -errno;
		if (r == -EPERM)
			snprintf(error, size, "not allowed to trace: run with sudo%s, or with CAP_BPF and CAP_PERFMON",
				 sudo_hint(hint, sizeof(hint)));
		else
			snprintf(error, size, "this kernel refuses BPF programs (%s)", strerror(-r));
		return r;
	}
	close(fd);
	return 0;
}

/* --- objects ------------------------------------------------------------------------------------ */

/* Returns the shared maps, as bits, of which PROBE's programs have one of their own. */
static uint32_t own_maps(const struct probe *probe)
{
	return (probe->flags & PROBE_OWN_SCRATCH ? 1U << TRACER_SCRATCH : 0) |
	       (probe->flags & PROBE_OWN_SEEN ? 1U << TRACER_SEEN : 0);
}

static int probe_try(struct tracer *tracer, unsigned int probe, const struct dlt_config *cfg)
{
	struct probe_object *object = &tracer->objects[probe];
	int r = probes[probe]->open(object, cfg, &tracer->kernel);

	if (!r)
		r = tracer_share_maps(tracer, object->obj, own_maps(probes[probe]));
	if (!r)
		r = object_load(object->skel, &tracer->kernel, NULL, NULL);
	free(tracer->why[probe]);
	tracer->why[probe] = r < 0 ? TAKE_PTR(object->why) : NULL;
	if (r < 0)
		probe_object_free(object);
	return r;
}

/* With preemption off where that is wanted, else without. */
static int probe_try_held(struct tracer *t, unsigned int probe, struct dlt_config cfg)
{
	int r = probe_try(t, probe, &cfg);

	if (r < 0 && cfg.hold) {
		cfg.hold = 0;
		r = probe_try(t, probe, &cfg);
	}
	return r;
}

/* A probe with hooks of its own. */
static int probe_load(struct tracer *tracer, unsigned int probe)
{
	struct dlt_config cfg = tracer->cfg;
	int r = probe_try_held(tracer, probe, cfg), refused = r;

	if (r < 0 && probes[probe]->plain) {
		cfg.plain = 1;
		r = probe_try_held(tracer, probe, cfg);
		if (!r)
			tracer->plain[probe] =
				util_fmt("the kernel refused a part of its programs (%s; run with -v for why), so %s",
					 strerror(-refused), probes[probe]->plain);
	}
	return r;
}

void tracer_leave_out(struct tracer *tracer, unsigned int probe, const char *why)
{
	char *before = tracer->why[probe];

	probe_object_free(&tracer->objects[probe]);
	tracer->loaded &= ~PROBE_BIT(probe);
	tracer->probes &= ~PROBE_BIT(probe);
	tracer->why[probe] = strdup(why); /* WHY may be the old text */
	free(before);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (probes[i]->needs == probe && !probes[i]->open && tracer->probes >> i & 1)
			tracer_leave_out(tracer, i, why);
}

struct load {
	struct tracer *tracer;
	unsigned int probes[DLT_PROBES], n; /* 0: io_uring requests, which are rows of other probes */
	unsigned int next; /* of these; each thread takes the next */
	int results[DLT_PROBES]; /* by probe */
};

/* The objects with hooks of their own, and io_uring's, which takes longest and comes first. */
static void *objects_load(void *load)
{
	struct load *l = load;
	struct tracer *t = l->tracer;
	unsigned int i;

	while ((i = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED)) < l->n) {
		unsigned int p = l->probes[i];

		l->results[p] = p ? probe_load(t, p) : uring_open(&t->uring, t);
	}
	return NULL;
}

static void objects_choose(struct load *l, struct tracer *t)
{
	*l = (struct load){ .tracer = t, .n = 1 };
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (t->loaded >> i & 1 && probes[i]->open && !probes[i]->n_calls)
			l->probes[l->n++] = i;
}

/* PROBE has failed with R: for the reason WHY that it knows, or if that is NULL, WHAT. Returns R, with t->error. */
static int probe_fail(struct tracer *t, int r, unsigned int probe, const char *why, const char *what)
{
	char text[128];

	snprintf(text, sizeof(text), "probe %s: %s", probes[probe]->name, what);
	tracer_fail(t, r, text);
	if (why)
		snprintf(t->error, sizeof(t->error), "probe %s: %s", probes[probe]->name, why);
	return r;
}

/* The result: 0, or -errno with t->error. */
static int objects_loaded(struct tracer *tracer, const struct load *load)
{
	for (unsigned int i = 1; i < load->n; i++) {
		unsigned int p = load->probes[i];

		if (!load->results[p])
			continue;
		probe_fail(tracer, load->results[p], p, tracer->why[p],
			   "the kernel refused its programs (run with -v for why)");
		if (!(tracer->may_lack >> p & 1) || probes[p]->flags & PROBE_LIFE)
			return load->results[p];
		tracer_leave_out(tracer, p, tracer->error);
	}
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (probes[i]->flags & PROBE_SHOWS_WRITES && tracer->loaded >> i & 1 && !tracer->plain[i])
			tracer->shared->writes_shown = true;
	tracer->shared->net_sums = tracer->loaded >> DLT_sockets & 1;
	tracer->shared->rw_sums = tracer->loaded >> DLT_vfs_rw_sums & 1;
	return 0;
}

/*
 * Are there enough descriptors? Several threads load objects: a different one would run out each time, and
 * libbpf has errors of its own for that, or goes without what it tried.
 */
static int files_suffice(struct tracer *t)
{
	struct rlimit limit = {};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur < TRACER_FILES + t->n_rings ? tracer_fail(t, -EMFILE, "programs and maps") : 0;
}

/* The facts about this kernel for programs and libbpf. */
static int kernel_look(struct tracer *tracer)
{
	int r = object_sections_register();

	if (!r)
		r = kernel_btf_load(&tracer->kernel);
	if (r < 0)
		return tracer_fail(tracer, r, "the kernel's BTF");
	tracer->cfg.ids = tracer->kernel.ids;
	tracer->returns_call =
		tracer->cfg.functions && kernel_btf_func(&tracer->kernel, "", "__x64_sys_uretprobe") >= 0;
	tracer->cfg.hold = tracer->kernel.kfuncs[DLT_KFUNC_bpf_preempt_disable] && preempt_is_possible();
	return 0;
}

int tracer_load(struct tracer *tracer, const struct tracer_options *options)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct load objects;
	probe_mask calls = 0;
	pthread_t thread;
	bool beside;
	int r;

	memset(tracer, 0, sizeof(*tracer));
	libbpf_set_print(libbpf_log);
	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* the limit for BPF memory before 5.11 */

	tracer->may_lack = options->may_lack;
	tracer->probes = options->probes;
	tracer->loaded = options->probes | probe_mask_of(PROBE_LIFE, 0);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (tracer->loaded >> i & 1 && probes[i]->needs)
			tracer->loaded |= PROBE_BIT(probes[i]->needs);
	tracer_maps_plan(tracer, options->buffer_bytes);
	tracer->cfg = (struct dlt_config){
		.n_rings = tracer->n_rings,
		.ring_bytes = (uint32_t)tracer->ring_bytes,
		.ring_reserve = (uint32_t)(tracer->ring_bytes / TRACER_RING_RESERVE),
		.self_tgid = (uint32_t)getpid(),
		.all = options->all,
		.no_args = options->no_args,
		.net_rows = options->net_rows,
		.net_names = options->net_names,
		.functions = options->functions,
		.frames = options->frames,
		.cgroups = options->cgroups || options->new_containers,
		.new_containers = options->new_containers,
		.owned = options->owned,
		.probes = options->probes,
		.owner = options->owner,
		.n_disks = options->n_disks,
		.access = options->access,
		.access_hz = options->access_hz,
		.meta_all = options->meta_all,
		.brief_ns = options->brief_ns,
	};
	memcpy(tracer->cfg.disks, options->disks, sizeof(tracer->cfg.disks));
	memcpy(tracer->cfg.watch, options->watch, sizeof(tracer->cfg.watch));
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (tracer->loaded >> i & 1 && probes[i]->n_calls)
			calls |= PROBE_BIT(i);
	r = files_suffice(tracer);
	if (!r)
		r = tracer_maps_create(tracer);
	if (!r)
		r = kernel_look(tracer);
	if (!r)
		r = tracer_calls_find(tracer);
	if (!r)
		tracer_calls_rank(tracer, options->backends ? options->backends : UINT32_MAX, calls);
	if (r < 0)
		return r;

	/* These in parallel with those of system calls; a thread that is done takes from the rest. */
	objects_choose(&objects, tracer);
	beside = !pthread_create(&thread, NULL, objects_load, &objects);
	r = tracer_calls_load(tracer, calls, 0);
	objects_load(&objects);
	if (beside)
		pthread_join(thread, NULL);
	if (!r)
		r = objects_loaded(tracer, &objects);
	return r < 0 ? r : tracer_maps_wait(tracer);
}

/* --- attachment --------------------------------------------------------------------------------- */

/* A probe without a table of calls has hooks of its own: attach all that its open hook left switched on. */
static int probe_attach(struct tracer *tracer, unsigned int probe)
{
	char what[128];
	const char *name;
	int r = 0;

	if (tracer->objects[probe].obj && !probes[probe]->n_calls)
		r = object_attach(&tracer->links, tracer->objects[probe].obj, &name);
	if (r == 0)
		return 0;
	snprintf(what, sizeof(what), "%s: cannot attach", name);
	return tracer_fail(tracer, r, what);
}

/* Those that have all of WITH and none of WITHOUT among their flags. */
static int probes_attach(struct tracer *t, unsigned int with, unsigned int without)
{
	const probe_mask mask = t->loaded & probe_mask_of(with, without);
	int r = 0;

	for (unsigned int i = 1; !r && i < DLT_PROBES; i++)
		if (mask >> i & 1)
			r = probe_attach(t, i);
	return r;
}

int tracer_follow(struct tracer *t)
{
	__atomic_store_n(&t->shared->quiet, true, __ATOMIC_SEQ_CST);
	return probes_attach(t, PROBE_LIFE, 0);
}

static bool has_sums(const struct tracer *t, unsigned int probe)
{
	return t->objects[probe].obj && probes[probe]->emit;
}

bool tracer_has_sums(const struct tracer *t)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (has_sums(t, i))
			return true;
	return false;
}

int tracer_emit(struct tracer *t, enum probe_emit when)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		struct probe_object *o = &t->objects[i];
		int r = has_sums(t, i) ? probes[i]->emit(o, when) : 0;

		if (r < 0)
			return probe_fail(t, r, i, o->why,
					  when == PROBE_EMIT_BEGIN ? "it cannot begin" : "its sums cannot be read");
	}
	return 0;
}

static bool may_be_due(const struct tracer *t, unsigned int probe)
{
	return t->objects[probe].obj && probes[probe]->emit_due;
}

bool tracer_may_be_due(const struct tracer *t)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (may_be_due(t, i))
			return true;
	return false;
}

int tracer_emit_due(struct tracer *t)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		struct probe_object *o = &t->objects[i];
		int r = may_be_due(t, i) ? probes[i]->emit_due(o) : 0;

		if (r < 0)
			return probe_fail(t, r, i, o->why, "its sums cannot be read");
	}
	return 0;
}

int tracer_attach(struct tracer *tracer)
{
	bool follows = __atomic_exchange_n(&tracer->shared->quiet, false, __ATOMIC_SEQ_CST);
	int r = follows ? 0 : probes_attach(tracer, PROBE_LIFE, 0);

	if (!r)
		r = probes_attach(tracer, 0, PROBE_LIFE);
	if (!r)
		r = uring_attach(tracer->uring, tracer);
	if (!r)
		r = tracer_calls_attach(tracer);
	kernel_btf_free(&tracer->kernel); /* nothing is loaded from here on */
	malloc_trim(0); /* loading's memory is not needed any more either: 7 MB, and freed pieces of each thread */
	return r;
}

void tracer_detach(struct tracer *t)
{
	/* at once for all: with hooks for each call the last is attached seconds after the first */
	if (t->shared)
		__atomic_store_n(&t->shared->stopping, 1, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < t->n_dispatchers; i++)
		dispatcher_detach_all(&t->dispatchers[i]);
	uring_detach(t->uring);
	object_detach(&t->links);
}

void tracer_free(struct tracer *tracer)
{
	if (!tracer->ring_bytes) /* never loaded: descriptors are 0, not -1 */
		return;
	tracer_detach(tracer);
	uring_close(tracer->uring);
	for (unsigned int i = 0; i < tracer->n_dispatchers; i++)
		dispatcher_free(&tracer->dispatchers[i]);
	for (unsigned int i = 0; i < DLT_PROBES; i++) {
		probe_object_free(&tracer->objects[i]);
		free(tracer->why[i]);
		free(tracer->plain[i]);
	}
	for (unsigned int b = 0; b < BACKENDS; b++)
		free(tracer->cannot[b]);
	kernel_btf_free(&tracer->kernel);
	free(tracer->funcs);
	tracer_maps_free(tracer);
	memset(tracer, 0, sizeof(*tracer));
}
