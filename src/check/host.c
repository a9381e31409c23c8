/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracer's surroundings: limits, mounts, tools, containers, other traces. */
#include "check/check.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/util.h"
#include "collectors/kinds.h"
#include "host/cgroup.h"
#include "host/helper.h"
#include "kernel/backend.h"
#include "kernel/tracer.h"

#define OTHER_FILES 64	 /* files, collectors, timers: counted, and some to spare */
#define OTHER_MAPPED_BYTES (128U << 20)
#define TEXT_MAX (4U << 20)
#define ANSWER_NS (5 * NSEC_PER_SEC) /* a busy machine starts a shell in a second or two */

/* Reads a whole file below the root; NULL when it cannot be read. The caller frees it. */
static char *read_text(const struct check *c, const char *path)
{
	autofree char *whole = util_fmt("%s%s", c->root, path);
	char *text = NULL;

	return whole && util_read_file(whole, TEXT_MAX, &text, NULL) == 0 ? text : NULL;
}

/* --- limits and mounts ------------------------------------------------------------------------ */

enum check_state check_open_files(struct check *c)
{
	static const char need[] = "open files limit";
	struct tracer t = {};
	struct rlimit now;
	uint64_t least;

	tracer_maps_plan(&t, c->buffer_bytes);
	least = MAX(c->tracer_files, TRACER_FILES) + t.n_rings + OTHER_FILES;
	getrlimit(RLIMIT_NOFILE, &now);
	check_put(c, need, now.rlim_cur >= least ? CHECK_OK : CHECK_FAIL, "%llu; a trace takes up to %llu",
		  (unsigned long long)now.rlim_cur, (unsigned long long)least);
	return now.rlim_cur >= least ? CHECK_OK :
	       check_remedy(c, "ulimit -n %llu (LimitNOFILE= in a unit of systemd)", (unsigned long long)MAX(least, 1024));
}

enum check_state check_file_size(struct check *c)
{
	static const char need[] = "file size limit";
	struct rlimit now;

	getrlimit(RLIMIT_FSIZE, &now);
	if (now.rlim_cur == RLIM_INFINITY)
		return check_put(c, need, CHECK_OK, "none");
	return check_lacks(c, need, CHECK_NOTE, "ulimit -f unlimited (LimitFSIZE=infinity in a unit of systemd)",
			   "%s for each file: rows beyond are counted as lost", FMT_BYTES(now.rlim_cur));
}

/* The rings are mapped, each twice, and beside them there are stacks of threads, and programs while they are loaded. */
enum check_state check_address_space(struct check *c)
{
	static const char need[] = "address space limit";
	struct tracer t = {};
	struct rlimit now;
	uint64_t bytes;
	void *trial;

	getrlimit(RLIMIT_AS, &now);
	if (now.rlim_cur == RLIM_INFINITY)
		return check_put(c, need, CHECK_OK, "none");
	tracer_maps_plan(&t, c->buffer_bytes);
	bytes = 2 * t.ring_bytes * t.n_rings + OTHER_MAPPED_BYTES;
	trial = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (trial == MAP_FAILED)
		return check_lacks(c, need, CHECK_FAIL, "ulimit -v unlimited (LimitAS=infinity in a unit of systemd), or --buffer SIZE, smaller",
				   "%s; a trace maps %s", FMT_BYTES(now.rlim_cur), FMT_BYTES(bytes));
	munmap(trial, bytes);
	return check_put(c, need, CHECK_OK, "%s; a trace maps %s", FMT_BYTES(now.rlim_cur), FMT_BYTES(bytes));
}

/* Finds where the first file system of type FSTYPE is mounted, as written in /proc/mounts. */
static bool find_mount(const struct check *c, const char *fstype, char *buf, size_t size)
{
	autofree char *text = read_text(c, "/proc/self/mounts");
	char *rest = text, *line;

	while (text && (line = strsep(&rest, "\n"))) {
		char *target, *type;

		strsep(&line, " ");
		target = strsep(&line, " ");
		type = strsep(&line, " ");
		if (!type || strcmp(type, fstype) != 0)
			continue;
		snprintf(buf, size, "%s", target);
		return true;
	}
	return false;
}

enum check_state check_tracefs(struct check *c)
{
	char path[256];

	if (find_mount(c, "tracefs", path, sizeof(path)))
		return check_put(c, "tracefs", CHECK_OK, "%s", path);
	if (c->no_proc)
		return check_put(c, "tracefs", CHECK_NOTE, "not known: /proc is not mounted");
	if (c->hooks & (1U << BACKEND_FENTRY | 1U << BACKEND_TP_BTF) || !c->may_bpf || !c->has_btf)
		return check_put(c, "tracefs", CHECK_OK, "not mounted, and not needed where the hooks fentry or tp_btf work");
	return check_lacks(c, "tracefs", CHECK_MISSING, "mount -t tracefs tracefs /sys/kernel/tracing",
			   "not mounted: the hooks tp and kprobe need it");
}

enum check_state check_cgroups(struct check *c)
{
	static const char need[] = "cgroups";
	autofree char *info = read_text(c, "/proc/self/mountinfo"),
		      *own = read_text(c, "/proc/self/cgroup");
	struct cgroup_mounts m = {};
	unsigned int v1 = 0, v2 = 0;

	if (info && own && cgroup_mounts_parse(&m, info, own) == 0) {
		for (unsigned int i = 0; i < m.n; i++)
			*(m.items[i].hierarchy ? &v1 : &v2) += 1;
		cgroup_mounts_free(&m);
	}
	if (c->no_proc)
		return check_put(c, need, CHECK_NOTE, "not known: /proc is not mounted");
	if (!v1 && !v2)
		return check_lacks(c, need, CHECK_MISSING, "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
				   "none mounted: --cgroup and --container find nothing");
	if (!v1)
		return check_put(c, need, CHECK_OK, "v2");
	return check_put(c, need, CHECK_OK, "%s, %u hierarch%s of v1", v2 ? "hybrid" : "v1", v1, v1 == 1 ? "y" : "ies");
}

/* --- tools ------------------------------------------------------------------------------------ */

/*
 * Reads the first line that PATH prints when called with -V, as far as BUF can hold it; empty when none
 * comes in time.
 */
static void version_of(const struct check *c, const char *path, char *buf, size_t size)
{
	const char *const argv[] = { path, "-V", NULL };
	int status;

	helper_output(argv, NULL, HELPER_BOTH, c->answer_ns ? c->answer_ns : ANSWER_NS, -1, buf, size, &status);
	buf[strcspn(buf, "\n")] = '\0';
}

/* Is there a device of NVIDIA's that computes: a display, VGA or 3D controller? */
static bool has_gpu(const struct check *c)
{
	autofree char *pci = util_fmt("%s/sys/bus/pci/devices", c->root);
	DIR *d = pci ? opendir(pci) : NULL;
	char path[PATH_MAX], vendor[16], class[16];
	const struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.64s/vendor", e->d_name);
		if (check_read(c, path, vendor, sizeof(vendor)) < 0 || strcmp(vendor, "0x10de"))
			continue;
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.64s/class", e->d_name);
		found = check_read(c, path, class, sizeof(class)) == 0 && !strncmp(class, "0x03", 4);
	}
	if (d)
		closedir(d);
	return found;
}

/* Its own version is the driver's; running nvidia-smi itself can take seconds. */
static enum check_state nvidia_row(struct check *c, const char *path)
{
	char driver[64];
	bool loaded = check_read(c, "/sys/module/nvidia/version", driver, sizeof(driver)) == 0;

	if (path && loaded)
		return check_put(c, "nvidia-smi", CHECK_OK, "%s, driver %s", path, driver);
	if (loaded)
		return check_lacks(c, "nvidia-smi", CHECK_MISSING,
				   "install the package of the driver that has it; without it there is no GPU trace",
				   "not in PATH, though driver %s is loaded", driver);
	if (!has_gpu(c))
		return check_put(c, "nvidia-smi", CHECK_OK, "not needed: no GPU of NVIDIA");
	return check_lacks(c, "nvidia-smi", CHECK_MISSING,
			   "install NVIDIA's driver; --collectors cpu,disk traces without it", "%s, and the driver of this GPU of NVIDIA is not loaded",
			   path ? path : "not in PATH");
}

static enum check_state sysstat_row(struct check *c, const char *name, const char *path, const char *loss)
{
	char version[64], command[64];

	if (!path)
		return check_lacks(c, name, CHECK_MISSING, check_install(c, "sysstat", command, sizeof(command)),
				   "not in PATH: no %s", loss);
	version_of(c, path, version, sizeof(version));
	if (version[0])
		return check_put(c, name, CHECK_OK, "%s, %s", path, version);
	check_put(c, name, CHECK_NOTE, "%s, which does not print its version", path);
	return check_remedy(c, "%s -V should print one: is it the one of sysstat?", name);
}

/* The tools of the collectors, each once. */
enum check_state check_collectors(struct check *c)
{
	enum check_state state = CHECK_OK;
	const char *before = "";

	for (size_t i = 0; i < ARRAY_SIZE(collector_kinds); i++) {
		const char *name = collector_kinds[i].argv[0];
		char path[PATH_MAX];
		bool found;

		if (!strcmp(name, before))
			continue;
		before = name;
		found = !helper_find(name, path, sizeof(path));
		state = !strcmp(name, "nvidia-smi") ? nvidia_row(c, found ? path : NULL) :
				sysstat_row(c, name, found ? path : NULL, collector_kinds[i].loss);
	}
	return state;
}

enum check_state check_containers(struct check *c)
{
	static const char *const engines[] = { "docker", "podman", "nerdctl" };
	char found[64] = "", path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		size_t len = strlen(found);

		if (!helper_find(engines[i], path, sizeof(path)))
			snprintf(found + len, sizeof(found) - len, "%s%s", len ? ", " : "",
				 engines[i]);
	}
	if (found[0])
		return check_put(c, "containers", CHECK_OK, "%s", found);
	return check_put(c, "containers", CHECK_OK,
			 "no docker, podman or nerdctl in PATH: --container takes new, or 12 or more digits of an ID, and no names");
}

/* --- other traces ----------------------------------------------------------------------------- */

/* Does process PID hold BPF maps? Other users' processes cannot be read: assumed to. */
static bool holds_maps(const struct check *c, const char *pid)
{
	autofree char *dir = util_fmt("%s/proc/%s/fd", c->root, pid);
	DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *e;
	bool found = false;

	if (!d)
		return errno == EACCES;
	while (!found && (e = readdir(d))) {
		char link[64];
		ssize_t len = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

		link[MAX(len, 0)] = '\0';
		found = !strcmp(link, "anon_inode:bpf-map");
	}
	closedir(d);
	return found;
}

/* By its name, and by its maps: a log relay, or a process that only prints, is not a trace. */
enum check_state check_other_traces(struct check *c)
{
	static const char need[] = "other traces";
	autofree char *proc = util_fmt("%s/proc", c->root);
	DIR *d = proc ? opendir(proc) : NULL;
	char pids[128] = "", path[64], comm[32];
	const struct dirent *e;
	unsigned int n = 0;

	while (d && (e = readdir(d))) {
		size_t len = strlen(pids);

		if (!isdigit((unsigned char)e->d_name[0]) || atoi(e->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/comm", e->d_name);
		if (check_read(c, path, comm, sizeof(comm)) < 0 || strcmp(comm, "dltraced") != 0 ||
		    !holds_maps(c, e->d_name))
			continue;
		n++;
		snprintf(pids + len, sizeof(pids) - len, " %.16s", e->d_name);
	}
	if (d)
		closedir(d);
	if (c->no_proc)
		return check_put(c, need, CHECK_NOTE, "not known: /proc is not mounted");
	if (!n)
		return check_put(c, need, CHECK_OK, "none");
	return check_put(c, need, CHECK_NOTE, "%u of dltraced, process%s%s: each adds its own cost (`dltraced status' lists them)", n,
			 n == 1 ? "" : "es", pids);
}
