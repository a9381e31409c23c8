/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report as JSON: numbers as they are (ns, bytes), names escaped as in the .out files. */
#include <sys/wait.h>

#include "base/json.h"
#include "base/util.h"
#include "report/show/cpu_json.h"
#include "report/show/json.h"
#include "report/show/show.h"
#include "report/show/summaries.h"
#include "report/timeline.h"
#include "report/why/why.h"

/* What is not known is null. */
static void known_str(struct json *j, const char *key, const char *s)
{
	json_str(j, key, s && s[0] ? s : NULL);
}

static void facts(const struct report *r, struct json *j)
{
	const struct manifest_facts *m = &r->manifest;

	json_str(j, "dir", r->dir);
	known_str(j, "version", m->version);
	known_str(j, "command", report_command(r));
	known_str(j, "user", m->user);
	known_str(j, "host", m->host);
	known_str(j, "kernel", m->kernel);
	known_str(j, "started", report_started(r));
	json_u64(j, "duration_ns", report_duration_ns(r));
	/* As the shell has it: 128+N when signal N ended the workload. */
	if (m->has_status)
		json_s64(j, "exit_code", WIFSIGNALED(m->status) ? 128 + WTERMSIG(m->status) :
								  WEXITSTATUS(m->status));
	else
		json_null(j, "exit_code");
	json_bool(j, "complete", m->complete);
	json_u64(j, "trace_bytes", r->trace_bytes);
	json_u64(j, "own_cpu_ns", (m->self_user_us + m->self_system_us) * 1000);
	json_object(j, "clock");
	json_u64(j, "error_ns", r->clock_error_ns);
	json_u64(j, "steps", r->clock_steps);
	json_u64(j, "asleep_ns", r->asleep_ns);
	json_end(j);
	json_array(j, "collectors");
	for (unsigned int i = 0; i < m->n_collectors; i++) {
		json_object(j, NULL);
		json_str(j, "name", m->collectors[i].name);
		json_str(j, "state", m->collectors[i].state);
		json_end(j);
	}
	json_end(j);
}

static void latency(struct json *j, const struct hist *h)
{
	json_u64(j, "time_ns", h->sum);
	json_u64(j, "p50_ns", hist_quantile(h, 500));
	json_u64(j, "p99_ns", hist_quantile(h, 990));
	json_u64(j, "max_ns", h->max);
}

static void op(struct json *j, const struct report_op *op)
{
	json_u64(j, "rows", op->rows);
	json_u64(j, "failed", op->failed);
	json_u64(j, "running", op->running);
	json_u64(j, "bytes", op->bytes);
	latency(j, &op->lat);
}

static void probes(const struct report *r, struct json *j)
{
	json_array(j, "probes");
	for (enum report_kind kind = REPORT_BIO; kind < REPORT_KINDS; kind++) {
		const char *name = report_kind_names[kind];
		const struct manifest_probe *m = manifest_probe(&r->manifest, name);

		if (!r->present[kind])
			continue;
		json_object(j, NULL);
		json_str(j, "name", name);
		op(j, &r->op[kind]);
		if (m)
			json_u64(j, "lost", m->lost);
		else
			json_null(j, "lost");
		for (unsigned int w = 0; w < 2 && kind == REPORT_VFS_RW; w++) {
			json_object(j, w ? "writes" : "reads");
			op(j, &r->rw[w]);
			json_end(j);
		}
		json_end(j);
	}
	for (unsigned int i = 0; i < r->manifest.n_probes; i++) {
		const struct manifest_probe *m = &r->manifest.probes[i];

		if (!report_is_told_by_manifest(m))
			continue;
		json_object(j, NULL);
		json_str(j, "name", m->name);
		json_u64(j, "rows", m->rows - MIN(m->rows, m->dropped));
		json_u64(j, "lost", m->lost);
		json_end(j);
	}
	json_end(j);
}

/* Rows that are no longer there, or never were. */
static void sums(const struct report *r, struct json *j)
{
	json_array(j, "rollup");
	for (unsigned int i = 0; i < r->n_sums; i++) {
		const struct report_sum *s = &r->sums[i];

		json_object(j, NULL);
		json_str(j, "name", s->name);
		json_u64(j, "rows", s->rows);
		json_u64(j, "failed", s->failed);
		json_u64(j, "bytes", s->bytes);
		json_u64(j, "time_ns", s->lat_ns);
		json_u64(j, "max_ns", s->max_lat_ns);
		json_end(j);
	}
	json_end(j);
}

static void types(const struct report *r, struct json *j)
{
	json_array(j, "types");
	for (unsigned int t = 0; t < REPORT_TYPES; t++) {
		const struct report_type_sum *rd = &r->by_type[t][0], *wr = &r->by_type[t][1];

		if (rd->rows + wr->rows == 0)
			continue;
		json_object(j, NULL);
		json_str(j, "type", report_type_names[t]);
		json_u64(j, "reads", rd->rows);
		json_u64(j, "read_bytes", rd->bytes);
		json_u64(j, "read_ns", rd->time_ns);
		json_u64(j, "writes", wr->rows);
		json_u64(j, "write_bytes", wr->bytes);
		json_u64(j, "write_ns", wr->time_ns);
		json_end(j);
	}
	json_end(j);
}

static void sources(const struct report *r, struct json *j)
{
	json_array(j, "read_sources");
	for (unsigned int i = 0; i < REPORT_SOURCES; i++) {
		const struct report_source_sum *src = &r->source[i];

		if (src->calls == 0)
			continue;
		json_object(j, NULL);
		json_str(j, "source", report_source_names[i]);
		json_u64(j, "calls", src->calls);
		json_u64(j, "bytes", src->bytes);
		json_u64(j, "disk_bytes", src->disk_bytes);
		json_u64(j, "disk_calls", src->disk_calls);
		json_u64(j, "unaccounted", src->unaccounted);
		json_end(j);
	}
	json_end(j);
	json_object(j, "mmap_of_files");
	json_u64(j, "calls", r->map_calls);
	json_u64(j, "bytes", r->map_bytes);
	json_end(j);
}

/* Each entry: reads that returned FROM to TO bytes. */
static void read_sizes(const struct report *r, struct json *j)
{
	json_array(j, "read_sizes");
	for (unsigned int i = 0; i < ARRAY_SIZE(r->read_size); i++) {
		if (r->read_size[i].calls == 0)
			continue;
		json_object(j, NULL);
		json_u64(j, "from", i ? 1ULL << (i - 1) : 0);
		json_u64(j, "to", i ? (1ULL << (i - 1)) * 2 - 1 : 0);
		json_u64(j, "calls", r->read_size[i].calls);
		json_u64(j, "bytes", r->read_size[i].bytes);
		json_end(j);
	}
	json_end(j);
}

static void files(const struct report *r, struct json *j, const char *key, const struct report_top_file *top,
		  unsigned int n)
{
	n = MIN(n, report_told(r, REPORT_TOP, 1));
	json_array(j, key);
	for (unsigned int i = 0; i < n; i++) {
		json_object(j, NULL);
		json_u64(j, "fid", top[i].fid);
		json_str(j, "path", top[i].path);
		known_str(j, "fstype", top[i].fstype);
		json_u64(j, "read_bytes", top[i].sum.read_bytes);
		json_u64(j, "write_bytes", top[i].sum.write_bytes);
		json_u64(j, "calls", top[i].sum.calls);
		json_u64(j, "time_ns", top[i].sum.time_ns);
		json_end(j);
	}
	json_end(j);
}

static void procs(const struct report *r, struct json *j)
{
	json_u64(j, "n_processes", r->n_procs);
	json_array(j, "processes");
	for (unsigned int i = 0; i < MIN(r->n_top_procs, report_told(r, REPORT_TOP_PROCS, 2)); i++) {
		const struct report_proc *p = &r->top_procs[i];

		json_object(j, NULL);
		json_u64(j, "pid", p->pid);
		if (p->named)
			json_u64(j, "ppid", p->ppid);
		else
			json_null(j, "ppid");
		json_str(j, "comm", p->comm);
		known_str(j, "rank", p->rank);
		json_u64(j, "reads", p->reads);
		json_u64(j, "read_bytes", p->read_bytes);
		json_u64(j, "writes", p->writes);
		json_u64(j, "write_bytes", p->write_bytes);
		json_u64(j, "file_ns", p->file_ns);
		json_u64(j, "wait_ns", p->wait_ns);
		json_end(j);
	}
	json_end(j);
}

static void calls(const struct report *r, struct json *j, const char *key, const struct report_calls *list)
{
	json_object(j, key);
	json_u64(j, "seen", list->seen);
	json_array(j, "longest");
	for (unsigned int i = 0; i < MIN(list->n, report_told(r, REPORT_TOP, 1)); i++) {
		const struct report_call *c = &list->call[i];

		json_object(j, NULL);
		json_u64(j, "lat_ns", c->lat_ns);
		json_str(j, "probe", report_kind_names[c->kind]);
		json_str(j, "func", c->func);
		json_u64(j, "pid", c->pid);
		json_u64(j, "tid", c->tid);
		json_str(j, "comm", c->comm);
		json_str(j, "ended", c->time);
		json_str(j, "file", c->target);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void disk(struct json *j, const struct report_disk *d)
{
	json_object(j, NULL);
	json_str(j, "name", d->name);
	json_bool(j, "bios", d->stacked);
	json_u64(j, "failed", d->failed);
	json_u64(j, "self_requests", d->self_requests);
	json_u64(j, "self_bytes", d->self_bytes);
	json_array(j, "ops");
	for (unsigned int t = 0; t < REPORT_TS; t++) {
		const struct report_disk_op *op = &d->op[t];

		if (!op->requests)
			continue;
		json_object(j, NULL);
		json_strn(j, "t", &report_t_names[t], 1);
		json_u64(j, "requests", op->requests);
		json_u64(j, "bytes", op->bytes);
		json_u64(j, "queue_ns", op->queue_ns);
		latency(j, op->lat);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void report_json_totals(const struct report *r, struct json *j)
{
	facts(r, j);
	probes(r, j);
	sums(r, j);
	types(r, j);
	sources(r, j);
	read_sizes(r, j);
}

void report_json_members(const struct report *r, struct json *j, bool timeline)
{
	report_json_totals(r, j);
	why_json(r, j);
	files(r, j, "files_by_bytes", r->top_bytes, r->n_top_bytes);
	files(r, j, "files_by_time", r->top_time, r->n_top_time);
	procs(r, j);
	report_summaries_json(r, j);
	calls(r, j, "slowest", &r->slow);
	calls(r, j, "waits", &r->waits);
	calls(r, j, "running", &r->running);
	calls(r, j, "running_waits", &r->running_waits);
	json_array(j, "disks");
	for (uint32_t i = 0; i < MIN(r->disks.n, report_told(r, REPORT_DISKS_MAX, 4)); i++)
		disk(j, table_at(&r->disks, i));
	json_end(j);
	if (r->disks.n > report_told(r, REPORT_DISKS_MAX, 4))
		json_u64(j, "disks_left_out", r->disks.n - report_told(r, REPORT_DISKS_MAX, 4));
	if (timeline)
		report_timeline_json(r, j);
	if (r->cpu) {
		json_object(j, "cpu");
		report_cpu_json_members(r->cpu, j);
		json_end(j);
	}
	json_array(j, "missing");
	for (unsigned int i = 0; i < r->n_notes; i++)
		json_str(j, NULL, r->notes[i]);
	if (r->thin)
		json_str(j, NULL, "lists are shorter here than they could be, since a page has 5 MiB at most: the text of dltraced "
			 "report and the trace folder have more");
	json_end(j);
}

int report_json(const struct report *r, FILE *out)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	report_json_members(r, &j, true);
	json_end(&j);
	return json_write(&j, out);
}
