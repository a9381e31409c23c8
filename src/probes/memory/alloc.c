/* SPDX-License-Identifier: BSD-2-Clause */
/* alloc.out: calls of malloc and its relatives in workloads that load our library (preload/). */
#include "drain/memory/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "alloc.skel.h"
#include "base/util.h"
#include "drain/rows/decode.h"
#include "host/installed.h"
#include "kernel/skel.h"
#include "kernel/uprobe/uprobe.h"
#include "trace/probe.h"

#define POINT_NAME_(point) #point
#define POINT_NAME(point) POINT_NAME_(point)

static const struct field_name func_names[] = {
	{ DLT_ALLOC_MALLOC, "malloc" },
	{ DLT_ALLOC_CALLOC, "calloc" },
	{ DLT_ALLOC_REALLOC, "realloc" },
	{ DLT_ALLOC_REALLOCARRAY, "reallocarray" },
	{ DLT_ALLOC_POSIX_MEMALIGN, "posix_memalign" },
	{ DLT_ALLOC_ALIGNED_ALLOC, "aligned_alloc" },
	{ DLT_ALLOC_MEMALIGN, "memalign" },
	{ DLT_ALLOC_VALLOC, "valloc" },
	{ DLT_ALLOC_PVALLOC, "pvalloc" },
	{ DLT_ALLOC_FREE, "free" },
#define FUNC_NAME(id, func, ...) { DLT_ALLOC_IN_##id, func },
	DLT_ALLOC_FUNCTIONS(FUNC_NAME){ DLT_ALLOC_END, "end" },
	{ 0, NULL },
};

#define ENDS_STORES "alloc_function_ends"
#define ENDS_RETURNS "alloc_function_ends"
#define ENDS_PASSES NULL
#define ENDS_FREES NULL
#define NEEDS_ENDS_STORES false
#define NEEDS_ENDS_RETURNS false
#define NEEDS_ENDS_PASSES true
#define NEEDS_ENDS_FREES false
#define FUNCTION(id, func, function_symbol, files, how, arg) \
	{ .name = (func),                                    \
	  .symbol = (function_symbol),                       \
	  .modules = (files),                                \
	  .begins = "alloc_in_" #id,                         \
	  .ends = ENDS_##how,                                \
	  .n_args = (arg),                                   \
	  .needs_ends = NEEDS_ENDS_##how },
static const struct probe_function functions[] = { DLT_ALLOC_FUNCTIONS(FUNCTION) };

#define AT(member) offsetof(struct alloc_row, member)
static const struct field fields[] = {
	FIELDS_HEAD(struct alloc_row),
	{ "FUNC", "the function; end: the block was in use when its process, or the trace, ended", FIELD_NAME, AT(op),
	  0, 0, func_names },
	{ "ADDR", "address of the block; 0: the call failed", FIELD_ADDR, AT(addr) },
	{ "SIZE",
	  "as requested; free, end: of the block, - if its allocation is not in the trace; realloc: - if it is now "
	  "below --alloc min",
	  FIELD_S64, AT(size), .unit = "bytes" },
	{ "OLD_ADDR", "realloc: address of the block that it got", FIELD_ADDR, AT(old_addr) },
	{ "OLD_SIZE", "realloc: its size", FIELD_S64, AT(old_size), .unit = "bytes" },
	{ "LIFE_NS", "free, end, realloc: how long the (old) block was in use, ns", FIELD_S64, AT(life_ns) },
	{ "ALLOC_TID", "free, end, realloc: thread that had allocated it", FIELD_S64, AT(alloc_tid) },
	{ "SITE", "stack of the block's allocation: joins sites.out", FIELD_S64, AT(site) },
	{ "OLD_SITE", "realloc: that of the block that it got", FIELD_S64, AT(old_site) },
};
#undef AT

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	alloc_take(d, (const struct dlt_alloc *)hdr);
}

/* Choose the hooks of ends and execs that this kernel has. */
static void hooks_choose(struct alloc_bpf *skel, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	const bool fentry = cfg->func_hook == DLT_FUNC_HOOK_FENTRY, kprobe = cfg->func_hook == DLT_FUNC_HOOK_KPROBE;
	const bool exec = kernel_btf_tp(kernel, "sched_prepare_exec") >= 0;

	bpf_program__set_autoload(skel->progs.alloc_exit, !fentry && !kprobe);
	bpf_program__set_autoload(skel->progs.alloc_exit_fentry, fentry);
	bpf_program__set_autoload(skel->progs.alloc_exit_kprobe, kprobe);
	bpf_program__set_autoload(skel->progs.alloc_exec, exec);
	bpf_program__set_autoload(skel->progs.alloc_exec_fentry, !exec && fentry);
	bpf_program__set_autoload(skel->progs.alloc_exec_kprobe, !exec && kprobe);
}

/* Those of functions are attached by kernel/uprobe/functions.c. Without them their map is never looked at. */
static int functions_choose(struct alloc_bpf *skel, bool on)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj)
	{
		const char *name = bpf_program__name(prog);

		if (strncmp(name, "alloc_in_", strlen("alloc_in_")) && strcmp(name, "alloc_function_ends"))
			continue;
		bpf_program__set_autoload(prog, on);
		bpf_program__set_autoattach(prog, false);
	}
	return on ? 0 : bpf_map__set_max_entries(skel->maps.begun, 1);
}

static int alloc_open(struct probe_object *o, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = SKEL_OPEN(alloc, o, cfg, kernel);
	struct alloc_bpf *skel = o->owner;

	if (r < 0)
		return r;
	hooks_choose(skel, cfg, kernel);
	bpf_program__set_autoattach(skel->progs.alloc_point, false);
	return functions_choose(skel, cfg->functions);
}

static int point_attach(struct probe_object *object)
{
	const struct alloc_bpf *skel = object->owner;
	autofree char *library = installed_library(DLT_ALLOC_LIBRARY, "--probes +alloc");
	struct uprobe_point point;
	autoclose int fd = -1;
	int r;

	if (!library)
		return -ENOENT;
	fd = open(library, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = uprobe_find(fd, POINT_NAME(DLT_ALLOC_POINT), &(struct prologue_need){ PROLOGUE_ARG1 | PROLOGUE_ARG2 },
			&point);
	if (r == -ENOTSUP)
		object->why = util_fmt("%s cannot be probed: %s", library, point.why);
	if (r < 0)
		return r;
	object->state = uprobe_attach(skel->progs.alloc_point,
				      &(struct uprobe_on){ .fd = fd, .offset = point.offset, .pid = -1 });
	return object->state ? 0 : -errno;
}

static void point_detach(void *link)
{
	bpf_link__destroy(link);
}

static int alloc_emit(struct probe_object *o, enum probe_emit when)
{
	if (when == PROBE_EMIT_BEGIN) {
		o->state_free = point_detach;
		return point_attach(o);
	}
	if (when == PROBE_EMIT_STOP && o->state)
		point_detach(TAKE_PTR(o->state));
	return 0;
}

const struct probe alloc_probe = {
	.name = "alloc",
	.help = "malloc, free and their relatives, of the command that dltraced starts; with --pid calls that allocate "
		"tensors",
	PROBE_FIELDS(fields),
	.functions = functions,
	.n_functions = ARRAY_SIZE(functions),
	.rec_size = DLT_ALLOC_BYTES(0),
	.flags = PROBE_SELECTABLE | PROBE_ON_DEMAND | PROBE_OF_TARGET,
	.open = alloc_open,
	.decode = decode,
	.emit = alloc_emit,
};
