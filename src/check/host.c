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
#include "host/cgroup/cgroup.h"
#include "host/helper.h"
#include "kernel/backend.h"
#include "kernel/tracer.h"

#define OTHER_FILES 64 /* files, collectors, timers: counted, and some to spare */
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

enum check_state check_open_files(struct check *check)
{
	static const char need[] = "open files limit";
	struct tracer t = {};
	struct rlimit now;
	uint64_t least;

	tracer_maps_plan(&t, check->buffer_bytes);
	least = MAX(check->tracer_files, TRACER_FILES) + t.n_rings + OTHER_FILES;
	getrlimit(RLIMIT_NOFILE, &now);
	check_put(check, need, now.rlim_cur >= least ? CHECK_OK : CHECK_FAIL, "%llu; a trace takes up to %llu",
		  (unsigned long long)now.rlim_cur, (unsigned long long)least);
	return now.rlim_cur >= least ? CHECK_OK :
				       check_remedy(check, "ulimit -n %llu (LimitNOFILE= in a unit of systemd)",
						    (unsigned long long)MAX(least, 1024));
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
enum check_state check_address_space(struct check *check)
{
	static const char need[] = "address space limit";
	struct tracer t = {};
	struct rlimit now;
	uint64_t bytes;
	void *trial;

	getrlimit(RLIMIT_AS, &now);
	if (now.rlim_cur == RLIM_INFINITY)
		return check_put(check, need, CHECK_OK, "none");
	tracer_maps_plan(&t, check->buffer_bytes);
	bytes = 2 * t.ring_bytes * t.n_rings + OTHER_MAPPED_BYTES;
	trial = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (trial == MAP_FAILED)
		return check_lacks(
			check, need, CHECK_FAIL,
			"ulimit -v unlimited (LimitAS=infinity in a unit of systemd), or --buffer SIZE, smaller",
			"%s; a trace maps %s", FMT_BYTES(now.rlim_cur), FMT_BYTES(bytes));
	munmap(trial, bytes);
	return check_put(check, need, CHECK_OK, "%s; a trace maps %s", FMT_BYTES(now.rlim_cur), FMT_BYTES(bytes));
}

/* Finds where the first file system of type FSTYPE is mounted, as written in /proc/mounts. */
static bool find_mount(const struct check *check, const char *fstype, char *buf, size_t size)
{
	autofree char *text = read_text(check, "/proc/self/mounts");
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

enum check_state check_tracefs(struct check *check)
{
	char path[256];

	if (find_mount(check, "tracefs", path, sizeof(path)))
		return check_put(check, "tracefs", CHECK_OK, "%s", path);
	if (check->no_proc)
		return check_put(check, "tracefs", CHECK_NOTE, "not known: /proc is not mounted");
	if (check->hooks & (1U << BACKEND_FENTRY | 1U << BACKEND_TP_BTF) || !check->may_bpf || !check->has_btf)
		return check_put(check, "tracefs", CHECK_OK,
				 "not mounted, and not needed where the hooks fentry or tp_btf work");
	return check_lacks(check, "tracefs", CHECK_MISSING, "mount -t tracefs tracefs /sys/kernel/tracing",
			   "not mounted: the hooks tp and kprobe need it");
}

/* Whether LIST, of words between commas or blanks, has WORD. */
static bool list_has(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (const char *at = list; *at; at += strspn(at, ", \n")) {
		const size_t n = strcspn(at, ", \n");

		if (n == len && !memcmp(at, word, n))
			return true;
		at += n;
	}
	return false;
}

/* Whether the cgroup of LINE, "ID:CONTROLLERS:PATH" of /proc/self/cgroup, has numbers of CONTROLLER, of v1 V1. */
static bool line_has(const struct check *check, const struct cgroup_mounts *mounts, char *line, const char *controller,
		     const char *v1)
{
	const char *id = strsep(&line, ":"), *controllers = line ? strsep(&line, ":") : NULL;
	struct cgroup_list list = {};
	bool has = controllers && list_has(controllers, v1);

	for (unsigned int i = 0; line && !has && i < mounts->n; i++) {
		autofree char *path = NULL, *text = NULL;

		if (mounts->items[i].hierarchy || strcmp(id, "0") || cgroup_append(&list, &mounts->items[i], line) < 0)
			continue;
		path = util_fmt("%s/cgroup.controllers", list.items[list.n - 1].dir);
		text = path ? read_text(check, path) : NULL;
		has = text && list_has(text, controller);
	}
	cgroup_list_free(&list);
	return has;
}

/* What cgroup.out would lack of a job that is in our own cgroup. */
static void put_cgroup_values(struct check *check, const struct cgroup_mounts *mounts, const char *own)
{
	static const char *const controllers[][2] = { { "cpu", "cpu" }, { "memory", "memory" }, { "io", "blkio" } };
	static const char need[] = "cgroup.out";
	autofree char *pressure = read_text(check, "/proc/pressure/io");
	char lacks[64] = "";

	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++) {
		autofree char *text = strdup(own);
		char *rest = text, *line;
		bool has = false;

		while (!has && rest && (line = strsep(&rest, "\n")))
			has = line_has(check, mounts, line, controllers[i][0], controllers[i][1]);
		if (!has)
			snprintf(lacks + strlen(lacks), sizeof(lacks) - strlen(lacks), "%s%s", lacks[0] ? ", " : "",
				 controllers[i][0]);
	}
	if (lacks[0])
		check_lacks(check, need, CHECK_NOTE,
			    "systemd: Delegate=yes, or CPUAccounting=, MemoryAccounting=, IOAccounting=",
			    "no numbers of %s: the cgroup has no such controller%s", lacks,
			    pressure ? "" : "; no pressure either (psi=1)");
	else if (!pressure)
		check_lacks(check, need, CHECK_NOTE, "boot with psi=1", "no pressure: this kernel does not measure it");
	else
		check_put(check, need, CHECK_OK, "CPU time, memory, I/O and pressure");
}

enum check_state check_cgroups(struct check *check)
{
	static const char need[] = "cgroups";
	autofree char *info = read_text(check, "/proc/self/mountinfo"), *own = read_text(check, "/proc/self/cgroup");
	struct cgroup_mounts m = {};
	unsigned int v1 = 0, v2 = 0;

	if (info && own && cgroup_mounts_parse(&m, info, own) == 0) {
		for (unsigned int i = 0; i < m.n; i++)
			v1 += m.items[i].hierarchy != 0;
		v2 = m.n - v1;
		if (m.n)
			put_cgroup_values(check, &m, own);
		cgroup_mounts_free(&m);
	}
	if (check->no_proc)
		return check_put(check, need, CHECK_NOTE, "not known: /proc is not mounted");
	if (!v1 && !v2)
		return check_lacks(check, need, CHECK_MISSING, "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
				   "none mounted: --cgroup and --container find nothing");
	if (!v1)
		return check_put(check, need, CHECK_OK, "v2");
	return check_put(check, need, CHECK_OK, "%s, %u hierarch%s of v1", v2 ? "hybrid" : "v1", v1,
			 v1 == 1 ? "y" : "ies");
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
static bool has_gpu(const struct check *check)
{
	autofree char *pci = util_fmt("%s/sys/bus/pci/devices", check->root);
	DIR *dirstream = pci ? opendir(pci) : NULL;
	char path[PATH_MAX], vendor[16], class[16];
	const struct dirent *dirent;
	bool found = false;

	while (dirstream && !found && (dirent = readdir(dirstream))) {
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.64s/vendor", dirent->d_name);
		if (check_read(check, path, vendor, sizeof(vendor)) < 0 || strcmp(vendor, "0x10de"))
			continue;
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.64s/class", dirent->d_name);
		found = check_read(check, path, class, sizeof(class)) == 0 && !strncmp(class, "0x03", 4);
	}
	if (dirstream)
		closedir(dirstream);
	return found;
}

/* Its own version is the driver's; running nvidia-smi itself can take seconds. */
static enum check_state nvidia_row(struct check *check, const char *path)
{
	char driver[64];
	bool loaded = check_read(check, "/sys/module/nvidia/version", driver, sizeof(driver)) == 0;

	if (path && loaded)
		return check_put(check, "nvidia-smi", CHECK_OK, "%s, driver %s", path, driver);
	if (loaded)
		return check_lacks(check, "nvidia-smi", CHECK_MISSING,
				   "install the package of the driver that has it; without it there is no GPU trace",
				   "not in PATH, though driver %s is loaded", driver);
	if (!has_gpu(check))
		return check_put(check, "nvidia-smi", CHECK_OK, "not needed: no GPU of NVIDIA");
	return check_lacks(check, "nvidia-smi", CHECK_MISSING,
			   "install NVIDIA's driver; --collectors cpu,disk traces without it",
			   "%s, and the driver of this GPU of NVIDIA is not loaded", path ? path : "not in PATH");
}

static enum check_state sysstat_row(struct check *check, const char *name, const char *path)
{
	char version[64];

	if (!path)
		return check_put(check, name, CHECK_OK, "not in PATH: dltraced itself takes the samples");
	version_of(check, path, version, sizeof(version));
	if (version[0])
		return check_put(check, name, CHECK_OK, "%s, %s", path, version);
	check_put(check, name, CHECK_NOTE, "%s, which does not print its version", path);
	return check_remedy(check, "%s -V should print one: is it the one of sysstat?", name);
}

/* The tools of the collectors, each once. */
enum check_state check_collectors(struct check *check)
{
	enum check_state state = CHECK_OK;
	const char *before = "";

	for (size_t i = 0; i < ARRAY_SIZE(collector_kinds); i++) {
		const char *name = collector_kinds[i].argv[0];
		char path[PATH_MAX];
		bool found;

		if (collector_kinds[i].own || !strcmp(name, before))
			continue;
		before = name;
		found = !helper_find(name, path, sizeof(path));
		if (!strcmp(name, "nvidia-smi"))
			state = nvidia_row(check, found ? path : NULL);
		else
			state = sysstat_row(check, name, found ? path : NULL);
	}
	return state;
}

enum check_state check_containers(struct check *check)
{
	static const char *const engines[] = { "docker", "podman", "nerdctl" };
	char found[64] = "", path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		size_t len = strlen(found);

		if (!helper_find(engines[i], path, sizeof(path)))
			snprintf(found + len, sizeof(found) - len, "%s%s", len ? ", " : "", engines[i]);
	}
	if (found[0])
		return check_put(check, "containers", CHECK_OK, "%s", found);
	return check_put(check, "containers", CHECK_OK,
			 "no docker, podman or nerdctl in PATH: --container takes new, or 12 or more digits of an ID, "
			 "and no names");
}

/* --- other traces ----------------------------------------------------------------------------- */

/* Does process PID hold BPF maps? Other users' processes cannot be read: assumed to. */
static bool holds_maps(const struct check *check, const char *pid)
{
	autofree char *dir = util_fmt("%s/proc/%s/fd", check->root, pid);
	DIR *dirstream = dir ? opendir(dir) : NULL;
	const struct dirent *dirent;
	bool found = false;

	if (!dirstream)
		return errno == EACCES;
	while (!found && (dirent = readdir(dirstream))) {
		char link[64];
		ssize_t len = readlinkat(dirfd(dirstream), dirent->d_name, link, sizeof(link) - 1);

		link[MAX(len, 0)] = '\0';
		found = !strcmp(link, "anon_inode:bpf-map");
	}
	closedir(dirstream);
	return found;
}

/* By its name, and by its maps: a log relay, or a process that only prints, is not a trace. */
enum check_state check_other_traces(struct check *check)
{
	static const char need[] = "other traces";
	autofree char *proc = util_fmt("%s/proc", check->root);
	DIR *dirstream = proc ? opendir(proc) : NULL;
	char pids[128] = "", path[64], comm[32];
	const struct dirent *dirent;
	unsigned int n = 0;

	while (dirstream && (dirent = readdir(dirstream))) {
		size_t len = strlen(pids);

		if (!isdigit((unsigned char)dirent->d_name[0]) || atoi(dirent->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/comm", dirent->d_name);
		if (check_read(check, path, comm, sizeof(comm)) < 0 || strcmp(comm, "dltraced") != 0 ||
		    !holds_maps(check, dirent->d_name))
			continue;
		n++;
		snprintf(pids + len, sizeof(pids) - len, " %.16s", dirent->d_name);
	}
	if (dirstream)
		closedir(dirstream);
	if (check->no_proc)
		return check_put(check, need, CHECK_NOTE, "not known: /proc is not mounted");
	if (!n)
		return check_put(check, need, CHECK_OK, "none");
	return check_put(check, need, CHECK_NOTE,
			 "%u of dltraced, process%s%s: each adds its own cost (`dltraced status' lists them)", n,
			 n == 1 ? "" : "es", pids);
}
