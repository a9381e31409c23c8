/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns small files of the kernel into JSON, mostly by tables. Control plane, when a trace starts and ends.
 * Reads the clock, never sets it. Strings are passed on unchanged: the JSON writer escapes them.
 */
#include "host/machine/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "base/util.h"
#include "host/machine/meminfo.h"

#define MOUNTS_MAX 512U /* a node full of containers has thousands */
#define TEXT_MAX (4U << 20)
#define CPUINFO_MAX 4096 /* the first CPU's section */
#define SECTOR_BYTES 512 /* the unit of /sys/block/DISK/size on every disk */

enum kind { TEXT, NUMBER, BOOL, SECTORS, CHOICE };

/* A file that holds one value. */
struct fact {
	const char *key, *path;
	enum kind kind;
};

static const struct fact machine_facts[] = {
	{ "boot_id", "proc/sys/kernel/random/boot_id", TEXT },
	{ "cpus_online", "sys/devices/system/cpu/online", TEXT },
	{ "numa_nodes_online", "sys/devices/system/node/online", TEXT },
	{ "product", "sys/class/dmi/id/product_name", TEXT },
	{ "vendor", "sys/class/dmi/id/sys_vendor", TEXT },
};

static const struct fact clock_facts[] = {
	{ "source", "sys/devices/system/clocksource/clocksource0/current_clocksource", TEXT },
};

static const struct fact vm_facts[] = {
	{ "dirty_background_bytes", "dirty_background_bytes", NUMBER },
	{ "dirty_background_ratio", "dirty_background_ratio", NUMBER },
	{ "dirty_bytes", "dirty_bytes", NUMBER },
	{ "dirty_expire_centisecs", "dirty_expire_centisecs", NUMBER },
	{ "dirty_ratio", "dirty_ratio", NUMBER },
	{ "dirty_writeback_centisecs", "dirty_writeback_centisecs", NUMBER },
	{ "dirtytime_expire_seconds", "dirtytime_expire_seconds", NUMBER },
};

static const struct fact disk_facts[] = {
	{ "backing_file", "loop/backing_file", TEXT },
	{ "dm_name", "dm/name", TEXT },
	{ "md_level", "md/level", TEXT },
	{ "model", "device/model", TEXT },
	{ "nr_requests", "queue/nr_requests", NUMBER },
	{ "read_ahead_kb", "queue/read_ahead_kb", NUMBER },
	{ "rotational", "queue/rotational", BOOL },
	{ "scheduler", "queue/scheduler", CHOICE },
	{ "size_bytes", "size", SECTORS },
	{ "write_cache", "queue/write_cache", TEXT },
};

static const struct fact nvidia_facts[] = {
	{ "driver", "sys/module/nvidia/version", TEXT },
	{ "kernel_module", "proc/driver/nvidia/version", TEXT },
};

/* A GPU's file of "Label: value" lines (NVIDIA driver README, "Using the /proc interface"). */
static const struct {
	const char *key, *label;
} gpu_facts[] = {
	{ "firmware", "GPU Firmware" }, { "minor", "Device Minor" },    { "model", "Model" },
	{ "uuid", "GPU UUID" },         { "video_bios", "Video BIOS" },
};

/* The runtime of the container that we are in leaves a mark; checked as in systemd's detect_container(). */
static const struct {
	const char *name, *path;
} container_marks[] = {
	{ "podman", "run/.containerenv" },
	{ "docker", ".dockerenv" },
	{ "apptainer", ".singularity.d" },
	{ "kubernetes", "var/run/secrets/kubernetes.io" },
};

/* File systems that have no files of users: all others, also unknown ones, are listed. */
static const char *const pseudo_fstypes[] = {
	"autofs",   "binfmt_misc", "bpf",        "cgroup",     "cgroup2",   "configfs", "debugfs", "devpts",
	"devtmpfs", "efivarfs",    "fuse.lxcfs", "fusectl",    "hugetlbfs", "mqueue",   "nfsd",    "nsfs",
	"proc",     "pstore",      "rpc_pipefs", "securityfs", "selinuxfs", "sysfs",    "tracefs",
};

static void put_fact(struct json *json, const struct fact *fact, char *value)
{
	char *end, *open = fact->kind == CHOICE ? strchr(value, '[') : NULL;
	uint64_t number;

	if (fact->kind == TEXT || fact->kind == CHOICE) {
		/* "none [mq-deadline] kyber" */
		value = open ? open + 1 : value;
		json_strn(json, fact->key, value, open ? strcspn(value, "]") : strcspn(value, "\n"));
		return;
	}
	number = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end)
		return;
	if (fact->kind == BOOL)
		json_bool(json, fact->key, number);
	else
		json_u64(json, fact->key, fact->kind == SECTORS ? number * SECTOR_BYTES : number);
}

static void put_facts(struct json *j, const char *dir, const struct fact *facts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char path[PATH_MAX], value[1024];

		snprintf(path, sizeof(path), "%s/%s", dir, facts[i].path);
		if (util_read_line(path, value, sizeof(value)) == 0 && value[0])
			put_fact(j, &facts[i], value);
	}
}

static char *read_text(const char *root, const char *path, size_t max)
{
	autofree char *whole = util_fmt("%s/%s", root, path);
	char *text = NULL;

	return whole && util_read_file(whole, max, &text, NULL) == 0 ? text : NULL;
}

/* Returns the value of a line of TEXT that starts with "LABEL: " or "LABEL=". */
static bool find_value(const char *text, const char *label, char *buf, size_t size)
{
	size_t len = strlen(label);

	for (const char *line = text; *line; line = strchrnul(line, '\n'), line += *line != '\0') {
		const char *p = line + len;

		if (strncmp(line, label, len) != 0)
			continue;
		p += strspn(p, " \t");
		if (*p != ':' && *p != '=')
			continue;
		p++;
		p += strspn(p, " \t\"");
		snprintf(buf, size, "%.*s", (int)strcspn(p, "\"\n"), p);
		return buf[0];
	}
	return false;
}

/* Calls PUT for each entry of the folder DIR, in the order of the numbers in their names. */
static void put_entries(struct json *json, const char *key, const char *dir,
			void (*put)(struct json *j, const char *dir, const char *name))
{
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, versionsort);

	if (n < 0)
		return;
	json_array(json, key);
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.')
			put(json, dir, entries[i]->d_name);
		free(entries[i]);
	}
	json_end(json);
	free(entries);
}

/*
 * Puts the NUMA node of the DEVICE, or of the nearest device above it that has one: disks hang below their controllers.
 * Where the firmware does not say, it is -1, and there is no member.
 */
static void put_node(struct json *json, const char *device)
{
	char path[PATH_MAX], value[24];
	char *slash = realpath(device, path) ? strrchr(path, '/') : NULL;

	for (; slash && slash != path; slash = strrchr(path, '/')) {
		autofree char *file = util_fmt("%s/numa_node", path);

		if (file && util_read_line(file, value, sizeof(value)) == 0) {
			if (isdigit((unsigned char)value[0]))
				json_u64(json, "numa_node", strtoull(value, NULL, 10));
			return;
		}
		*slash = '\0';
	}
}

/* Loop devices without a file, zram and card readers without a medium have size 0. */
static void put_disk(struct json *json, const char *block, const char *name)
{
	autofree char *dir = util_fmt("%s/%s", block, name), *device = util_fmt("%s/%s/device", block, name);
	char path[PATH_MAX], size[32];

	snprintf(path, sizeof(path), "%s/%s/size", block, name);
	if (!dir || strncmp(name, "ram", 3) == 0 || util_read_line(path, size, sizeof(size)) < 0 ||
	    strtoull(size, NULL, 10) == 0)
		return;
	json_object(json, NULL);
	json_str(json, "name", name);
	put_facts(json, dir, disk_facts, ARRAY_SIZE(disk_facts));
	if (device)
		put_node(json, device);
	json_end(json);
}

/* Interfaces without a device are bridges, tunnels and the like. */
static void put_nic(struct json *json, const char *net, const char *name)
{
	autofree char *device = util_fmt("%s/%s/device", net, name);

	if (!device || access(device, F_OK) < 0)
		return;
	json_object(json, NULL);
	json_str(json, "name", name);
	put_node(json, device);
	json_end(json);
}

/* GPUS is proc/driver/nvidia/gpus below the root, which has the PCI devices, too. */
static void put_gpu(struct json *json, const char *gpus, const char *name)
{
	autofree char *dir = util_fmt("%s/%s", gpus, name);
	autofree char *device = util_fmt("%s/../../../../sys/bus/pci/devices/%s", gpus, name);
	autofree char *text = dir ? read_text(dir, "information", TEXT_MAX) : NULL;

	json_object(json, NULL);
	json_str(json, "bus", name);
	for (size_t i = 0; text && i < ARRAY_SIZE(gpu_facts); i++) {
		char value[256];

		if (find_value(text, gpu_facts[i].label, value, sizeof(value)))
			json_str(json, gpu_facts[i].key, value);
	}
	if (device)
		put_node(json, device);
	json_end(json);
}

static void put_nvidia(struct json *j, const char *root)
{
	autofree char *gpus = util_fmt("%s/proc/driver/nvidia/gpus", root);

	if (!gpus || access(gpus, F_OK) < 0)
		return;
	json_object(j, "nvidia");
	put_facts(j, root, nvidia_facts, ARRAY_SIZE(nvidia_facts));
	put_entries(j, "gpus", gpus, put_gpu);
	json_end(j);
}

static bool is_pseudo(const char *fstype)
{
	for (size_t i = 0; i < ARRAY_SIZE(pseudo_fstypes); i++)
		if (strcmp(pseudo_fstypes[i], fstype) == 0)
			return true;
	return false;
}

/* Fields of /proc/mounts are separated by one blank, and escaped as ours are. */
static bool put_mount(struct json *json, char *line, bool room)
{
	static const char *const keys[] = { "source", "target", "fstype", "options" };
	char *field[ARRAY_SIZE(keys)];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		field[i] = strsep(&line, " ");
		if (!field[i])
			return false;
	}
	if (is_pseudo(field[2]))
		return false;
	if (!room)
		return true;
	json_object(json, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t len = text_unescape(field[i], field[i], strlen(field[i]));

		json_strn(json, keys[i], field[i], len);
	}
	json_end(json);
	return true;
}

static void put_mounts(struct json *json, const char *root)
{
	autofree char *text = read_text(root, "proc/self/mounts", TEXT_MAX);
	char *rest = text, *line;
	uint64_t n = 0;

	if (!text)
		return;
	json_array(json, "mounts");
	while ((line = strsep(&rest, "\n")))
		n += put_mount(json, line, n < MOUNTS_MAX);
	json_end(json);
	json_u64(json, "mounts_left_out", n - MIN(n, MOUNTS_MAX));
}

static void put_container(struct json *json, const char *root)
{
	autofree char *env = read_text(root, "run/.containerenv", TEXT_MAX);
	char path[PATH_MAX], name[256] = "", image[1024];

	snprintf(path, sizeof(path), "%s/run/systemd/container", root);
	util_read_line(path, name, sizeof(name));
	for (size_t i = 0; !name[0] && i < ARRAY_SIZE(container_marks); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, container_marks[i].path);
		if (access(path, F_OK) == 0)
			snprintf(name, sizeof(name), "%s", container_marks[i].name);
	}
	if (!name[0])
		return;
	json_object(json, "container");
	json_str(json, "manager", name);
	if (env && find_value(env, "image", image, sizeof(image)))
		json_str(json, "image", image);
	json_end(json);
}

/* One line on v2, one per hierarchy on v1. */
static void put_cgroups(struct json *json, const char *root)
{
	autofree char *text = read_text(root, "proc/self/cgroup", TEXT_MAX);
	char *rest = text, *line;

	if (!text)
		return;
	json_array(json, "cgroups");
	while ((line = strsep(&rest, "\n")))
		if (*line)
			json_str(json, NULL, line);
	json_end(json);
}

/* The page cache's bytes are of the whole machine, whatever the limit of our memory cgroup. */
static void put_memory(struct json *json, const char *root)
{
	autofree char *text = read_text(root, "proc/meminfo", TEXT_MAX);
	int64_t bytes[MEMINFO_LINES];

	meminfo_parse(text, bytes);
	if (bytes[MEMINFO_TOTAL] >= 0)
		json_u64(json, "memory_bytes", (uint64_t)bytes[MEMINFO_TOTAL]);
	if (bytes[MEMINFO_SWAP_TOTAL] >= 0)
		json_u64(json, "swap_bytes", (uint64_t)bytes[MEMINFO_SWAP_TOTAL]);
	json_u64(json, "page_bytes", (uint64_t)sysconf(_SC_PAGESIZE));
}

static void put_cpus(struct json *j, const char *root)
{
	autofree char *text = read_text(root, "proc/cpuinfo", CPUINFO_MAX);
	char model[256];

	json_u64(j, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	/* x86; other architectures have other words for the CPU's model, or none */
	if (text &&
	    (find_value(text, "model name", model, sizeof(model)) || find_value(text, "cpu", model, sizeof(model))))
		json_str(j, "cpu_model", model);
}

void machine_put(struct json *json, const char *root)
{
	autofree char *block = util_fmt("%s/sys/block", root);
	autofree char *vm = util_fmt("%s/proc/sys/vm", root);
	autofree char *net = util_fmt("%s/sys/class/net", root);

	put_facts(json, root, machine_facts, ARRAY_SIZE(machine_facts));
	put_cpus(json, root);
	put_memory(json, root);
	put_container(json, root);
	put_cgroups(json, root);
	put_nvidia(json, root);
	if (vm) {
		json_object(json, "vm");
		put_facts(json, vm, vm_facts, ARRAY_SIZE(vm_facts));
		json_end(json);
	}
	if (block)
		put_entries(json, "disks", block, put_disk);
	if (net)
		put_entries(json, "nics", net, put_nic);
	put_mounts(json, root);
}

int machine_dirty_bytes(const char *root, uint64_t *ret)
{
	autofree char *text = read_text(root, "proc/meminfo", TEXT_MAX);
	int64_t bytes[MEMINFO_LINES];

	meminfo_parse(text, bytes);
	if (bytes[MEMINFO_DIRTY] < 0 || bytes[MEMINFO_WRITEBACK] < 0)
		return -ENODATA;
	*ret = (uint64_t)bytes[MEMINFO_DIRTY] + (uint64_t)bytes[MEMINFO_WRITEBACK];
	return 0;
}

static void put_zone(struct json *json, const char *root)
{
	char path[PATH_MAX], link[PATH_MAX];
	const char *tz = getenv("TZ");
	time_t now = time(NULL);
	struct tm tm;
	ssize_t n;

	if (tz)
		json_str(json, "tz", tz);
	snprintf(path, sizeof(path), "%s/etc/localtime", root);
	n = readlink(path, link, sizeof(link));
	if (n > 0)
		json_strn(json, "localtime", link, (size_t)n);
	tzset();
	if (localtime_r(&now, &tm))
		json_s64(json, "utc_offset_s", tm.tm_gmtoff);
}

void machine_put_clock(struct json *json, const char *root)
{
	struct timex tx = { .modes = 0 };

	put_facts(json, root, clock_facts, ARRAY_SIZE(clock_facts));
	/* Its result is TIME_ERROR for other reasons than a lack of synchronization as well: adjtimex(2). */
	if (adjtimex(&tx) >= 0) {
		json_bool(json, "synchronised", !(tx.status & STA_UNSYNC));
		json_u64(json, "maxerror_us", (uint64_t)tx.maxerror);
		json_u64(json, "esterror_us", (uint64_t)tx.esterror);
	}
	put_zone(json, root);
}
