/* SPDX-License-Identifier: BSD-2-Clause */
/* From the cgroups of a process to rows: which cgroups there are, in all hierarchies, and what each has counted since.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "collectors/cgroup_values.h"
#include "collectors/sample.h"
#include "host/cgroup/cgroup.h"

#define LEVELS_MAX 64U /* the nearest to the job */
#define PLACES_MAX 8U /* v2, and v1's hierarchies with something to read */

static const struct column {
	const char *name;
	enum cgroup_value value;
	bool grows; /* the row has what has come since the sample before */
} columns[] = {
	{ "CPU_NS", CGROUP_CPU_NS, true },
	{ "PERIODS", CGROUP_PERIODS, true },
	{ "THROTTLED", CGROUP_THROTTLED, true },
	{ "THROTTLED_NS", CGROUP_THROTTLED_NS, true },
	{ "MEM_BYTES", CGROUP_MEM_BYTES, false },
	{ "MEM_MAX", CGROUP_MEM_MAX, false },
	{ "FILE_BYTES", CGROUP_FILE_BYTES, false },
	{ "ANON_BYTES", CGROUP_ANON_BYTES, false },
	{ "REFAULT_FILE", CGROUP_REFAULT_FILE, true },
	{ "REFAULT_ANON", CGROUP_REFAULT_ANON, true },
	{ "MAJFAULT", CGROUP_MAJFAULT, true },
	{ "MAX_EVENTS", CGROUP_MAX_EVENTS, true },
	{ "OOM", CGROUP_OOM, true },
	{ "OOM_KILL", CGROUP_OOM_KILL, true },
	{ "R_BYTES", CGROUP_R_BYTES, true },
	{ "W_BYTES", CGROUP_W_BYTES, true },
	{ "R_IOS", CGROUP_R_IOS, true },
	{ "W_IOS", CGROUP_W_IOS, true },
	{ "CPU_SOME_NS", CGROUP_CPU_SOME_NS, true },
	{ "CPU_FULL_NS", CGROUP_CPU_FULL_NS, true },
	{ "MEM_SOME_NS", CGROUP_MEM_SOME_NS, true },
	{ "MEM_FULL_NS", CGROUP_MEM_FULL_NS, true },
	{ "IO_SOME_NS", CGROUP_IO_SOME_NS, true },
	{ "IO_FULL_NS", CGROUP_IO_FULL_NS, true },
};

/* A cgroup in one hierarchy. */
struct place {
	char *dir, *controllers;
};

/* One path, which is a cgroup of each hierarchy that has it. */
struct level {
	char *path;
	unsigned int depth; /* 0: the root, or what is seen of it */
	struct place places[PLACES_MAX];
	unsigned int n_places;
	struct cgroup_values before;
	uint64_t before_ns; /* 0: there was no sample */
};

struct cgroup_samples {
	const struct cgroup_mounts *mounts;
	const char *pressure;
	char *proc_cgroup; /* whose levels these are */
	struct level *levels;
	unsigned int n;
	struct cgroup_reads reads;
};

struct cgroup_samples *cgroup_samples_new(const struct cgroup_mounts *mounts, const char *pressure)
{
	struct cgroup_samples *samples = calloc(1, sizeof(*samples));

	if (samples) {
		samples->mounts = mounts;
		samples->pressure = pressure;
	}
	return samples;
}

static void free_levels(struct level *levels, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int p = 0; p < levels[i].n_places; p++) {
			free(levels[i].places[p].dir);
			free(levels[i].places[p].controllers);
		}
		free(levels[i].path);
	}
	free(levels);
}

void cgroup_samples_free(struct cgroup_samples *samples)
{
	if (!samples)
		return;
	free_levels(samples->levels, samples->n);
	free(samples->proc_cgroup);
	free(samples);
}

struct cgroup_reads *cgroup_samples_reads(struct cgroup_samples *samples)
{
	return &samples->reads;
}

/* --- which cgroups ---------------------------------------------------------------------------- */

static unsigned int depth_of(const char *path)
{
	unsigned int n = 0;

	for (const char *p = path; *p; p++)
		n += *p == '/' && p[1] && p[1] != '/';
	return n;
}

static struct level *level_of(struct cgroup_samples *samples, const char *path)
{
	struct level *new;

	for (unsigned int i = 0; i < samples->n; i++)
		if (!strcmp(samples->levels[i].path, path))
			return &samples->levels[i];
	if (samples->n == LEVELS_MAX || util_room(&samples->levels, samples->n, sizeof(*new)) < 0)
		return NULL;
	new = &samples->levels[samples->n];
	*new = (struct level){ .path = strdup(path), .depth = depth_of(path) };
	if (!new->path)
		return NULL;
	samples->n++;
	return new;
}

static int add_place(struct cgroup_samples *samples, const struct cgroup_mount *mount, const char *path,
		     const char *controllers)
{
	struct cgroup_list list = {};
	struct level *level = level_of(samples, path);
	int r = level && level->n_places < PLACES_MAX ? cgroup_append(&list, mount, path) : -ENOENT;

	if (!r) {
		struct place *place = &level->places[level->n_places];

		*place = (struct place){ TAKE_PTR(list.items[0].dir), strdup(controllers) };
		if (place->controllers)
			level->n_places++;
		else
			free(place->dir);
	}
	cgroup_list_free(&list);
	return r;
}

/* Adds PATH as MOUNT shows it, and what is above it, up to what is mounted there. */
static bool add_path(struct cgroup_samples *samples, const struct cgroup_mount *mount, const char *path,
		     const char *controllers)
{
	autofree char *at = strdup(path);

	/* Out of the view of our cgroup namespace it is "/../x" (cgroup_namespaces(7)). */
	if (!at || !strncmp(path, "/..", 3) || add_place(samples, mount, at, controllers) < 0)
		return false;
	while (at[1]) {
		char *slash = strrchr(at, '/');

		slash[slash == at] = '\0';
		if (add_place(samples, mount, at, controllers) < 0)
			break;
	}
	return true;
}

/* Adds the cgroup of LINE, "ID:CONTROLLERS:PATH" (cgroups(7)). */
static void add_line(struct cgroup_samples *samples, char *line)
{
	const char *id = strsep(&line, ":"), *controllers = strsep(&line, ":");

	if (!line || *line != '/' || !cgroup_values_known(controllers))
		return;
	for (unsigned int i = 0; i < samples->mounts->n; i++)
		if (samples->mounts->items[i].hierarchy == strtoul(id, NULL, 10) &&
		    add_path(samples, &samples->mounts->items[i], line, controllers))
			return;
}

static int by_depth(const void *a, const void *b)
{
	const struct level *l = a, *r = b;

	return l->depth != r->depth ? (l->depth > r->depth) - (l->depth < r->depth) : strcmp(l->path, r->path);
}

/* The levels that stay keep what they have counted. */
static int find_levels(struct cgroup_samples *samples, const char *proc_cgroup)
{
	autofree char *text = strdup(proc_cgroup), *whole = strdup(proc_cgroup);
	struct level *old = samples->levels;
	const unsigned int n_old = samples->n;
	char *rest = text, *line;

	if (!text || !whole)
		return -ENOMEM;
	samples->levels = NULL;
	samples->n = 0;
	while ((line = strsep(&rest, "\n")))
		add_line(samples, line);
	if (samples->n)
		qsort(samples->levels, samples->n, sizeof(*samples->levels), by_depth);
	for (unsigned int i = 0; i < samples->n; i++)
		for (unsigned int o = 0; o < n_old; o++)
			if (!strcmp(samples->levels[i].path, old[o].path)) {
				samples->levels[i].before = old[o].before;
				samples->levels[i].before_ns = old[o].before_ns;
			}
	free_levels(old, n_old);
	free(samples->proc_cgroup);
	samples->proc_cgroup = TAKE_PTR(whole);
	return 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Whether PLACE is the whole machine, and not merely the root of a container's view: files that only one of them has.
 */
static bool is_whole_machine(const struct place *place)
{
	const bool v2 = !*place->controllers;
	autofree char *path = util_fmt("%s/%s", place->dir, v2 ? "cgroup.events" : "release_agent");

	return path && access(place->dir, F_OK) == 0 && (access(path, F_OK) == 0) != v2;
}

static void read_level(struct cgroup_samples *samples, const struct level *level, struct cgroup_values *values)
{
	*values = (struct cgroup_values){};
	for (unsigned int i = 0; i < level->n_places; i++)
		cgroup_values_read(values, level->places[i].dir, level->places[i].controllers, &samples->reads);
	if (!level->depth && level->n_places && is_whole_machine(&level->places[0]))
		cgroup_values_read(values, samples->pressure, CGROUP_PRESSURE, &samples->reads);
}

static void put_value(FILE *out, const struct level *level, const struct cgroup_values *now,
		      const struct column *column)
{
	const uint64_t value = now->v[column->value], before = level->before.v[column->value];

	if (!now->has[column->value] || (column->grows && (!level->before_ns || !level->before.has[column->value])))
		fputs(" -", out);
	else if (column->grows) /* a cgroup that was removed and made again begins at 0 */
		fprintf(out, " %" PRIu64, value >= before ? value - before : value);
	else
		fprintf(out, " %" PRIu64, value);
}

static void put_row(FILE *out, const struct level *level, const struct cgroup_values *now, uint64_t now_ns)
{
	fprintf(out, "%u", level->depth);
	if (level->before_ns)
		fprintf(out, " %" PRIu64, now_ns - level->before_ns);
	else
		fputs(" -", out);
	if (now->has[CGROUP_QUOTA_US] && now->has[CGROUP_PERIOD_US] && now->v[CGROUP_PERIOD_US])
		fprintf(out, " %.3f", (double)now->v[CGROUP_QUOTA_US] / (double)now->v[CGROUP_PERIOD_US]);
	else
		fputs(" -", out);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		put_value(out, level, now, &columns[i]);
	fprintf(out, " %s\n", level->path);
}

static bool has_any(const struct cgroup_values *values)
{
	for (unsigned int i = 0; i < CGROUP_VALUES; i++)
		if (values->has[i])
			return true;
	return false;
}

void cgroup_samples_begin(FILE *out)
{
	fputs("# LEVEL SPAN_NS CPU_MAX", out);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(out, " %s", columns[i].name);
	fputs(" CGROUP\n", out);
}

int cgroup_samples_take(struct cgroup_samples *samples, const char *proc_cgroup, uint64_t now_ns, FILE *out)
{
	int r = 0;

	if (proc_cgroup && (!samples->proc_cgroup || strcmp(samples->proc_cgroup, proc_cgroup) != 0))
		r = find_levels(samples, proc_cgroup);
	cgroup_reads_next(&samples->reads);
	for (unsigned int i = 0; !r && i < samples->n; i++) {
		struct level *level = &samples->levels[i];
		struct cgroup_values now;

		read_level(samples, level, &now);
		if (!has_any(&now)) { /* it has gone, or is not there yet */
			level->before_ns = 0;
			continue;
		}
		put_row(out, level, &now, now_ns);
		level->before = now;
		level->before_ns = now_ns;
	}
	return r;
}
