/* SPDX-License-Identifier: BSD-2-Clause */
/* The mmap probe. */
#include "dlt/mmap.h"

#include <sys/mman.h>

#include "base/util.h"
#include "kernel/skel.h"
#include "kernel/syscalls.h"
#include "mmap.skel.h"
#include "trace/probe.h"

static const struct field_name prot_names[] = {
	{ PROT_EXEC, "EXEC" },           { PROT_READ, "READ" },       { PROT_WRITE, "WRITE" },
	{ PROT_GROWSDOWN, "GROWSDOWN" }, { PROT_GROWSUP, "GROWSUP" }, { 0, NULL },
};

static const struct field_name flag_names[] = {
	{ MAP_SHARED_VALIDATE, "SHARED_VALIDATE", 3 },
	{ MAP_SHARED, "SHARED", 3 },
	{ MAP_PRIVATE, "PRIVATE", 3 },
	{ MAP_ANONYMOUS, "ANONYMOUS" },
	{ MAP_DENYWRITE, "DENYWRITE" },
	{ MAP_FIXED, "FIXED" },
	{ MAP_FIXED_NOREPLACE, "FIXED_NOREPLACE" },
	{ MAP_GROWSDOWN, "GROWSDOWN" },
	{ MAP_HUGETLB, "HUGETLB" },
	{ MAP_LOCKED, "LOCKED" },
	{ MAP_NONBLOCK, "NONBLOCK" },
	{ MAP_NORESERVE, "NORESERVE" },
	{ MAP_POPULATE, "POPULATE" },
	{ MAP_STACK, "STACK" },
	{ MAP_SYNC, "SYNC" },
	/* mremap's, moved out of the way by the BPF side */
	{ DLT_MREMAP_MAYMOVE, "MREMAP_MAYMOVE" },
	{ DLT_MREMAP_FIXED, "MREMAP_FIXED" },
	{ DLT_MREMAP_DONTUNMAP, "MREMAP_DONTUNMAP" },
#define ADVICE(name)                                       \
	{                                                  \
		DLT_MADVISE(name), #name, DLT_MADVISE_MASK \
	}
	ADVICE(MADV_NORMAL),
	ADVICE(MADV_RANDOM),
	ADVICE(MADV_SEQUENTIAL),
	ADVICE(MADV_WILLNEED),
	ADVICE(MADV_DONTNEED),
	ADVICE(MADV_FREE),
	ADVICE(MADV_REMOVE),
	ADVICE(MADV_DONTFORK),
	ADVICE(MADV_DOFORK),
	ADVICE(MADV_MERGEABLE),
	ADVICE(MADV_UNMERGEABLE),
	ADVICE(MADV_HUGEPAGE),
	ADVICE(MADV_NOHUGEPAGE),
	ADVICE(MADV_DONTDUMP),
	ADVICE(MADV_DODUMP),
	ADVICE(MADV_WIPEONFORK),
	ADVICE(MADV_KEEPONFORK),
	ADVICE(MADV_COLD),
	ADVICE(MADV_PAGEOUT),
	/* Linux 5.14 to 6.1; not in the headers of each C library */
	{ DLT_MADVISE(22), "MADV_POPULATE_READ", DLT_MADVISE_MASK },
	{ DLT_MADVISE(23), "MADV_POPULATE_WRITE", DLT_MADVISE_MASK },
	{ DLT_MADVISE(24), "MADV_DONTNEED_LOCKED", DLT_MADVISE_MASK },
	{ DLT_MADVISE(25), "MADV_COLLAPSE", DLT_MADVISE_MASK },
	{ DLT_MADVISE(DLT_MADVISE_UNKNOWN), "MADV_UNKNOWN", DLT_MADVISE_MASK },
#undef ADVICE
	{ 0, NULL },
};

static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_mmap),
	FIELD_FUNC_OF(struct dlt_mmap),
	FIELD_LAT_OF(struct dlt_mmap),
	{ "RET",
	  "address, 0 (munmap, madvise) or -errno; brk: the end of the heap after the call, OLD_ADDR if it failed",
	  FIELD_ADDR, offsetof(struct dlt_mmap, ret) },
	{ "ADDR", "requested address", FIELD_ADDR, offsetof(struct dlt_mmap, addr) },
	{ "LEN", "bytes; brk: by which the heap changes", FIELD_U64, offsetof(struct dlt_mmap, len), .unit = "bytes" },
	{ "PROT", "PROT_*", FIELD_FLAGS, offsetof(struct dlt_mmap, prot), 0, 0, prot_names },
	{ "FLAGS", "MAP_*, MREMAP_* or the advice, MADV_*", FIELD_FLAGS, offsetof(struct dlt_mmap, flags),
	  DLT_MREMAP_SHIFT, 0, flag_names },
	{ "FD", "descriptor as passed (-1: none)", FIELD_S64, offsetof(struct dlt_mmap, fd) },
	{ "OFFSET", "position in the file, bytes", FIELD_S64, offsetof(struct dlt_mmap, offset), .unit = "bytes" },
	{ "OLD_ADDR", "mremap: old address; brk: the end of the heap before", FIELD_ADDR,
	  offsetof(struct dlt_mmap, old_addr) },
	{ "OLD_LEN", "mremap's old length, bytes", FIELD_S64, offsetof(struct dlt_mmap, old_len), .unit = "bytes" },
	FIELD_FID_OF(struct dlt_mmap, id),
	FIELD_FILE_OF(struct dlt_mmap, id),
};

static const struct probe_call calls[] = {
	{ "brk", SYS_brk, DLT_BRK, "mmap_exit", "brk_entry" },
	{ "madvise", SYS_madvise, DLT_MADVISES, "mmap_exit" },
	{ "mmap", SYS_mmap, DLT_MMAP, "mmap_exit" },
	{ "mremap", SYS_mremap, DLT_MREMAP, "mmap_exit" },
	{ "munmap", SYS_munmap, DLT_MUNMAP, "mmap_exit" },
	{ "snapshot", -1 }, /* mapped before the trace */
	{ "clone", SYS_clone, DLT_MAKES, "made_exit", .no_row = true },
	{ "clone3", SYS_clone3, DLT_MAKES, "made_exit", .no_row = true },
	{ "fork", SYS_fork, DLT_MAKES, "made_exit", .no_row = true },
	{ "mlock", SYS_mlock, DLT_LOCKS, "made_exit", .no_row = true },
	{ "mlock2", SYS_mlock2, DLT_LOCKS, "made_exit", .no_row = true },
	{ "mlockall", SYS_mlockall, DLT_LOCKS_ALL, "made_exit", .no_row = true },
	{ "vfork", SYS_vfork, DLT_MAKES, "made_exit", .no_row = true },
};
_Static_assert(ARRAY_SIZE(calls) - 8 == DLT_MMAP_SNAPSHOT, "the BPF side knows this number");

SKEL_OPENER(mmap)

static void running(const struct dlt_call *call, struct dlt_hdr *hdr)
{
	struct dlt_mmap *rec = (struct dlt_mmap *)hdr;
	bool mmap = call->shape == DLT_MMAP, mremap = call->shape == DLT_MREMAP;

	rec->ret = DLT_UNKNOWN;
	rec->addr = mremap ? DLT_NONE : (int64_t)call->args[0];
	rec->len = call->args[mremap ? 2 : 1];
	rec->prot = mmap ? (int64_t)call->args[2] : DLT_NONE;
	if (mmap)
		rec->flags = (int64_t)call->args[3];
	else if (mremap)
		rec->flags = (int64_t)(call->args[3] << DLT_MREMAP_SHIFT);
	else
		rec->flags = DLT_NONE;
	rec->fd = mmap ? (int32_t)call->args[4] : DLT_NONE;
	rec->offset = mmap ? (int64_t)call->args[5] : DLT_NONE;
	rec->old_addr = mremap ? (int64_t)call->args[0] : DLT_NONE;
	rec->old_len = mremap ? (int64_t)call->args[1] : DLT_NONE;
	if (call->shape == DLT_BRK) {
		rec->len = 0;
		rec->old_addr = (int64_t)call->args[1];
	} else if (call->shape == DLT_MADVISES) {
		rec->flags = (int64_t)dlt_madvise((uint32_t)call->args[2]);
	}
}

const struct probe mmap_probe = {
	.name = "mmap",
	.help = "mmap, munmap, mremap, brk, madvise",
	PROBE_FIELDS(fields),
	PROBE_CALLS(calls),
	.rec_size = sizeof(struct dlt_mmap),
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_OF_CALLS,
	.open = mmap_open,
	.running = running,
};
