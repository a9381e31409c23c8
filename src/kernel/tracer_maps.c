/* SPDX-License-Identifier: BSD-2-Clause */
/* The maps that all BPF objects of a trace share: their sizes, making them, and sharing them. */
#include "kernel/tracer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "dlt/cache.h"
#include "dlt/meta.h"
#include "dlt/net.h"
#include "dlt/sockets.h"
#include "dlt/vfs_rw.h"
#include "dlt/vfs_rw_sums.h"

#define SLOTS_MAX 65536
#define SCRATCH_BYTES 25096 /* struct scratch of bpf/scratch.bpf.h: checked against the object's at load */
#define SEEN_SLOTS 65536
#define OVERFLOW_CALLS 16384
#define CGROUPS_MAX 4096
#define AIOS_MAX 32768

int tracer_fail(struct tracer *t, int r, const char *what)
{
	snprintf(t->error, sizeof(t->error), "%s: %s%s", what, strerror(-r),
		 r == -EPERM ? " (before Linux 5.11 maps count as locked memory: ulimit -l unlimited)" : "");
	return r;
}

/* Our own memory cgroup's limit in bytes, where cgroup v2 shows it at the root of our namespace; 0: none. */
static uint64_t memory_limit(void)
{
	char line[64];

	return util_read_line("/sys/fs/cgroup/memory.max", line, sizeof(line)) ? 0 : strtoull(line, NULL, 10);
}

void tracer_maps_plan(struct tracer *tracer, uint64_t wanted)
{
	struct sysinfo si = {};
	struct rings_plan plan;

	for (unsigned int i = 0; i < TRACER_MAPS; i++)
		tracer->maps[i] = -1;
	for (unsigned int i = 0; i < RINGS_MAX; i++)
		tracer->ring_fds[i] = -1;
	tracer->n_cpus = (unsigned int)libbpf_num_possible_cpus();
	sysinfo(&si);
	plan = rings_plan((unsigned int)get_nprocs_conf(), wanted, (uint64_t)si.totalram * si.mem_unit, memory_limit());
	tracer->n_rings = plan.n;
	tracer->ring_bytes = plan.bytes;
}

static const struct map_kind {
	const char *name;
	enum bpf_map_type type;
	uint32_t key, value, entries, flags;
	unsigned int of; /* probe: where it is not traced, there are BUT elements, as other programs name the map */
	uint32_t but; /* 0: there is no map */
} map_kinds[TRACER_MAPS] = {
	[TRACER_RINGS] = { "dlt_rings" }, /* rings_begin() */
	/* tracer_maps_create() fills in the ENTRIES that are missing here */
	[TRACER_STATS] = { "dlt_stats", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct dlt_stats), 0, BPF_F_MMAPABLE },
	[TRACER_SHARED] = { "dlt_shared", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct dlt_shared), 1, BPF_F_MMAPABLE },
	[TRACER_TARGETS] = { "dlt_targets", BPF_MAP_TYPE_ARRAY, 4, sizeof(uint64_t), 0, BPF_F_MMAPABLE },
	[TRACER_CALLS] = { "dlt_calls", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct dlt_call), 0, BPF_F_MMAPABLE },
	[TRACER_OVERFLOW] = { "dlt_overflow", BPF_MAP_TYPE_HASH, 4, sizeof(struct dlt_call), OVERFLOW_CALLS },
	[TRACER_SCRATCH] = { "dlt_scratch", BPF_MAP_TYPE_PERCPU_ARRAY, 4, SCRATCH_BYTES, 1 },
	[TRACER_SEEN] = { "dlt_seen", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct dlt_file_id), SEEN_SLOTS },
	[TRACER_CGROUPS] = { "dlt_cgroups", BPF_MAP_TYPE_HASH, sizeof(struct dlt_cgroup_key), 1, CGROUPS_MAX },
	[TRACER_AIOS] = { "dlt_aios", BPF_MAP_TYPE_HASH, sizeof(struct dlt_aio_key), sizeof(struct dlt_aio), AIOS_MAX,
			  .of = DLT_vfs_rw },
	[TRACER_CACHE_CELLS] = { "dlt_cache_cells", BPF_MAP_TYPE_HASH, sizeof(struct dlt_file_id),
				 sizeof(struct dlt_cache_cell), DLT_CACHE_CELLS, .of = DLT_cache, .but = 1 },
	/* mapped for their alignment alone: the kernel begins such arrays at a page, others in the middle of a cache
	   line */
	[TRACER_CACHE_CHUNKS] = { "dlt_cache_chunks", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct dlt_cache_chunks), 0,
				  BPF_F_MMAPABLE, .of = DLT_cache, .but = 1 },
	[TRACER_CACHE_READS] = { "dlt_cache_reads", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct dlt_cache_read), 0,
				 BPF_F_MMAPABLE, .of = DLT_cache, .but = 1 },
	[TRACER_META_CELLS] = { "dlt_meta_cells", BPF_MAP_TYPE_HASH, sizeof(struct dlt_meta_key),
				sizeof(struct dlt_meta_cell), DLT_META_CELLS, .of = DLT_meta_sums, .but = 1 },
	[TRACER_META_NEAR] = { "dlt_meta_near", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct dlt_meta_near), 0, BPF_F_MMAPABLE,
			       .of = DLT_meta_sums, .but = 1 },
	[TRACER_RW_CELLS] = { "dlt_rw_cells", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct dlt_rw_cell), 0, BPF_F_MMAPABLE,
			      .of = DLT_vfs_rw_sums, .but = 1 },
	[TRACER_NET_CELLS] = { "dlt_net_cells", BPF_MAP_TYPE_HASH, sizeof(struct dlt_net_key),
			       sizeof(struct dlt_net_cell), DLT_NET_CELLS, .of = DLT_net, .but = 1 },
	[TRACER_SOCKETS] = { "dlt_sockets", BPF_MAP_TYPE_HASH, sizeof(struct dlt_file_id), sizeof(struct dlt_socket),
			     DLT_SOCKETS_MAX, .of = DLT_net, .but = 1 },
	[TRACER_QUERIED] = { "dlt_queried", BPF_MAP_TYPE_LRU_HASH, 4, sizeof(struct dlt_queried), DLT_QUERIED_MAX,
			     .of = DLT_net, .but = 1 },
};

static int map_create(struct tracer *tracer, enum tracer_map m, uint64_t entries)
{
	const struct map_kind *kind = &map_kinds[m];
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = kind->flags);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (((size_t)kind->value + 7) / 8 * 8 * entries + page - 1) / page * page;
	void *mem = NULL;

	tracer->maps[m] = bpf_map_create(kind->type, kind->name, kind->key, kind->value, (uint32_t)entries, &opts);
	if (tracer->maps[m] >= 0 && kind->flags & BPF_F_MMAPABLE)
		mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, tracer->maps[m], 0);
	if (tracer->maps[m] < 0 || mem == MAP_FAILED)
		return tracer_fail(tracer, -errno, kind->name);
	tracer->mapped[m].mem = mem;
	tracer->mapped[m].bytes = bytes;
	return 0;
}

/* In one update where the kernel can: it waits for an RCU grace period after each single one. */
static int rings_enter(struct tracer *tracer)
{
	uint32_t keys[RINGS_MAX], n = tracer->n_rings;

	for (uint32_t i = 0; i < n; i++)
		keys[i] = i;
	if (bpf_map_update_batch(tracer->maps[TRACER_RINGS], keys, tracer->ring_fds, &n, NULL) == 0)
		return 0;
	for (uint32_t i = 0; i < tracer->n_rings; i++)
		if (bpf_map_update_elem(tracer->maps[TRACER_RINGS], &i, &tracer->ring_fds[i], BPF_ANY) < 0)
			return -errno;
	return 0;
}

/* The kernel clears and maps each ring twice: 20 ms for 128 MiB. Meanwhile the objects are loaded. */
static void *rings_create(void *arg)
{
	struct tracer *tracer = arg;

	for (uint32_t i = 0; !tracer->rings_error && i < tracer->n_rings; i++) {
		tracer->ring_fds[i] =
			bpf_map_create(BPF_MAP_TYPE_RINGBUF, "dlt_ring", 0, 0, (uint32_t)tracer->ring_bytes, NULL);
		if (tracer->ring_fds[i] < 0)
			tracer->rings_error = -errno;
	}
	if (!tracer->rings_error)
		tracer->rings_error = rings_enter(tracer);
	return NULL;
}

/* An array for them, whose elements are declared like a ring of the smallest size (sizes may differ). */
static int rings_begin(struct tracer *tracer)
{
	autoclose int like =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "dlt_ring", 0, 0, (uint32_t)sysconf(_SC_PAGESIZE), NULL);
	LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = (uint32_t)like);
	int r;

	if (like < 0)
		return tracer_fail(tracer, -errno, "ring buffer (kernel 5.8 or newer is needed)");
	tracer->maps[TRACER_RINGS] = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "dlt_rings", sizeof(uint32_t),
						    sizeof(uint32_t), tracer->n_rings, &opts);
	if (tracer->maps[TRACER_RINGS] < 0)
		return tracer_fail(tracer, -errno, "array of ring buffers");
	r = -pthread_create(&tracer->rings_thread, NULL, rings_create, tracer);
	tracer->rings_begun = !r;
	return r < 0 ? tracer_fail(tracer, r, "ring buffers") : 0;
}

int tracer_maps_wait(struct tracer *t)
{
	if (!t->rings_begun)
		return 0;
	t->rings_begun = false;
	pthread_join(t->rings_thread, NULL);
	return t->rings_error < 0 ? tracer_fail(t, t->rings_error, "ring buffers (--buffer sets their size)") : 0;
}

/*
 * Chunks for pages that were read ahead: as many as for all of the machine's memory, within limits: 88 bytes each, so
 * 0.7 to 5.5 MiB. Returns the number of elements, which have several each.
 */
static uint32_t cache_chunks(void)
{
	uint64_t chunks = (uint64_t)sysconf(_SC_PHYS_PAGES) / DLT_CACHE_CHUNK;
	uint32_t n = DLT_CACHE_CHUNKS_MIN;

	while (n < DLT_CACHE_CHUNKS_MAX && n < chunks)
		n *= 2;
	return n / DLT_CACHE_WAYS;
}

/* Returns the elements of map M, which has N if its kind does not have a number. */
static uint32_t map_entries(const struct tracer *t, enum tracer_map m, uint32_t n)
{
	const struct map_kind *kind = &map_kinds[m];

	if (kind->of && !(t->loaded >> kind->of & 1))
		return kind->but;
	return kind->entries ?: n;
}

int tracer_maps_create(struct tracer *tracer)
{
	char line[32] = "32768";
	uint64_t pid_max, slots;
	int r;

	util_read_line("/proc/sys/kernel/pid_max", line, sizeof(line));
	pid_max = MAX(strtoull(line, NULL, 10), 1024) + 1;
	slots = util_pow2_below(MIN(pid_max, SLOTS_MAX));
	tracer->cfg.slot_mask = (uint32_t)slots - 1;
	tracer->cfg.max_tgid = (uint32_t)pid_max;
	tracer->cfg.page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	tracer->cfg.cache_mask = map_entries(tracer, TRACER_CACHE_CHUNKS, cache_chunks()) - 1;

	const uint64_t entries[TRACER_MAPS] = {
		[TRACER_STATS] = (uint64_t)tracer->n_cpus * (uint64_t)DLT_STATS_STRIDE,
		[TRACER_TARGETS] = pid_max / 8 + 1,
		[TRACER_CALLS] = slots,
		[TRACER_CACHE_CHUNKS] = cache_chunks(),
		[TRACER_CACHE_READS] = MIN(slots, DLT_CACHE_READS_MAX),
		[TRACER_META_NEAR] = (uint64_t)MIN(tracer->n_cpus, DLT_META_NEAR_CPUS) * DLT_META_NEAR,
		[TRACER_RW_CELLS] = (uint64_t)MIN(tracer->n_cpus, DLT_RW_CELL_CPUS) * DLT_RW_CELLS,
	};
	r = rings_begin(tracer);
	for (enum tracer_map m = TRACER_RINGS + 1; !r && m < TRACER_MAPS; m++) {
		uint32_t n = map_entries(tracer, m, (uint32_t)entries[m]);

		r = n ? map_create(tracer, m, n) : 0;
	}
	tracer->stats = tracer->mapped[TRACER_STATS].mem;
	tracer->shared = tracer->mapped[TRACER_SHARED].mem;
	tracer->targets = tracer->mapped[TRACER_TARGETS].mem;
	tracer->calls = tracer->mapped[TRACER_CALLS].mem;
	return r;
}

int tracer_share_maps(const struct tracer *tracer, struct bpf_object *obj, uint32_t but)
{
	for (unsigned int i = 0; i < TRACER_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj, map_kinds[i].name);
		int r;

		if (!map || but >> i & 1)
			continue;
		if (i == TRACER_SCRATCH && bpf_map__value_size(map) > SCRATCH_BYTES)
			return -EINVAL; /* a build that mixes two versions */
		r = bpf_map__reuse_fd(map, tracer->maps[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

void tracer_maps_free(struct tracer *t)
{
	tracer_maps_wait(t);
	for (unsigned int i = 0; i < TRACER_MAPS; i++) {
		if (t->mapped[i].mem)
			munmap(t->mapped[i].mem, t->mapped[i].bytes);
		util_close(&t->maps[i]);
	}
	for (unsigned int i = 0; i < RINGS_MAX; i++)
		util_close(&t->ring_fds[i]);
}
