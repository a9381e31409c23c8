/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/access/page_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "kernel/access/page_walk.h"
#include "kernel/btf.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "page_tables.skel.h"

_Static_assert(PAGE_WALK_BATCH <= DLT_PAGE_TABLES_BATCH &&
		       sizeof(((struct page_walk *)0)->pages[0]) == DLT_PAGE_TABLES_PAGE,
	       "one batch");

#define GIB (1ULL << 30)
#define PHYS_GIB_MAX 65536 /* of physical addresses: 64 TiB */

struct page_tables {
	struct page_tables_bpf *skel;
	struct bpf_link *list; /* the iterator */
	uint64_t *from;
	uint64_t (*pages)[PAGE_WALK_ENTRIES];
	uint64_t direct_map; /* where physical memory begins in the kernel's addresses */
	bool stopped; /* atomic */
	bool flushes; /* soft-dirty bits are cleared, too: if the kernel has these, the process pays a fault for each
			 page it writes */
	struct page_walk walk;
};

#define FROM_BYTES (DLT_PAGE_TABLES_BATCH * sizeof(uint64_t))
#define PAGES_BYTES ((size_t)DLT_PAGE_TABLES_BATCH * DLT_PAGE_TABLES_PAGE)

void page_tables_close(struct page_tables *tables)
{
	if (!tables)
		return;
	if (tables->from)
		munmap(tables->from, FROM_BYTES);
	if (tables->pages)
		munmap(tables->pages, PAGES_BYTES);
	bpf_link__destroy(tables->list);
	page_tables_bpf__destroy(tables->skel);
	free(tables);
}

/* --- reading ---------------------------------------------------------------------------------------------- */

/* Copies the N pages whose addresses are in t->from. */
static int copy_from(struct page_tables *t, unsigned int n)
{
	const uint64_t args[] = { n };

	return object_run(t->skel->progs.page_tables_copy, args, ARRAY_SIZE(args));
}

static int copy(void *ctx, const uint64_t *phys, unsigned int n, uint64_t (*pages)[PAGE_WALK_ENTRIES])
{
	struct page_tables *tables = ctx;
	int r;

	if (page_tables_stopped(tables))
		return -ECANCELED;
	for (unsigned int i = 0; i < n; i++)
		tables->from[i] = tables->direct_map + phys[i];
	r = copy_from(tables, n);
	if (r == 0)
		memcpy(pages, tables->pages, (size_t)n * DLT_PAGE_TABLES_PAGE);
	return r;
}

int page_tables_list(struct page_tables *t, void (*fn)(void *ctx, const void *memory_of), void *ctx)
{
	return object_records(bpf_link__fd(t->list), sizeof(struct dlt_memory_of), fn, ctx);
}

int page_tables_find(struct page_tables *tables, const struct dlt_memory_of *of,
		     void (*fn)(void *ctx, uint64_t addr, uint64_t bytes, bool huge), void *ctx)
{
	tables->walk.found = fn;
	tables->walk.copy_ctx = tables;
	tables->walk.ctx = ctx;
	/* those of its mappings, and some for mappings that are made meanwhile */
	tables->walk.tables_max = 65536 + 2 * (of->total_vm / PAGE_WALK_ENTRIES + 4ULL * of->mappings);
	if (of->pgd < tables->direct_map)
		return -EINVAL;
	return page_walk(&tables->walk, of->pgd - tables->direct_map);
}

void page_tables_stop(struct page_tables *t)
{
	__atomic_store_n(&t->stopped, true, __ATOMIC_RELAXED);
}

bool page_tables_stopped(const struct page_tables *t)
{
	return __atomic_load_n(&t->stopped, __ATOMIC_RELAXED);
}

/*
 * "1" clears accessed bits, and does not flush the TLB. "4" clears soft-dirty bits, the kernel's own, if it has these,
 * and then does. For a thread that has ended the kernel clears nothing, and returns no error.
 */
int page_tables_clear(const struct page_tables *t, pid_t tid)
{
	char path[64];
	autoclose int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", (int)tid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || (t->walk.use == PAGE_ACCESSED && write(fd, "1", 1) < 0))
		return -errno;
	return t->flushes && write(fd, "4", 1) < 0 ? -errno : 0;
}

bool page_tables_flushes(const struct page_tables *t)
{
	return t->flushes;
}

/* --- finding out -------------------------------------------------------------------------------------------- */

/* A page of our own, whose place in physical memory is known. */
struct known {
	uint64_t *at;
	uint64_t phys;
	bool soft_dirty; /* it has been written, and shows that */
	struct dlt_memory_of of; /* ours */
	bool found;
};

static int known_open(struct known *known)
{
	const uint64_t page = DLT_PAGE_TABLES_PAGE;
	autoclose int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	known->at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (known->at == MAP_FAILED)
		return -errno;
	for (unsigned int i = 0; i < PAGE_WALK_ENTRIES; i++)
		known->at[i] =
			(uint64_t)(uintptr_t)known->at * 0x9e3779b97f4a7c15ULL + i * clock_now_ns(CLOCK_MONOTONIC);
	if (fd < 0 ||
	    pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)known->at / page * sizeof(entry))) != sizeof(entry))
		return fd < 0 ? -errno : -EIO;
	known->phys = (entry & ((1ULL << 55) - 1)) * page;
	known->soft_dirty = entry >> 55 & 1;
	return known->phys ? 0 : -EPERM;
}

static void known_of(void *ctx, const void *memory_of)
{
	const struct dlt_memory_of *of = memory_of;
	struct known *k = ctx;

	if (of->tgid == (uint32_t)getpid())
		k->of = *of;
}

static void known_found(void *ctx, uint64_t addr, uint64_t bytes, bool huge)
{
	struct known *k = ctx;
	const uint64_t at = (uint64_t)(uintptr_t)k->at;

	k->found |= at >= addr && at - addr < bytes;
}

/* The topmost table of ours is in physical memory too: so that begins at one of the GiB below it. */
static int find_direct_map(struct page_tables *tables, const struct known *known)
{
	const uint64_t top = known->of.pgd & ~(GIB - 1);

	for (unsigned int gib = 0; gib < PHYS_GIB_MAX && gib <= top / GIB; gib += DLT_PAGE_TABLES_BATCH) {
		int r;

		for (unsigned int i = 0; i < DLT_PAGE_TABLES_BATCH; i++)
			tables->from[i] = top - (gib + i) * GIB + known->phys;
		r = copy_from(tables, DLT_PAGE_TABLES_BATCH);
		if (r < 0)
			return r;
		for (unsigned int i = 0; i < DLT_PAGE_TABLES_BATCH; i++) {
			if (memcmp(tables->pages[i], known->at, DLT_PAGE_TABLES_PAGE))
				continue;
			tables->direct_map = top - (gib + i) * GIB;
			return 0;
		}
	}
	return -ENOENT;
}

/* 0: our page is seen, or as WANT is false, it is not. */
static int look(struct page_tables *t, struct known *k, bool want)
{
	int r;

	k->found = false;
	r = page_tables_find(t, &k->of, known_found, k);
	if (r < 0)
		return r;
	return k->found == want ? 0 : -ENODATA;
}

/* Is our page, which was written, seen, and after a clear no longer? Accessed again, it is seen only if the CPU has
 * forgotten it. */
static int try_out(struct page_tables *t, struct known *k)
{
	int r = look(t, k, true) ?: page_tables_clear(t, getpid()) ?: look(t, k, false);

	if (r < 0 || !t->flushes)
		return r;
	*(volatile uint64_t *)k->at = 1;
	return look(t, k, true);
}

static int find_out(struct page_tables *tables, const char **what)
{
	struct known k = { .at = MAP_FAILED };
	int r;

	*what = "/proc/self/pagemap has no addresses";
	r = known_open(&k);
	if (!r && !k.soft_dirty && tables->walk.use == PAGE_WRITTEN) {
		*what = "the kernel has no soft-dirty bits, CONFIG_MEM_SOFT_DIRTY";
		r = -EOPNOTSUPP;
	}
	if (!r) {
		*what = "our own process is not in the list";
		r = page_tables_list(tables, known_of, &k);
		if (!r && !k.of.pgd)
			r = -ESRCH;
	}
	if (!r) {
		*what = "physical memory is not found in the kernel's addresses";
		r = find_direct_map(tables, &k);
	}
	if (!r) {
		*what = "the bits of a page are not seen, or cannot be cleared";
		tables->walk.levels = k.of.task_size >> 47 ? 5 : 4;
		tables->flushes = !k.soft_dirty || tables->walk.use == PAGE_WRITTEN;
		r = try_out(tables, &k);
	}
	if (k.at != MAP_FAILED)
		munmap(k.at, DLT_PAGE_TABLES_PAGE);
	return r;
}

static void *map(const struct bpf_map *map, size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static int load(struct page_tables *tables, const struct kernel_btf *kernel)
{
	int r = object_sections_register();

	if (r < 0)
		return r;
	tables->skel = SKEL_OPEN_ONLY(page_tables, kernel);
	r = tables->skel ? object_load(tables->skel->skeleton, kernel, NULL, NULL) : -errno;
	if (r < 0)
		return r;
	tables->list = bpf_program__attach_iter(tables->skel->progs.page_tables_list, NULL);
	if (!tables->list)
		return -errno;
	tables->from = map(tables->skel->maps.from, FROM_BYTES);
	tables->pages = map(tables->skel->maps.pages, PAGES_BYTES);
	return tables->from && tables->pages ? 0 : -ENOMEM;
}

int page_tables_open(struct page_tables **ret, const struct kernel_btf *kernel, enum page_use use, char *why,
		     size_t size)
{
	const char *what = "the kernel refused its programs";
	struct page_tables *tables;
	int r;

#ifndef __x86_64__
	snprintf(why, size, "the page tables of this architecture are not known");
	return -EOPNOTSUPP;
#endif
	tables = calloc(1, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	tables->walk.copy = copy;
	tables->walk.use = use;
	r = load(tables, kernel);
	if (!r)
		r = find_out(tables, &what);
	if (r < 0) {
		snprintf(why, size, "%s (%s)", what, strerror(-r));
		page_tables_close(tables);
		return r;
	}
	*ret = tables;
	return 0;
}
