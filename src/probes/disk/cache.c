/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache probe: the kernel side adds up by file (bpf/cache/cache.bpf.h), and sends the sums of a file when the
 * program for that is run, here, once an interval.
 */
#include "dlt/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
	{ "SPAN_NS", "time that the row covers, up to UNTIL_NS, ns", FIELD_U64, AT(hdr.lat_ns) },
	FIELD_FID_OF(struct dlt_cache, id),
	{ "READ", "read by the target's calls through the page cache, bytes", FIELD_U64, AT(read_bytes),
	  .unit = "bytes" },
	{ "HIT", "pages of these reads in the cache", FIELD_U64, AT(hit), .unit = "pages" },
	{ "MISS", "pages of these reads not in the cache", FIELD_U64, AT(miss), .unit = "pages" },
	{ "AHEAD", "pages that entered the cache before any call requested them", FIELD_U64, AT(ahead),
	  .unit = "pages" },
	{ "USED", "of these, pages that a call then used for the first time", FIELD_U64, AT(used), .unit = "pages" },
	{ "EVICTED", "pages that left the cache, for any reason", FIELD_U64, AT(evicted), .unit = "pages" },
	{ "WASTED", "of these, pages read ahead and never used", FIELD_U64, AT(wasted), .unit = "pages" },
	{ "DIRTIED", "clean pages that became dirty, large folios as a whole", FIELD_U64, AT(dirtied),
	  .unit = "pages" },
	{ "WRITTEN", "pages that were written back; - without the bio probe", FIELD_S64, AT(written), .unit = "pages" },
	FIELD_FILE_OF(struct dlt_cache, id),
	{ "UNTIL_NS", "end of what the row covers, ns: TIMESTAMP, or an epoch's begin or end shortly before", FIELD_U64,
	  AT(until_ns) },
};
#undef AT

static int cache_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = SKEL_OPEN(cache, object, cfg, kernel);
	struct cache_bpf *skel;

	if (r < 0)
		return r;
	skel = object->owner;
	skel->rodata->sendfile_nr = SYS_sendfile;
	skel->rodata->splice_nr = SYS_splice;
	skel->rodata->copy_file_range_nr = SYS_copy_file_range;
	skel->rodata->io_submit_nr = SYS_io_submit;
	bpf_program__set_autoload(skel->progs.cache_dirty_folio, kernel_btf_tp(kernel, "writeback_dirty_folio") >= 0);
	bpf_program__set_autoload(skel->progs.cache_dirty_page, kernel_btf_tp(kernel, "writeback_dirty_page") >= 0);
	bpf_program__set_autoattach(skel->progs.cache_send, false);
	bpf_program__set_autoattach(skel->progs.cache_forget, false);
	return 0;
}

#define CELLS_ENOUGH (DLT_CACHE_CELLS / 2)
#define CELLS_MANY (DLT_CACHE_CELLS / 4 * 3)

/* Cells that are read at a time. */
#define BATCH 256
struct batch {
	struct dlt_file_id ids[BATCH];
	struct dlt_cache_cell cells[BATCH];
};

/* What is kept between two intervals. */
struct walked {
	struct dlt_shared *shared;
	uint64_t at_ns; /* CLOCK_MONOTONIC: end of what the last rows cover, begin of what the next ones do */
	uint32_t turn; /* that these begin with */
};

/* What a walk sends. */
struct walk {
	uint64_t begin_ns, until_ns; /* until 0: as of now */
	uint64_t turns; /* a bit for each turn */
	bool scarce; /* cells are: those go of which nothing is cached and nothing has changed, */
	int forget; /* and as many of which only nothing has changed */
};

#define ALL_TURNS ((1U << DLT_CACHE_TURNS) - 1)

static bool turn_changed(const struct dlt_cache_cell *cell, uint64_t turns)
{
	static const struct dlt_cache_sums none;

	for (unsigned int t = 0; t < DLT_CACHE_TURNS; t++)
		if (turns >> t & 1 && memcmp(&cell->sums[t], &none, sizeof(none)))
			return true;
	return false;
}

/* Send the sums of ID's cell, or forget it. */
static int cell_walk(const struct cache_bpf *skel, const struct dlt_file_id *id, const struct dlt_cache_cell *cell,
		     struct walk *walk)
{
	const uint64_t dev_gen = id->dev | (uint64_t)id->gen << 32;
	const uint64_t send[] = { id->ino, dev_gen, walk->begin_ns, walk->until_ns, walk->turns };
	const uint64_t forget[] = { id->ino, dev_gen, walk->forget > 0 };

	if (turn_changed(cell, cell->owed_ns ? ALL_TURNS : walk->turns))
		return object_run(skel->progs.cache_send, send, ARRAY_SIZE(send));
	if (!walk->scarce || (walk->forget <= 0 && cell->cached > 0))
		return 0;
	walk->forget--;
	return object_run(skel->progs.cache_forget, forget, ARRAY_SIZE(forget));
}

/* Send what has changed. 0 or -errno. */
static int cells_walk(const struct cache_bpf *skel, struct walk *walk)
{
	int map = bpf_map__fd(skel->maps.dlt_cache_cells), r = 0;
	struct batch *batch = malloc(sizeof(*batch));
	bool more = true;
	uint32_t at = 0;

	if (!batch)
		return -ENOMEM;
	for (bool first = true; more && !r; first = false) {
		uint32_t n = BATCH;

		/* a batch must have room for all of a bucket: there are as many buckets as elements */
		if (bpf_map_lookup_batch(map, first ? NULL : &at, &at, batch->ids, batch->cells, &n, NULL) < 0) {
			r = errno == ENOENT ? 0 : -errno;
			more = false;
		}
		for (uint32_t i = 0; i < n && !r; i++)
			r = cell_walk(skel, &batch->ids[i], &batch->cells[i], walk);
	}
	free(batch);
	return r;
}

static int cells_now(const struct walked *last)
{
	return (int)__atomic_load_n(&last->shared->cache_cells, __ATOMIC_RELAXED);
}

/*
 * Send the sums as of now: those of the present turn, and when the trace ends also what a hook added to the other one
 * just after it was sent. 0 or -errno.
 */
static int send_now(const struct cache_bpf *skel, struct walked *last, bool at_end)
{
	const int cells = at_end ? 0 : cells_now(last);
	const int r = cells_walk(skel, &(struct walk){
					       last->at_ns,
					       .turns = at_end ? ALL_TURNS : 1U << last->turn % DLT_CACHE_TURNS,
					       .scarce = cells > CELLS_ENOUGH,
					       .forget = cells > CELLS_MANY ? cells - CELLS_ENOUGH : 0,
				       });

	if (!r)
		last->at_ns = clock_now_ns(CLOCK_MONOTONIC);
	return r;
}

static void walked_free(void *state)
{
	struct walked *last = state;

	munmap(last->shared, sizeof(*last->shared));
	free(last);
}

static int walked_new(struct probe_object *object)
{
	const struct cache_bpf *skel = object->owner;
	struct walked *last = calloc(1, sizeof(*last));

	if (!last)
		return -ENOMEM;
	last->shared = mmap(NULL, sizeof(*last->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
			    bpf_map__fd(skel->maps.dlt_shared), 0);
	if (last->shared == MAP_FAILED) {
		const int r = -errno;

		free(last);
		return r;
	}
	last->at_ns = clock_now_ns(CLOCK_MONOTONIC);
	last->turn = last->shared->cache_sent;
	object->state = last;
	object->state_free = walked_free;
	return 0;
}

/* Send the sums as of the instant at which the turn has changed, if it has. */
static int cache_send_turn(struct probe_object *object)
{
	const struct cache_bpf *skel = object->owner;
	struct walked *last = object->state;
	const uint32_t turn = __atomic_load_n(&last->shared->cache_turn, __ATOMIC_ACQUIRE);
	const uint64_t at_ns = MAX(last->shared->cache_turn_ns, last->at_ns);
	int r;

	if (turn == last->turn)
		return 0;
	r = cells_walk(skel, &(struct walk){ last->at_ns, at_ns, .turns = 1U << last->turn % DLT_CACHE_TURNS });
	if (r < 0)
		return r;
	last->at_ns = at_ns;
	last->turn = turn;
	__atomic_store_n(&last->shared->cache_sent, turn, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Between intervals: the turn, and cells for new files. Once more where all files have changed since the last interval:
 * their sums are sent first.
 */
static int cache_send_due(struct probe_object *o)
{
	struct walked *last = o->state;
	int r = cache_send_turn(o);

	for (int i = 0; !r && i < 2 && cells_now(last) > CELLS_MANY; i++)
		r = send_now(o->owner, last, false);
	return r;
}

static int cache_send_sums(struct probe_object *object, enum probe_emit when)
{
	struct cache_bpf *skel = object->owner;
	int r;

	if (when == PROBE_EMIT_BEGIN)
		return walked_new(object);
	if (when == PROBE_EMIT_STOP) {
		skel->bss->ended = 1;
		return 0;
	}
	r = cache_send_turn(object);
	return r ? r : send_now(skel, object->state, when == PROBE_EMIT_END);
}

const struct probe cache_probe = {
	.name = "cache",
	.help = "the page cache, summed per interval: hits, misses, read-ahead and evictions by file",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_cache),
	.flags = PROBE_SELECTABLE | PROBE_ON_DEMAND | PROBE_OWN_SCRATCH,
	.needs = DLT_vfs_rw,
	.open = cache_open,
	.emit = cache_send_sums,
	.emit_due = cache_send_due,
};
