/* SPDX-License-Identifier: BSD-2-Clause */
/* From rows to the timeline: which column means which series. */
#include "report/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/why/why.h"

#define LARGE (64U << 10) /* a write, of more than a log */

/* --- calls -------------------------------------------------------------------------------------- */

/* What a row of a probe without bytes counts as; by FUNC where that is given. */
static const struct count {
	const char *func;
	enum report_kind kind;
	enum timeline_sum sum;
} counts[] = {
	{ NULL, REPORT_OPEN, TIMELINE_OPENS },	     { NULL, REPORT_CLOSE, TIMELINE_CLOSES },
	{ NULL, REPORT_SYNC, TIMELINE_SYNCS },	     { "mmap", REPORT_MMAP, TIMELINE_MMAPS },
	{ "create", REPORT_CREATE_DEL, TIMELINE_CREATES }, { "mkdir", REPORT_CREATE_DEL, TIMELINE_CREATES },
	{ "mknod", REPORT_CREATE_DEL, TIMELINE_CREATES },  { "link", REPORT_CREATE_DEL, TIMELINE_CREATES },
	{ "symlink", REPORT_CREATE_DEL, TIMELINE_CREATES }, { "unlink", REPORT_CREATE_DEL, TIMELINE_DELETES },
	{ "rmdir", REPORT_CREATE_DEL, TIMELINE_DELETES },
};

void report_timeline_count(struct timeline *t, const struct scan *s)
{
	struct reader_field func = scan_field(s, COL_FUNC);

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i].kind == s->kind && (!counts[i].func || reader_is(func, counts[i].func))) {
			timeline_add(t, counts[i].sum, s->time_ns, 1);
			return;
		}
}

/*
 * Whose writing may be a checkpoint: who trains, and processes of its own that save for it, which read no data. Loaders
 * may write, too, what they have decoded.
 */
static bool saves(const struct report *r, const struct report_proc *p)
{
	const struct report_proc *parent;

	if (!r->why || !r->why->n_trainers || p->waits)
		return true;
	if (p->data_read || strncmp(p->comm, "pt_data_worker", strlen("pt_data_worker")) == 0)
		return false;
	parent = table_find(&r->procs, p->ppid);
	return parent && parent->waits;
}

void report_timeline_saved(struct timeline *t, const struct scan *s, const struct report_call_facts *c)
{
	if (!saves(s->report, c->proc))
		return;
	if (c->write)
		timeline_saved(t, s->time_ns, c->bytes);
	if (!c->write || c->bytes >= LARGE)
		timeline_wrote(t, !c->write, s->time_ns, c->lat_ns);
}

void report_timeline_request(const struct scan *s, struct reader_field name, uint64_t bytes, uint64_t queue_ns,
			     uint64_t lat_ns)
{
	bool read = scan_is(s, COL_T, "R"), write = scan_is(s, COL_T, "W");
	struct timeline *t = s->report->timeline;
	struct timeline_disk *d;
	uint32_t bin;

	if (!t || !report_timeline_has(t, s->time_ns))
		return;
	d = timeline_disk(t, name.p, name.len);
	if (!d)
		return;
	bin = timeline_bin(t, s->time_ns);
	d->sum[TIMELINE_D_REQUESTS][bin]++;
	d->sum[TIMELINE_D_QUEUE_NS][bin] += queue_ns;
	d->sum[TIMELINE_D_DEVICE_NS][bin] += lat_ns - MIN(queue_ns, lat_ns);
	if (!read && !write)
		return;
	d->sum[write ? TIMELINE_D_WRITE_BYTES : TIMELINE_D_READ_BYTES][bin] += bytes;
	d->sum[write ? TIMELINE_D_WRITES : TIMELINE_D_READS][bin]++;
	timeline_latency(t, write ? TIMELINE_H_BIO_WRITE : TIMELINE_H_BIO_READ, bin, lat_ns);
}

/* --- sched.out ----------------------------------------------------------------------------------- */

/* What is looked at in any of these files. */
enum taken_column {
	PERCENT_GNICE, PERCENT_GUEST, PERCENT_IDLE, PERCENT_IOWAIT, PERCENT_IRQ, PERCENT_NICE,
	PERCENT_SOFT, PERCENT_STEAL, PERCENT_SYS, PERCENT_USR, PERCENT_UTIL, BLOCKED_NS, CPU,
	DISK_NS, DEVICE, KIND, PID, RUNQ_NS, RUN_NS, SLEEP_NS, SPAN_NS, TIMESTAMP, AQU_SZ, FB,
	GPU, MEM, GPU_PID, SM,
	TAKEN_COLUMNS,
};

static const char *const taken_names[TAKEN_COLUMNS] = {
	[PERCENT_GNICE] = "%gnice", [PERCENT_GUEST] = "%guest", [PERCENT_IDLE] = "%idle",
	[PERCENT_IOWAIT] = "%iowait", [PERCENT_IRQ] = "%irq", [PERCENT_NICE] = "%nice",
	[PERCENT_SOFT] = "%soft", [PERCENT_STEAL] = "%steal", [PERCENT_SYS] = "%sys",
	[PERCENT_USR] = "%usr", [PERCENT_UTIL] = "%util", [BLOCKED_NS] = "BLOCKED_NS", [CPU] = "CPU",
	[DISK_NS] = "DISK_NS", [DEVICE] = "Device", [KIND] = "KIND", [PID] = "PID",
	[RUNQ_NS] = "RUNQ_NS", [RUN_NS] = "RUN_NS", [SLEEP_NS] = "SLEEP_NS", [SPAN_NS] = "SPAN_NS",
	[TIMESTAMP] = "TIMESTAMP", [AQU_SZ] = "aqu-sz", [FB] = "fb", [GPU] = "gpu", [MEM] = "mem",
	[GPU_PID] = "pid", [SM] = "sm",
};

/* A row that another reader than a scan is at. */
struct taken {
	struct report *report;
	const struct reader_row *row;
	uint8_t at[TAKEN_COLUMNS];
	uint64_t time_ns;
};

static struct reader_field field(const struct taken *k, enum taken_column c)
{
	return reader_field(k->row, k->at[c]);
}

static void take_sched(struct taken *k)
{
	static const struct { enum taken_column column; enum timeline_sum sum; } sums[] = {
		{ RUN_NS, TIMELINE_RUN },	{ RUNQ_NS, TIMELINE_RUNQ },	{ DISK_NS, TIMELINE_DISK },
		{ BLOCKED_NS, TIMELINE_BLOCKED }, { SLEEP_NS, TIMELINE_SLEEP },
	};
	struct timeline *t = k->report->timeline;
	uint64_t span_ns, ns, pid;

	if (!reader_is(field(k, KIND), "target") || !reader_row_u64(field(k, SPAN_NS), &span_ns) ||
	    !reader_row_u64(field(k, PID), &pid))
		return;
	t->has_sched = true;
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		if (!reader_row_u64(field(k, sums[i].column), &ns))
			continue;
		/* a wait is told when it is over, and may have begun long before the row's interval */
		timeline_spread(t, sums[i].sum, k->time_ns, MAX(span_ns, ns), ns);
		if (sums[i].sum == TIMELINE_RUN)
			timeline_busy(t, pid, TIMELINE_B_CPU, k->time_ns, span_ns, ns);
	}
}

/* --- collectors ----------------------------------------------------------------------------------- */

/* A whole number or one with a fraction; false for `-' and all else. */
static bool number(struct reader_field f, double *ret)
{
	char text[32], *end;

	if (!f.len || f.len >= sizeof(text))
		return false;
	memcpy(text, f.p, f.len);
	text[f.len] = '\0';
	*ret = strtod(text, &end);
	return !*end && end > text && isfinite(*ret);
}

static void put_value(struct taken *k, struct timeline_points *p, double value)
{
	if (p)
		timeline_point(k->report->timeline, p, k->time_ns, value);
	else
		k->report->timeline->points_left_out++;
}

static void put_point(struct taken *k, const char *panel, const char *name, const char *unit, double value)
{
	put_value(k, timeline_points(k->report->timeline, panel, name, unit), value);
}

/* The series is there without a value, too: a GPU that does not tell is to be seen. */
static void put_column(struct taken *k, const char *panel, const char *name, const char *unit,
		       enum taken_column column)
{
	struct timeline_points *p = timeline_points(k->report->timeline, panel, name, unit);
	double value;

	if (number(field(k, column), &value))
		put_value(k, p, value);
}

static void take_cpu(struct taken *k)
{
	static const struct { const char *name; unsigned int n; enum taken_column columns[4]; } shares[] = {
		{ "usr", 4, { PERCENT_USR, PERCENT_NICE, PERCENT_GUEST, PERCENT_GNICE } },
		{ "sys", 4, { PERCENT_SYS, PERCENT_IRQ, PERCENT_SOFT, PERCENT_STEAL } },
		{ "iowait", 1, { PERCENT_IOWAIT } },
		{ "idle", 1, { PERCENT_IDLE } },
	};
	bool all = reader_is(field(k, CPU), "all");
	char cpu[24];
	double idle;

	report_copy(cpu, sizeof(cpu), field(k, CPU));
	if (!all && number(field(k, PERCENT_IDLE), &idle))
		put_point(k, "cpu_each", cpu, "%", 100 - idle);
	for (size_t i = 0; all && i < ARRAY_SIZE(shares); i++) {
		double sum = 0, value;

		for (unsigned int c = 0; c < shares[i].n; c++)
			if (number(field(k, shares[i].columns[c]), &value))
				sum += value;
		put_point(k, "cpu", shares[i].name, "%", sum);
	}
}

/* nvidia-smi pmon: a line for each process of each GPU. */
static void take_gpu(struct taken *k)
{
	struct reader_field gpu = field(k, GPU);
	struct report_proc *p;
	uint64_t pid;

	if (reader_row_u64(field(k, GPU_PID), &pid) && gpu.len && pid) {
		p = table_get(&k->report->procs, pid);
		if (p) {
			p->pid = pid;
			p->on_gpu = true;
		}
	}
}

/* nvidia-smi dmon: a line for each GPU. */
static void take_gpu_dev(struct taken *k)
{
	struct reader_field gpu = field(k, GPU);
	char panel[40];

	if (!gpu.len || gpu.len > 8)
		return;
	snprintf(panel, sizeof(panel), "gpu:%.*s", (int)gpu.len, gpu.p);
	put_column(k, panel, "sm", "%", SM);
	put_column(k, panel, "mem", "%", MEM);
	put_column(k, "gpu", "sm", "%", SM);
	put_column(k, "gpu", "mem", "%", MEM);
	snprintf(panel, sizeof(panel), "gpu_fb:%.*s", (int)gpu.len, gpu.p);
	put_column(k, panel, "fb", "MB", FB);
	put_column(k, "gpu_fb", "fb", "MB", FB);
}

static void take_disk(struct taken *k)
{
	char panel[40];

	snprintf(panel, sizeof(panel), "iostat:%.*s", (int)MIN(field(k, DEVICE).len, 24), field(k, DEVICE).p);
	put_column(k, panel, "queue length", "", AQU_SZ);
	put_column(k, panel, "busy", "%", PERCENT_UTIL);
}

static const struct taker {
	const char *file;
	void (*take)(struct taken *k);
} takers[] = {
	{ "cpu.out", take_cpu },	 { "gpu.out", take_gpu },   { "gpu_dev.out", take_gpu_dev },
	{ "disk.out", take_disk }, { "sched.out", take_sched },
};

static void read_file(struct report *r, int dirfd, const struct taker *taker)
{
	struct reader rd;
	struct reader_row row;
	struct taken k = { .report = r, .row = &row };

	if (reader_open(&rd, dirfd, taker->file) < 0)
		return;
	for (unsigned int c = 0; c < TAKEN_COLUMNS; c++)
		k.at[c] = (uint8_t)reader_column(&rd, taken_names[c]);
	while (reader_next(&rd, &row) > 0)
		if (reader_row_u64(field(&k, TIMESTAMP), &k.time_ns) && report_timeline_has(r->timeline, k.time_ns))
			taker->take(&k);
	reader_close(&rd);
}

void report_timeline_files(struct report *r, int dirfd)
{
	for (size_t i = 0; r->timeline && i < ARRAY_SIZE(takers); i++)
		read_file(r, dirfd, &takers[i]);
	if (r->timeline && r->timeline->points_left_out)
		report_note(r, "timeline: %" PRIu64 " values of collectors have no panel: there are more than %u series of them",
			    r->timeline->points_left_out, TIMELINE_POINTS_MAX);
}
