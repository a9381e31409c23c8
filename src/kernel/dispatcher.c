/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/dispatcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/log.h"
#include "base/util.h"
#include "calls.skel.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "trace/probe_mask.h"

static const struct backend_kind *kind_of(const struct dispatcher *d)
{
	return &backend_kinds[d->backend];
}

static int fail(struct dispatcher *d, int r, const char *what)
{
	snprintf(d->error, sizeof(d->error), "%s: %s", what, strerror(-r));
	return r;
}

void dispatcher_init(struct dispatcher *d)
{
	for (unsigned int nr = 0; d->proto && nr < DLT_SYSCALLS; nr++)
		d->opaque |= d->funcs[nr].name[0] && d->funcs[nr].proto == d->proto && d->funcs[nr].opaque;
	d->cfg.hold &= kind_of(d)->skips; /* the others run with preemption off */
	d->cfg.tp = kind_of(d)->exit_type.type == BPF_PROG_TYPE_TRACEPOINT;
}

/* Does D serve CALL? By function: if the kernel has it, with this prototype. */
static bool serves(const struct dispatcher *d, const struct probe_call *call)
{
	if (call->nr < 0 || call->nr >= DLT_SYSCALLS)
		return false;
	if (!kind_of(d)->by_function)
		return true;
	return d->funcs[call->nr].name[0] && (!d->proto || d->funcs[call->nr].proto == d->proto);
}

static const char *enter_name(const struct dispatcher *d)
{
	return d->opaque ? "fentry_enter_opaque" : kind_of(d)->enter;
}

/* Returns the next call of PROBE that DISPATCHER serves from *I on, which it advances; NULL at the end. */
static const struct probe_call *next_call(const struct dispatcher *dispatcher, unsigned int probe, unsigned int *i)
{
	const struct probe *p = probes[probe];

	while (*i < p->n_calls) {
		const struct probe_call *call = &p->calls[(*i)++];

		if (serves(dispatcher, call))
			return call;
	}
	return NULL;
}

/* --- loading ----------------------------------------------------------------------------------- */

static bool is_begin(const struct bpf_program *prog)
{
	return !strcmp(bpf_program__section_name(prog), "call_begin");
}

/* Make PROG, at the start or at the end, one of the backend's. */
static void type_set(const struct dispatcher *d, struct bpf_program *prog, bool enter)
{
	const struct backend_kind *kind = kind_of(d);
	const struct backend_type *type = enter ? &kind->enter_type : &kind->exit_type;

	object_program_type(prog, type->type, type->attach);
}

/*
 * Returns the id that PROG is attached to where its section does not say so: the kernel checks that
 * handlers are attached to what calls.bpf.c's own programs are, where those are typed.
 */
static int target_of(const void *dispatcher, const struct bpf_program *prog)
{
	const struct dispatcher *d = dispatcher;

	if (strchr(bpf_program__section_name(prog), '/'))
		return -ENOENT;
	if (kind_of(d)->by_function)
		return d->load_for->id;
	return kernel_btf_tp(d->kernel, is_begin(prog) ? "sys_enter" : "sys_exit");
}

/* Is PROG of PROBE's object a handler of one of the calls served? */
static bool handler_needed(const struct dispatcher *d, unsigned int probe, const char *prog)
{
	const struct probe_call *call;
	unsigned int i = 0;

	while ((call = next_call(d, probe, &i)))
		if ((call->exit && !strcmp(call->exit, prog)) || (call->entry && !strcmp(call->entry, prog)))
			return true;
	return false;
}

/* Not a handler, but attached to a kernel function inside the call, with a hook that this kernel has for us. */
static bool enriches(const struct dispatcher *d, const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	if (!strncmp(section, "kprobe/", 7))
		return d->cfg.func_hook == DLT_FUNC_HOOK_KPROBE;
	return d->enrich && (!strncmp(section, "fentry/", 7) || !strncmp(section, "fexit/", 6));
}

static void handlers_choose(const struct dispatcher *dispatcher, unsigned int probe, bool enrich)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, dispatcher->objects[probe].obj)
	{
		bool needed = handler_needed(dispatcher, probe, bpf_program__name(prog));

		/* the probe may have left it out */
		bpf_program__set_autoload(prog, needed || (enrich && bpf_program__autoload(prog) &&
							   enriches(dispatcher, prog)));
		if (needed)
			type_set(dispatcher, prog, is_begin(prog));
	}
}

static int handlers_load(struct dispatcher *dispatcher, unsigned int probe, const struct dlt_config *cfg, bool enrich,
			 dispatcher_share_fn share, void *ctx)
{
	struct probe_object *object = &dispatcher->objects[probe];
	int r = probes[probe]->open(object, cfg, dispatcher->kernel);

	if (!r) {
		handlers_choose(dispatcher, probe, enrich);
		r = share(ctx, object->obj);
	}
	if (!r)
		r = object_load(object->skel, dispatcher->kernel, target_of, dispatcher);
	if (r < 0)
		probe_object_free(object);
	return r;
}

int dispatcher_add(struct dispatcher *dispatcher, unsigned int probe, dispatcher_share_fn share, void *ctx)
{
	struct dlt_config cfg = dispatcher->cfg;
	const struct probe_call *call;
	unsigned int i = 0;
	int r;

	call = next_call(dispatcher, probe, &i);
	if (!call)
		return 0;
	dispatcher->load_for = &dispatcher->funcs[call->nr];
	r = handlers_load(dispatcher, probe, &cfg, true, share, ctx);
	if (r < 0 && cfg.hold) {
		cfg.hold = 0;
		r = handlers_load(dispatcher, probe, &cfg, true, share, ctx);
	}
	if (r < 0)
		r = handlers_load(dispatcher, probe, &cfg, false, share, ctx);
	if (r < 0)
		return r;
	dispatcher->probes |= PROBE_BIT(probe);
	return 0;
}

/* Loads another copy of PROG's instructions, for function FUNC: returns its descriptor or -errno. */
static int program_copy(const struct bpf_program *prog, const struct backend_type *type, const struct call_func *func)
{
	char log[1024] = "";
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type->attach,
		    .attach_btf_id = (uint32_t)func->id);
	int fd = bpf_prog_load(type->type, "dlt_call", "GPL", bpf_program__insns(prog), bpf_program__insn_cnt(prog),
			       &opts),
	    r = -errno;

	if (fd >= 0)
		return fd;
	opts.log_buf = log;
	opts.log_size = sizeof(log);
	opts.log_level = 1;
	fd = bpf_prog_load(type->type, "dlt_call", "GPL", bpf_program__insns(prog), bpf_program__insn_cnt(prog), &opts);
	log_debug("%s: %s: %.200s", func->name, strerror(-r), log);
	return fd < 0 ? r : fd;
}

static int hook_append(struct dispatcher *d, const struct hook *h)
{
	if (util_room(&d->hooks, d->n_hooks, sizeof(*d->hooks)) < 0)
		return -ENOMEM;
	d->hooks[d->n_hooks++] = *h;
	return 0;
}

static int hook_add(struct dispatcher *dispatcher, unsigned int probe, int nr, bool enter)
{
	const struct backend_kind *kind = kind_of(dispatcher);
	const struct backend_type *type = enter ? &kind->enter_type : &kind->exit_type;
	struct hook h = { .probe = probe, .nr = nr, .enter = enter, .link_fd = -1 };

	h.prog = bpf_object__find_program_by_name(dispatcher->skel->obj, enter ? enter_name(dispatcher) : kind->exit);
	h.prog_fd = bpf_program__fd(h.prog);
	if (nr >= 0 && type->type == BPF_PROG_TYPE_TRACING) {
		h.prog_fd = program_copy(h.prog, type, &dispatcher->funcs[nr]);
		h.own_fd = true;
		if (h.prog_fd < 0)
			return fail(dispatcher, h.prog_fd, dispatcher->funcs[nr].name);
	}
	return hook_append(dispatcher, &h);
}

static int spare_hooks_add(struct dispatcher *dispatcher, unsigned int probe)
{
	struct bpf_program *prog;
	int r = 0;

	bpf_object__for_each_program(prog, dispatcher->objects[probe].obj)
	{
		struct hook h = { .probe = probe,
				  .nr = -1,
				  .spare = true,
				  .link_fd = -1,
				  .prog = prog,
				  .prog_fd = bpf_program__fd(prog) };

		if (!r && enriches(dispatcher, prog) && bpf_program__autoload(prog))
			r = hook_append(dispatcher, &h);
	}
	return r;
}

static int hooks_add(struct dispatcher *dispatcher)
{
	const struct backend_kind *kind = kind_of(dispatcher);
	int r = 0;

	for (unsigned int p = 1; !r && p < DLT_PROBES; p++)
		if (dispatcher->probes >> p & 1)
			r = spare_hooks_add(dispatcher, p);
	if (!r && !kind->exit_by_function)
		r = hook_add(dispatcher, 0, -1, false);
	if (!r && !kind->by_function)
		r = hook_add(dispatcher, 0, -1, true);
	for (unsigned int p = 1; kind->by_function && p < DLT_PROBES; p++) {
		const struct probe_call *call;
		unsigned int i = 0;

		while (!r && dispatcher->probes >> p & 1 && (call = next_call(dispatcher, p, &i))) {
			if (kind->exit_by_function && call->exit)
				r = hook_add(dispatcher, p, call->nr, false);
			if (!r)
				r = hook_add(dispatcher, p, call->nr, true);
		}
	}
	return r;
}

static int handler_set(struct dispatcher *d, struct bpf_map *handlers, unsigned int probe, int nr, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(d->objects[probe].obj, name);
	int fd = p ? bpf_program__fd(p) : -ENOENT;
	uint32_t key = (uint32_t)nr;

	if (fd < 0 || bpf_map_update_elem(bpf_map__fd(handlers), &key, &fd, BPF_ANY) < 0)
		return fail(d, fd < 0 ? fd : -errno, name);
	return 0;
}

static int handlers_set(struct dispatcher *dispatcher)
{
	int r = 0;

	for (unsigned int p = 1; p < DLT_PROBES; p++) {
		const struct probe_call *call;
		unsigned int i = 0;

		while (!r && dispatcher->probes >> p & 1 && (call = next_call(dispatcher, p, &i))) {
			if (call->exit)
				r = handler_set(dispatcher, dispatcher->skel->maps.exit_handlers, p, call->nr,
						call->exit);
			if (!r && call->entry)
				r = handler_set(dispatcher, dispatcher->skel->maps.entry_handlers, p, call->nr,
						call->entry);
		}
	}
	return r;
}

static void call_table_fill(struct dispatcher *dispatcher)
{
	for (unsigned int p = 1; p < DLT_PROBES; p++) {
		const struct probe_call *call;
		unsigned int i = 0;

		while (dispatcher->probes >> p & 1 && (call = next_call(dispatcher, p, &i)))
			*(struct dlt_callinfo *)&dispatcher->skel->rodata->call_table[call->nr] = (struct dlt_callinfo){
				.probe = (uint8_t)p,
				.func = (uint8_t)(i - 1),
				.shape = call->shape,
				.flags = (uint8_t)((call->entry ? DLT_CALL_ENTRY : 0) |
						   (call->no_row ? DLT_CALL_NO_ROW : 0) |
						   (call->region ? DLT_CALL_REGION : 0) |
						   dispatcher->number * DLT_CALL_OWNER),
			};
	}
}

/* Only those of its backend. */
static void programs_choose(struct dispatcher *dispatcher)
{
	const struct backend_kind *kind = kind_of(dispatcher);
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, dispatcher->skel->obj)
	{
		const char *name = bpf_program__name(prog);
		bool enter = !strcmp(name, enter_name(dispatcher)), exit = !strcmp(name, kind->exit);

		bpf_program__set_autoload(prog, enter || exit);
		if (enter || exit)
			type_set(dispatcher, prog, enter);
	}
}

int dispatcher_load(struct dispatcher *dispatcher, dispatcher_share_fn share, void *ctx)
{
	int r;

	dispatcher->skel = SKEL_OPEN_ONLY(calls, dispatcher->kernel);
	if (!dispatcher->skel)
		return fail(dispatcher, -errno, "dispatcher of system calls");
	dispatcher->skel->rodata->dlt_cfg = dispatcher->cfg;
	dispatcher->skel->rodata->dispatcher = (uint8_t)dispatcher->number;
	call_table_fill(dispatcher);
	programs_choose(dispatcher);
	r = share(ctx, dispatcher->skel->obj);
	if (!r)
		r = object_load(dispatcher->skel->skeleton, dispatcher->kernel, target_of, dispatcher);
	if (r < 0)
		return fail(dispatcher, r, "dispatcher of system calls (run with -v for why)");
	r = handlers_set(dispatcher);
	return r < 0 ? r : hooks_add(dispatcher);
}

/* --- attachment -------------------------------------------------------------------------------- */

static int hook_attach(struct dispatcher *dispatcher, struct hook *hook)
{
	const struct backend_kind *kind = kind_of(dispatcher);
	const struct backend_type *type = hook->enter ? &kind->enter_type : &kind->exit_type;
	const char *name = hook->enter ? "sys_enter" : "sys_exit";

	if (hook->nr >= 0)
		name = dispatcher->funcs[hook->nr].name;

	if (hook->spare && bpf_program__type(hook->prog) == BPF_PROG_TYPE_KPROBE) {
		name = strchr(bpf_program__section_name(hook->prog), '/') + 1;
		hook->link = bpf_program__attach_kprobe(hook->prog, false, name);
		if (!hook->link)
			log_debug("no kprobe on %s: %s", name, strerror(errno));
		return 0;
	}
	if (hook->spare || type->type == BPF_PROG_TYPE_TRACING) {
		hook->link_fd = bpf_raw_tracepoint_open(NULL, hook->prog_fd);
		return hook->link_fd < 0 && !hook->spare ? fail(dispatcher, -errno, name) : 0;
	}
	hook->link = type->type == BPF_PROG_TYPE_KPROBE ?
			     bpf_program__attach_kprobe(hook->prog, false, name) :
			     bpf_program__attach_tracepoint(hook->prog, "raw_syscalls", name);
	return hook->link ? 0 : fail(dispatcher, -errno, name);
}

static void hook_detach(struct hook *h)
{
	bpf_link__destroy(TAKE_PTR(h->link));
	util_close(&h->link_fd);
}

int dispatcher_attach(struct dispatcher *d, unsigned int probe)
{
	int r = 0;

	/* ends first: an entry without its end would stay in its slot */
	for (int enter = 0; enter <= 1; enter++)
		for (unsigned int i = 0; !r && i < d->n_hooks; i++)
			if (d->hooks[i].probe == probe && d->hooks[i].enter == enter)
				r = hook_attach(d, &d->hooks[i]);
	return r;
}

#define ALL UINT_MAX

static void detach(struct dispatcher *d, unsigned int probe)
{
	for (int enter = 1; enter >= 0; enter--)
		for (unsigned int i = 0; i < d->n_hooks; i++)
			if ((probe == ALL || d->hooks[i].probe == probe) && d->hooks[i].enter == enter)
				hook_detach(&d->hooks[i]);
}

void dispatcher_remove(struct dispatcher *d, unsigned int probe)
{
	detach(d, probe);
	probe_object_free(&d->objects[probe]);
	d->probes &= ~PROBE_BIT(probe);
}

void dispatcher_detach_all(struct dispatcher *d)
{
	detach(d, ALL);
}

void dispatcher_free(struct dispatcher *dispatcher)
{
	dispatcher_detach_all(dispatcher);
	for (unsigned int i = 0; i < dispatcher->n_hooks; i++)
		if (dispatcher->hooks[i].own_fd)
			close(dispatcher->hooks[i].prog_fd);
	free(dispatcher->hooks);
	for (unsigned int p = 0; p < DLT_PROBES; p++)
		probe_object_free(&dispatcher->objects[p]);
	calls_bpf__destroy(dispatcher->skel);
	*dispatcher = (struct dispatcher){};
}

void dispatcher_skipped(const struct dispatcher *dispatcher, uint64_t skipped[DLT_PROBES])
{
	int last = -1;

	for (unsigned int i = 0; i < dispatcher->n_hooks; i++) {
		const struct hook *h = &dispatcher->hooks[i];

		/* a skipped end is noticed anyway: its entry has none. Kprobes share one program. */
		if (!h->enter || h->prog_fd == last)
			continue;
		last = h->prog_fd;
		skipped[h->own_fd ? h->probe : 0] += object_program_skipped(h->prog_fd);
	}
}
