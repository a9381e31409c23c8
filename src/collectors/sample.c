/* SPDX-License-Identifier: BSD-2-Clause */
/* The process of `dltraced sample': at each interval the two texts of /proc, one before and one after, to rows. */
#include "collectors/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define TEXT_MAX (16U << 20) /* /proc/stat has a number for each interrupt */

static const char cpu_header[] =
	"CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n";
static const char disk_header[] =
	"Device r/s rMB/s rrqm/s %rrqm r_await rareq-sz w/s wMB/s wrqm/s %wrqm w_await wareq-sz "
	"d/s dMB/s drqm/s %drqm d_await dareq-sz f/s f_await aqu-sz %util\n";

static void put_clock(FILE *out, time_t utc)
{
	struct tm tm;

	gmtime_r(&utc, &tm);
	fprintf(out, "%02d:%02d:%02d ", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void cpu_begin(FILE *out)
{
	put_clock(out, time(NULL));
	fputs(cpu_header, out);
}

static void cpu_rows(FILE *out, const char *before, const char *after, uint64_t ns)
{
	sample_cpus(out, before, after, time(NULL));
}

static void disk_begin(FILE *out)
{
	fputs(disk_header, out);
}

static void disk_rows(FILE *out, const char *before, const char *after, uint64_t ns)
{
	sample_disks(out, "", before, after, ns);
}

static const struct sample {
	const char *name; /* as in --collectors */
	const char *path;
	void (*begin)(FILE *out);
	void (*rows)(FILE *out, const char *before, const char *after, uint64_t ns);
} samples[] = {
	{ "cpu", "/proc/stat", cpu_begin, cpu_rows },
	{ "disk", "/proc/diskstats", disk_begin, disk_rows },
};

static const struct sample *sample_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		if (!strcmp(samples[i].name, name))
			return &samples[i];
	return NULL;
}

int sample_run(const char *name, uint64_t interval_s)
{
	const struct sample *sample = sample_find(name);
	autofree char *before = NULL;
	uint64_t before_ns, next_ns;
	int r;

	if (!sample || !interval_s)
		return -EINVAL;
	sample->begin(stdout);
	if (fflush(stdout))
		return -errno;
	r = util_read_file(sample->path, TEXT_MAX, &before, NULL);
	before_ns = clock_now_ns(CLOCK_MONOTONIC);
	for (next_ns = before_ns; !r;) {
		struct timespec next;
		autofree char *after = NULL;
		uint64_t now_ns;

		next_ns += interval_s * NSEC_PER_SEC;
		next = (struct timespec){ (time_t)(next_ns / NSEC_PER_SEC), (long)(next_ns % NSEC_PER_SEC) };
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
			;
		r = util_read_file(sample->path, TEXT_MAX, &after, NULL);
		if (r < 0)
			break;
		now_ns = clock_now_ns(CLOCK_MONOTONIC);
		sample->rows(stdout, before, after, now_ns - before_ns);
		if (fflush(stdout))
			return -errno;
		free(before);
		before = TAKE_PTR(after);
		before_ns = now_ns;
		if (now_ns - next_ns > interval_s * NSEC_PER_SEC / 2) /* late: the next interval is a whole one again */
			next_ns = now_ns;
	}
	return r;
}
