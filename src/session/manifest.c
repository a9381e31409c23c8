/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the text of manifest.json from the session's state. The constant members are made once, as the text HEAD, and open
 * every version of the file. manifest_file.c writes the file. Control plane.
 */
#include "session/manifest.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "collectors/kinds.h"
#include "dlt/dlt.h"
#include "host/git.h"
#include "host/machine.h"
#include "host/rights/privileges.h"
#include "host/stall/guard.h"
#include "job/relay.h"
#include "kernel/ring.h"
#include "session/state.h"
#include "trace/config.h"
#include "trace/probe.h"
#include "trace/usage.h"

struct manifest_time session_now(void)
{
	return (struct manifest_time){ clock_now_ns(CLOCK_MONOTONIC), clock_now_ns(CLOCK_REALTIME) };
}

uint64_t session_not_on_disk(const struct session *s)
{
	return util_counted(&s->drain.not_on_disk) + (s->split ? util_counted(&s->archiver.not_on_disk) : 0);
}

/* --- constant members ------------------------------------------------------------------------------------ */

#define LEFT_SHOWN 8

static void put_list(struct json *j, const char *key, char *const *items)
{
	json_array(j, key);
	for (; items && *items; items++)
		json_str(j, NULL, *items);
	json_end(j);
}

/* Stands in place of what --no-args hides. */
static const char hidden[] = "(hidden)";

/* Puts dltraced's own command line, which ends with the workload's. */
static void put_cmdline(struct json *j, const struct session *s)
{
	const struct config *cfg = s->cfg;

	json_array(j, "cmdline");
	for (char *const *arg = s->argv; arg && *arg; arg++) {
		const char *shell = cfg->no_args ? cfg->shell_cmd : NULL;

		/* the text of --workload, alone or in "--workload=TEXT" */
		if (shell && *arg <= shell && shell <= *arg + strlen(*arg)) {
			json_str(j, NULL, hidden);
		} else if (cfg->no_args && cfg->argv && *arg == cfg->argv[0] && arg[1]) {
			json_str(j, NULL, *arg);
			json_str(j, NULL, hidden);
			break;
		} else {
			json_str(j, NULL, *arg);
		}
	}
	json_end(j);
}

static void put_argv(struct json *j, const struct config *cfg)
{
	char *program[] = { cfg->argv[0], (char *)hidden, NULL };

	put_list(j, "argv", cfg->no_args && cfg->argv[1] ? program : cfg->argv);
}

static void put_config_list(struct json *j, const char *key, const struct config_list *list)
{
	json_array(j, key);
	for (unsigned int i = 0; i < list->n; i++)
		json_str(j, NULL, list->items[i]);
	json_end(j);
}

static void put_kernel(struct json *j)
{
	struct utsname u;
	autofree char *kernel = NULL;

	uname(&u); /* fails only for a bad address */
	kernel = util_fmt("%s %s %s", u.sysname, u.release, u.machine);
	json_str(j, "host", u.nodename);
	json_str(j, "kernel", kernel);
	json_str(j, "kernel_version", u.version);
}

/* Reads as the user: a link in the folder leads only where the user may go. */
static int read_git(struct git_head *h, const struct session *s)
{
	int r;

	stall_guard_begin(s->cwd, STALL_GUARD_BY_SIGNAL);
	r = privileges_as_user(&s->user);
	if (r == 0)
		r = git_head_read(h, s->cwd);
	privileges_as_root();
	stall_guard_end();
	return r;
}

static void put_git(struct json *j, const struct session *s)
{
	struct git_head h;

	if (!s->cwd || read_git(&h, s) < 0)
		return;
	json_object(j, "git");
	json_str(j, "folder", h.top);
	if (h.ref[0])
		json_str(j, "ref", h.ref);
	if (h.commit[0])
		json_str(j, "commit", h.commit);
	json_end(j);
}

void manifest_put_target(struct json *j, const struct config *cfg)
{
	json_object(j, "target");
	json_bool(j, "all", cfg->all);
	json_bool(j, "workload", cfg->argv);
	json_array(j, "pids");
	for (unsigned int i = 0; i < cfg->n_pids; i++)
		json_u64(j, NULL, (uint64_t)cfg->pids[i]);
	json_end(j);
	put_config_list(j, "cgroups", &cfg->cgroups);
	put_config_list(j, "containers", &cfg->containers);
	put_config_list(j, "comm", &cfg->comm);
	put_config_list(j, "exclude_comm", &cfg->exclude_comm);
	put_config_list(j, "disks", &cfg->disks);
	json_end(j);
}

int manifest_begin(struct session *s)
{
	struct json *j = &s->manifest.head;

	json_object(j, NULL);
	json_str(j, "tool", "dltraced");
	json_str(j, "version", DLT_VERSION);
	json_u64(j, "schema", DLT_SCHEMA);
	put_cmdline(j, s);
	json_str(j, "cwd", s->cwd);
	json_str(j, "experiment", s->cfg->experiment);
	if (s->cfg->dry)
		json_bool(j, "dry", true);
	if (s->cfg->regions_auto)
		json_str(j, "regions", "auto");
	if (s->cfg->nvtx)
		json_bool(j, "nvtx", true);
	manifest_put_target(j, s->cfg);
	put_git(j, s);
	json_object(j, "environment");
	manifest_put_environ(j, s->environ);
	json_end(j);
	put_kernel(j);
	json_object(j, "machine");
	machine_put(j, "");
	json_end(j);
	json_object(j, "clock");
	machine_put_clock(j, "");
	json_end(j);
	return j->error;
}

/* --- members that change --------------------------------------------------------------------------------- */

static void put_time(struct json *j, const char *key, const struct manifest_time *t)
{
	struct text_utc_cache cache = { 0 };
	char utc[TEXT_UTC_LEN];

	if (!t->mono_ns) {
		json_null(j, key);
		return;
	}
	text_put_utc(utc, t->utc_ns, &cache);
	json_object(j, key);
	json_u64(j, "monotonic_ns", t->mono_ns);
	json_strn(j, "utc", utc, sizeof(utc));
	json_end(j);
}

/* Puts what the workload used. */
static void put_usage(struct json *j, const struct session *s)
{
	json_object(j, "rusage");
	json_u64(j, usage_keys[USAGE_WALL_NS], s->manifest.workload_end.mono_ns - s->manifest.workload_start.mono_ns);
	for (enum usage i = USAGE_WALL_NS + 1; i < USAGES; i++)
		json_u64(j, usage_keys[i], s->workload.usage[i]);
	json_end(j);
}

static void put_workload(struct json *j, const struct session *s)
{
	const struct manifest *m = &s->manifest;

	if (!s->cfg->argv) {
		json_null(j, "workload");
		return;
	}
	json_object(j, "workload");
	put_argv(j, s->cfg);
	json_str(j, "user", s->user.name);
	json_u64(j, "pid", (uint64_t)s->workload.pid);
	put_time(j, "start", &m->workload_start);
	put_time(j, "end", &m->workload_end);
	if (m->workload_end.mono_ns && m->status_unknown) {
		json_null(j, "status");
		json_null(j, "exit_code");
	} else if (m->workload_end.mono_ns) {
		json_s64(j, "status", s->workload.status);
		json_s64(j, "exit_code", session_exit_code(s));
		if (!m->usage_unknown)
			put_usage(j, s);
	}
	json_end(j);
}

/* Puts the job's processes that outlive the trace: their number, and the names of the first. */
static void put_job(struct json *j, const struct session *s)
{
	const struct left_running *l = &s->left;
	uint64_t cpu_us = 0;

	if (s->files < FILES_CLOSED || !l->known) { /* before that, a process in the list may be just ending */
		json_null(j, "job");
		return;
	}
	for (size_t i = 0; i < l->n; i++)
		cpu_us += l->v[i].cpu_us;
	json_object(j, "job");
	json_u64(j, "left_running", l->n + l->more);
	json_u64(j, "left_running_cpu_us", cpu_us);
	json_array(j, "processes");
	for (size_t i = 0; i < MIN(l->n, LEFT_SHOWN); i++) {
		json_object(j, NULL);
		json_u64(j, "pid", (uint64_t)l->v[i].pid);
		json_str(j, "comm", l->v[i].comm);
		json_u64(j, "cpu_us", l->v[i].cpu_us);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* Puts the size of the kept output. Through the service, the client has the relay, and reports what was lost. */
static void put_workload_log(struct json *j, const struct session *s)
{
	const struct relay_log *log = s->workload.relay.log;
	struct stat st = {};

	if (!log && s->workload_log_fd < 0) {
		json_null(j, "workload_log");
		return;
	}
	if (!log)
		fstat(s->workload_log_fd, &st);
	json_object(j, "workload_log");
	json_u64(j, "written_bytes", log ? util_counted(&log->written_bytes) : (uint64_t)st.st_size);
	json_u64(j, "lost_bytes", log ? util_counted(&log->lost_bytes) : s->manifest.log_lost_bytes);
	json_u64(j, "unsure_bytes", s->status.log_unsure);
	json_end(j);
}

/* Whether the trace has probe I's file. */
static bool has_file(const struct session *s, unsigned int i)
{
	if (s->cfg->dry)
		return false;
	if (i == DLT_files)
		return !s->cfg->rollup_only;
	if (i == DLT_rollup)
		return s->cfg->rollup_only || s->cfg->keep_bytes;
	return s->cfg->probes >> i & 1 || i == DLT_pids || i == DLT_marks || (i == DLT_workload && s->workload_log_fd >= 0);
}

/* Puts the losses by cause, without causes of 0. */
static void put_lost_by(struct json *j, const uint64_t by[LOSSES])
{
	bool any = false;

	for (enum loss why = 0; why < LOSSES; why++)
		any |= by[why] != 0;
	if (!any)
		return;
	json_object(j, "lost_by");
	for (enum loss why = 0; why < LOSSES; why++)
		if (by[why])
			json_u64(j, loss_kinds[why].key, by[why]);
	json_end(j);
}

/* Puts the counts of a probe. Where each call is one row: calls = rows + summed + filtered + lost. */
static void put_probe(struct json *j, const struct session *s, unsigned int i)
{
	const bool traced = s->traced && (s->tracer.probes >> i & 1 || !(s->cfg->probes >> i & 1));
	const unsigned int by = probes[i]->open ? i : probes[i]->needs; /* the probe whose programs record it; 0: none */
	const struct backend_kind *backend = s->tracer.backends[by];
	const char *why = s->traced ? s->tracer.why[i] : s->why_not;
	const struct probe_counts *n = &s->status.counts.probes[i];

	json_object(j, NULL);
	json_str(j, "name", probes[i]->name);
	json_str(j, "backend", !traced ? "none" : backend ? backend->name : probes[i]->open ? "tracepoint" : "user");
	if (traced && backend && backend->hooks)
		json_str(j, "hooks", backend->hooks);
	if (why)
		json_str(j, "why", why);
	if (traced && s->tracer.plain[i])
		json_str(j, "plain", s->tracer.plain[i]);
	json_u64(j, "calls", n->calls);
	json_u64(j, "rows", n->rows);
	json_u64(j, "lost", n->lost);
	put_lost_by(j, n->lost_by);
	json_u64(j, "late", n->late);
	json_u64(j, "unmatched", n->unmatched);
	json_u64(j, "filtered", n->filtered);
	json_u64(j, "bytes", n->bytes);
	json_u64(j, "dropped", n->dropped);
	json_u64(j, "dropped_bytes", n->dropped_bytes);
	json_u64(j, "summed", n->summed);
	if (n->foreign)
		json_u64(j, "foreign", n->foreign);
	if (n->unseen)
		json_u64(j, "unseen", n->unseen);
	if (n->unread)
		json_u64(j, "unread", n->unread);
	if (n->unanswered)
		json_u64(j, "unanswered", n->unanswered);
	if (n->lines)
		json_u64(j, "lines", n->lines);
	if (n->fileless)
		json_u64(j, "fileless", n->fileless);
	if (n->refused)
		json_u64(j, "refused", n->refused);
	if (n->overwritten)
		json_u64(j, "overwritten", n->overwritten);
	if (n->nvtx)
		json_u64(j, "nvtx", n->nvtx);
	json_u64(j, "unsure", n->unsure);
	json_end(j);
}

static void put_collector(struct json *j, const struct session *s, const struct collector *c)
{
	const struct archiver_file *kept = s->split ? archiver_file(&s->archiver, &c->sink) : NULL;

	json_object(j, NULL);
	json_str(j, "name", c->kind->name);
	json_str(j, "file", c->kind->file);
	json_str(j, "state", c->state);
	json_u64(j, "rows", util_counted(&c->sink.rows));
	json_u64(j, "bytes", util_counted(&c->sink.bytes));
	json_u64(j, "lost", util_counted(&c->sink.lost));
	json_u64(j, "dropped", kept ? util_counted(&kept->dropped_rows) : 0);
	json_u64(j, "dropped_bytes", kept ? util_counted(&kept->dropped_bytes) : 0);
	json_end(j);
}

/* Puts a closed segment that exists. */
static void put_segment(void *ctx, const struct archiver_segment *s)
{
	struct json *j = ctx;
	char file[NAME_MAX + 1];

	segment_format(file, s->seg.base, s->seg.nr, s->pack);
	json_object(j, NULL);
	json_str(j, "file", file);
	json_u64_known(j, "first_timestamp", s->seg.first_ns, s->seg.first_ns);
	json_u64_known(j, "last_timestamp", s->seg.last_ns, s->seg.last_ns);
	json_u64(j, "rows", s->seg.rows);
	json_u64(j, "bytes", s->seg.bytes);
	json_u64(j, "stored_bytes", s->stored_bytes);
	json_end(j);
}

/* Puts how the rows are stored. Without segments the archiver is all zero, so its counts are 0. */
static void put_storage(struct json *j, struct session *s)
{
	const struct config *cfg = s->cfg;
	struct archiver *k = &s->archiver;

	json_object(j, "storage");
	json_str(j, "compress", cfg->pack ? pack_names[cfg->pack] : NULL);
	json_u64(j, "rotate_bytes", cfg->rotate_bytes);
	json_u64(j, "rotate_ns", cfg->rotate_ns);
	json_u64(j, "keep_bytes", cfg->keep_bytes);
	json_bool(j, "rollup_only", cfg->rollup_only);
	json_u64(j, "compressed_from_bytes", util_counted(&k->plain_bytes));
	json_u64(j, "compressed_bytes", util_counted(&k->packed_bytes));
	json_u64(j, "compress_cpu_us", util_counted(&k->cpu_ns) / 1000);
	json_u64(j, "dropped_segments", util_counted(&k->dropped));
	json_u64(j, "dropped_unsummed_rows", util_counted(&k->not_summed));
	json_end(j);
	json_array(j, "segments");
	if (s->split)
		archiver_each(k, put_segment, j);
	json_end(j);
}

/* Puts how requests of io_uring are recorded, or why they are not. */
static void put_uring(struct json *j, const struct session *s)
{
	const struct tracer *t = &s->tracer;

	if (!s->traced || (!t->uring_hooks && !t->uring_why))
		return;
	json_object(j, "io_uring");
	json_str(j, t->uring_hooks ? "hooks" : "why", t->uring_hooks ?: t->uring_why);
	json_end(j);
}

/* VERSION: as PY_VERSION_HEX, 0: none. */
static void put_version(struct json *j, const char *name, uint64_t version)
{
	autofree char *text = util_fmt("%u.%u.%u", (unsigned int)(version >> 24 & 0xff), (unsigned int)(version >> 16 & 0xff),
				       (unsigned int)(version >> 8 & 0xff));

	json_str(j, name, version ? text : NULL);
}

static void put_samples(struct json *j, const struct config *cfg, const struct access_counts *n)
{
	json_u64(j, "hz", cfg->access_hz);
	json_array(j, "events");
	for (unsigned int i = 0; i < PMU_EVENTS && n->sampled[i]; i++)
		json_str(j, NULL, n->sampled[i]);
	json_end(j);
	json_u64(j, "throttled", n->losses.throttled);
	json_u64(j, "lost_samples", n->losses.lost_samples);
	json_u64(j, "lost_records", n->losses.lost_records);
	json_u64(j, "addressless_samples", n->addressless);
}

/* Puts how accesses were seen, and what access.out does not show of that. */
static void put_access(struct json *j, const struct session *s)
{
	const struct access_counts *n = &s->status.counts.access;

	if (!(s->cfg->probes >> DLT_access & 1))
		return;
	json_object(j, "access");
	json_str(j, "source", config_access[s->cfg->access != ACCESS_AUTO ? s->cfg->access : n->pages ? ACCESS_PAGES : ACCESS_FAULTS]);
	json_u64(j, "interval_ns", s->cfg->access_interval_ns);
	json_u64(j, "block_bytes", s->cfg->access_block_bytes);
	if (n->pages) {
		json_u64(j, "budget_percent", s->cfg->access_budget);
		json_bool(j, "flushes", n->flushes);
		json_u64(j, "looks", n->looks);
		json_u64(j, "cpu_us", n->cpu_ns / 1000);
		json_u64(j, "longest_look_us", n->longest_ns / 1000);
		json_u64(j, "refused_processes", n->refused);
	}
	if (s->cfg->access == ACCESS_PMU)
		put_samples(j, s->cfg, n);
	if (s->cfg->access == ACCESS_WATCH && *s->cfg->access_site)
		json_u64(j, "unwatched_blocks", n->unwatched);
	json_end(j);
}

/* Puts what alloc.out does not show, where there is one. */
static void put_alloc(struct json *j, const struct session *s)
{
	const struct alloc_counts *n = &s->status.counts.alloc;

	if (!(s->cfg->probes >> DLT_alloc & 1))
		return;
	json_object(j, "alloc");
	json_u64(j, "min_bytes", s->cfg->alloc_min_bytes);
	json_str(j, "sites", config_alloc_sites[s->cfg->alloc_sites]);
	json_u64(j, "small_calls", n->small_calls);
	json_u64(j, "small_bytes", n->small_bytes);
	json_u64(j, "threads", n->threads);
	json_u64(j, "unread_threads", n->unread);
	json_u64(j, "uncovered_processes", n->uncovered);
	json_u64(j, "unkept_blocks", n->unkept);
	json_u64(j, "refused_pages", n->refused);
	json_u64(j, "skipped", n->skipped);
	json_u64(j, "siteless", n->siteless);
	json_u64(j, "python_programs", n->python);
	json_u64(j, "unread_python_programs", n->unread_python);
	put_version(j, "unread_python", n->unread_version);
	json_u64(j, "probed_processes", s->functions_counts.processes);
	json_u64(j, "refused_functions", s->functions_counts.refused);
	json_u64(j, "failed_probes", s->functions_counts.failed);
	json_u64(j, "live_blocks", n->live_blocks);
	json_u64(j, "live_bytes", n->live_bytes);
	json_end(j);
}

static void put_rings(struct json *j, const struct tracer *t)
{
	json_object(j, "rings");
	json_u64(j, "count", t->n_rings);
	json_u64(j, "bytes_each", t->ring_bytes);
	json_u64(j, "stall_ms", ring_stall_ms(t->ring_bytes, t->cfg.ring_reserve));
	json_u64(j, "stall_records_per_s", RING_STALL_RECORDS_PER_S);
	json_u64(j, "stall_record_bytes", RING_STALL_RECORD_BYTES);
	json_end(j);
}

static uint64_t timeval_us(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

/*
 * Returns the most memory that was resident, with each ring once: ring.c maps a ring's pages twice in a row, so that a
 * record never wraps, and the kernel counts both.
 */
static uint64_t max_rss_bytes(const struct rusage *ru, const struct tracer *t)
{
	uint64_t bytes = (uint64_t)ru->ru_maxrss * 1024, rings = t->n_rings * t->ring_bytes;

	return bytes > 2 * rings ? bytes - rings : bytes;
}

/* Puts the privileges that the running trace has kept; null means all. */
static void put_privileges(struct json *j, const struct privileges *p)
{
	const struct privilege *kept;

	json_object(j, "privileges");
	json_u64(j, "uid", geteuid());
	if (!p->given_up) {
		json_null(j, "kept");
		json_end(j);
		return;
	}
	json_u64(j, "files_as_uid", geteuid() ? geteuid() : p->user->uid);
	json_bool(j, "no_new_privs", true);
	json_array(j, "kept");
	for (unsigned int i = 0; (kept = privileges_kept(p, i)); i++) {
		json_object(j, NULL);
		json_str(j, "name", kept->name);
		json_str(j, "why", kept->why);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* Puts the cost of the trace: of this process alone, without workload and collectors. */
static void put_self(struct json *j, const struct session *s)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	json_object(j, "self");
	json_u64(j, "pid", (uint64_t)getpid());
	json_u64(j, "cpu_user_us", timeval_us(&ru.ru_utime));
	json_u64(j, "cpu_system_us", timeval_us(&ru.ru_stime));
	json_u64(j, "max_rss_bytes", max_rss_bytes(&ru, &s->tracer));
	json_u64(j, "written_bytes", s->status.bytes);
	json_end(j);
}

/* Puts what is known only at the end: the clock, the machine's dirty pages, and bytes of the trace that no disk has yet. */
static void put_end(struct json *j, const struct session *s)
{
	uint64_t dirty;

	json_object(j, "clock_at_end");
	machine_put_clock(j, "");
	json_end(j);
	if (machine_dirty_bytes("", &dirty) == 0)
		json_u64(j, "dirty_bytes_at_end", dirty);
	json_u64(j, "not_on_disk_bytes", session_not_on_disk(s));
}

static void put_manifest(struct json *j, struct session *s, bool complete)
{
	json_bool(j, "complete", complete);
	put_time(j, "start", &s->manifest.start);
	put_time(j, "end", &s->manifest.end);
	put_workload(j, s);
	put_job(j, s);
	put_workload_log(j, s);
	json_array(j, "probes");
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (has_file(s, i))
			put_probe(j, s, i);
	json_end(j);
	json_array(j, "collectors");
	for (unsigned int i = 0; i < s->collectors.n; i++)
		put_collector(j, s, &s->collectors.c[i]);
	json_end(j);
	put_uring(j, s);
	put_access(j, s);
	put_alloc(j, s);
	put_storage(j, s);
	/* the kernel skipped these runs of hooks, in any process: calls may be missing */
	json_u64(j, "skipped_runs", s->status.counts.skipped);
	/* 32-bit calls: counted, not decoded */
	json_u64(j, "compat_calls", s->tracer.shared ? s->tracer.shared->compat : 0);
	put_rings(j, &s->tracer);
	put_privileges(j, &s->privileges);
	put_self(j, s);
	if (complete)
		put_end(j, s);
	json_end(j);
}

/* Copies J, with its objects still open, so that members can be added to the copy. */
static int json_dup(struct json *copy, const struct json *j)
{
	*copy = *j;
	copy->buf = malloc(j->size);
	if (!copy->buf)
		return -ENOMEM;
	memcpy(copy->buf, j->buf, j->len);
	return 0;
}

int manifest_text(struct session *s, bool complete, char **text_ret, size_t *len_ret)
{
	__attribute__((cleanup(json_free))) struct json j = { 0 };
	int r = json_dup(&j, &s->manifest.head);

	if (r < 0)
		return r;
	put_manifest(&j, s, complete);
	r = json_finish(&j);
	if (r < 0)
		return r;
	*len_ret = j.len;
	*text_ret = TAKE_PTR(j.buf);
	return 0;
}
