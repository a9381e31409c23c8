/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/cgroup/cgroup_limits.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "host/cgroup/cgroup.h"
#include "host/process.h"

#define VALUE_MAX 1024U /* io.max has a line for each disk */

/*
 * Files, and how the value begins that limits nothing (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/): memory.c
 * prints the largest number of whole pages, of any size, for v1. An empty file limits nothing either.
 */
static const struct {
	const char *file, *none;
} files[] = {
	{ "cpu.max", "max" },
	{ "cpu.weight", "100" },
	{ "io.max", NULL },
	{ "memory.high", "max" },
	{ "memory.max", "max" },
	{ "memory.swap.max", "max" },
	{ "pids.max", "max" },
	{ "blkio.throttle.read_bps_device", NULL },
	{ "blkio.throttle.read_iops_device", NULL },
	{ "blkio.throttle.write_bps_device", NULL },
	{ "blkio.throttle.write_iops_device", NULL },
	{ "cpu.cfs_quota_us", "-1" },
	{ "cpu.shares", "1024" },
	{ "memory.limit_in_bytes", "922337203685477" },
	{ "memory.soft_limit_in_bytes", "922337203685477" },
};

static bool is_limit(const char *value, const char *none)
{
	return *value && !(none && strncmp(value, none, strlen(none)) == 0);
}

static void append(struct cgroup_limits *limits, const char *cgroup, const char *file, const char *value)
{
	struct cgroup_limit limit = { .cgroup = strdup(*cgroup ? cgroup : "/"), .file = file, .value = strdup(value) };

	if (limit.cgroup && limit.value && limits->n < CGROUP_LIMITS_MAX) {
		limits->items[limits->n++] = limit;
		return;
	}
	free(limit.cgroup);
	free(limit.value);
}

/* Returns the text of DIR/FILE without its last newline; NULL: there is none, or it is too long. */
static char *value_of(const char *dir, const char *file)
{
	char path[PATH_MAX];
	char *text = NULL;
	size_t len;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, file) >= sizeof(path) ||
	    util_read_file(path, VALUE_MAX, &text, &len) < 0)
		return NULL;
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	return text;
}

/* The period of a quota of v1 stands in a file of its own. */
static void append_period(struct cgroup_limits *limits, const char *cgroup, const char *dir)
{
	autofree char *value = value_of(dir, "cpu.cfs_period_us");

	if (value)
		append(limits, cgroup, "cpu.cfs_period_us", value);
}

static void append_dir(struct cgroup_limits *limits, const char *cgroup, const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		autofree char *value = value_of(dir, files[i].file);

		if (!value || !is_limit(value, files[i].none))
			continue;
		append(limits, cgroup, files[i].file, value);
		if (strcmp(files[i].file, "cpu.cfs_quota_us") == 0)
			append_period(limits, cgroup, dir);
	}
}

void cgroup_limits_append(struct cgroup_limits *limits, const char *root, const char *dir)
{
	const size_t root_len = strlen(root);
	autofree char *at = strdup(dir);
	char *slash;

	while (at && strlen(at) >= root_len) {
		append_dir(limits, at + root_len, at);
		slash = strrchr(at, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
}

/* The cgroup of LINE, "ID:CONTROLLERS:PATH" (cgroups(7)). */
static void append_line(struct cgroup_limits *limits, const struct cgroup_mounts *mounts, const char *line)
{
	char *colon;
	const unsigned long id = strtoul(line, &colon, 10);
	const char *path = *colon == ':' ? strchr(colon + 1, ':') : NULL;
	struct cgroup_list list = { 0 };

	for (unsigned int i = 0; path && i < mounts->n && !list.n; i++)
		if (mounts->items[i].hierarchy == id && cgroup_append(&list, &mounts->items[i], path + 1) == 0)
			cgroup_limits_append(limits, mounts->items[i].dir, list.items[0].dir);
	cgroup_list_free(&list);
}

void cgroup_limits_read(struct cgroup_limits *limits, pid_t pid)
{
	struct cgroup_mounts mounts;
	autofree char *text = NULL;
	char *rest, *line;

	if (process_text(pid, "cgroup", PROCESS_TEXT_MAX, &text, NULL) < 0 || cgroup_mounts_read(&mounts) < 0)
		return;
	rest = text;
	while ((line = strsep(&rest, "\n")))
		append_line(limits, &mounts, line);
	cgroup_mounts_free(&mounts);
}

void cgroup_limits_free(struct cgroup_limits *limits)
{
	for (unsigned int i = 0; i < limits->n; i++) {
		free(limits->items[i].cgroup);
		free(limits->items[i].value);
	}
	limits->n = 0;
}

void cgroup_limits_put(struct json *json, const char *key, const struct cgroup_limits *limits)
{
	if (!limits->n)
		return;
	json_array(json, key);
	for (unsigned int i = 0; i < limits->n; i++) {
		json_object(json, NULL);
		json_str(json, "cgroup", limits->items[i].cgroup);
		json_str(json, "file", limits->items[i].file);
		json_str(json, "value", limits->items[i].value);
		json_end(json);
	}
	json_end(json);
}
