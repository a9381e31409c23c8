/* SPDX-License-Identifier: BSD-2-Clause */
/* Two texts of /proc/stat to the rows of an mpstat. Pure. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "collectors/sample.h"

/* The order of /proc/stat, see proc(5); a kernel may append others. USER has GUEST in it, and NICE has GUEST_NICE. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, GUEST, GUEST_NICE, TIMES };

struct cpu {
	const char *name; /* behind "cpu": empty for the whole machine */
	size_t name_len;
	uint64_t ticks[TIMES];
};

/* Reads the line at *P, if it is of a CPU, and sets *P to the next line. */
static bool next_cpu(const char **p, struct cpu *cpu)
{
	const char *line = *p, *end = strchrnul(line, '\n');
	char *at;

	*cpu = (struct cpu){};
	if (strncmp(line, "cpu", 3))
		return false; /* the lines of CPUs are the first ones */
	*p = *end ? end + 1 : end;
	cpu->name = line + 3;
	cpu->name_len = strspn(cpu->name, "0123456789");
	at = (char *)cpu->name + cpu->name_len;
	for (unsigned int i = 0; i < TIMES && at < end; i++)
		cpu->ticks[i] = strtoull(at, &at, 10);
	return true;
}

/* Finds WANTED in TEXT. *NEXT is where to look first: both texts have the same order. */
static bool find_cpu(const char *text, const struct cpu *wanted, const char **next, struct cpu *ret)
{
	for (int pass = 0; pass < 2; pass++, *next = text)
		while (next_cpu(next, ret))
			if (ret->name_len == wanted->name_len && !memcmp(ret->name, wanted->name, wanted->name_len))
				return true;
	return false;
}

/* IDLE and IOWAIT may go back (proc(5)), and a CPU that was offline may begin anew. */
static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static void put_row(FILE *out, const struct cpu *before, const struct cpu *after)
{
	uint64_t d[TIMES], all = 0;

	for (unsigned int i = 0; i < TIMES; i++) {
		d[i] = grown(before->ticks[i], after->ticks[i]);
		all += i < GUEST ? d[i] : 0;
	}
	d[USER] -= MIN(d[GUEST], d[USER]);
	d[NICE] -= MIN(d[GUEST_NICE], d[NICE]);
	if (!all) /* a CPU without ticks has done nothing */
		d[IDLE] = all = 1;
	fprintf(out, "%.*s", (int)(after->name_len ? after->name_len : 3), after->name_len ? after->name : "all");
	for (unsigned int i = 0; i < ARRAY_SIZE(d); i++) {
		static const unsigned char order[] = { USER,    NICE,  SYSTEM, IOWAIT,     IRQ,
						       SOFTIRQ, STEAL, GUEST,  GUEST_NICE, IDLE };

		fprintf(out, " %.2f", 100.0 * (double)d[order[i]] / (double)all);
	}
	fputc('\n', out);
}

void sample_cpus(FILE *out, const char *before, const char *after, time_t utc)
{
	const char *next = before;
	struct cpu earlier, now;
	struct tm tm;

	gmtime_r(&utc, &tm);
	while (next_cpu(&after, &now)) {
		if (!find_cpu(before, &now, &next, &earlier))
			continue;
		fprintf(out, "%02d:%02d:%02d ", tm.tm_hour, tm.tm_min, tm.tm_sec);
		put_row(out, &earlier, &now);
	}
}
