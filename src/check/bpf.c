/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials of bpf(2) as tracing uses it: each makes the real object in its smallest form and removes it
 * again. Versions are not checked.
 */
#include "check/check.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/fmt.h"
#include "base/util.h"
#include "kernel/access/page_tables.h"
#include "kernel/access/pmu.h"
#include "kernel/backend.h"
#include "kernel/btf.h"
#include "kernel/tracer.h"
#include "trace/config.h"
#include "trace/probe.h"

#define NAME "dlt_check"
#define LINKS 16 /* of the probes with hooks of their own: counted, and some to spare */

/* r0 = 0; exit */
static const struct bpf_insn nothing[] = { { .code = 0xb7 }, { .code = 0x95 } };

/* For trials that would only report again that we lack the right. */
static enum check_state not_tried(struct check *c, const char *need)
{
	const char *why = "needs BTF, see above";

	if (!c->has_caps)
		why = "needs the rights above";
	else if (!c->may_bpf)
		why = "no program can be loaded";
	return check_put(c, need, CHECK_NOTE, "not tried: %s", why);
}

static bool can_try(const struct check *c)
{
	return c->may_bpf && c->has_btf;
}

enum check_state check_bpf(struct check *check)
{
	static const char need[] = "bpf(2)";
	int fd, err;

	check->may_bpf = false;
	libbpf_set_print(NULL);
	if (!check->has_caps)
		return not_tried(check, need);
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, NAME, "GPL", nothing, ARRAY_SIZE(nothing), NULL);
	if (fd >= 0) {
		close(fd);
		check->may_bpf = true;
		return check_put(check, need, CHECK_OK, "the kernel accepts tracing programs");
	}
	err = errno;
	return check_lacks(
		check, need, CHECK_FAIL,
		err == EPERM || err == EACCES ?
			"a seccomp filter or security module forbids it: docker run --privileged, or --security-opt "
			"seccomp=unconfined" :
			"boot a kernel with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_EVENTS=y",
		"the kernel refuses tracing programs: %s", strerror(err));
}

/* --- memory ----------------------------------------------------------------------------------- */

/*
 * Does BPF memory count against RLIMIT_MEMLOCK, as it did before 5.11? Then a map of one page
 * cannot be made under a limit of 0. By the call itself, since libbpf would raise the limit.
 */
static bool memlock_counts(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = 4096,
		.max_entries = 1,
	};
	struct rlimit old, none;
	bool refused;
	int fd;

	if (getrlimit(RLIMIT_MEMLOCK, &old) < 0)
		return false;
	none = (struct rlimit){ 0, old.rlim_max };
	setrlimit(RLIMIT_MEMLOCK, &none);
	fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	refused = fd < 0 && errno == EPERM;
	setrlimit(RLIMIT_MEMLOCK, &old);
	util_close(&fd);
	return refused;
}

enum check_state check_memlock(struct check *check)
{
	static const char need[] = "memlock limit";
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit now;

	if (!check->may_bpf)
		return not_tried(check, need);
	getrlimit(RLIMIT_MEMLOCK, &now);
	if (!memlock_counts())
		return check_put(check, need, CHECK_OK, "does not matter on this kernel");
	if (now.rlim_cur == RLIM_INFINITY || setrlimit(RLIMIT_MEMLOCK, &unlimited) == 0)
		return check_put(check, need, CHECK_OK, "matters on this kernel, and is raised");
	return check_lacks(check, need, CHECK_NOTE, "ulimit -l unlimited (LimitMEMLOCK=infinity in a unit of systemd)",
			   "%s, which all BPF memory counts against on this kernel", FMT_BYTES(now.rlim_cur));
}

enum check_state check_ring_buffer(struct check *check)
{
	static const char need[] = "ring buffer";
	const char *remedy = "boot a kernel with BPF ring buffers: 5.8 or newer";
	struct tracer t = {};
	int fd, err;

	if (!check->may_bpf)
		return not_tried(check, need);
	tracer_maps_plan(&t, check->buffer_bytes);
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NAME, 0, 0, (uint32_t)t.ring_bytes, NULL);
	if (fd >= 0) {
		close(fd);
		return check_put(check, need, CHECK_OK, "one of %s was made", FMT_BYTES(t.ring_bytes));
	}
	err = errno;
	if (err == ENOMEM)
		remedy = "--buffer SIZE, smaller";
	else if (err == EPERM)
		remedy = "ulimit -l unlimited";
	return check_lacks(check, need, CHECK_FAIL, remedy, "one of %s cannot be made: %s", FMT_BYTES(t.ring_bytes),
			   strerror(err));
}

/* --- hooks ------------------------------------------------------------------------------------ */

/* One backend, with WHY it does not work; check_probes() reports which probe uses which. One that works is enough. */
static enum check_state backend_row(struct check *check, enum backend b, const char *why)
{
	char need[sizeof(check->rows[0].need)];

	snprintf(need, sizeof(need), "hook %s", backend_kinds[b].form);
	if (check->hooks >> b & 1)
		return check_put(check, need, CHECK_OK, "a program was attached and saw a call");
	if (!check->hooks)
		return check_lacks(check, need, CHECK_MISSING,
				   "one of these hooks has to work: dltraced start -v prints what the kernel says",
				   "%s", why);
	if (b == BACKEND_FENTRY)
		return check_put(check, need, CHECK_NOTE, "open.out is written without VFS_LAT_NS: %s", why);
	return check_put(check, need, CHECK_NOTE, "does not work here, and is not needed");
}

enum check_state check_backends(struct check *check)
{
	char why[BACKENDS][256] = { 0 };
	enum check_state state = CHECK_OK;
	struct btf *btf;

	if (!can_try(check))
		return not_tried(check, "hooks");
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return check_lacks(check, "hooks", CHECK_FAIL, "see dmesg: the kernel or one of its modules is broken",
				   "the kernel's BTF cannot be read: %s", strerror(errno));
	for (unsigned int b = 0; b < BACKENDS; b++)
		check->hooks |= (uint32_t)(backend_try(b, btf, why[b], sizeof(why[b])) == 0) << b;
	for (unsigned int b = 0; b < BACKENDS; b++)
		state = backend_row(check, b, why[b]);
	btf__free(btf);
	return state;
}

/* --- accesses of memory -------------------------------------------------------------------------- */

/* What page tables give, if they can be read and cleared. */
static const struct table_need {
	enum page_use use;
	const char *need, *found, *instead; /* nobody needs it who does not give that option, so there is no remedy */
} table_needs[] = {
	{ PAGE_ACCESSED, "accesses of memory", "accessed bits were read and cleared",
	  "--probes +access has page faults instead" },
	{ PAGE_WRITTEN, "writes of memory", "soft-dirty bits were read and cleared (--access writes)",
	  "--access writes is refused" },
};

/* KERNEL is NULL if its BTF cannot be read. */
static enum check_state table_row(struct check *check, const struct kernel_btf *kernel, const struct table_need *need)
{
	struct page_tables *tables = NULL;
	char why[256] = "the kernel's BTF cannot be read";
	enum check_state state;

	if (!kernel || page_tables_open(&tables, kernel, need->use, why, sizeof(why)) < 0)
		state = check_put(check, need->need, CHECK_NOTE, "not by pages, %s: %s", need->instead, why);
	else
		state = check_put(check, need->need, CHECK_OK, "by pages: %s%s", need->found,
				  page_tables_flushes(tables) ? "" :
								"; a page that is accessed all the time may be missed");
	page_tables_close(tables);
	return state;
}

enum check_state check_accesses(struct check *check)
{
	struct kernel_btf kernel = {};
	const struct kernel_btf *known;
	enum check_state state = CHECK_OK;

	if (!can_try(check))
		return not_tried(check, "accesses of memory");
	known = kernel_btf_load(&kernel) < 0 ? NULL : &kernel;
	for (size_t i = 0; i < ARRAY_SIZE(table_needs); i++)
		state = table_row(check, known, &table_needs[i]);
	kernel_btf_free(&kernel);
	return state;
}

/* Whether --access pmu has samples of them. */
enum check_state check_samples(struct check *check)
{
	static const char need[] = "samples of accesses";
	struct cpu_event events[PMU_EVENTS];
	char why[256], names[256];
	size_t len = 0;
	int n;

	if (!can_try(check))
		return not_tried(check, need);
	n = pmu_events_try(events, CONFIG_ACCESS_HZ, why, sizeof(why));
	if (n < 0)
		return check_put(check, need, CHECK_NOTE, "not by the PMU, --access pmu is refused: %s", why);
	for (int i = 0; i < n; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "", events[i].name);
	return check_put(check, need, CHECK_OK, "by the PMU (--access pmu): %s", names);
}

/* --- probes ----------------------------------------------------------------------------------- */

static void add_word(char *list, size_t size, const char *word)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s", len ? ", " : "", word);
}

/* Notes what serves the probes, for the verdict: the backends of calls, in their order. Other probes have tracepoints
 * only. */
static void note_backends(struct check *check, const struct tracer *tracer)
{
	for (unsigned int b = 0; b < BACKENDS; b++)
		for (unsigned int i = 1; i < DLT_PROBES; i++) {
			if (tracer->backends[i] != &backend_kinds[b] || !(tracer->probes >> i & 1))
				continue;
			add_word(check->by, sizeof(check->by), backend_kinds[b].form);
			break;
		}
	if (!*check->by && tracer->probes)
		add_word(check->by, sizeof(check->by), "tracepoints");
}

/* The backend that serves PROBE when the tracer TRACER has loaded and attached it. */
static enum check_state probe_row(struct check *check, const struct tracer *tracer, unsigned int probe)
{
	char need[sizeof(check->rows[0].need)];

	const struct backend_kind *backend = tracer->backends[probe];
	const bool served = tracer->probes >> probe & 1;

	if (!served)
		add_word(check->without, sizeof(check->without), probes[probe]->name);
	snprintf(need, sizeof(need), "probe %s", probes[probe]->name);
	if (served && tracer->plain[probe])
		return check_lacks(check, need, CHECK_MISSING, "dltraced start -v prints what the kernel says",
				   "in part: %s", tracer->plain[probe]);
	if (served)
		return check_put(check, need, CHECK_OK, "%s%s%s%s", backend ? backend->name : "tracepoint",
				 backend ? " (" : "", backend ? backend->hooks : "", backend ? ")" : "");
	check_put(check, need, CHECK_MISSING, "%s", tracer->why[probe] ? tracer->why[probe] : "left out");
	return check_remedy(check, "start with --probes -%s or --best-effort: %s.out is then not written",
			    probes[probe]->name, probes[probe]->name);
}

static unsigned int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* The number of descriptors that attaching everything would take. */
static unsigned int attached_files(const struct tracer *t)
{
	unsigned int n = LINKS;

	for (unsigned int i = 0; i < t->n_dispatchers; i++)
		n += t->dispatchers[i].n_hooks;
	return n;
}

/*
 * All programs, loaded as for a trace. Not attached: where each call has hooks of its own, detaching waits
 * for the kernel for each, which takes seconds; check_backends() has tried one.
 */
enum check_state check_probes(struct check *check)
{
	static const char need[] = "probes";
	const struct tracer_options o = {
		.probes = probe_mask_of(PROBE_SELECTABLE, 0),
		.buffer_bytes = 4096,
		.may_lack = PROBE_ALL,
	};
	unsigned int before = open_files();
	enum check_state state = CHECK_OK;
	struct tracer t;
	int r;

	if (!can_try(check))
		return not_tried(check, need);
	r = tracer_load(&t, &o);
	if (r == 0)
		check->tracer_files = open_files() - before + attached_files(&t);
	if (r == 0)
		note_backends(check, &t);
	if (r < 0)
		state = check_lacks(check, need, CHECK_FAIL,
				    r == -EMFILE ? "ulimit -n 1024, or LimitNOFILE= in a unit" :
						   "dltraced start -v prints what the kernel says",
				    "%s", t.error);
	for (unsigned int i = 1; r == 0 && i < DLT_PROBES; i++)
		if (probes[i]->flags & PROBE_SELECTABLE && probes[i]->open)
			state = probe_row(check, &t, i);
	tracer_free(&t);
	return state;
}

enum check_state check_rings(struct check *check)
{
	static const char need[] = "rings";
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct tracer t = {};
	uint64_t ms;
	const char *remedy = NULL;

	tracer_maps_plan(&t, check->buffer_bytes);
	ms = ring_stall_ms(t.ring_bytes, t.ring_bytes / TRACER_RING_RESERVE);
	if (t.n_rings < cpus)
		remedy = "CPUs share rings: --buffer SIZE takes more memory; 64M a CPU gives each a ring";
	else if (ms < 500)
		remedy = "--buffer SIZE takes more memory; 64M a CPU gives each a ring";
	return check_lacks(check, need, remedy ? CHECK_NOTE : CHECK_OK, remedy,
			   "%u of %s for %ld CPUs: while nothing is written, one holds %.2f s of %u records/s",
			   t.n_rings, FMT_BYTES(t.ring_bytes), cpus, (double)ms / 1000, RING_STALL_RECORDS_PER_S);
}
