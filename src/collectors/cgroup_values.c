/* SPDX-License-Identifier: BSD-2-Clause */
#include "collectors/cgroup_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define TEXT_MAX (1U << 20) /* io.stat has a line for each disk */
#define US 1000 /* ns */
#define LEFT_OUT 10 /* samples, after a read that took too long */
#define NO_LIMIT (UINT64_C(1) << 62) /* v1 prints the largest number of whole pages: it depends on their size */

/*
 * Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/{cpuacct,memory,blkio-controller}.rst, accounting/psi.rst. Before
 * Linux 5.9 refaults are those of files alone. Numbers of several lines (of disks) are added up; where a file has no
 * line of a disk yet, the sum is 0. The numbers of memory.stat of v1 are of the cgroup and of those in it, as in v2.
 */
static const struct source {
	const char *controllers, *file;
	const char *line; /* its first word; NULL: any */
	const char *key; /* the number is the word behind this one; NULL: word NTH of the line, from 0 */
	unsigned char nth;
	bool sum;
	enum cgroup_value value;
	uint32_t times;
} sources[] = {
	{ CGROUP_V2, "cpu.max", NULL, NULL, 0, false, CGROUP_QUOTA_US, 1 },
	{ CGROUP_V2, "cpu.max", NULL, NULL, 1, false, CGROUP_PERIOD_US, 1 },
	{ CGROUP_V2, "cpu.stat", NULL, "usage_usec", 0, false, CGROUP_CPU_NS, US },
	{ CGROUP_V2, "cpu.stat", NULL, "nr_periods", 0, false, CGROUP_PERIODS, 1 },
	{ CGROUP_V2, "cpu.stat", NULL, "nr_throttled", 0, false, CGROUP_THROTTLED, 1 },
	{ CGROUP_V2, "cpu.stat", NULL, "throttled_usec", 0, false, CGROUP_THROTTLED_NS, US },
	{ CGROUP_V2, "memory.current", NULL, NULL, 0, false, CGROUP_MEM_BYTES, 1 },
	{ CGROUP_V2, "memory.max", NULL, NULL, 0, false, CGROUP_MEM_MAX, 1 },
	{ CGROUP_V2, "memory.stat", NULL, "file", 0, false, CGROUP_FILE_BYTES, 1 },
	{ CGROUP_V2, "memory.stat", NULL, "anon", 0, false, CGROUP_ANON_BYTES, 1 },
	{ CGROUP_V2, "memory.stat", NULL, "workingset_refault_file", 0, false, CGROUP_REFAULT_FILE, 1 },
	{ CGROUP_V2, "memory.stat", NULL, "workingset_refault", 0, false, CGROUP_REFAULT_FILE, 1 },
	{ CGROUP_V2, "memory.stat", NULL, "workingset_refault_anon", 0, false, CGROUP_REFAULT_ANON, 1 },
	{ CGROUP_V2, "memory.stat", NULL, "pgmajfault", 0, false, CGROUP_MAJFAULT, 1 },
	{ CGROUP_V2, "memory.events", NULL, "max", 0, false, CGROUP_MAX_EVENTS, 1 },
	{ CGROUP_V2, "memory.events", NULL, "oom", 0, false, CGROUP_OOM, 1 },
	{ CGROUP_V2, "memory.events", NULL, "oom_kill", 0, false, CGROUP_OOM_KILL, 1 },
	{ CGROUP_V2, "io.stat", NULL, "rbytes", 0, true, CGROUP_R_BYTES, 1 },
	{ CGROUP_V2, "io.stat", NULL, "wbytes", 0, true, CGROUP_W_BYTES, 1 },
	{ CGROUP_V2, "io.stat", NULL, "rios", 0, true, CGROUP_R_IOS, 1 },
	{ CGROUP_V2, "io.stat", NULL, "wios", 0, true, CGROUP_W_IOS, 1 },
	{ CGROUP_V2, "cpu.pressure", "some", "total", 0, false, CGROUP_CPU_SOME_NS, US },
	{ CGROUP_V2, "cpu.pressure", "full", "total", 0, false, CGROUP_CPU_FULL_NS, US },
	{ CGROUP_V2, "memory.pressure", "some", "total", 0, false, CGROUP_MEM_SOME_NS, US },
	{ CGROUP_V2, "memory.pressure", "full", "total", 0, false, CGROUP_MEM_FULL_NS, US },
	{ CGROUP_V2, "io.pressure", "some", "total", 0, false, CGROUP_IO_SOME_NS, US },
	{ CGROUP_V2, "io.pressure", "full", "total", 0, false, CGROUP_IO_FULL_NS, US },

	{ "cpu", "cpu.cfs_quota_us", NULL, NULL, 0, false, CGROUP_QUOTA_US, 1 },
	{ "cpu", "cpu.cfs_period_us", NULL, NULL, 0, false, CGROUP_PERIOD_US, 1 },
	{ "cpu", "cpu.stat", NULL, "nr_periods", 0, false, CGROUP_PERIODS, 1 },
	{ "cpu", "cpu.stat", NULL, "nr_throttled", 0, false, CGROUP_THROTTLED, 1 },
	{ "cpu", "cpu.stat", NULL, "throttled_time", 0, false, CGROUP_THROTTLED_NS, 1 },
	{ "cpuacct", "cpuacct.usage", NULL, NULL, 0, false, CGROUP_CPU_NS, 1 },
	{ "memory", "memory.usage_in_bytes", NULL, NULL, 0, false, CGROUP_MEM_BYTES, 1 },
	{ "memory", "memory.limit_in_bytes", NULL, NULL, 0, false, CGROUP_MEM_MAX, 1 },
	{ "memory", "memory.stat", NULL, "total_cache", 0, false, CGROUP_FILE_BYTES, 1 },
	{ "memory", "memory.stat", NULL, "total_rss", 0, false, CGROUP_ANON_BYTES, 1 },
	{ "memory", "memory.stat", NULL, "total_workingset_refault_file", 0, false, CGROUP_REFAULT_FILE, 1 },
	{ "memory", "memory.stat", NULL, "total_workingset_refault", 0, false, CGROUP_REFAULT_FILE, 1 },
	{ "memory", "memory.stat", NULL, "total_workingset_refault_anon", 0, false, CGROUP_REFAULT_ANON, 1 },
	{ "memory", "memory.stat", NULL, "total_pgmajfault", 0, false, CGROUP_MAJFAULT, 1 },
	{ "memory", "memory.failcnt", NULL, NULL, 0, false, CGROUP_MAX_EVENTS, 1 },
	{ "memory", "memory.oom_control", NULL, "oom_kill", 0, false, CGROUP_OOM_KILL, 1 },
	{ "blkio", "blkio.throttle.io_service_bytes_recursive", NULL, "Read", 0, true, CGROUP_R_BYTES, 1 },
	{ "blkio", "blkio.throttle.io_service_bytes_recursive", NULL, "Write", 0, true, CGROUP_W_BYTES, 1 },
	{ "blkio", "blkio.throttle.io_serviced_recursive", NULL, "Read", 0, true, CGROUP_R_IOS, 1 },
	{ "blkio", "blkio.throttle.io_serviced_recursive", NULL, "Write", 0, true, CGROUP_W_IOS, 1 },

	{ CGROUP_PRESSURE, "cpu", "some", "total", 0, false, CGROUP_CPU_SOME_NS, US },
	{ CGROUP_PRESSURE, "cpu", "full", "total", 0, false, CGROUP_CPU_FULL_NS, US },
	{ CGROUP_PRESSURE, "memory", "some", "total", 0, false, CGROUP_MEM_SOME_NS, US },
	{ CGROUP_PRESSURE, "memory", "full", "total", 0, false, CGROUP_MEM_FULL_NS, US },
	{ CGROUP_PRESSURE, "io", "some", "total", 0, false, CGROUP_IO_SOME_NS, US },
	{ CGROUP_PRESSURE, "io", "full", "total", 0, false, CGROUP_IO_FULL_NS, US },
};

/* A word of a line, which ends at a blank, "=", or the line's end. */
struct word {
	const char *p;
	size_t len;
};

static bool next_word(const char **at, struct word *word)
{
	word->p = *at + strspn(*at, " =");
	word->len = strcspn(word->p, " =\n");
	*at = word->p + word->len;
	return word->len;
}

static bool is(const struct word *word, const char *text)
{
	return strlen(text) == word->len && !memcmp(word->p, text, word->len);
}

/* Finds the number of SOURCE in the line at LINE; "max" and -1, which limit nothing, are none. */
static bool number_of_line(const struct source *source, const char *line, uint64_t *ret)
{
	bool found = false;
	struct word word;

	for (unsigned int i = 0; next_word(&line, &word); i++) {
		if (i == 0 && source->line && !is(&word, source->line))
			return false;
		if (source->key ? found : i == source->nth) {
			*ret = strtoull(word.p, NULL, 10);
			return *word.p >= '0' && *word.p <= '9';
		}
		found = source->key && is(&word, source->key);
	}
	return false;
}

static void take(struct cgroup_values *values, const struct source *source, const char *text)
{
	uint64_t sum = 0, number;
	bool found = source->sum;

	if (values->has[source->value])
		return;
	for (const char *line = text; *line; line += !!*line) {
		if (number_of_line(source, line, &number)) {
			sum += number;
			found = true;
			if (!source->sum)
				break;
		}
		line += strcspn(line, "\n");
	}
	values->has[source->value] = found && sum < NO_LIMIT;
	values->v[source->value] = sum * source->times;
}

/* Returns the text of DIR/FILE, the file NR; NULL: it cannot be read, or was not read in time. */
static char *read_file(const char *dir, const char *file, unsigned int nr, struct cgroup_reads *reads)
{
	autofree char *path = util_fmt("%s/%s", dir, file);
	char *text = NULL;
	uint64_t ns;

	if (!path || reads->left_out[nr])
		return NULL;
	atomic_store(&reads->since_ns, clock_now_ns(CLOCK_MONOTONIC));
	atomic_store(&reads->file, file);
	if (util_read_file(path, TEXT_MAX, &text, NULL) < 0)
		text = NULL;
	atomic_store(&reads->file, NULL);
	ns = clock_now_ns(CLOCK_MONOTONIC) - atomic_load(&reads->since_ns);
	if (ns > CGROUP_READ_DEADLINE_NS)
		reads->left_out[nr] = LEFT_OUT;
	return text;
}

static bool has_controller(const char *controllers, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = controllers; *at; at += strspn(at, ",")) {
		const size_t n = strcspn(at, ",");

		if (n == len && !memcmp(at, name, n))
			return true;
		at += n;
	}
	return !*controllers && !*name;
}

bool cgroup_values_known(const char *controllers)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (has_controller(controllers, sources[i].controllers))
			return true;
	return false;
}

void cgroup_values_read(struct cgroup_values *values, const char *dir, const char *controllers,
			struct cgroup_reads *reads)
{
	unsigned int nr = 0;

	for (size_t i = 0, end; i < ARRAY_SIZE(sources); i = end, nr++) {
		const struct source *first = &sources[i];
		autofree char *text = NULL;

		for (end = i + 1; end < ARRAY_SIZE(sources) && !strcmp(sources[end].file, first->file) &&
				  !strcmp(sources[end].controllers, first->controllers);)
			end++;
		if (!has_controller(controllers, first->controllers))
			continue;
		text = read_file(dir, first->file, nr % CGROUP_FILES_MAX, reads);
		for (; text && first < &sources[end]; first++)
			take(values, first, text);
	}
}

void cgroup_reads_next(struct cgroup_reads *reads)
{
	for (size_t i = 0; i < CGROUP_FILES_MAX; i++)
		reads->left_out[i] -= !!reads->left_out[i];
}
