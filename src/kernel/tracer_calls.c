/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls: which backend serves which probe. Tried on the kernel, in the order of backend_rank(); each
 * probe that a backend does not serve falls back to the next.
 */
#include "kernel/tracer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <bpf/btf.h>

#include "base/util.h"
#include "kernel/preempt.h"
#include "trace/probe_mask.h"

/* Why PROBE does not use backend B. */
static void note_why(struct tracer *t, unsigned int probe, enum backend b, const char *why)
{
	char *before = t->why[probe];

	t->why[probe] = util_fmt("%s%s%s: %s", before ? before : "", before ? "; " : "", backend_kinds[b].form, why);
	free(before);
}

/* Note the reason for all of MASK. */
static void note_why_all(struct tracer *t, probe_mask mask, enum backend b, const char *why)
{
	for (unsigned int p = 1; p < DLT_PROBES; p++)
		if (mask >> p & 1)
			note_why(t, p, b, why);
}

/* Remove PROBE from the dispatchers from FIRST on: it falls back. */
static void dispatchers_remove(struct tracer *t, unsigned int first, unsigned int probe)
{
	for (unsigned int i = first; i < t->n_dispatchers; i++)
		dispatcher_remove(&t->dispatchers[i], probe);
}

static int share(void *ctx, struct bpf_object *obj)
{
	return tracer_share_maps(ctx, obj, 0);
}

/* One dispatcher for the calls of MASK whose functions have PROTO. Probes that fail are removed from *MASK. */
static void dispatcher_make(struct tracer *tracer, enum backend b, int proto, unsigned int first, probe_mask *mask)
{
	struct dispatcher *dispatcher = &tracer->dispatchers[tracer->n_dispatchers];
	probe_mask failed = 0;
	char why[128];

	if (tracer->n_dispatchers == TRACER_DISPATCHERS_MAX) {
		note_why_all(tracer, *mask, b, "too many backends at the same time");
		failed = *mask;
	} else {
		*dispatcher = (struct dispatcher){
			.number = ++tracer->n_dispatchers,
			.backend = b,
			.proto = proto,
			.enrich = tracer->enrich,
			.funcs = tracer->funcs,
			.cfg = tracer->cfg,
			.kernel = &tracer->kernel,
		};
		dispatcher_init(dispatcher);
		for (unsigned int p = 1; p < DLT_PROBES; p++) {
			int r = *mask >> p & 1 ? dispatcher_add(dispatcher, p, share, tracer) : 0;

			if (!r)
				continue;
			snprintf(why, sizeof(why), "the kernel refused its programs (run with -v for why): %s",
				 strerror(-r));
			note_why(tracer, p, b, why);
			failed |= PROBE_BIT(p);
		}
		if (dispatcher->probes && dispatcher_load(dispatcher, share, tracer) < 0) {
			note_why_all(tracer, dispatcher->probes, b, dispatcher->error);
			failed |= dispatcher->probes;
		}
	}
	for (unsigned int p = 1; p < DLT_PROBES; p++)
		if (failed >> p & 1)
			dispatchers_remove(tracer, first, p);
	*mask &= ~failed;
}

/* Load the probes of MASK for backend B; returns those that it does not serve. */
static probe_mask backend_load(struct tracer *tracer, enum backend b, probe_mask mask)
{
	unsigned int first = tracer->n_dispatchers;
	probe_mask left = mask, served = 0;
	int protos[4] = {};
	unsigned int n = 0;

	if (!backend_kinds[b].exit_by_function) {
		dispatcher_make(tracer, b, 0, first, &left);
	} else {
		for (unsigned int nr = 0; nr < DLT_SYSCALLS; nr++) {
			unsigned int i = 0;

			while (i < n && protos[i] != tracer->funcs[nr].proto)
				i++;
			if (tracer->funcs[nr].name[0] && i == n && n < ARRAY_SIZE(protos))
				protos[n++] = tracer->funcs[nr].proto;
		}
		for (unsigned int i = 0; i < n; i++)
			dispatcher_make(tracer, b, protos[i], first, &left);
	}
	for (unsigned int i = first; i < tracer->n_dispatchers; i++)
		served |= tracer->dispatchers[i].probes;
	note_why_all(tracer, left & ~served, b, "none of its calls' functions is in this kernel's BTF");
	for (unsigned int p = 1; p < DLT_PROBES; p++)
		if (served >> p & 1)
			tracer->backends[p] = &backend_kinds[b];
	return mask & ~served;
}

/* Returns why B cannot be used here, or NULL. Tried once. */
static const char *backend_refused(struct tracer *t, enum backend b)
{
	char why[256];

	if (!(t->tried >> b & 1) && backend_try(b, t->kernel.btf, why, sizeof(why)) < 0)
		t->cannot[b] = strdup(why);
	t->tried |= 1U << b;
	return t->cannot[b];
}

/* libbpf has errors of its own for a missing descriptor, so the limit itself is checked. */
static int refusal(void)
{
	struct rlimit limit = {};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur < TRACER_FILES ? -EMFILE : -EOPNOTSUPP;
}

int tracer_calls_load(struct tracer *tracer, probe_mask mask, unsigned int place)
{
	for (; mask && place < tracer->n_order; place++) {
		enum backend b = tracer->order[place];

		if (backend_refused(tracer, b))
			note_why_all(tracer, mask, b, backend_refused(tracer, b));
		else
			mask = backend_load(tracer, b, mask);
	}
	for (unsigned int p = 1; p < DLT_PROBES; p++) {
		if (!(mask >> p & 1))
			continue;
		if (!(tracer->may_lack >> p & 1)) {
			snprintf(tracer->error, sizeof(tracer->error), "probe %s: %s", probes[p]->name,
				 tracer->why[p] ? tracer->why[p] : "no backend");
			return refusal();
		}
		tracer_leave_out(tracer, p, tracer->why[p] ? tracer->why[p] : "no backend");
	}
	return 0;
}

/* Is the function type PROTO's first parameter a pointer to a type that BTF does not describe? */
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
 * One pass over the kernel's types: a look-up by name is a pass of its own. Of two with one name the first
 * is taken, as in libbpf.
 */
int tracer_calls_find(struct tracer *tracer)
{
	const char *names[DLT_SYSCALLS] = {};
	unsigned int n = btf__type_cnt(tracer->kernel.btf);

	tracer->funcs = calloc(DLT_SYSCALLS, sizeof(*tracer->funcs));
	if (!tracer->funcs)
		return -ENOMEM;
	for (unsigned int p = 1; p < DLT_PROBES; p++)
		for (unsigned int c = 0; c < probes[p]->n_calls; c++) {
			const struct probe_call *call = &probes[p]->calls[c];

			if (call->nr >= 0 && call->nr < DLT_SYSCALLS)
				names[call->nr] = call->func ? call->func : call->name;
		}
	for (unsigned int id = 1; id < n; id++) {
		const struct btf_type *type = btf__type_by_id(tracer->kernel.btf, id);
		const char *name = btf_is_func(type) ? btf__name_by_offset(tracer->kernel.btf, type->name_off) : "";
		const char *stem = name;

		if (!strncmp(name, BACKEND_FUNC_PREFIX, strlen(BACKEND_FUNC_PREFIX)))
			stem += strlen(BACKEND_FUNC_PREFIX);
		else if (strncmp(name, "__do_sys_", strlen("__do_sys_")))
			continue;
		for (unsigned int nr = 0; nr < DLT_SYSCALLS; nr++) {
			struct call_func *f = &tracer->funcs[nr];

			if (!names[nr] || strcmp(names[nr], stem) || f->name[0])
				continue;
			snprintf(f->name, sizeof(f->name), "%s", name);
			f->id = (int)id;
			f->proto = (int)type->type;
			f->opaque = proto_is_opaque(tracer->kernel.btf, f->proto);
		}
	}
	return 0;
}

void tracer_calls_rank(struct tracer *tracer, uint32_t allowed, probe_mask mask)
{
	bool skips = false, others = false, mixed;
	uint32_t usable = 0;

	/* the test takes some ticks: only where the answer can change the result */
	if (preempt_is_possible()) {
		for (unsigned int b = 0; b < BACKENDS; b++)
			if (!backend_refused(tracer, b)) {
				usable |= 1U << b;
				skips |= backend_kinds[b].skips;
				others |= !backend_kinds[b].skips;
			}
	}
	mixed = skips && others;
	skips = mixed && preempt_skips_runs(&tracer->kernel);
	if (mixed && !skips)
		tracer->cfg.hold = 0; /* possible, but unused: our programs are not preempted */
	/* the hooks of process life ignore the choice of backends */
	if (skips)
		tracer->cfg.perf = DLT_PERF_TP | (usable >> BACKEND_KPROBE & 1 ? DLT_PERF_KPROBE : 0);
	for (unsigned int b = 0; skips && b < BACKENDS; b++)
		if (usable & allowed & 1U << b && backend_kinds[b].skips)
			note_why_all(tracer, mask, b, "this kernel preempts its programs and skips runs of them");
	tracer->n_order = backend_rank(allowed, skips, tracer->order);
	tracer->enrich = allowed >> BACKEND_FENTRY & 1 && !backend_refused(tracer, BACKEND_FENTRY);
	/* the cheaper one, unless it loses runs */
	if (tracer->enrich && (!skips || backend_refused(tracer, BACKEND_KPROBE)))
		tracer->cfg.func_hook = DLT_FUNC_HOOK_FENTRY;
	else if (!backend_refused(tracer, BACKEND_KPROBE))
		tracer->cfg.func_hook = DLT_FUNC_HOOK_KPROBE;
}

/* --- attachment --------------------------------------------------------------------------------- */

static unsigned int place_behind(const struct tracer *t, enum backend b)
{
	unsigned int i = 0;

	while (i < t->n_order && t->order[i] != b)
		i++;
	return i + 1;
}

/* Attach DISPATCHER's hooks. Returns its probes whose hooks fail to attach, after removing them. */
static probe_mask dispatcher_attach_all(struct tracer *tracer, struct dispatcher *dispatcher)
{
	bool shared_fails = dispatcher_attach(dispatcher, 0) < 0;
	probe_mask failed = 0;

	for (unsigned int p = 1; p < DLT_PROBES; p++) {
		if (!(dispatcher->probes >> p & 1) || (!shared_fails && dispatcher_attach(dispatcher, p) == 0))
			continue;
		note_why(tracer, p, dispatcher->backend, dispatcher->error);
		dispatchers_remove(tracer, 0, p);
		failed |= PROBE_BIT(p);
	}
	if (!dispatcher->probes)
		dispatcher_detach_all(dispatcher);
	return failed;
}

/* A probe that fails to attach falls back: its new dispatchers come after the existing ones. */
int tracer_calls_attach(struct tracer *tracer)
{
	int r = 0;

	for (unsigned int i = 0; !r && i < tracer->n_dispatchers; i++) {
		struct dispatcher *d = &tracer->dispatchers[i];
		probe_mask failed = d->probes ? dispatcher_attach_all(tracer, d) : 0;

		if (failed)
			r = tracer_calls_load(tracer, failed, place_behind(tracer, d->backend));
	}
	return r;
}
