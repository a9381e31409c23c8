/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "dlt/memory.h"
#include "drain/rows/decode.h"
#include "host/meminfo.h"

void memory_open(struct memory *m, uint64_t interval_ns)
{
	m->interval_ns = interval_ns;
	m->next_ns = 0;
	m->fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		log_warn("memory.out stays empty: /proc/meminfo cannot be opened: %s", strerror(errno));
}

void memory_close(struct memory *m)
{
	util_close(&m->fd);
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

/* Half a second early is in time: the ticks that bring us here are a second apart. */
void memory_tick(struct memory *m, struct decode *d, uint64_t now_ns, bool last)
{
	int64_t bytes[MEMINFO_LINES];

	if (m->fd < 0 || (!last && now_ns + NSEC_PER_SEC / 2 < m->next_ns) || meminfo_read(m->fd, bytes) < 0)
		return;
	m->next_ns = now_ns + m->interval_ns;
	row(d, now_ns, bytes);
}
