/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials of what tracing takes of bpf(2): each makes the real thing in its
 * smallest form and takes it away again. No version is asked.
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
#include "kernel/backend.h"
#include "kernel/tracer.h"
#include "trace/probe.h"

#define NAME "dlt_check"
#define LINKS 16 /* of the probes with hooks of their own: counted, and some to spare */

/* r0 = 0; exit */
static const struct bpf_insn nothing[] = { { .code = 0xb7 }, { .code = 0x95 } };

/* False, with a row that says so, where a trial would only tell once more that we may not. */
static bool may_try(struct check *c, const char *need)
{
	if (!c->may_bpf)
		check_put(c, need, CHECK_NOTE,
			  c->has_caps ? "not tried: no program can be loaded"
				      : "not tried: takes the rights above");
	return c->may_bpf;
}

void check_bpf(struct check *c)
{
	static const char need[] = "bpf(2)";
	int fd, err;

	c->may_bpf = false;
	libbpf_set_print(NULL);
	if (!c->has_caps) {
		check_put(c, need, CHECK_NOTE, "not tried: takes the rights above");
		return;
	}
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, NAME, "GPL", nothing, ARRAY_SIZE(nothing),
			   NULL);
	if (fd >= 0) {
		close(fd);
		c->may_bpf = true;
		check_put(c, need, CHECK_OK, "the kernel takes tracing programs");
		return;
	}
	err = errno;
	check_put(c, need, CHECK_FAIL, "the kernel refuses tracing programs: %s", strerror(err));
	if (err == EPERM || err == EACCES)
		check_remedy(c, "a seccomp filter or security module forbids it: docker run "
				"--privileged, or --security-opt seccomp=unconfined");
	else
		check_remedy(c, "boot a kernel with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_EVENTS=y");
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

void check_memlock(struct check *c)
{
	static const char need[] = "memlock limit";
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit now;

	if (!may_try(c, need))
		return;
	getrlimit(RLIMIT_MEMLOCK, &now);
	if (!memlock_counts())
		check_put(c, need, CHECK_OK, "does not matter on this kernel");
	else if (now.rlim_cur == RLIM_INFINITY || setrlimit(RLIMIT_MEMLOCK, &unlimited) == 0)
		check_put(c, need, CHECK_OK, "matters on this kernel, and is raised");
	else {
		check_put(c, need, CHECK_NOTE,
			  "%s, which all BPF memory counts against on this kernel",
			  FMT_BYTES(now.rlim_cur));
		check_remedy(c, "ulimit -l unlimited (LimitMEMLOCK=infinity in a unit of systemd)");
	}
}

void check_ring_buffer(struct check *c)
{
	static const char need[] = "ring buffer";
	struct tracer t = {};
	int fd, err;

	if (!may_try(c, need))
		return;
	tracer_maps_plan(&t, c->buffer_bytes);
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NAME, 0, 0, (uint32_t)t.ring_bytes, NULL);
	if (fd >= 0) {
		close(fd);
		check_put(c, need, CHECK_OK, "one of %s was made", FMT_BYTES(t.ring_bytes));
		return;
	}
	err = errno;
	check_put(c, need, CHECK_FAIL, "one of %s cannot be made: %s", FMT_BYTES(t.ring_bytes),
		  strerror(err));
	check_remedy(c, "%s", err == ENOMEM ? "--buffer SIZE, smaller" :
			      err == EPERM  ? "ulimit -l unlimited" :
					      "boot a kernel with BPF ring buffers: 5.8 or newer");
}

/* --- hooks ------------------------------------------------------------------------------------ */

/* One of the ways to a system call; which probe takes which, check_probes() tells. */
static void backend_row(struct check *c, enum backend b, const struct btf *btf)
{
	const struct backend_kind *kind = &backend_kinds[b];
	char why[256] = "", need[sizeof(c->rows[0].need)];

	snprintf(need, sizeof(need), "hook %s", kind->form);
	if (backend_try(b, btf, why, sizeof(why)) == 0) {
		check_put(c, need, CHECK_OK, "a program was attached and saw a call");
		return;
	}
	check_put(c, need, CHECK_MISSING, "%s", why);
	check_remedy(c, "nothing is lost where the probes below are ok: they take another way");
}

void check_backends(struct check *c)
{
	struct btf *btf;

	if (!may_try(c, "hooks"))
		return;
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		check_put(c, "hooks", CHECK_FAIL, "the kernel's BTF cannot be read: %s",
			  strerror(errno));
		check_remedy(c, "see dmesg: the kernel or what was loaded of it is broken");
		return;
	}
	for (unsigned int b = 0; b < BACKENDS; b++)
		backend_row(c, b, btf);
	btf__free(btf);
}

/* --- probes ----------------------------------------------------------------------------------- */

/* By what PROBE is served when the tracer T has loaded and attached it. */
static void probe_row(struct check *c, const struct tracer *t, unsigned int probe)
{
	char need[sizeof(c->rows[0].need)];

	const struct backend_kind *backend = t->backends[probe];

	snprintf(need, sizeof(need), "probe %s", probes[probe]->name);
	if (t->probes >> probe & 1) {
		check_put(c, need, CHECK_OK, "%s%s%s%s", backend ? backend->name : "tracepoint",
			  backend ? " (" : "", backend ? backend->hooks : "", backend ? ")" : "");
		return;
	}
	check_put(c, need, CHECK_MISSING, "%s", t->why[probe] ? t->why[probe] : "left out");
	check_remedy(c, "start with --probes -%s or --best-effort: %s.out is then not written",
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

/* How many descriptors attaching all of it would take. */
static unsigned int attached_files(const struct tracer *t)
{
	unsigned int n = LINKS;

	for (unsigned int i = 0; i < t->n_dispatchers; i++)
		n += t->dispatchers[i].n_hooks;
	return n;
}

/*
 * All programs, loaded as for a trace. Not attached: where each call has hooks of its own, taking
 * them off again waits for the kernel for each, which takes seconds; check_backends() has tried one.
 */
void check_probes(struct check *c)
{
	static const char need[] = "probes";
	const struct tracer_options o = {
		.probes = probe_mask_of(PROBE_SELECTABLE, 0),
		.buffer_bytes = 4096,
		.best_effort = true,
	};
	unsigned int before = open_files();
	struct tracer t;
	int r;

	if (!may_try(c, need))
		return;
	r = tracer_load(&t, &o);
	if (r == 0)
		c->tracer_files = open_files() - before + attached_files(&t);
	if (r < 0) {
		check_put(c, need, CHECK_FAIL, "%s", t.error);
		check_remedy(c, "%s", r == -EMFILE ? "ulimit -n 1024, or LimitNOFILE= in a unit" :
						     "dltraced start -v tells what the kernel says");
	}
	for (unsigned int i = 1; r == 0 && i < DLT_PROBES; i++)
		if (probes[i]->flags & PROBE_SELECTABLE && probes[i]->open)
			probe_row(c, &t, i);
	tracer_free(&t);
}

void check_rings(struct check *c)
{
	static const char need[] = "rings";
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct tracer t = {};
	uint64_t ms;

	tracer_maps_plan(&t, c->buffer_bytes);
	ms = ring_stall_ms(t.ring_bytes, t.ring_bytes / TRACER_RING_RESERVE);
	check_put(c, need, t.n_rings < cpus || ms < 500 ? CHECK_NOTE : CHECK_OK,
		  "%u of %s for %ld CPUs: ride out %.2f s of stall at %u records/s into one",
		  t.n_rings, FMT_BYTES(t.ring_bytes), cpus, (double)ms / 1000,
		  RING_STALL_RECORDS_PER_S);
	if (t.n_rings < cpus || ms < 500)
		check_remedy(c,
			     "%s--buffer SIZE takes more memory; 64M a CPU gives each a ring",
			     t.n_rings < cpus ? "CPUs share rings: " : "");
}
