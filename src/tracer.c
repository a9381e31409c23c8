/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel side's objects: loading, the tables of the dispatcher, attachment. */
#include "tracer_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "log.h"
#include "parallel.h"
#include "preempt.h"
#include "uring.h"
#include "util.h"

#define FILES_MIN 512 /* descriptors that all probes take while they load, and some to spare */
#define INIT_PID_NS_INO 0xeffffffc /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

/* libbpf speaks one level lower than we do: its warnings show with -v. A verifier's log is long. */
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
	struct bpf_insn prog[] = { { .code = 0xb7 }, { .code = 0x95 } }; /* r0 = 0; exit */
	struct stat st;
	int fd;

	if (access(btf, R_OK) < 0) {
		snprintf(error, size, "%s is missing: this kernel has no BTF; it needs CONFIG_DEBUG_INFO_BTF=y", btf);
		return -ENOENT;
	}
	/* the kernel side's process numbers are the initial namespace's, ours and those of our /proc are not */
	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != INIT_PID_NS_INO) {
		snprintf(error, size, "this is a container with process numbers of its own (a pid namespace): "
			 "run dltraced on the host, or in a container that shares them (docker run --pid=host)");
		return -EOPNOTSUPP;
	}
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, "dlt_check", "GPL", prog, ARRAY_SIZE(prog), NULL);
	if (fd < 0) {
		snprintf(error, size, errno == EPERM ?
			 "not allowed to trace: run with sudo, or give CAP_BPF and CAP_PERFMON" :
			 "this kernel refuses BPF programs (%s)", strerror(errno));
		return -errno;
	}
	close(fd);
	return 0;
}

/* --- objects ------------------------------------------------------------------------------------ */

static int share(void *ctx, struct bpf_object *obj)
{
	return tracer_share_maps(ctx, obj, 0);
}

static void object_free(struct probe_object *o)
{
	bpf_object__destroy_skeleton(o->skel);
	free(o->owner);
	*o = (struct probe_object){};
}

static int object_try(struct tracer *t, unsigned int probe, const struct dlt_config *cfg)
{
	struct probe_object *o = &t->objects[probe];
	int r = probes[probe]->open(o, cfg);

	/* what pids puts together is not for a preempting handler's use */
	if (!r)
		r = tracer_share_maps(t, o->obj, probe == DLT_pids ? 1U << TRACER_SCRATCH : 0);
	if (!r)
		r = bpf_object__load_skeleton(o->skel);
	if (r < 0)
		object_free(o);
	return r;
}

/* A probe whose hooks are its own. */
static int object_load(struct tracer *t, unsigned int probe)
{
	struct dlt_config cfg = t->cfg;
	int r = object_try(t, probe, &cfg);

	if (r < 0 && cfg.hold) {
		cfg.hold = 0;
		r = object_try(t, probe, &cfg);
	}
	return r;
}

static void leave_out(struct tracer *t, unsigned int probe, const char *why)
{
	char *before = t->why[probe];

	object_free(&t->objects[probe]);
	t->loaded &= ~(1U << probe);
	t->probes &= ~(1U << probe);
	t->why[probe] = strdup(why); /* which may be what was there before */
	free(before);
}

/* Probes to load at once: by a dispatcher, or with hooks of their own. */
struct load {
	struct tracer *tracer;
	struct dispatcher *dispatcher; /* NULL: of their own */
	unsigned int probes[DLT_PROBES], n; /* 0: requests of io_uring, which are rows of others */
	int results[DLT_PROBES]; /* by probe */
};

/*
 * Threads at once: most of a load is the verifier's time, the rest libbpf's with the kernel's BTF, of
 * which it keeps a copy for each object meanwhile, 10 MB.
 */
#define LOAD_THREADS_MIN 3
#define LOAD_THREADS_MAX 8

static unsigned int load_threads(void)
{
	return (unsigned int)MAX(LOAD_THREADS_MIN, MIN(LOAD_THREADS_MAX, get_nprocs()));
}

static void load_one(void *ctx, unsigned int i)
{
	struct load *l = ctx;
	unsigned int p = l->probes[i];

	if (!p)
		l->results[p] = uring_open(&l->tracer->uring, l->tracer);
	else
		l->results[p] = l->dispatcher ? dispatcher_add(l->dispatcher, p, share, l->tracer) :
						object_load(l->tracer, p);
}

/* Those with hooks of their own, and io_uring's, which takes longest and begins. */
static void *objects_load(void *load)
{
	struct load *l = load;

	parallel_run(load_one, l, l->n, load_threads() - 1);
	return NULL;
}

static void objects_choose(struct load *l, struct tracer *t)
{
	*l = (struct load){ .tracer = t, .n = 1 };
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (t->loaded >> i & 1 && probes[i]->open && !probes[i]->n_calls)
			l->probes[l->n++] = i;
}

/* How it went: 0, or -errno with t->error. */
static int objects_loaded(struct tracer *t, const struct load *l)
{
	char what[128];

	for (unsigned int i = 1; i < l->n; i++) {
		unsigned int p = l->probes[i];

		if (!l->results[p])
			continue;
		snprintf(what, sizeof(what), "probe %s: the kernel refused its programs (run with -v for why)",
			 probes[p]->name);
		tracer_fail(t, l->results[p], what);
		if (!t->best_effort || p == DLT_pids)
			return l->results[p];
		leave_out(t, p, t->error);
	}
	return 0;
}

/* --- system calls: a backend for each probe ------------------------------------------------------ */

/* Why PROBE does not take backend B. */
static void note_why(struct tracer *t, unsigned int probe, enum backend b, const char *why)
{
	char *before = t->why[probe];

	t->why[probe] = util_fmt("%s%s%s: %s", before ? before : "", before ? "; " : "",
				 backend_kinds[b].form, why);
	free(before);
}

/* Note why for all of MASK. */
static void note_why_all(struct tracer *t, uint32_t mask, enum backend b, const char *why)
{
	for (unsigned int p = 1; p < DLT_PROBES; p++)
		if (mask >> p & 1)
			note_why(t, p, b, why);
}

/* Take PROBE out of those dispatchers from FIRST on: it falls back. */
static void dispatchers_remove(struct tracer *t, unsigned int first, unsigned int probe)
{
	for (unsigned int i = first; i < t->n_dispatchers; i++)
		dispatcher_remove(&t->dispatchers[i], probe);
}

static bool takes_some(const struct dispatcher *d, unsigned int probe)
{
	for (unsigned int c = 0; c < probes[probe]->n_calls; c++)
		if (dispatcher_takes(d, &probes[probe]->calls[c]))
			return true;
	return false;
}

/* One dispatcher for the calls of MASK whose functions have PROTO. Probes that fail are taken out of *MASK. */
static void dispatcher_make(struct tracer *t, enum backend b, int proto, unsigned int first, uint32_t *mask)
{
	struct dispatcher *d = &t->dispatchers[t->n_dispatchers];
	struct load l = { .tracer = t, .dispatcher = d };
	uint32_t failed = 0;
	char why[128];

	if (t->n_dispatchers == TRACER_DISPATCHERS_MAX) {
		note_why_all(t, *mask, b, "too many ways at once");
		failed = *mask;
	} else {
		dispatcher_init(d, ++t->n_dispatchers, b, proto, t->funcs, &t->cfg, t->enrich);
		for (unsigned int p = 1; p < DLT_PROBES; p++)
			if (*mask >> p & 1 && takes_some(d, p))
				l.probes[l.n++] = p;
		parallel_run(load_one, &l, l.n, load_threads());
		for (unsigned int p = 1; p < DLT_PROBES; p++) {
			if (!l.results[p])
				continue;
			snprintf(why, sizeof(why), "the kernel refused its programs (run with -v for why): %s",
				 strerror(-l.results[p]));
			note_why(t, p, b, why);
			failed |= 1U << p;
		}
		if (d->probes && dispatcher_load(d, share, t) < 0) {
			note_why_all(t, d->probes, b, d->error);
			failed |= d->probes;
		}
	}
	for (unsigned int p = 1; p < DLT_PROBES; p++)
		if (failed >> p & 1)
			dispatchers_remove(t, first, p);
	*mask &= ~failed;
}

/* Load the probes of MASK for backend B; those that it does not serve are returned. */
static uint32_t backend_load(struct tracer *t, enum backend b, uint32_t mask)
{
	unsigned int first = t->n_dispatchers;
	uint32_t left = mask, served = 0;
	int protos[4] = {};
	unsigned int n = 0;

	if (!backend_kinds[b].exit_by_function) {
		dispatcher_make(t, b, 0, first, &left);
	} else {
		for (unsigned int nr = 0; nr < DLT_SYSCALLS; nr++) {
			unsigned int i = 0;

			while (i < n && protos[i] != t->funcs[nr].proto)
				i++;
			if (t->funcs[nr].name[0] && i == n && n < ARRAY_SIZE(protos))
				protos[n++] = t->funcs[nr].proto;
		}
		for (unsigned int i = 0; i < n; i++)
			dispatcher_make(t, b, protos[i], first, &left);
	}
	for (unsigned int i = first; i < t->n_dispatchers; i++)
		served |= t->dispatchers[i].probes;
	note_why_all(t, left & ~served, b, "none of its calls' functions is in this kernel's BTF");
	for (unsigned int p = 1; p < DLT_PROBES; p++)
		if (served >> p & 1)
			t->backends[p] = &backend_kinds[b];
	return mask & ~served;
}

/* Why B cannot be used here, or NULL. Tried once. */
static const char *backend_refused(struct tracer *t, enum backend b)
{
	char why[256];

	if (!(t->tried >> b & 1) && backend_try(b, t->btf, why, sizeof(why)) < 0)
		t->cannot[b] = strdup(why);
	t->tried |= 1U << b;
	return t->cannot[b];
}

/* libbpf has errors of its own for a descriptor that it did not get: too few are told by their number. */
static int refusal(void)
{
	struct rlimit limit = {};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur < FILES_MIN ? -EMFILE : -EOPNOTSUPP;
}

/* Load the probes of MASK for the best backend that loads, from place PLACE of the order on. 0 or -errno. */
static int calls_load(struct tracer *t, uint32_t mask, unsigned int place)
{
	for (; mask && place < t->n_order; place++) {
		enum backend b = t->order[place];

		if (backend_refused(t, b))
			note_why_all(t, mask, b, backend_refused(t, b));
		else
			mask = backend_load(t, b, mask);
	}
	for (unsigned int p = 1; p < DLT_PROBES; p++) {
		if (!(mask >> p & 1))
			continue;
		if (!t->best_effort) {
			snprintf(t->error, sizeof(t->error), "probe %s: %s", probes[p]->name,
				 t->why[p] ? t->why[p] : "no backend");
			return refusal();
		}
		leave_out(t, p, t->why[p] ? t->why[p] : "no backend");
	}
	return 0;
}

/* Is the function type PROTO's first parameter a pointer to something that BTF does not describe? */
static bool proto_is_opaque(const struct btf *btf, int proto)
{
	const struct btf_type *t = btf__type_by_id(btf, (uint32_t)proto);

	if (!btf_is_func_proto(t) || !btf_vlen(t))
		return true;
	t = btf__type_by_id(btf, btf_params(t)[0].type);
	while (btf_is_ptr(t) || btf_is_mod(t))
		t = btf__type_by_id(btf, t->type);
	return !btf_is_struct(t);
}

/*
 * One pass over the kernel's types: a look-up by name is a pass of its own. Of two of a name the
 * first, which is what libbpf finds too.
 */
static int funcs_find(struct tracer *t)
{
	const char *names[DLT_SYSCALLS] = {};
	unsigned int n = btf__type_cnt(t->btf);

	t->funcs = calloc(DLT_SYSCALLS, sizeof(*t->funcs));
	if (!t->funcs)
		return -ENOMEM;
	for (unsigned int p = 1; p < DLT_PROBES; p++)
		for (unsigned int c = 0; c < probes[p]->n_calls; c++) {
			const struct probe_call *call = &probes[p]->calls[c];

			if (call->nr >= 0 && call->nr < DLT_SYSCALLS)
				names[call->nr] = call->func ? call->func : call->name;
		}
	for (unsigned int id = 1; id < n; id++) {
		const struct btf_type *type = btf__type_by_id(t->btf, id);
		const char *name = btf_is_func(type) ? btf__name_by_offset(t->btf, type->name_off) : "";
		const char *stem = name;

		if (!strncmp(name, BACKEND_FUNC_PREFIX, strlen(BACKEND_FUNC_PREFIX)))
			stem += strlen(BACKEND_FUNC_PREFIX);
		else if (strncmp(name, "__do_sys_", strlen("__do_sys_")))
			continue;
		for (unsigned int nr = 0; nr < DLT_SYSCALLS; nr++) {
			struct call_func *f = &t->funcs[nr];

			if (!names[nr] || strcmp(names[nr], stem) || f->name[0])
				continue;
			snprintf(f->name, sizeof(f->name), "%s", name);
			f->id = (int)id;
			f->proto = (int)type->type;
			f->opaque = proto_is_opaque(t->btf, f->proto);
		}
	}
	return 0;
}

/* Put ALLOWED in order. MASK: the probes of system calls, to be told. */
static void backends_rank(struct tracer *t, uint32_t allowed, uint32_t mask)
{
	bool skips = false, others;
	uint32_t usable = 0;

	/* asking takes some ticks: only where the answer may change something */
	if (preempt_is_possible()) {
		for (unsigned int b = 0; b < BACKENDS; b++)
			usable |= !backend_refused(t, b) << b;
		backend_kinds_of(usable, &skips, &others);
		skips = skips && others && preempt_skips_runs();
	}
	/* the hooks of process life do not heed what is allowed */
	if (skips)
		t->cfg.perf = DLT_PERF_TP | (usable >> BACKEND_KPROBE & 1 ? DLT_PERF_KPROBE : 0);
	for (unsigned int b = 0; skips && b < BACKENDS; b++)
		if (usable & allowed & 1U << b && backend_kinds[b].skips)
			note_why_all(t, mask, b, "this kernel preempts its programs and skips runs of them");
	t->n_order = backend_rank(allowed, skips, t->order);
	t->enrich = allowed >> BACKEND_FENTRY & 1 && !backend_refused(t, BACKEND_FENTRY);
}

int tracer_load(struct tracer *t, const struct tracer_options *o)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct load objects;
	uint32_t calls = 0;
	pthread_t thread;
	bool beside;
	int r;

	memset(t, 0, sizeof(*t));
	libbpf_set_print(libbpf_log);
	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* what BPF memory counts against before 5.11 */

	t->btf = btf__load_vmlinux_btf();
	if (!t->btf)
		return tracer_fail(t, -errno, "the kernel's BTF");
	t->best_effort = o->best_effort;
	t->probes = o->probes;
	t->loaded = o->probes | 1U << DLT_pids;
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (t->loaded >> i & 1 && probes[i]->needs)
			t->loaded |= 1U << probes[i]->needs;
	tracer_maps_plan(t, o->buffer_bytes);
	t->cfg = (struct dlt_config){
		.n_rings = t->n_rings,
		.ring_bytes = (uint32_t)t->ring_bytes,
		.ring_reserve = (uint32_t)(t->ring_bytes / TRACER_RING_RESERVE),
		.self_tgid = (uint32_t)getpid(),
		.all = o->all,
		.no_args = o->no_args,
		.cgroups = o->cgroups || o->new_containers,
		.new_containers = o->new_containers,
		.direct = btf__find_by_name_kind(t->btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0,
		.hold = btf__find_by_name_kind(t->btf, "bpf_preempt_disable", BTF_KIND_FUNC) > 0 &&
			preempt_is_possible(),
		.n_disks = o->n_disks,
	};
	memcpy(t->cfg.disks, o->disks, sizeof(t->cfg.disks));
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (t->loaded >> i & 1 && probes[i]->n_calls)
			calls |= 1U << i;
	r = tracer_maps_create(t);
	if (!r)
		r = funcs_find(t);
	if (!r)
		backends_rank(t, o->backends ? o->backends : UINT32_MAX, calls);
	if (r < 0)
		return r;

	/* both at once: io_uring's object takes as long as all those of system calls */
	objects_choose(&objects, t);
	beside = !pthread_create(&thread, NULL, objects_load, &objects);
	r = calls_load(t, calls, 0);
	if (beside)
		pthread_join(thread, NULL);
	else
		objects_load(&objects);
	if (!r)
		r = objects_loaded(t, &objects);
	return r < 0 ? r : tracer_maps_wait(t);
}

/* --- attachment --------------------------------------------------------------------------------- */

static int attach(struct tracer *t, struct bpf_program *prog, struct bpf_link **link_ret)
{
	struct bpf_link *link = bpf_program__attach(prog);
	char what[128];

	if (!link) {
		snprintf(what, sizeof(what), "%s: cannot attach", bpf_program__name(prog));
		return tracer_fail(t, -errno, what);
	}
	*link_ret = link;
	return 0;
}

/* A probe without a table of calls has hooks of its own: all that its open hook left switched on. */
static int object_attach(struct tracer *t, unsigned int probe)
{
	struct bpf_program *prog;

	if (!t->objects[probe].obj || probes[probe]->n_calls)
		return 0;
	bpf_object__for_each_program(prog, t->objects[probe].obj) {
		int r;

		if (!bpf_program__autoload(prog) || !bpf_program__autoattach(prog))
			continue;
		if (t->n_links == TRACER_LINKS_MAX)
			return tracer_fail(t, -ENOSPC, probes[probe]->name);
		r = attach(t, prog, &t->links[t->n_links]);
		if (r < 0)
			return r;
		t->n_links++;
	}
	return 0;
}

static unsigned int place_behind(const struct tracer *t, enum backend b)
{
	unsigned int i = 0;

	while (i < t->n_order && t->order[i] != b)
		i++;
	return i + 1;
}

/* Attach D's hooks. Those of its probes whose hooks do not attach are taken out and returned. */
static uint32_t dispatcher_attach_all(struct tracer *t, struct dispatcher *d)
{
	bool shared_fails = dispatcher_attach(d, 0) < 0;
	uint32_t failed = 0;

	for (unsigned int p = 1; p < DLT_PROBES; p++) {
		if (!(d->probes >> p & 1) || (!shared_fails && dispatcher_attach(d, p) == 0))
			continue;
		note_why(t, p, d->backend, d->error);
		dispatchers_remove(t, 0, p);
		failed |= 1U << p;
	}
	if (!d->probes)
		dispatcher_detach_all(d);
	return failed;
}

/* What does not attach falls back: its new dispatchers come behind those there are. */
static int calls_attach(struct tracer *t)
{
	int r = 0;

	for (unsigned int i = 0; !r && i < t->n_dispatchers; i++) {
		struct dispatcher *d = &t->dispatchers[i];
		uint32_t failed = d->probes ? dispatcher_attach_all(t, d) : 0;

		if (failed)
			r = calls_load(t, failed, place_behind(t, d->backend));
	}
	return r;
}

int tracer_follow(struct tracer *t)
{
	__atomic_store_n(&t->shared->quiet, true, __ATOMIC_SEQ_CST);
	return object_attach(t, DLT_pids);
}

int tracer_attach(struct tracer *t)
{
	int r = __atomic_exchange_n(&t->shared->quiet, false, __ATOMIC_SEQ_CST) ? 0 : object_attach(t, DLT_pids);

	for (unsigned int i = 1; !r && i < DLT_PROBES; i++)
		if (i != DLT_pids && t->loaded >> i & 1)
			r = object_attach(t, i);
	if (!r)
		r = uring_attach(t->uring, t);
	return r < 0 ? r : calls_attach(t);
}

void tracer_detach(struct tracer *t)
{
	/* at once for all: with hooks for each call the last goes seconds after the first */
	if (t->shared)
		__atomic_store_n(&t->shared->stopping, 1, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < t->n_dispatchers; i++)
		dispatcher_detach_all(&t->dispatchers[i]);
	uring_detach(t->uring);
	while (t->n_links)
		bpf_link__destroy(t->links[--t->n_links]);
}

void tracer_free(struct tracer *t)
{
	if (!t->ring_bytes) /* never loaded: descriptors are 0, not -1 */
		return;
	tracer_detach(t);
	uring_close(t->uring);
	for (unsigned int i = 0; i < t->n_dispatchers; i++)
		dispatcher_free(&t->dispatchers[i]);
	for (unsigned int i = 0; i < DLT_PROBES; i++) {
		object_free(&t->objects[i]);
		free(t->why[i]);
	}
	for (unsigned int b = 0; b < BACKENDS; b++)
		free(t->cannot[b]);
	btf__free(t->btf);
	free(t->funcs);
	tracer_maps_free(t);
	memset(t, 0, sizeof(*t));
}
