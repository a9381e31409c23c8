/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fault probe: major page faults of the target. Its programs on functions attach themselves; that at the end
 * of a fault is on a software event of each CPU.
 */
#include "dlt/fault.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "fault.skel.h"
#include "kernel/access/cpu_events.h"
#include "kernel/skel.h"
#include "trace/probe.h"

static const struct field_name func_names[] = { { DLT_FAULT_USER, "user" },
						{ DLT_FAULT_KERNEL, "kernel" },
						{ 0, NULL } };
static const struct field_name kind_names[] = {
	{ DLT_FAULT_FILE, "file" },
	{ DLT_FAULT_SWAP, "swap" },
	{ DLT_FAULT_OTHER, "other" },
	{ 0, NULL },
};

#define AT(member) offsetof(struct dlt_fault, member)
static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_fault),
	{ "FUNC", "user (an instruction of the program accessed the page), kernel (a system call did)", FIELD_NAME,
	  AT(func), 0, 0, func_names },
	{ "KIND", "file (a mapped file's page), swap (anonymous memory), other (its beginning was not seen)",
	  FIELD_NAME, AT(kind), 0, 0, kind_names },
	{ "LAT_NS", "duration, ns; - if the beginning was not seen", FIELD_S64, AT(lat_ns) },
	{ "ADDR", "accessed address", FIELD_ADDR, AT(addr) },
	{ "IP", "address of the instruction; - in the kernel", FIELD_ADDR, AT(ip) },
	{ "OFFSET", "position of the page in the file, bytes", FIELD_S64, AT(offset), .unit = "bytes" },
	{ "DISK_BYTES",
	  "that this thread fetched from disk, read-ahead included; 0: it waited for another thread's read; - if the "
	  "file is not on a disk (NFS, FUSE)",
	  FIELD_S64, AT(disk_bytes), .unit = "bytes" },
	FIELD_FID_OF(struct dlt_fault, id),
	FIELD_FILE_OF(struct dlt_fault, id),
};
#undef AT

static const struct cpu_event major = { .attr = { .type = PERF_TYPE_SOFTWARE,
						  .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ } };

/* Choose the hooks of begins that this kernel has, and the end that goes with them. */
static void hooks_choose(struct fault_bpf *skel, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	bool tp = cfg->func_hook == DLT_FUNC_HOOK_NONE && kernel_btf_tp(kernel, "mm_filemap_fault") >= 0 &&
		  btf_has_member(kernel->btf, BTF_KIND_ENUM, "bpf_func_id", "BPF_FUNC_find_vma");
	const struct {
		const char *func;
		struct bpf_program *fentry, *kprobe;
	} begins[] = {
		{ "filemap_fault", skel->progs.fault_file, skel->progs.fault_file_kprobe },
		{ "do_swap_page", skel->progs.fault_swap, skel->progs.fault_swap_kprobe },
	};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		bool there = kernel_btf_func(kernel, "", begins[i].func) >= 0;

		bpf_program__set_autoload(begins[i].fentry, there && cfg->func_hook == DLT_FUNC_HOOK_FENTRY);
		bpf_program__set_autoload(begins[i].kprobe, there && cfg->func_hook == DLT_FUNC_HOOK_KPROBE);
	}
	bpf_program__set_autoload(skel->progs.fault_file_tp, tp);
	bpf_program__set_autoload(skel->progs.fault_end_vma, tp);
	bpf_program__set_autoload(skel->progs.fault_end, !tp);
	bpf_program__set_autoload(skel->progs.fault_thread_ends, !(cfg->perf & DLT_PERF_TP));
	bpf_program__set_autoload(skel->progs.fault_thread_ends_perf, cfg->perf & DLT_PERF_TP);
}

static int fault_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = cpu_events_check(&major, 1);
	struct fault_bpf *skel;

	if (!r)
		r = SKEL_OPEN(fault, object, cfg, kernel);
	if (r < 0)
		return r;
	skel = object->owner;
	skel->rodata->page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	hooks_choose(skel, cfg, kernel);
	bpf_program__set_autoattach(skel->progs.fault_end, false);
	bpf_program__set_autoattach(skel->progs.fault_end_vma, false);
	return bpf_map__set_max_entries(skel->maps.fault_slots, cfg->slot_mask + 1);
}

/* The program at a fault's end, of the two. */
static int end_fd(const struct fault_bpf *skel)
{
	return bpf_program__fd(bpf_program__autoload(skel->progs.fault_end) ? skel->progs.fault_end :
									      skel->progs.fault_end_vma);
}

static void events_free(void *events)
{
	cpu_events_close(events);
}

/* The events come after all begins' hooks, and follow the CPUs. */
static int fault_emit(struct probe_object *object, enum probe_emit when)
{
	struct fault_bpf *skel = object->owner;
	struct cpu_events *events = NULL;
	int r = 0;

	switch (when) {
	case PROBE_EMIT_BEGIN:
		r = cpu_events_open(&events, &major, end_fd(skel));
		object->state = events;
		object->state_free = events_free;
		break;
	case PROBE_EMIT:
		cpu_events_follow(object->state); /* a CPU's that fails is tried again */
		break;
	case PROBE_EMIT_STOP:
		cpu_events_close(object->state);
		object->state = NULL;
		break;
	case PROBE_EMIT_END:
		break;
	}
	return r;
}

const struct probe fault_probe = {
	.name = "fault",
	.help = "page faults that waited for a disk: of mapped files, and of memory that was swapped out",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_fault),
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_MAY_LACK,
	.open = fault_open,
	.emit = fault_emit,
};
