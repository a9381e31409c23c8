/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel side's objects: loading, the tables of the dispatcher, attachment. */
#include "tracer_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "calls.skel.h"
#include "log.h"
#include "util.h"

#define INIT_PID_NS_INO 0xeffffffc /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

/* libbpf speaks one level lower than we do: its warnings show with -v. */
static int libbpf_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[1024];

	if (log_get_level() < LOG_LEVEL_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	log_debug("%s", text);
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

static bool btf_has_func(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has = btf && btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;

	btf__free(btf);
	return has;
}

static int object_load(struct tracer *t, unsigned int probe)
{
	const struct probe *p = probes[probe];
	struct probe_object *o = &t->objects[probe];
	int r;

	if (!p->open)
		return 0;
	r = p->open(o, &t->cfg);
	if (r < 0)
		return tracer_fail(t, r, p->name);
	r = tracer_share_maps(t, o->obj, 0);
	if (r < 0)
		return r;
	r = bpf_object__load_skeleton(o->skel);
	if (r < 0) {
		char what[128];

		snprintf(what, sizeof(what), "probe %s: the kernel refused its programs (run with -v for why)", p->name);
		return tracer_fail(t, r, what);
	}
	return 0;
}

static void object_free(struct probe_object *o)
{
	bpf_object__destroy_skeleton(o->skel);
	free(o->owner);
	*o = (struct probe_object){};
}

static void object_leave_out(struct tracer *t, unsigned int probe)
{
	object_free(&t->objects[probe]);
	t->loaded &= ~(1U << probe);
	t->probes &= ~(1U << probe);
	t->why[probe] = strdup(t->error);
}

static int dispatcher_load(struct tracer *t)
{
	struct calls_bpf *skel = calls_bpf__open();
	int r;

	if (!skel)
		return tracer_fail(t, -errno, "dispatcher");
	t->dispatcher = skel;
	skel->rodata->dlt_cfg = t->cfg;
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe *p = probes[i];

		for (unsigned int c = 0; t->loaded >> i & 1 && c < p->n_calls; c++) {
			const struct probe_call *call = &p->calls[c];

			if (call->nr < 0 || call->nr >= DLT_SYSCALLS)
				continue;
			*(struct dlt_callinfo *)&skel->rodata->call_table[call->nr] = (struct dlt_callinfo){
				.probe = (uint8_t)i,
				.func = (uint8_t)c,
				.shape = call->shape,
				.flags = call->entry ? DLT_CALL_ENTRY : 0,
			};
		}
	}
	r = tracer_share_maps(t, skel->obj, 0);
	if (r < 0)
		return r;
	r = calls_bpf__load(skel);
	return r < 0 ? tracer_fail(t, r, "dispatcher of system calls (run with -v for why)") : 0;
}

/* Enter PROG of probe's object under number NR. */
static int handler_set(struct tracer *t, struct bpf_map *handlers, unsigned int probe, int nr,
		       const char *prog)
{
	struct bpf_program *p = bpf_object__find_program_by_name(t->objects[probe].obj, prog);
	int fd = p ? bpf_program__fd(p) : -ENOENT;
	uint32_t key = (uint32_t)nr;

	if (fd < 0 || bpf_map_update_elem(bpf_map__fd(handlers), &key, &fd, BPF_ANY) < 0)
		return tracer_fail(t, fd < 0 ? fd : -errno, prog);
	return 0;
}

static int handlers_set(struct tracer *t)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe *p = probes[i];

		for (unsigned int c = 0; t->loaded >> i & 1 && c < p->n_calls; c++) {
			const struct probe_call *call = &p->calls[c];
			int r;

			if (call->nr < 0 || call->nr >= DLT_SYSCALLS)
				continue;
			r = handler_set(t, t->dispatcher->maps.exit_handlers, i, call->nr, call->exit);
			if (!r && call->entry)
				r = handler_set(t, t->dispatcher->maps.entry_handlers, i, call->nr, call->entry);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int tracer_load(struct tracer *t, const struct tracer_options *o)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	int r;

	memset(t, 0, sizeof(*t));
	libbpf_set_print(libbpf_log);
	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* what BPF memory counts against before 5.11 */

	t->probes = o->probes;
	t->loaded = o->probes | 1U << DLT_pids;
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (t->loaded >> i & 1 && probes[i]->needs)
			t->loaded |= 1U << probes[i]->needs;
	tracer_maps_plan(t, o->buffer_bytes);
	t->cfg = (struct dlt_config){
		.n_rings = t->n_rings,
		.ring_bytes = (uint32_t)t->ring_bytes,
		.ring_reserve = (uint32_t)(t->ring_bytes / 8),
		.self_tgid = (uint32_t)getpid(),
		.all = o->all,
		.no_args = o->no_args,
		.cgroups = o->cgroups || o->new_containers,
		.new_containers = o->new_containers,
		.direct = btf_has_func("bpf_rdonly_cast"),
		.n_disks = o->n_disks,
	};
	memcpy(t->cfg.disks, o->disks, sizeof(t->cfg.disks));
	r = tracer_maps_create(t);
	for (unsigned int i = 1; !r && i < DLT_PROBES; i++) {
		if (!(t->loaded >> i & 1))
			continue;
		r = object_load(t, i);
		if (r < 0 && o->best_effort && i != DLT_pids) {
			object_leave_out(t, i);
			r = 0;
		}
	}
	if (!r)
		r = dispatcher_load(t);
	if (!r)
		r = handlers_set(t);
	return r;
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

int tracer_attach(struct tracer *t)
{
	bool calls = false;
	int r = object_attach(t, DLT_pids);

	for (unsigned int i = 1; !r && i < DLT_PROBES; i++) {
		if (i != DLT_pids && t->loaded >> i & 1)
			r = object_attach(t, i);
		calls |= t->loaded >> i & 1 && probes[i]->n_calls;
	}
	/* ends first: an entry without its end would wait in its slot */
	if (!r && calls)
		r = attach(t, t->dispatcher->progs.sys_exit, &t->exit);
	if (!r && calls)
		r = attach(t, t->dispatcher->progs.sys_enter, &t->enter);
	return r;
}

void tracer_detach(struct tracer *t)
{
	bpf_link__destroy(TAKE_PTR(t->enter));
	bpf_link__destroy(TAKE_PTR(t->exit));
	while (t->n_links)
		bpf_link__destroy(t->links[--t->n_links]);
}

void tracer_free(struct tracer *t)
{
	if (!t->ring_bytes) /* never loaded: descriptors are 0, not -1 */
		return;
	tracer_detach(t);
	for (unsigned int i = 0; i < DLT_PROBES; i++) {
		object_free(&t->objects[i]);
		free(t->why[i]);
	}
	calls_bpf__destroy(t->dispatcher);
	tracer_maps_free(t);
	memset(t, 0, sizeof(*t));
}
