/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "calls.skel.h"
#include "log.h"
#include "util.h"

#define RING_MIN_BYTES (64ULL << 20)
#define SLOTS_MAX 65536
#define SCRATCH_BYTES 24640 /* struct scratch of bpf/file.bpf.h: checked against the object's at load */
#define SEEN_SLOTS 65536
#define OVERFLOW_CALLS 16384
#define CGROUPS_MAX 4096
#define INIT_PID_NS_INO 0xeffffffc /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

static int fail(struct tracer *t, int r, const char *what)
{
	snprintf(t->error, sizeof(t->error), "%s: %s", what, strerror(-r));
	return r;
}

/* libbpf speaks one level lower than we do: its warnings show with -v. */
static int libbpf_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[1024];

	if (log_get_level() < LOG_LEVEL_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	log_debug("%s", text);
	return 0;
}

int tracer_check(char *error, size_t size)
{
	static const char btf[] = "/sys/kernel/btf/vmlinux";
	struct bpf_insn prog[] = { { .code = 0xb7 }, { .code = 0x95 } }; /* r0 = 0; exit */
	struct stat st;
	int fd;

	if (access(btf, R_OK) < 0) {
		snprintf(error, size, "%s is missing: this kernel has no BTF; it needs CONFIG_DEBUG_INFO_BTF=y", btf);
		return -ENOENT;
	}
	/* the kernel side's process numbers are the initial namespace's, ours and those of our /proc are not */
	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != INIT_PID_NS_INO) {
		snprintf(error, size, "this is a container with process numbers of its own (a pid namespace): "
			 "run dltraced on the host, or in a container that shares them (docker run --pid=host)");
		return -EOPNOTSUPP;
	}
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, "dlt_check", "GPL", prog, ARRAY_SIZE(prog), NULL);
	if (fd < 0) {
		snprintf(error, size, errno == EPERM ?
			 "not allowed to trace: run with sudo, or give CAP_BPF and CAP_PERFMON" :
			 "this kernel refuses BPF programs (%s)", strerror(errno));
		return -errno;
	}
	close(fd);
	return 0;
}

/* --- maps -------------------------------------------------------------------------------------- */

static uint64_t pow2_below(uint64_t v)
{
	while (v & (v - 1))
		v &= v - 1;
	return v;
}

static uint64_t memory_default(void)
{
	struct sysinfo si = {};
	char line[64];
	uint64_t bytes, limit;

	sysinfo(&si);
	bytes = MIN((uint64_t)si.totalram * si.mem_unit / 64, 1ULL << 30);
	/* our own cgroup's limit, where cgroup v2 tells it at the root of our namespace */
	if (!util_read_line("/sys/fs/cgroup/memory.max", line, sizeof(line))) {
		limit = strtoull(line, NULL, 10);
		if (limit)
			bytes = MIN(bytes, limit / 8);
	}
	return bytes;
}

/* One ring per CPU of at least 64 MiB; where that is too much in all, CPUs share. */
static void ring_layout(struct tracer *t, uint64_t asked)
{
	uint64_t total = asked ? asked : memory_default();
	uint64_t least = asked ? MIN(RING_MIN_BYTES, MAX(total, 4096)) : RING_MIN_BYTES;
	long cpus = get_nprocs_conf();

	t->n_cpus = (unsigned int)libbpf_num_possible_cpus();
	t->n_rings = (unsigned int)MIN(MAX(total / least, 1), (uint64_t)MIN(cpus, RINGS_MAX));
	t->ring_bytes = pow2_below(MAX(total / t->n_rings, 4096));
	if (!asked)
		t->ring_bytes = MAX(t->ring_bytes, RING_MIN_BYTES);
}

static int map_create(struct tracer *t, enum tracer_map m, enum bpf_map_type type, const char *name,
		      uint32_t value, uint64_t entries, uint32_t flags, void **mem_ret, size_t *bytes_ret)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (((size_t)value + 7) / 8 * 8 * entries + page - 1) / page * page;
	uint32_t key = m == TRACER_CGROUPS ? sizeof(struct dlt_cgroup_key) : sizeof(uint32_t);
	void *mem;

	t->maps[m] = bpf_map_create(type, name, key, value, (uint32_t)entries, &opts);
	if (t->maps[m] < 0)
		return fail(t, -errno, name);
	if (!mem_ret)
		return 0;
	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, t->maps[m], 0);
	if (mem == MAP_FAILED)
		return fail(t, -errno, name);
	*mem_ret = mem;
	*bytes_ret = bytes;
	return 0;
}

static int rings_create(struct tracer *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	for (uint32_t i = 0; i < t->n_rings; i++) {
		t->ring_fds[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "dlt_ring", 0, 0,
						(uint32_t)t->ring_bytes, NULL);
		if (t->ring_fds[i] < 0)
			return fail(t, -errno, "ring buffer (kernel 5.8 or newer is needed; --buffer sets its size)");
	}
	opts.inner_map_fd = (uint32_t)t->ring_fds[0];
	t->maps[TRACER_RINGS] = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "dlt_rings", sizeof(uint32_t),
					    sizeof(uint32_t), t->n_rings, &opts);
	if (t->maps[TRACER_RINGS] < 0)
		return fail(t, -errno, "array of ring buffers");
	for (uint32_t i = 0; i < t->n_rings; i++)
		if (bpf_map_update_elem(t->maps[TRACER_RINGS], &i, &t->ring_fds[i], BPF_ANY) < 0)
			return fail(t, -errno, "array of ring buffers");
	return 0;
}

static int maps_create(struct tracer *t)
{
	char line[32] = "32768";
	uint64_t pid_max, slots;
	size_t bytes;
	int r;

	util_read_line("/proc/sys/kernel/pid_max", line, sizeof(line));
	pid_max = MAX(strtoull(line, NULL, 10), 1024) + 1;
	slots = pow2_below(MIN(pid_max, SLOTS_MAX));
	t->cfg.slot_mask = (uint32_t)slots - 1;
	t->cfg.max_tgid = (uint32_t)pid_max;

	r = rings_create(t);
	if (r < 0)
		return r;
	const struct {
		enum tracer_map m;
		enum bpf_map_type type;
		const char *name;
		uint32_t value;
		uint64_t entries;
		uint32_t flags;
		void **mem;
		size_t *bytes;
	} maps[] = {
		{ TRACER_STATS, BPF_MAP_TYPE_PERCPU_ARRAY, "dlt_stats", sizeof(struct dlt_stats), DLT_PROBES, 0, NULL, NULL },
		{ TRACER_SHARED, BPF_MAP_TYPE_ARRAY, "dlt_shared", sizeof(struct dlt_shared), 1, BPF_F_MMAPABLE,
		  (void **)&t->shared, &bytes },
		{ TRACER_TARGETS, BPF_MAP_TYPE_ARRAY, "dlt_targets", sizeof(uint64_t), pid_max / 8 + 1, BPF_F_MMAPABLE,
		  (void **)&t->targets, &t->targets_bytes },
		{ TRACER_CALLS, BPF_MAP_TYPE_ARRAY, "dlt_calls", sizeof(struct dlt_call), slots, BPF_F_MMAPABLE,
		  (void **)&t->calls, &t->calls_bytes },
		{ TRACER_OVERFLOW, BPF_MAP_TYPE_HASH, "dlt_overflow", sizeof(struct dlt_call), OVERFLOW_CALLS, 0, NULL, NULL },
		{ TRACER_SCRATCH, BPF_MAP_TYPE_PERCPU_ARRAY, "dlt_scratch", SCRATCH_BYTES, 1, 0, NULL, NULL },
		{ TRACER_SEEN, BPF_MAP_TYPE_ARRAY, "dlt_seen", sizeof(struct dlt_file_id), SEEN_SLOTS, 0, NULL, NULL },
		{ TRACER_CGROUPS, BPF_MAP_TYPE_HASH, "dlt_cgroups", 1, CGROUPS_MAX, 0, NULL, NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		r = map_create(t, maps[i].m, maps[i].type, maps[i].name, maps[i].value, maps[i].entries,
			       maps[i].flags, maps[i].mem, maps[i].bytes);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- objects ------------------------------------------------------------------------------------ */

int tracer_share_maps(struct tracer *t, struct bpf_object *obj, uint32_t but)
{
	static const char *const names[TRACER_MAPS] = {
		[TRACER_RINGS] = "dlt_rings",	 [TRACER_STATS] = "dlt_stats",	[TRACER_SHARED] = "dlt_shared",
		[TRACER_TARGETS] = "dlt_targets",	 [TRACER_CALLS] = "dlt_calls",	[TRACER_OVERFLOW] = "dlt_overflow",
		[TRACER_SCRATCH] = "dlt_scratch",	 [TRACER_SEEN] = "dlt_seen",	[TRACER_CGROUPS] = "dlt_cgroups",
	};

	for (unsigned int i = 0; i < TRACER_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj, names[i]);
		int r;

		if (!map || but >> i & 1)
			continue;
		if (i == TRACER_SCRATCH && bpf_map__value_size(map) > SCRATCH_BYTES)
			return fail(t, -EINVAL, "dlt_scratch is smaller than the object's: a build of two versions");
		r = bpf_map__reuse_fd(map, t->maps[i]);
		if (r < 0)
			return fail(t, r, names[i]);
	}
	return 0;
}

static bool btf_has_func(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has = btf && btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;

	btf__free(btf);
	return has;
}

static int object_load(struct tracer *t, unsigned int probe)
{
	const struct probe *p = probes[probe];
	struct probe_object *o = &t->objects[probe];
	int r;

	if (!p->open)
		return 0;
	r = p->open(o, &t->cfg);
	if (r < 0)
		return fail(t, r, p->name);
	r = tracer_share_maps(t, o->obj, 0);
	if (r < 0)
		return r;
	r = bpf_object__load_skeleton(o->skel);
	if (r < 0) {
		char what[128];

		snprintf(what, sizeof(what), "probe %s: the kernel refused its programs (run with -v for why)", p->name);
		return fail(t, r, what);
	}
	return 0;
}

static void object_free(struct probe_object *o)
{
	bpf_object__destroy_skeleton(o->skel);
	free(o->owner);
	*o = (struct probe_object){};
}

static void object_leave_out(struct tracer *t, unsigned int probe)
{
	object_free(&t->objects[probe]);
	t->loaded &= ~(1U << probe);
	t->probes &= ~(1U << probe);
	t->why[probe] = strdup(t->error);
}

static int dispatcher_load(struct tracer *t)
{
	struct calls_bpf *skel = calls_bpf__open();
	int r;

	if (!skel)
		return fail(t, -errno, "dispatcher");
	t->dispatcher = skel;
	skel->rodata->dlt_cfg = t->cfg;
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe *p = probes[i];

		for (unsigned int c = 0; t->loaded >> i & 1 && c < p->n_calls; c++) {
			const struct probe_call *call = &p->calls[c];

			if (call->nr < 0 || call->nr >= DLT_SYSCALLS)
				continue;
			*(struct dlt_callinfo *)&skel->rodata->call_table[call->nr] = (struct dlt_callinfo){
				.probe = (uint8_t)i,
				.func = (uint8_t)c,
				.shape = call->shape,
				.flags = call->entry ? DLT_CALL_ENTRY : 0,
			};
		}
	}
	r = tracer_share_maps(t, skel->obj, 0);
	if (r < 0)
		return r;
	r = calls_bpf__load(skel);
	return r < 0 ? fail(t, r, "dispatcher of system calls (run with -v for why)") : 0;
}

/* Enter PROG of probe's object under number NR. */
static int handler_set(struct tracer *t, struct bpf_map *handlers, unsigned int probe, int nr,
		       const char *prog)
{
	struct bpf_program *p = bpf_object__find_program_by_name(t->objects[probe].obj, prog);
	int fd = p ? bpf_program__fd(p) : -ENOENT;
	uint32_t key = (uint32_t)nr;

	if (fd < 0 || bpf_map_update_elem(bpf_map__fd(handlers), &key, &fd, BPF_ANY) < 0)
		return fail(t, fd < 0 ? fd : -errno, prog);
	return 0;
}

static int handlers_set(struct tracer *t)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe *p = probes[i];

		for (unsigned int c = 0; t->loaded >> i & 1 && c < p->n_calls; c++) {
			const struct probe_call *call = &p->calls[c];
			int r;

			if (call->nr < 0 || call->nr >= DLT_SYSCALLS)
				continue;
			r = handler_set(t, t->dispatcher->maps.exit_handlers, i, call->nr, call->exit);
			if (!r && call->entry)
				r = handler_set(t, t->dispatcher->maps.entry_handlers, i, call->nr, call->entry);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int tracer_load(struct tracer *t, const struct tracer_options *o)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	int r;

	memset(t, 0, sizeof(*t));
	for (unsigned int i = 0; i < TRACER_MAPS; i++)
		t->maps[i] = -1;
	for (unsigned int i = 0; i < RINGS_MAX; i++)
		t->ring_fds[i] = -1;
	libbpf_set_print(libbpf_log);
	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* what BPF memory counts against before 5.11 */

	t->probes = o->probes;
	t->loaded = o->probes | 1U << DLT_pids;
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (t->loaded >> i & 1 && probes[i]->needs)
			t->loaded |= 1U << probes[i]->needs;
	ring_layout(t, o->buffer_bytes);
	t->cfg = (struct dlt_config){
		.n_rings = t->n_rings,
		.ring_bytes = (uint32_t)t->ring_bytes,
		.ring_reserve = (uint32_t)(t->ring_bytes / 8),
		.self_tgid = (uint32_t)getpid(),
		.all = o->all,
		.no_args = o->no_args,
		.cgroups = o->cgroups || o->new_containers,
		.new_containers = o->new_containers,
		.direct = btf_has_func("bpf_rdonly_cast"),
		.n_disks = o->n_disks,
	};
	memcpy(t->cfg.disks, o->disks, sizeof(t->cfg.disks));
	r = maps_create(t);
	for (unsigned int i = 1; !r && i < DLT_PROBES; i++) {
		if (!(t->loaded >> i & 1))
			continue;
		r = object_load(t, i);
		if (r < 0 && o->best_effort && i != DLT_pids) {
			object_leave_out(t, i);
			r = 0;
		}
	}
	if (!r)
		r = dispatcher_load(t);
	if (!r)
		r = handlers_set(t);
	return r;
}

/* --- attachment --------------------------------------------------------------------------------- */

static int attach(struct tracer *t, struct bpf_program *prog, struct bpf_link **link_ret)
{
	struct bpf_link *link = bpf_program__attach(prog);
	char what[128];

	if (!link) {
		snprintf(what, sizeof(what), "%s: cannot attach", bpf_program__name(prog));
		return fail(t, -errno, what);
	}
	*link_ret = link;
	return 0;
}

/* A probe without a table of calls has hooks of its own: all that its open hook left switched on. */
static int object_attach(struct tracer *t, unsigned int probe)
{
	struct bpf_program *prog;

	if (!t->objects[probe].obj || probes[probe]->n_calls)
		return 0;
	bpf_object__for_each_program(prog, t->objects[probe].obj) {
		int r;

		if (!bpf_program__autoload(prog) || !bpf_program__autoattach(prog))
			continue;
		if (t->n_links == TRACER_LINKS_MAX)
			return fail(t, -ENOSPC, probes[probe]->name);
		r = attach(t, prog, &t->links[t->n_links]);
		if (r < 0)
			return r;
		t->n_links++;
	}
	return 0;
}

int tracer_attach(struct tracer *t)
{
	bool calls = false;
	int r = object_attach(t, DLT_pids);

	for (unsigned int i = 1; !r && i < DLT_PROBES; i++) {
		if (i != DLT_pids && t->loaded >> i & 1)
			r = object_attach(t, i);
		calls |= t->loaded >> i & 1 && probes[i]->n_calls;
	}
	/* ends first: an entry without its end would wait in its slot */
	if (!r && calls)
		r = attach(t, t->dispatcher->progs.sys_exit, &t->exit);
	if (!r && calls)
		r = attach(t, t->dispatcher->progs.sys_enter, &t->enter);
	return r;
}

void tracer_detach(struct tracer *t)
{
	bpf_link__destroy(TAKE_PTR(t->enter));
	bpf_link__destroy(TAKE_PTR(t->exit));
	while (t->n_links)
		bpf_link__destroy(t->links[--t->n_links]);
}

void tracer_free(struct tracer *t)
{
	if (!t->ring_bytes) /* never loaded: descriptors are 0, not -1 */
		return;
	tracer_detach(t);
	for (unsigned int i = 0; i < DLT_PROBES; i++) {
		object_free(&t->objects[i]);
		free(t->why[i]);
	}
	calls_bpf__destroy(t->dispatcher);
	if (t->shared)
		munmap(t->shared, (size_t)sysconf(_SC_PAGESIZE));
	if (t->targets)
		munmap(t->targets, t->targets_bytes);
	if (t->calls)
		munmap(t->calls, t->calls_bytes);
	for (unsigned int i = 0; i < TRACER_MAPS; i++)
		util_close(&t->maps[i]);
	for (unsigned int i = 0; i < RINGS_MAX; i++)
		util_close(&t->ring_fds[i]);
	memset(t, 0, sizeof(*t));
	for (unsigned int i = 0; i < TRACER_MAPS; i++)
		t->maps[i] = -1;
	for (unsigned int i = 0; i < RINGS_MAX; i++)
		t->ring_fds[i] = -1;
}

/* --- the target and the counters ----------------------------------------------------------------- */

static void byte_set(struct tracer *t, pid_t tgid, uint8_t state)
{
	if (tgid > 0 && (uint32_t)tgid < t->cfg.max_tgid)
		__atomic_store_n(&t->targets[tgid], state, __ATOMIC_SEQ_CST);
}

void tracer_target_add(struct tracer *t, pid_t tgid)
{
	if (!t->cfg.all)
		byte_set(t, tgid, DLT_TARGET_IN);
}

void tracer_target_remove(struct tracer *t, pid_t tgid)
{
	if (!t->cfg.all)
		byte_set(t, tgid, 0);
}

void tracer_exclude(struct tracer *t, pid_t tgid)
{
	if (t->cfg.all)
		byte_set(t, tgid, DLT_TARGET_IN); /* the same byte, which means the opposite then */
}

bool tracer_target_has(const struct tracer *t, pid_t tgid)
{
	bool set = (uint32_t)tgid < t->cfg.max_tgid &&
		   __atomic_load_n(&t->targets[tgid], __ATOMIC_RELAXED) == DLT_TARGET_IN;

	return t->cfg.all ? !set : set;
}

int tracer_cgroup_add(struct tracer *t, const struct dlt_cgroup_key *key)
{
	uint8_t one = 1;

	return bpf_map_update_elem(t->maps[TRACER_CGROUPS], key, &one, BPF_ANY) < 0 ? -errno : 0;
}

int tracer_cgroup_await(struct tracer *t, const struct dlt_cgroup_path *path)
{
	int fd = bpf_object__find_map_fd_by_name(t->objects[DLT_pids].obj, "dlt_cgroup_paths");
	uint8_t one = 1;

	return fd < 0 ? fd : bpf_map_update_elem(fd, path, &one, BPF_ANY) < 0 ? -errno : 0;
}

/* Counted when asked, some 0.2 ms for 4 million numbers: a counter would drift where adders meet. */
uint64_t tracer_live(const struct tracer *t)
{
	const uint64_t *eight = (const uint64_t *)t->targets, in = 0x0101010101010101 * DLT_TARGET_IN;
	uint64_t n = 0;

	for (size_t i = 0; i < t->targets_bytes / sizeof(*eight); i++)
		n += (unsigned int)__builtin_popcountll(__atomic_load_n(&eight[i], __ATOMIC_RELAXED) & in);
	return n;
}

void tracer_stats(const struct tracer *t, struct dlt_stats stats[DLT_PROBES])
{
	struct dlt_stats per_cpu[t->n_cpus];

	memset(stats, 0, DLT_PROBES * sizeof(*stats));
	for (uint32_t i = 1; i < DLT_PROBES; i++) {
		if (bpf_map_lookup_elem(t->maps[TRACER_STATS], &i, per_cpu) < 0)
			continue;
		for (unsigned int c = 0; c < t->n_cpus; c++) {
			stats[i].seen += per_cpu[c].seen;
			stats[i].emitted += per_cpu[c].emitted;
			stats[i].lost += per_cpu[c].lost;
			stats[i].rows_lost += per_cpu[c].rows_lost;
		}
	}
}

void tracer_in_flight(const struct tracer *t, void (*fn)(void *ctx, const struct dlt_call *call),
		      void *ctx)
{
	uint32_t key, next, *prev = NULL;
	struct dlt_call call;

	for (uint32_t i = 0; i <= t->cfg.slot_mask; i++)
		if (t->calls[i].tid)
			fn(ctx, &t->calls[i]);
	while (!bpf_map_get_next_key(t->maps[TRACER_OVERFLOW], prev, &next)) {
		if (!bpf_map_lookup_elem(t->maps[TRACER_OVERFLOW], &next, &call) && call.tid)
			fn(ctx, &call);
		key = next;
		prev = &key;
	}
}

void tracer_in_flight_recs(struct tracer *t, uint64_t now_ns,
			   void (*fn)(void *ctx, const struct dlt_hdr *rec), void *ctx)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (t->objects[i].obj && probes[i]->in_flight)
			probes[i]->in_flight(&t->objects[i], fn, ctx, now_ns);
}

static uint64_t object_skipped(const struct bpf_object *obj)
{
	struct bpf_program *prog;
	uint64_t n = 0;

	if (!obj)
		return 0;
	bpf_object__for_each_program(prog, obj) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);

		if (bpf_program__fd(prog) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			n += info.recursion_misses;
	}
	return n;
}

void tracer_skipped(const struct tracer *t, uint64_t skipped[DLT_PROBES])
{
	skipped[0] = t->dispatcher ? object_skipped(t->dispatcher->obj) : 0;
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		skipped[i] = object_skipped(t->objects[i].obj);
}
