/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/memory/access_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stats/table.h"

#define PROCESSES_MAX (1U << 16)
#define KEEP_NS (10 * NSEC_PER_SEC) /* no interval is longer */

/* Of a process, by address, without overlap. */
struct maps {
	struct access_map *v;
	uint32_t n, room;
};

struct access_maps {
	struct table processes; /* struct maps, by PID */
	uint64_t room, left_out; /* the room of all processes */
};

struct access_maps *access_maps_new(void)
{
	struct access_maps *m = calloc(1, sizeof(*m));

	if (m)
		table_init_pids(&m->processes, sizeof(struct maps), PROCESSES_MAX);
	return m;
}

void access_maps_free(struct access_maps *m)
{
	for (uint32_t i = 0; m && i < m->processes.n; i++)
		free(((struct maps *)table_at(&m->processes, i))->v);
	if (m)
		table_free(&m->processes);
	free(m);
}

uint64_t access_maps_left_out(const struct access_maps *m)
{
	return m->left_out;
}

/* Returns the index of the first mapping that ends after ADDR. */
static uint32_t find(const struct maps *maps, uint64_t addr)
{
	uint32_t low = 0, high = maps->n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (maps->v[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool make_room(struct access_maps *maps, struct maps *p, uint32_t more)
{
	const uint32_t need = p->n + more, room = MAX(2 * p->room, need);
	struct access_map *map;

	if (need <= p->room)
		return true;
	if (need > ACCESS_MAPS_OF_PROCESS_MAX || maps->room - p->room + room > ACCESS_MAPS_MAX)
		return false;
	map = reallocarray(p->v, room, sizeof(*map));
	if (!map)
		return false;
	maps->room += room - p->room;
	p->v = map;
	p->room = room;
	return true;
}

/* Puts WHAT at index I. */
static void put(struct access_maps *m, struct maps *p, uint32_t i, const struct access_map *what)
{
	if (!make_room(m, p, 1)) {
		m->left_out++;
		return;
	}
	memmove(&p->v[i + 1], &p->v[i], (p->n - i) * sizeof(*p->v));
	p->v[i] = *what;
	p->n++;
}

/* Divides the mapping that ADDR is within into two. */
static void divide(struct access_maps *maps, struct maps *p, uint64_t addr)
{
	const uint32_t i = find(p, addr);
	struct access_map rest;

	if (i == p->n || p->v[i].begin >= addr)
		return;
	rest = p->v[i];
	rest.offset += addr - rest.begin;
	rest.begin = addr;
	p->v[i].end = addr;
	put(maps, p, i + 1, &rest);
}

/* Ends the mappings from ADDR to END at NS; 0: others take their places, so they are gone. */
static void unmap(struct access_maps *maps, struct maps *p, uint64_t addr, uint64_t end, uint64_t ns)
{
	uint32_t kept, i;

	divide(maps, p, addr);
	divide(maps, p, end);
	for (kept = i = find(p, addr); i < p->n && p->v[i].end <= end; i++) {
		struct access_map at = p->v[i];

		if (!ns || (at.end_ns && at.end_ns + KEEP_NS < ns))
			continue;
		at.end_ns = at.end_ns ? at.end_ns : ns;
		p->v[kept++] = at;
	}
	if (kept == i)
		return;
	memmove(&p->v[kept], &p->v[i], (p->n - i) * sizeof(*p->v));
	p->n -= i - kept;
}

/* Returns the offset in the file of what is mapped at ADDR; 0: nothing is. */
static uint64_t offset_at(const struct maps *p, uint64_t addr)
{
	const uint32_t i = find(p, addr);

	return i < p->n && p->v[i].begin <= addr ? p->v[i].offset + (addr - p->v[i].begin) : 0;
}

void access_maps_take(struct access_maps *access_maps, const struct scan *scan)
{
	const bool moves = scan_is(scan, COL_FUNC, "mremap"),
		   maps = moves || scan_is(scan, COL_FUNC, "mmap") || scan_is(scan, COL_FUNC, "snapshot");
	struct maps *p = table_get(&access_maps->processes, scan_number(scan, COL_PID));
	struct access_map new = { 0 };
	const uint64_t len = scan_number(scan, COL_LEN);
	uint64_t old, old_len;

	if (!p || !len || len >= 1ULL << 57 || !scan_has_number(scan, COL_PID))
		return;
	if (!maps) { /* of a munmap that failed, nothing is unmapped; RET 0 is no address */
		if (scan_is(scan, COL_FUNC, "munmap") && scan_is(scan, COL_RET, "0") &&
		    scan_address(scan, COL_ADDR, &new.begin))
			unmap(access_maps, p, new.begin, new.begin + len, scan->time_ns);
		return;
	}
	if (!scan_address(scan, COL_RET, &new.begin) || !new.begin || new.begin >= 1ULL << 57)
		return;
	new.end = new.begin + len;
	scan_u64(scan, COL_FID, &new.fid);
	new.offset = scan_number(scan, COL_OFFSET);
	if (moves && scan_address(scan, COL_OLD_ADDR, &old)) {
		new.offset = offset_at(p, old);
		if (scan_u64(scan, COL_OLD_LEN, &old_len))
			unmap(access_maps, p, old, old + MIN(old_len, 1ULL << 57), scan->time_ns);
	}
	unmap(access_maps, p, new.begin, new.end, 0);
	if (new.fid)
		put(access_maps, p, find(p, new.begin), &new);
}

/* A child begins with its parent's mappings. */
static void copy(struct access_maps *maps, uint64_t pid, uint64_t ppid)
{
	struct maps *child = table_get(&maps->processes, pid), *parent = table_find(&maps->processes, ppid);

	if (!child || !parent || child == parent || child->n || !parent->n)
		return;
	if (!make_room(maps, child, parent->n)) {
		maps->left_out += parent->n;
		return;
	}
	memcpy(child->v, parent->v, parent->n * sizeof(*child->v));
	child->n = parent->n;
}

void access_maps_process(struct access_maps *maps, const struct scan *scan)
{
	const uint64_t pid = scan_number(scan, COL_PID);
	const bool forks = scan_is(scan, COL_EVENT, "fork");
	struct maps *p;

	if (!forks && !scan_is(scan, COL_EVENT, "exec"))
		return;
	p = table_find(&maps->processes, pid);
	if (p) { /* another program, or another process of this number */
		maps->room -= p->room;
		free(p->v);
		*p = (struct maps){ 0 };
	}
	if (forks)
		copy(maps, pid, scan_number(scan, COL_PPID));
}

void access_maps_each(const struct access_maps *maps, uint64_t pid, uint64_t addr, uint64_t end, uint64_t from_ns,
		      access_map_fn take, void *own)
{
	const struct maps *p = table_find(&maps->processes, pid);

	for (uint32_t i = p ? find(p, addr) : 0; p && i < p->n && p->v[i].begin < end; i++) {
		struct access_map part = p->v[i];

		if (part.end_ns && part.end_ns < from_ns)
			continue;
		if (part.begin < addr) {
			part.offset += addr - part.begin;
			part.begin = addr;
		}
		part.end = MIN(part.end, end);
		take(own, &part);
	}
}
