/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/limits/cgroups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/part.h"

#define TEXT_MAX 512
#define LEAST_THROTTLED 0.001 /* of the time: a period that was just missed is no limit */

static const enum column columns[CGROUP_SUMS] = {
	[CGROUP_SUM_CPU_NS] = COL_CPU_NS,
	[CGROUP_SUM_PERIODS] = COL_PERIODS,
	[CGROUP_SUM_THROTTLED] = COL_THROTTLED,
	[CGROUP_SUM_THROTTLED_NS] = COL_THROTTLED_NS,
	[CGROUP_SUM_REFAULT_FILE] = COL_REFAULT_FILE,
	[CGROUP_SUM_REFAULT_ANON] = COL_REFAULT_ANON,
	[CGROUP_SUM_MAJFAULT] = COL_MAJFAULT,
	[CGROUP_SUM_MAX_EVENTS] = COL_MAX_EVENTS,
	[CGROUP_SUM_OOM] = COL_OOM,
	[CGROUP_SUM_OOM_KILL] = COL_OOM_KILL,
	[CGROUP_SUM_R_BYTES] = COL_R_BYTES,
	[CGROUP_SUM_W_BYTES] = COL_W_BYTES,
	[CGROUP_SUM_R_IOS] = COL_R_IOS,
	[CGROUP_SUM_W_IOS] = COL_W_IOS,
	[CGROUP_SUM_CPU_SOME_NS] = COL_CPU_SOME_NS,
	[CGROUP_SUM_MEM_SOME_NS] = COL_MEM_SOME_NS,
	[CGROUP_SUM_MEM_FULL_NS] = COL_MEM_FULL_NS,
	[CGROUP_SUM_IO_SOME_NS] = COL_IO_SOME_NS,
	[CGROUP_SUM_IO_FULL_NS] = COL_IO_FULL_NS,
};

static int part_new(struct report *r, const struct report_options *o)
{
	r->cgroups = calloc(1, sizeof(*r->cgroups));
	return r->cgroups ? 0 : -ENOMEM;
}

static void part_free(struct report *r)
{
	for (uint32_t i = 0; r->cgroups && i < r->cgroups->n; i++) {
		free(r->cgroups->v[i].path);
		free(r->cgroups->v[i].text);
	}
	free(r->cgroups);
}

/* --- rows --------------------------------------------------------------------------------------- */

static struct report_cgroup *cgroup_of(struct report_cgroups *cgroups, struct reader_field path)
{
	struct report_cgroup *new = &cgroups->v[cgroups->n];

	for (uint32_t i = 0; i < cgroups->n; i++)
		if (strlen(cgroups->v[i].path) == path.len && !memcmp(cgroups->v[i].path, path.p, path.len))
			return &cgroups->v[i];
	if (cgroups->n == CGROUPS_MAX)
		return NULL;
	*new = (struct report_cgroup){ .path = strndup(path.p, path.len) };
	if (!new->path)
		return NULL;
	cgroups->n++;
	return new;
}

static void take_levels(const struct scan *scan, struct report_cgroup *cgroup)
{
	uint64_t bytes, max;
	double cpus;

	if (scan_double(scan, COL_CPU_MAX, &cpus) && cpus > 0)
		cgroup->cpus = cgroup->cpus > 0 ? MIN(cgroup->cpus, cpus) : cpus;
	if (!scan_u64(scan, COL_MEM_BYTES, &bytes))
		bytes = 0;
	cgroup->mem_bytes = MAX(cgroup->mem_bytes, bytes);
	if (scan_u64(scan, COL_MEM_MAX, &max) && max) {
		cgroup->mem_max = cgroup->mem_max ? MIN(cgroup->mem_max, max) : max;
		cgroup->mem_share = MAX(cgroup->mem_share, (double)bytes / (double)max);
	}
}

/* Of a row that begins before the part of the trace that was asked for, the sums may be of the time before. */
static bool take(struct scan *scan, void *own)
{
	struct report *report = own;
	const struct reader_field path = scan_field(scan, COL_CGROUP);
	struct report_cgroup *cgroup = path.len ? cgroup_of(report->cgroups, path) : NULL;
	uint64_t span_ns;

	if (!cgroup) {
		report->cgroups->left_out += path.len > 0;
		return path.len;
	}
	cgroup->level = scan_number(scan, COL_LEVEL);
	take_levels(scan, cgroup);
	if (!scan_u64(scan, COL_SPAN_NS, &span_ns) || !span_ns || span_ns > scan->time_ns ||
	    scan->time_ns - span_ns < report->folder->window.begin_ns)
		return true;
	cgroup->span_ns += span_ns;
	for (unsigned int i = 0; i < CGROUP_SUMS; i++) {
		uint64_t number;

		if (!scan_u64(scan, columns[i], &number) || number >> 62 || cgroup->sum[i] >> 62)
			continue;
		cgroup->sum[i] += number;
		cgroup->has[i] = true;
	}
	return true;
}

static void part_read(struct report *r)
{
	struct scan_taker taker = { .take = take, .own = r };

	scan_walk(r->folder, "cgroup", &taker);
}

/* --- limits ------------------------------------------------------------------------------------- */

static double share_of_time(const struct report_cgroup *cgroup, enum report_cgroup_sum sum)
{
	return cgroup->span_ns ? (double)cgroup->sum[sum] / (double)cgroup->span_ns : 0;
}

bool report_cgroup_throttled(const struct report_cgroup *cgroup)
{
	return cgroup->cpus > 0 && share_of_time(cgroup, CGROUP_SUM_THROTTLED_NS) > LEAST_THROTTLED;
}

/* That the limit was hit shows even where no sample was at it. */
bool report_cgroup_full(const struct report_cgroup *cgroup)
{
	return cgroup->mem_max && (cgroup->mem_share >= CGROUPS_REACHED || cgroup->sum[CGROUP_SUM_MAX_EVENTS]);
}

double report_cgroup_pressure(const struct report_cgroup *cgroup, enum report_cgroup_sum sum)
{
	return MIN(share_of_time(cgroup, sum), 1);
}

const struct report_cgroup *report_cgroups_own(const struct report_cgroups *cgroups, enum report_cgroup_sum sum)
{
	const struct report_cgroup *own = NULL;

	for (uint32_t i = 0; cgroups && i < cgroups->n; i++) {
		const struct report_cgroup *cgroup = &cgroups->v[i];

		/* of several as deep, that of the job's longest time: it may have moved */
		if (cgroup->has[sum] && cgroup->level &&
		    (!own || cgroup->level > own->level ||
		     (cgroup->level == own->level && cgroup->span_ns > own->span_ns)))
			own = cgroup;
	}
	return own;
}

const char *report_cgroup_cpu_text(const struct report_cgroup *cgroup, char *buf, size_t size)
{
	snprintf(buf, size, "cpu.max %.4g CPUs, throttled %s in %.1f %% of its periods", cgroup->cpus,
		 FMT_NS(cgroup->sum[CGROUP_SUM_THROTTLED_NS]),
		 cgroup->sum[CGROUP_SUM_PERIODS] ?
			 100.0 * (double)cgroup->sum[CGROUP_SUM_THROTTLED] / (double)cgroup->sum[CGROUP_SUM_PERIODS] :
			 0);
	return buf;
}

const char *report_cgroup_memory_text(const struct report_cgroup *cgroup, char *buf, size_t size)
{
	const uint64_t again = cgroup->sum[CGROUP_SUM_REFAULT_FILE] + cgroup->sum[CGROUP_SUM_REFAULT_ANON];
	const double seconds = (double)cgroup->span_ns / (double)NSEC_PER_SEC;

	snprintf(buf, size, "%.0f %% of memory.max (%s), %.0f refaults/s%s", 100 * cgroup->mem_share,
		 FMT_BYTES(cgroup->mem_max), seconds > 0 ? (double)again / seconds : 0,
		 cgroup->sum[CGROUP_SUM_OOM_KILL] ? ", a process was killed" : "");
	return buf;
}

static void add(char *text, const char *of, const char *more)
{
	const size_t len = strlen(text);

	snprintf(text + len, TEXT_MAX - len, "%s%s%s", len ? "; " : "", of, more);
}

static void add_pressure(const struct report_cgroup *cgroup, enum report_cgroup_sum sum, const char *of, char *text)
{
	char buf[96];

	if (report_cgroup_pressure(cgroup, sum) < CGROUPS_PRESSED)
		return;
	snprintf(buf, sizeof(buf), "all its work waited for %s in %.0f %% of the time", of,
		 100 * report_cgroup_pressure(cgroup, sum));
	add(text, "", buf);
}

static void part_end(struct report *report)
{
	for (uint32_t i = 0; i < report->cgroups->n; i++) {
		struct report_cgroup *cgroup = &report->cgroups->v[i];
		char text[TEXT_MAX] = "", buf[160];

		if (report_cgroup_throttled(cgroup))
			add(text, "CPU: ", report_cgroup_cpu_text(cgroup, buf, sizeof(buf)));
		if (report_cgroup_full(cgroup))
			add(text, "memory: ", report_cgroup_memory_text(cgroup, buf, sizeof(buf)));
		if (cgroup->level) { /* of the root, it is the machine's */
			add_pressure(cgroup, CGROUP_SUM_MEM_FULL_NS, "memory", text);
			add_pressure(cgroup, CGROUP_SUM_IO_FULL_NS, "I/O", text);
		}
		cgroup->text = text[0] ? strdup(text) : NULL;
	}
	report_note_count(report, "cgroup.out", report->cgroups->left_out, "row has", "rows have",
			  "no place: there are more than 128 cgroups");
}

const struct report_part report_cgroups_part = {
	.new = part_new,
	.read = part_read,
	.end = part_end,
	.free = part_free,
};
