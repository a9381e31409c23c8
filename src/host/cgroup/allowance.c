/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/cgroup/allowance.h"

#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/json.h"
#include "base/util.h"
#include "host/cgroup/cgroup.h"
#include "host/process.h"
#include "os/cpus.h"
#include "trace/rlimits.h"

#define CPUS_MAX 8192 /* CONFIG_NR_CPUS of the largest kernels */
#define TEXT_MAX (1U << 20)

/* --- limits and priority ----------------------------------------------------------------------------------- */

/* Returns the number at *AT, and moves *AT behind it. */
static uint64_t limit_at(const char **at)
{
	char *end;
	uint64_t value;

	*at += strspn(*at, " ");
	if (strncmp(*at, "unlimited", strlen("unlimited")) == 0) {
		*at += strlen("unlimited");
		return RLIMIT_UNLIMITED;
	}
	value = strtoull(*at, &end, 10);
	*at = end;
	return value;
}

void allowance_parse_limits(struct allowance *a, const char *text)
{
	for (unsigned int i = 0; i < DLT_RLIMITS; i++) {
		const char *at = strstr(text, rlimit_names[i].label);

		if (!at)
			continue;
		at += strlen(rlimit_names[i].label);
		a->limit[i].known = true;
		a->limit[i].soft = limit_at(&at);
		a->limit[i].hard = limit_at(&at);
	}
}

/* Fields 19 and 41 of proc_pid_stat(5): nice and policy. */
void allowance_parse_stat(struct allowance *a, const char *text)
{
	const char *rest = strrchr(text, ')');

	a->has_schedule = rest && sscanf(rest,
					 ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s "
					 "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
					 "%*s %ld",
					 &a->nice, &a->policy) == 2;
}

/* --- CPUs -------------------------------------------------------------------------------------------------- */

/* Returns how many CPUs of LIST are online; 0: LIST is "". */
static unsigned int count(const char *list)
{
	bool in[CPUS_MAX], online[CPUS_MAX];
	unsigned int n = 0;

	cpus_in(list, in, CPUS_MAX);
	cpus_online(online, CPUS_MAX);
	for (unsigned int i = 0; i < CPUS_MAX; i++)
		n += in[i] && online[i];
	return n;
}

static unsigned int count_online(void)
{
	char list[32];

	snprintf(list, sizeof(list), "0-%u", CPUS_MAX - 1);
	return count(list);
}

/* Copies the CPUs that process PID may use, from its status, to LIST. */
static void cpus_of(pid_t pid, char *list, size_t size)
{
	static const char key[] = "\nCpus_allowed_list:\t";
	autofree char *text = NULL;
	const char *at;

	*list = '\0';
	if (process_text(pid, "status", PROCESS_TEXT_MAX, &text, NULL) < 0)
		return;
	at = strstr(text, key);
	if (at)
		snprintf(list, size, "%.*s", (int)strcspn(at + strlen(key), "\n"), at + strlen(key));
}

/*
 * Reads the CPUs of the cgroup DIR: of the nearest one above that has the controller, as v2 enables it from the root
 * on, level by level. The names of the file are those of v2 and v1.
 */
static bool cpuset_read(char *dir, char *list, size_t size)
{
	static const char *const names[] = { "cpuset.cpus.effective", "cpuset.effective_cpus" };

	for (char *slash; *dir; *slash = '\0') {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			char path[PATH_MAX];

			if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, names[i]) < sizeof(path) &&
			    util_read_line(path, list, size) == 0 && *list)
				return true;
		}
		slash = strrchr(dir, '/');
		if (!slash)
			break;
	}
	*list = '\0';
	return false;
}

/* Appends to LIST the cgroup of LINE, "ID:CONTROLLERS:PATH" (cgroups(7)), if it may have a cpuset. */
static void append_cgroup(struct cgroup_list *list, const struct cgroup_mounts *mounts, const char *line)
{
	char *colon;
	const unsigned long id = strtoul(line, &colon, 10);
	const char *path = *colon == ':' ? strchr(colon + 1, ':') : NULL;

	if (!path || (id && !strstr(colon, "cpuset")))
		return;
	for (unsigned int i = 0; i < mounts->n; i++)
		if (mounts->items[i].hierarchy == id && cgroup_append(list, &mounts->items[i], path + 1) == 0)
			break;
}

static void cpuset_of(struct allowance *a)
{
	struct cgroup_mounts mounts;
	struct cgroup_list list = { 0 };
	autofree char *text = NULL;
	char *rest, *line;

	if (process_text(a->pid, "cgroup", PROCESS_TEXT_MAX, &text, NULL) < 0 || cgroup_mounts_read(&mounts) < 0)
		return;
	rest = text;
	while ((line = strsep(&rest, "\n")))
		append_cgroup(&list, &mounts, line);
	for (unsigned int i = 0; i < list.n; i++)
		if (cpuset_read(list.items[i].dir, a->cpuset, sizeof(a->cpuset)))
			break;
	cgroup_list_free(&list);
	cgroup_mounts_free(&mounts);
}

void allowance_judge(struct allowance *a, unsigned int online, bool fresh)
{
	a->cpus_by = NULL;
	if (!a->n_cpus || a->n_cpus >= online)
		return;
	if (a->n_cpuset && a->n_cpuset == a->n_cpus)
		a->cpus_by = "cgroup";
	else
		a->cpus_by = fresh ? "inherited" : "affinity";
}

/* --- all --------------------------------------------------------------------------------------------------- */

static void shm_of(struct allowance *a)
{
	char path[64];
	struct statfs fs;

	snprintf(path, sizeof(path), "/proc/%d/root/dev/shm", a->pid);
	if (statfs(path, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		return;
	a->shm_bytes = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
	a->shm_used_bytes = (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
}

void allowance_read(struct allowance *a, pid_t pid, bool fresh)
{
	autofree char *stat = NULL, *limits_text = NULL, *oom = NULL;

	*a = (struct allowance){ .pid = pid };
	cpus_of(pid, a->cpus, sizeof(a->cpus));
	cpuset_of(a);
	a->n_cpus = count(a->cpus);
	a->n_cpuset = count(a->cpuset);
	allowance_judge(a, count_online(), fresh);
	if (process_text(pid, "stat", PROCESS_TEXT_MAX, &stat, NULL) == 0)
		allowance_parse_stat(a, stat);
	if (process_text(pid, "limits", TEXT_MAX, &limits_text, NULL) == 0)
		allowance_parse_limits(a, limits_text);
	if (process_text(pid, "oom_score_adj", TEXT_MAX, &oom, NULL) == 0) {
		a->oom_score_adj = strtol(oom, NULL, 10);
		a->has_oom = true;
	}
	shm_of(a);
}

static void put_limit(struct json *json, const char *key, uint64_t value)
{
	if (value == RLIMIT_UNLIMITED)
		json_str(json, key, "unlimited");
	else
		json_u64(json, key, value);
}

static const char *policy_name(long policy)
{
	/* sched(7); 4 was never used */
	static const char *const names[] = { "other", "fifo", "rr", "batch", NULL, "idle", "deadline", "ext" };

	return policy >= 0 && policy < (long)ARRAY_SIZE(names) ? names[policy] : NULL;
}

static void put_cpus(struct json *json, const struct allowance *a)
{
	if (!a->n_cpus)
		return;
	json_str(json, "cpus", a->cpus);
	json_u64(json, "n_cpus", a->n_cpus);
	if (a->n_cpuset)
		json_str(json, "cgroup_cpus", a->cpuset);
	if (a->cpus_by)
		json_str(json, "cpus_by", a->cpus_by);
}

void allowance_put(struct json *json, const struct allowance *a)
{
	json_u64(json, "pid", (uint64_t)a->pid);
	put_cpus(json, a);
	if (a->has_schedule) {
		json_s64(json, "nice", a->nice);
		if (policy_name(a->policy))
			json_str(json, "policy", policy_name(a->policy));
	}
	if (a->has_oom)
		json_s64(json, "oom_score_adj", a->oom_score_adj);
	for (unsigned int i = 0; i < DLT_RLIMITS; i++) {
		if (!a->limit[i].known)
			continue;
		json_object(json, rlimit_names[i].key);
		put_limit(json, "soft", a->limit[i].soft);
		put_limit(json, "hard", a->limit[i].hard);
		json_end(json);
	}
	if (a->shm_bytes) {
		json_u64(json, "shm_bytes", a->shm_bytes);
		json_u64(json, "shm_used_bytes", a->shm_used_bytes);
	}
}
