/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "dlt/dlt.h"
#include "kernel/btf.h"

/*
 * The type of a program attached by id, as libbpf sees it until it is loaded: with its real type,
 * BPF_PROG_TYPE_TRACING, libbpf would parse all BTF (prog_needs_vmlinux_btf() of libbpf.c). No program of
 * ours really has this one.
 */
#define TYPE_BY_ID BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE

static struct bpf_link *attach_by_id(const struct bpf_program *prog, const char *name)
{
	return bpf_program__attach_trace(prog);
}

static struct bpf_link *attach_kprobe(const struct bpf_program *prog, const char *name)
{
	return bpf_program__attach_kprobe(prog, false, name);
}

/* NAME: category/event. */
static struct bpf_link *attach_tp(const struct bpf_program *prog, const char *name)
{
	const char *slash = strchr(name, '/');
	char category[64];

	if (!slash)
		return errno = EINVAL, NULL;
	snprintf(category, sizeof(category), "%.*s", (int)(slash - name), name);
	return bpf_program__attach_tracepoint(prog, category, slash + 1);
}

/* Sections of our objects, NAME or NAME/WHAT, in libbpf's terms. */
static const struct section {
	const char *name;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	struct bpf_link *(*attach_to)(const struct bpf_program *prog, const char *what);
} sections[] = {
	{ "tp_btf", TYPE_BY_ID, BPF_TRACE_RAW_TP, attach_by_id },
	{ "fentry", TYPE_BY_ID, BPF_TRACE_FENTRY, attach_by_id },
	{ "fexit", TYPE_BY_ID, BPF_TRACE_FEXIT, attach_by_id },
	{ "iter", TYPE_BY_ID, BPF_TRACE_ITER, attach_by_id },
	{ "kprobe", BPF_PROG_TYPE_KPROBE, 0, attach_kprobe },
	{ "perf_event", BPF_PROG_TYPE_PERF_EVENT, 0, NULL }, /* by kernel/access/cpu_events.c */
	{ "raw_tp", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, NULL }, /* by object_run */
	{ "tp", BPF_PROG_TYPE_TRACEPOINT, 0, attach_tp },
	{ "uprobe", BPF_PROG_TYPE_KPROBE, 0, NULL }, /* by kernel/uprobe/uprobe.c */
};

/* Returns PROG's section, and in *WHAT_RET the part after the slash, NULL where there is none. */
static const struct section *section_of(const struct bpf_program *prog, const char **what_ret)
{
	const char *name = bpf_program__section_name(prog), *slash = strchr(name, '/');
	size_t len = slash ? (size_t)(slash - name) : strlen(name);

	*what_ret = slash ? slash + 1 : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (strlen(sections[i].name) == len && !memcmp(sections[i].name, name, len))
			return &sections[i];
	return NULL;
}

/* --- loading ------------------------------------------------------------------------------------- */

/* The object that this thread is loading: libbpf passes no context to its callbacks. */
static _Thread_local struct {
	const struct kernel_btf *kernel;
	object_target_fn target;
	const void *ctx;
} loading;

static int target_by_section(const struct bpf_program *prog)
{
	const char *what;
	const struct section *s = section_of(prog, &what);

	if (!s || !what)
		return -ENOENT;
	if (s->attach == BPF_TRACE_RAW_TP)
		return kernel_btf_tp(loading.kernel, what);
	return kernel_btf_func(loading.kernel, s->attach == BPF_TRACE_ITER ? "bpf_iter_" : "", what);
}

static int target_of(const struct bpf_program *prog)
{
	int id = loading.target ? loading.target(loading.ctx, prog) : -ENOENT;

	return id < 0 ? target_by_section(prog) : id;
}

/* Is INSN, as compiled, a call of a kernel function? Returns its number then, from 0, else -1. */
static int kfunc_of(const struct bpf_insn *insn)
{
	if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg || insn->imm < DLT_KFUNC_BASE ||
	    insn->imm >= DLT_KFUNC_BASE + DLT_KFUNCS_N)
		return -1;
	return insn->imm - DLT_KFUNC_BASE;
}

/*
 * Make such calls real. A call of a function that this kernel lacks stays one of a helper that no kernel
 * has: the verifier accepts it where it is never reached, and reports it where it is.
 */
static int kfuncs_resolve(struct bpf_program *prog)
{
	size_t n = bpf_program__insn_cnt(prog);
	autofree struct bpf_insn *insns = NULL;
	const uint32_t *ids = loading.kernel->kfuncs;
	bool any = false;

	insns = malloc(n * sizeof(*insns));
	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), n * sizeof(*insns));
	for (size_t i = 0; i < n; i++) {
		int kfunc = kfunc_of(&insns[i]);

		if (kfunc < 0 || !ids[kfunc])
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = (int)ids[kfunc];
		any = true;
	}
	return any ? bpf_program__set_insns(prog, insns, n) : 0;
}

static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	int r = loading.kernel ? kfuncs_resolve(prog) : -EINVAL;

	if (r < 0 || bpf_program__type(prog) != TYPE_BY_ID)
		return r;
	r = target_of(prog);
	if (r < 0)
		return r;
	opts->attach_btf_id = (uint32_t)r;
	return bpf_program__set_type(prog, BPF_PROG_TYPE_TRACING);
}

/* SKEL's ELF image, in our program's file, has been read for the last time: it need not stay in memory. */
static void image_drop(const struct bpf_object_skeleton *skel)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)skel->data;
	uintptr_t end = (begin + skel->data_sz) & ~(page - 1);

	begin = (begin + page - 1) & ~(page - 1);
	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

int object_load(struct bpf_object_skeleton *skel, const struct kernel_btf *kernel, object_target_fn target,
		const void *ctx)
{
	int r;

	loading.kernel = kernel;
	loading.target = target;
	loading.ctx = ctx;
	r = bpf_object__load_skeleton(skel);
	loading.kernel = NULL;
	image_drop(skel);
	return r;
}

int object_sections_register(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = prepare);
	static bool done;
	char name[16];
	int r = 0;

	if (done)
		return 0;
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(sections); i++) {
		snprintf(name, sizeof(name), "%s+", sections[i].name);
		r = libbpf_register_prog_handler(name, sections[i].type, sections[i].attach, &opts);
	}
	/* all others: object_program_type() sets their types */
	if (r >= 0)
		r = libbpf_register_prog_handler(NULL, BPF_PROG_TYPE_UNSPEC, 0, &opts);
	done = r >= 0;
	return r < 0 ? r : 0;
}

void object_program_type(struct bpf_program *prog, enum bpf_prog_type type, enum bpf_attach_type attach)
{
	bpf_program__set_type(prog, type == BPF_PROG_TYPE_TRACING ? TYPE_BY_ID : type);
	bpf_program__set_expected_attach_type(prog, attach);
}

static int program_attach(struct object_links *links, const struct bpf_program *prog)
{
	const char *what;
	const struct section *section = section_of(prog, &what);

	if (!section || !what)
		return -EINVAL;
	if (links->n == OBJECT_LINKS_MAX)
		return -ENOSPC;
	links->v[links->n] = section->attach_to(prog, what);
	if (!links->v[links->n])
		return -errno;
	links->n++;
	return 0;
}

int object_attach(struct object_links *links, const struct bpf_object *obj, const char **name_ret)
{
	struct bpf_program *prog;
	int r = 0;

	bpf_object__for_each_program(prog, obj) if (!r && bpf_program__autoload(prog) && bpf_program__autoattach(prog))
	{
		*name_ret = bpf_program__name(prog);
		r = program_attach(links, prog);
	}
	return r;
}

void object_detach(struct object_links *l)
{
	while (l->n)
		bpf_link__destroy(l->v[--l->n]);
}

uint64_t object_program_skipped(int prog_fd)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(prog_fd, &info, &len) ? 0 : info.recursion_misses;
}

uint64_t object_skipped(const struct bpf_object *obj, const char *but)
{
	struct bpf_program *prog;
	uint64_t n = 0;

	if (!obj)
		return 0;
	bpf_object__for_each_program(prog, obj) if (bpf_program__fd(prog) >= 0 &&
						    !(but && strcmp(bpf_program__name(prog), but) == 0)) n +=
		object_program_skipped(bpf_program__fd(prog));
	return n;
}

static void no_record(void *ctx, const void *record)
{
}

int object_records(int link_fd, size_t size, void (*fn)(void *ctx, const void *record), void *ctx)
{
	autoclose int fd = bpf_iter_create(link_fd);
	char buf[8192];
	size_t have = 0, at;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, buf + have, sizeof(buf) - have);
		if (n <= 0)
			continue;
		have += (size_t)n;
		for (at = 0; have - at >= size; at += size)
			fn(ctx, buf + at);
		have -= at;
		memmove(buf, buf + at, have);
		/* EAGAIN: a million objects were passed without output, go on (kernel/bpf/bpf_iter.c) */
	} while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	return n < 0 ? -errno : 0;
}

/* union bpf_iter_link_info: its task member exists from 6.1 on (commit f0d74c4da1f0) */
struct iter_task {
	uint32_t tid, pid, pid_fd;
};

static int records_of(int prog_fd, struct iter_task task, size_t size, void (*fn)(void *ctx, const void *record),
		      void *ctx)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = (union bpf_iter_link_info *)&task,
		    .iter_info_len = sizeof(task));
	autoclose int link_fd = bpf_link_create(prog_fd, 0, BPF_TRACE_ITER, task.tid || task.pid ? &opts : NULL);

	return link_fd < 0 ? -errno : object_records(link_fd, size, fn, ctx);
}

int object_records_of(int prog_fd, uint32_t tid, size_t size, void (*fn)(void *ctx, const void *record), void *ctx)
{
	return records_of(prog_fd, (struct iter_task){ .tid = tid }, size, fn, ctx);
}

int object_iterate_fd(int prog_fd, uint32_t pid)
{
	return records_of(prog_fd, (struct iter_task){ .pid = pid }, 1, no_record, NULL);
}

int object_iterate(const struct bpf_program *prog, uint32_t pid)
{
	return object_iterate_fd(bpf_program__fd(prog), pid);
}

int object_run(const struct bpf_program *prog, const uint64_t *args, size_t n)
{
	return object_run_fd(bpf_program__fd(prog), args, n);
}

int object_run_fd(int prog_fd, const uint64_t *args, size_t n)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = (uint32_t)(n * sizeof(*args)));

	return bpf_prog_test_run_opts(prog_fd, &opts) < 0 ? -errno : 0;
}

int object_run_on(const struct bpf_program *prog, unsigned int cpu, const uint64_t *args, size_t n)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = (uint32_t)(n * sizeof(*args)),
		    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	return bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) < 0 ? -errno : 0;
}

int object_each_key(const struct bpf_map *map, int (*fn)(void *ctx, const void *key), void *ctx)
{
	uint64_t keys[2][OBJECT_KEY_MAX / sizeof(uint64_t)];
	uint32_t left = bpf_map__max_entries(map);
	int fd = bpf_map__fd(map), r = 0, more;
	unsigned int now = 0;

	if (bpf_map__key_size(map) > OBJECT_KEY_MAX)
		return -EINVAL;
	more = bpf_map_get_next_key(fd, NULL, keys[now]);
	for (; !r && !more && left; left--, now ^= 1) {
		/* before the key goes: without it the walk would start over */
		more = bpf_map_get_next_key(fd, keys[now], keys[!now]);
		r = fn(ctx, keys[now]);
	}
	return r;
}
