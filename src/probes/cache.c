/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache probe: the kernel side adds up by file (bpf/cache.bpf.h), and sends the sums of a file when the program for
 * that is run, here, once an interval.
 */
#include "dlt/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "cache.skel.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "trace/probe.h"

#define AT(member) offsetof(struct dlt_cache, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the row, ns", AT(hdr.ts_ns)),
	{ "SPAN_NS", "time that the row covers: since the rows before it were sent, ns", FIELD_U64, AT(hdr.lat_ns) },
	FIELD_FID_OF(struct dlt_cache, id),
	{ "READ", "read by calls of the target through the page cache, bytes", FIELD_U64, AT(read_bytes), .unit = "bytes" },
	{ "HIT", "pages of these reads that were in the cache", FIELD_U64, AT(hit), .unit = "pages" },
	{ "MISS", "pages of these reads that were not", FIELD_U64, AT(miss), .unit = "pages" },
	{ "AHEAD", "pages that entered the cache before any call requested them", FIELD_U64, AT(ahead), .unit = "pages" },
	{ "USED", "of these, pages that a call then used for the first time", FIELD_U64, AT(used), .unit = "pages" },
	{ "EVICTED", "pages that left the cache, for any reason", FIELD_U64, AT(evicted), .unit = "pages" },
	{ "WASTED", "of these, pages that were read ahead and never used", FIELD_U64, AT(wasted), .unit = "pages" },
	{ "DIRTIED", "clean pages that became dirty; a large folio counts with all its pages", FIELD_U64, AT(dirtied), .unit = "pages" },
	{ "WRITTEN", "pages that were written back; - without the bio probe", FIELD_S64, AT(written), .unit = "pages" },
	FIELD_FILE_OF(struct dlt_cache, id),
};
#undef AT

static int cache_open(struct probe_object *o, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = SKEL_OPEN(cache, o, cfg, kernel);
	struct cache_bpf *skel;

	if (r < 0)
		return r;
	skel = o->owner;
	skel->rodata->splice_nr = SYS_splice;
	skel->rodata->io_submit_nr = SYS_io_submit;
	bpf_program__set_autoload(skel->progs.cache_dirty_folio, kernel_btf_tp(kernel, "writeback_dirty_folio") >= 0);
	bpf_program__set_autoload(skel->progs.cache_dirty_page, kernel_btf_tp(kernel, "writeback_dirty_page") >= 0);
	bpf_program__set_autoattach(skel->progs.cache_send, false);
	return 0;
}

/* Cells that are read at a time. */
#define BATCH 256
struct batch {
	struct dlt_file_id ids[BATCH];
	struct dlt_cache_cell cells[BATCH];
};

/* What is kept between two intervals. */
struct walked {
	uint64_t at_ns; /* CLOCK_MONOTONIC: end of the last walk, begin of the interval */
	int cells;	/* that there were */
};

/* Send the sums of ID's cell, since BEGIN_NS. */
static int cell_send(const struct cache_bpf *skel, const struct dlt_file_id *id, uint64_t begin_ns)
{
	const uint64_t args[] = { id->ino, id->dev | (uint64_t)id->gen << 32, begin_ns };

	return object_run(skel->progs.cache_send, args, ARRAY_SIZE(args));
}

/*
 * Send what has changed since BEGIN_NS. FULL: the table has little room, so that a cell of which nothing is cached and nothing
 * has changed for an interval goes. Returns the number of cells, or -errno.
 */
static int cells_walk(const struct cache_bpf *skel, struct batch *b, uint64_t begin_ns, bool full)
{
	int map = bpf_map__fd(skel->maps.dlt_cache_cells), seen = 0, r = 0;
	uint32_t at = 0;
	bool more = true;

	for (bool first = true; more && !r; first = false) {
		uint32_t n = BATCH;

		/* a batch must have room for all of a bucket: there are as many buckets as elements */
		if (bpf_map_lookup_batch(map, first ? NULL : &at, &at, b->ids, b->cells, &n, NULL) < 0) {
			if (errno != ENOENT)
				return -errno;
			more = false;
		}
		for (uint32_t i = 0; i < n && !r; i++) {
			const struct dlt_cache_cell *cell = &b->cells[i];

			if (memcmp(&cell->sums, &cell->sent, sizeof(cell->sums)))
				r = cell_send(skel, &b->ids[i], begin_ns);
			else if (full && cell->cached <= 0)
				bpf_map_delete_elem(map, &b->ids[i]);
		}
		seen += (int)n;
	}
	return r < 0 ? r : seen;
}

static int cache_send_sums(struct probe_object *o, enum probe_emit when)
{
	struct cache_bpf *skel = o->owner;
	struct batch *batch;
	struct walked *last = o->state;
	int r;

	if (when == PROBE_EMIT_BEGIN) {
		o->state = last = calloc(1, sizeof(*last));
		o->state_free = free;
		if (!last)
			return -ENOMEM;
		last->at_ns = clock_now_ns(CLOCK_MONOTONIC);
		return 0;
	}
	if (when == PROBE_EMIT_STOP) {
		skel->bss->ended = 1;
		return 0;
	}
	batch = malloc(sizeof(*batch));
	if (!batch)
		return -ENOMEM;
	r = cells_walk(skel, batch, last->at_ns, when == PROBE_EMIT && last->cells > DLT_CACHE_CELLS / 2);
	free(batch);
	if (r < 0)
		return r;
	*last = (struct walked){ .at_ns = clock_now_ns(CLOCK_MONOTONIC), .cells = r };
	return 0;
}

const struct probe cache_probe = {
	.name = "cache",
	.help = "the page cache, summed per interval: hits, misses, read-ahead and evictions by file",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_cache),
	.flags = PROBE_SELECTABLE | PROBE_ON_DEMAND,
	.needs = DLT_vfs_rw,
	.open = cache_open,
	.emit = cache_send_sums,
};
