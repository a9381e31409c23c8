/* SPDX-License-Identifier: BSD-2-Clause */
/* Two texts of /proc/diskstats to the rows of an iostat. Pure, except that it looks into /sys/block. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "collectors/sample.h"

#define NAME_MAX_LEN 63 /* DISK_NAME_LEN is 32 */
#define SECTORS_PER_MIB 2048
#define SECTORS_PER_KIB 2

/* What the kernel counts of each kind of request: Documentation/admin-guide/iostats.rst. Times in ms. */
struct requests {
	uint64_t done, merged, sectors, ms;
};

struct disk {
	char name[NAME_MAX_LEN + 1];
	struct requests reads, writes, discards;
	uint64_t flushes, flushes_ms;
	uint64_t busy_ms, queued_ms;
};

static const char *next_line(const char *p)
{
	p = strchrnul(p, '\n');
	return *p ? p + 1 : p;
}

/* Discards came with Linux 4.18, flushes with 5.5: where a line ends earlier, the rest is 0. */
static bool read_disk(const char *text, struct disk *d)
{
	char line[512];

	*d = (struct disk){};
	snprintf(line, sizeof(line), "%.*s", (int)MIN(strcspn(text, "\n"), sizeof(line) - 1), text);
	return sscanf(line,
		      "%*u %*u %63s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %" SCNu64,
		      d->name, &d->reads.done, &d->reads.merged, &d->reads.sectors, &d->reads.ms, &d->writes.done,
		      &d->writes.merged, &d->writes.sectors, &d->writes.ms, &d->busy_ms, &d->queued_ms,
		      &d->discards.done, &d->discards.merged, &d->discards.sectors, &d->discards.ms, &d->flushes,
		      &d->flushes_ms) >= 11;
}

/* Finds NAME in TEXT. *NEXT is where to look first: both texts have the same order. */
static bool find_disk(const char *text, const char *name, const char **next, struct disk *ret)
{
	for (int pass = 0; pass < 2; pass++, *next = text)
		while (**next) {
			bool is = read_disk(*next, ret) && !strcmp(ret->name, name);

			*next = next_line(*next);
			if (is)
				return true;
		}
	return false;
}

/* A partition has no folder of its own in /sys/block, where names have "!" for "/". */
static bool is_disk(const char *root, const char *name)
{
	autofree char *path = util_fmt("%s/sys/block/%s", root, name);

	if (!path)
		return false;
	for (char *p = path + strlen(path) - strlen(name); *p; p++)
		if (*p == '/')
			*p = '!';
	return access(path, F_OK) == 0;
}

static bool has_worked(const struct disk *d)
{
	return d->reads.done || d->writes.done || d->discards.done || d->flushes;
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* On 32 bits the kernel's own counters may wrap, and a disk of the same name may be another one: then 0. */
static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static void put_requests(FILE *out, const struct requests *before, const struct requests *after, double seconds)
{
	const struct requests d = { grown(before->done, after->done), grown(before->merged, after->merged),
				    grown(before->sectors, after->sectors), grown(before->ms, after->ms) };

	fprintf(out, " %.2f %.2f %.2f %.2f %.2f %.2f", (double)d.done / seconds,
		(double)d.sectors / seconds / SECTORS_PER_MIB, (double)d.merged / seconds,
		100 * ratio(d.merged, d.merged + d.done), ratio(d.ms, d.done),
		ratio(d.sectors, d.done) / SECTORS_PER_KIB);
}

static void put_row(FILE *out, const struct disk *before, const struct disk *after, double seconds)
{
	const uint64_t flushes = grown(before->flushes, after->flushes);

	fputs(after->name, out);
	put_requests(out, &before->reads, &after->reads, seconds);
	put_requests(out, &before->writes, &after->writes, seconds);
	put_requests(out, &before->discards, &after->discards, seconds);
	fprintf(out, " %.2f %.2f", (double)flushes / seconds,
		ratio(grown(before->flushes_ms, after->flushes_ms), flushes));
	fprintf(out, " %.2f %.2f\n", (double)grown(before->queued_ms, after->queued_ms) / seconds / 1000,
		(double)grown(before->busy_ms, after->busy_ms) / seconds / 10);
}

void sample_disks(FILE *out, const char *root, const char *before, const char *after, uint64_t ns)
{
	const double seconds = (double)MAX(ns, 1) / (double)NSEC_PER_SEC;
	const char *next = before;

	for (; *after; after = next_line(after)) {
		struct disk earlier, now;

		if (!read_disk(after, &now) || !has_worked(&now) || !is_disk(root, now.name))
			continue;
		if (!find_disk(before, now.name, &next, &earlier)) /* plugged in meanwhile */
			earlier = (struct disk){};
		put_row(out, &earlier, &now, seconds);
	}
}
