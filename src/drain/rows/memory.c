/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "dlt/memory.h"
#include "drain/rows/decode.h"
#include "drain/rows/stage.h"
#include "host/machine/meminfo.h"

struct memory {
	int fd; /* /proc/meminfo; -1: it cannot be opened */
	uint64_t next_ns;
};

static struct memory *memory_of(const struct decode *d)
{
	return d->state[DLT_memory];
}

static int64_t or_none(int64_t bytes)
{
	return bytes < 0 ? DLT_NONE : bytes;
}

static void row(struct decode *decode, uint64_t now_ns, const int64_t bytes[MEMINFO_LINES])
{
	struct dlt_memory rec = {
		.hdr = { .ts_ns = now_ns, .probe = DLT_memory, .size = sizeof(rec) },
		.free = or_none(bytes[MEMINFO_FREE]),
		.available = or_none(bytes[MEMINFO_AVAILABLE]),
		.cached = or_none(bytes[MEMINFO_CACHED]),
		.dirty = or_none(bytes[MEMINFO_DIRTY]),
		.writeback = or_none(bytes[MEMINFO_WRITEBACK]),
		.anon = or_none(bytes[MEMINFO_ANON]),
		.shmem = or_none(bytes[MEMINFO_SHMEM]),
		.swap_free = or_none(bytes[MEMINFO_SWAP_FREE]),
	};

	decode_record(decode, &rec, sizeof(rec));
}

static void sample(struct decode *d, uint64_t now_ns)
{
	int64_t bytes[MEMINFO_LINES];

	if (memory_of(d)->fd >= 0 && meminfo_read(memory_of(d)->fd, bytes) == 0)
		row(d, now_ns, bytes);
}

static void begin(struct decode *d, struct tracer *t, uint64_t now_ns)
{
	memory_of(d)->next_ns = now_ns + d->cfg->interval_ns;
	sample(d, now_ns);
}

/* Half a second early is in time: ticks are a second apart. */
static void tick(struct decode *d, uint64_t now_ns, uint64_t reached_ns)
{
	struct memory *m = memory_of(d);

	if (now_ns + NSEC_PER_SEC / 2 < m->next_ns)
		return;
	m->next_ns = now_ns + d->cfg->interval_ns;
	sample(d, now_ns);
}

static int memory_open(struct decode *d)
{
	struct memory *m = d->state[DLT_memory] = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		log_warn("memory.out stays empty: /proc/meminfo cannot be opened: %s", strerror(errno));
	return 0;
}

static void memory_free(void *state)
{
	struct memory *m = state;

	if (m)
		util_close(&m->fd);
	free(m);
}

const struct drain_stage memory_stage = {
	.probe = DLT_memory,
	.open = memory_open,
	.begin = begin,
	.tick = tick,
	.end = sample,
	.free = memory_free,
};
