/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the text of manifest.json from the session's state. The constant members are made once, as the text HEAD, and
 * open every version of the file. manifest_file.c writes the file. Control plane.
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
#include "base/version.h"
#include "collectors/kinds.h"
#include "dlt/dlt.h"
#include "drain/rows/stage.h"
#include "drain/stages.h"
#include "host/git.h"
#include "host/machine.h"
#include "host/rights/privileges.h"
#include "host/stall/guard.h"
#include "job/relay.h"
#include "kernel/ring.h"
#include "session/python_path.h"
#include "session/state.h"
#include "trace/config.h"
#include "trace/open_waits.h"
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
static void put_cmdline(struct json *json, const struct session *session)
{
	const struct config *cfg = session->cfg;

	json_array(json, "cmdline");
	for (char *const *arg = session->argv; arg && *arg; arg++) {
		const char *shell = cfg->no_args ? cfg->shell_cmd : NULL;

		/* the text of --workload, alone or in "--workload=TEXT" */
		if (shell && *arg <= shell && shell <= *arg + strlen(*arg)) {
			json_str(json, NULL, hidden);
		} else if (cfg->no_args && cfg->argv && *arg == cfg->argv[0] && arg[1]) {
			json_str(json, NULL, *arg);
			json_str(json, NULL, hidden);
			break;
		} else {
			json_str(json, NULL, *arg);
		}
	}
	json_end(json);
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
static int read_git(struct git_head *head, const struct session *session)
{
	int r;

	stall_guard_begin(session->cwd, STALL_GUARD_BY_SIGNAL);
	r = privileges_as_user(&session->user);
	if (r == 0)
		r = git_head_read(head, session->cwd);
	privileges_as_root();
	stall_guard_end();
	return r;
}

static void put_git(struct json *json, const struct session *session)
{
	struct git_head h;

	if (!session->cwd || read_git(&h, session) < 0)
		return;
	json_object(json, "git");
	json_str(json, "folder", h.top);
	if (h.ref[0])
		json_str(json, "ref", h.ref);
	if (h.commit[0])
		json_str(json, "commit", h.commit);
	json_end(json);
}

void manifest_put_target(struct json *json, const struct config *cfg)
{
	json_object(json, "target");
	json_bool(json, "all", cfg->all);
	json_bool(json, "workload", cfg->argv);
	json_array(json, "pids");
	for (unsigned int i = 0; i < cfg->n_pids; i++)
		json_u64(json, NULL, (uint64_t)cfg->pids[i]);
	json_end(json);
	put_config_list(json, "cgroups", &cfg->cgroups);
	put_config_list(json, "containers", &cfg->containers);
	put_config_list(json, "comm", &cfg->comm);
	put_config_list(json, "exclude_comm", &cfg->exclude_comm);
	put_config_list(json, "disks", &cfg->disks);
	json_end(json);
}

int manifest_begin(struct session *session)
{
	struct json *json = &session->manifest.head;

	json_object(json, NULL);
	json_str(json, "tool", "dltraced");
	json_str(json, "version", version_text);
	json_u64(json, "schema", DLT_SCHEMA);
	put_cmdline(json, session);
	json_str(json, "cwd", session->cwd);
	json_str(json, "experiment", session->cfg->experiment);
	if (python_path_is_set(session->cfg))
		json_str(json, "regions", "auto");
	if (session->cfg->nvtx)
		json_bool(json, "nvtx", true);
	manifest_put_target(json, session->cfg);
	put_git(json, session);
	json_object(json, "environment");
	manifest_put_environ(json, session->environ);
	json_end(json);
	put_kernel(json);
	json_object(json, "machine");
	machine_put(json, "");
	json_end(json);
	json_object(json, "clock");
	machine_put_clock(json, "");
	json_end(json);
	return json->error;
}

/* --- members that change --------------------------------------------------------------------------------- */

static void put_time(struct json *json, const char *key, const struct manifest_time *time)
{
	struct text_utc_cache cache = { 0 };
	char utc[TEXT_UTC_LEN];

	if (!time->mono_ns) {
		json_null(json, key);
		return;
	}
	text_put_utc(utc, time->utc_ns, &cache);
	json_object(json, key);
	json_u64(json, "monotonic_ns", time->mono_ns);
	json_strn(json, "utc", utc, sizeof(utc));
	json_end(json);
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

static void put_workload(struct json *json, const struct session *session)
{
	const struct manifest *manifest = &session->manifest;

	if (!session->cfg->argv) {
		json_null(json, "workload");
		return;
	}
	json_object(json, "workload");
	put_argv(json, session->cfg);
	json_str(json, "user", session->user.name);
	json_u64(json, "pid", (uint64_t)session->workload.pid);
	put_time(json, "start", &manifest->workload_start);
	put_time(json, "end", &manifest->workload_end);
	if (manifest->workload_end.mono_ns && manifest->status_unknown) {
		json_null(json, "status");
		json_null(json, "exit_code");
	} else if (manifest->workload_end.mono_ns) {
		json_s64(json, "status", session->workload.status);
		json_s64(json, "exit_code", session_exit_code(session));
		if (!manifest->usage_unknown)
			put_usage(json, session);
	}
	json_end(json);
}

/* Puts what the job's first process may use. */
static void put_allowed(struct json *json, const struct session *session)
{
	const struct allowance *allowed = &session->manifest.allowed;

	if (!allowed->pid)
		return;
	json_object(json, "allowed");
	allowance_put(json, allowed);
	cgroup_limits_put(json, "cgroup_limits", &session->manifest.limits);
	json_end(json);
}

/* Puts the job's processes that outlive the trace: their number, and the names of the first. */
static void put_job(struct json *json, const struct session *session)
{
	const struct left_running *running = &session->left;
	uint64_t cpu_us = 0;

	if (session->files < FILES_CLOSED ||
	    !running->known) { /* before that, a process in the list may be just ending */
		json_null(json, "job");
		return;
	}
	for (size_t i = 0; i < running->n; i++)
		cpu_us += running->v[i].cpu_us;
	json_object(json, "job");
	json_u64(json, "left_running", running->n + running->more);
	json_u64(json, "left_running_cpu_us", cpu_us);
	json_array(json, "processes");
	for (size_t i = 0; i < MIN(running->n, LEFT_SHOWN); i++) {
		json_object(json, NULL);
		json_u64(json, "pid", (uint64_t)running->v[i].pid);
		json_str(json, "comm", running->v[i].comm);
		json_u64(json, "cpu_us", running->v[i].cpu_us);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* Puts who waits for whom at the end, where threads wait for long. */
static void put_open_waits(struct json *json, const struct session *session)
{
	if (session->files >= FILES_CLOSED && session->hung.kept)
		open_waits_put(json, session->hung.kept);
	else
		json_null(json, "open_waits");
}

/* Puts the size of the kept output. Through the service, the client has the relay, and reports what was lost. */
static void put_workload_log(struct json *json, const struct session *session)
{
	const struct relay_log *log = session->workload.relay.log;
	struct stat st = {};

	if (!log && session->workload_log_fd < 0) {
		json_null(json, "workload_log");
		return;
	}
	if (!log)
		fstat(session->workload_log_fd, &st);
	json_object(json, "workload_log");
	json_u64(json, "written_bytes", log ? util_counted(&log->written_bytes) : (uint64_t)st.st_size);
	json_u64(json, "lost_bytes", log ? util_counted(&log->lost_bytes) : session->manifest.log_lost_bytes);
	json_u64(json, "unsure_bytes", session->status.log_unsure);
	json_end(json);
}

/* Puts the losses by cause, without causes of 0. */
static void put_lost_by(struct json *json, const uint64_t by[LOSSES])
{
	bool any = false;

	for (enum loss why = 0; why < LOSSES; why++)
		any |= by[why] != 0;
	if (!any)
		return;
	json_object(json, "lost_by");
	for (enum loss why = 0; why < LOSSES; why++)
		if (by[why])
			json_u64(json, loss_kinds[why].key, by[why]);
	json_end(json);
}

/* Returns the name of the backend of a traced probe; BACKEND: that of its system calls, or NULL. */
static const char *backend_of(const struct backend_kind *backend, unsigned int i)
{
	if (backend)
		return backend->name;
	return probes[i]->open ? "tracepoint" : "user";
}

/* Calls whose result a tracer such as strace(1) has made up: they have no number. */
static uint64_t injected_calls(const struct tracer *tracer)
{
	struct dlt_stats stats[DLT_PROBES];

	if (!tracer->stats)
		return 0;
	tracer_stats(tracer, stats);
	return stats[DLT_NO_PROBE].refused;
}

/* Puts the counts of a probe. Where each call is one row: calls = rows + summed + filtered + lost. */
static void put_probe(struct json *json, const struct session *session, unsigned int i)
{
	const bool traced = session->traced && (session->tracer.probes >> i & 1 || !(session->cfg->probes >> i & 1));
	const unsigned int by =
		probes[i]->open ? i : probes[i]->needs; /* the probe whose programs record it; 0: none */
	const struct backend_kind *backend = session->tracer.backends[by];
	const char *why = session->traced ? session->tracer.why[i] : session->why_not;
	const struct probe_counts *counts = &session->status.counts.probes[i];

	json_object(json, NULL);
	json_str(json, "name", probes[i]->name);
	json_str(json, "backend", traced ? backend_of(backend, i) : "none");
	if (traced && backend && backend->hooks)
		json_str(json, "hooks", backend->hooks);
	if (why)
		json_str(json, "why", why);
	if (traced && session->tracer.plain[i])
		json_str(json, "plain", session->tracer.plain[i]);
	json_u64(json, "calls", counts->calls);
	json_u64(json, "rows", counts->rows);
	json_u64(json, "lost", counts->lost);
	put_lost_by(json, counts->lost_by);
	json_u64(json, "late", counts->late);
	json_u64(json, "unmatched", counts->unmatched);
	json_u64(json, "filtered", counts->filtered);
	json_u64(json, "bytes", counts->bytes);
	json_u64(json, "dropped", counts->dropped);
	json_u64(json, "dropped_bytes", counts->dropped_bytes);
	json_u64(json, "summed", counts->summed);
	if (counts->foreign)
		json_u64(json, "foreign", counts->foreign);
	if (counts->unseen)
		json_u64(json, "unseen", counts->unseen);
	if (counts->unread)
		json_u64(json, "unread", counts->unread);
	if (counts->unanswered)
		json_u64(json, "unanswered", counts->unanswered);
	if (counts->lines)
		json_u64(json, "lines", counts->lines);
	if (counts->brief)
		json_u64(json, "brief", counts->brief);
	if (counts->fileless)
		json_u64(json, "fileless", counts->fileless);
	if (counts->refused)
		json_u64(json, "refused", counts->refused);
	if (counts->overwritten)
		json_u64(json, "overwritten", counts->overwritten);
	if (counts->nvtx)
		json_u64(json, "nvtx", counts->nvtx);
	json_u64(json, "unsure", counts->unsure);
	json_end(json);
}

static void put_collector(struct json *json, const struct session *session, const struct collector *collector)
{
	const struct archiver_file *kept = session->split ? archiver_file(&session->archiver, &collector->sink) : NULL;

	json_object(json, NULL);
	json_str(json, "name", collector->kind->name);
	json_str(json, "file", collector->kind->file);
	json_str(json, "state", collector->state);
	json_u64(json, "rows", util_counted(&collector->sink.rows));
	json_u64(json, "bytes", util_counted(&collector->sink.bytes));
	json_u64(json, "lost", util_counted(&collector->sink.lost));
	json_u64(json, "dropped", kept ? util_counted(&kept->dropped_rows) : 0);
	json_u64(json, "dropped_bytes", kept ? util_counted(&kept->dropped_bytes) : 0);
	json_end(json);
}

/* Puts a closed segment that exists. */
static void put_segment(void *ctx, const struct archiver_segment *segment)
{
	struct json *json = ctx;
	char file[NAME_MAX + 1];

	segment_format(file, segment->seg.base, segment->seg.nr, segment->pack);
	json_object(json, NULL);
	json_str(json, "file", file);
	json_u64_known(json, "first_timestamp", segment->seg.first_ns, segment->seg.first_ns);
	json_u64_known(json, "last_timestamp", segment->seg.last_ns, segment->seg.last_ns);
	json_u64(json, "rows", segment->seg.rows);
	json_u64(json, "bytes", segment->seg.bytes);
	json_u64(json, "stored_bytes", segment->stored_bytes);
	json_end(json);
}

/* Puts how the rows are stored. Without segments the archiver is all zero, so its counts are 0. */
static void put_storage(struct json *json, struct session *session)
{
	const struct config *cfg = session->cfg;
	struct archiver *archiver = &session->archiver;

	json_object(json, "storage");
	json_str(json, "compress", cfg->pack ? pack_names[cfg->pack] : NULL);
	json_u64(json, "rotate_bytes", cfg->rotate_bytes);
	json_u64(json, "rotate_ns", cfg->rotate_ns);
	json_u64(json, "keep_bytes", cfg->keep_bytes);
	json_bool(json, "rollup_only", cfg->rollup_only);
	json_u64(json, "compressed_from_bytes", util_counted(&archiver->plain_bytes));
	json_u64(json, "compressed_bytes", util_counted(&archiver->packed_bytes));
	json_u64(json, "compress_cpu_us", util_counted(&archiver->cpu_ns) / 1000);
	json_u64(json, "dropped_segments", util_counted(&archiver->dropped));
	json_u64(json, "dropped_unsummed_rows", util_counted(&archiver->not_summed));
	json_end(json);
	json_array(json, "segments");
	if (session->split)
		archiver_each(archiver, put_segment, json);
	json_end(json);
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

/* Puts what the stages of the drain have counted besides. */
static void put_stages(struct json *json, const struct session *session)
{
	for (const struct drain_stage *const *stage = drain_stages; *stage; stage++)
		if ((*stage)->manifest && session->cfg->probes >> (*stage)->probe & 1)
			(*stage)->manifest(json, session->cfg, &session->status.counts);
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
static void put_privileges(struct json *json, const struct privileges *privileges)
{
	const struct privilege *kept;

	json_object(json, "privileges");
	json_u64(json, "uid", geteuid());
	if (!privileges->given_up) {
		json_null(json, "kept");
		json_end(json);
		return;
	}
	json_u64(json, "files_as_uid", geteuid() ? geteuid() : privileges->user->uid);
	json_bool(json, "no_new_privs", true);
	json_array(json, "kept");
	for (unsigned int i = 0; (kept = privileges_kept(privileges, i)); i++) {
		json_object(json, NULL);
		json_str(json, "name", kept->name);
		json_str(json, "why", kept->why);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* Puts the cost of the trace: of this process alone, without workload and collectors. */
static void put_self(struct json *json, const struct session *session)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	json_object(json, "self");
	json_u64(json, "pid", (uint64_t)getpid());
	json_u64(json, "cpu_user_us", timeval_us(&ru.ru_utime));
	json_u64(json, "cpu_system_us", timeval_us(&ru.ru_stime));
	json_u64(json, "max_rss_bytes", max_rss_bytes(&ru, &session->tracer));
	json_u64(json, "written_bytes", session->status.bytes);
	json_end(json);
}

/* Puts what is known only at the end: the clock, the machine's dirty pages, and bytes of the trace that no disk has
 * yet. */
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

static void put_manifest(struct json *json, struct session *session, bool complete)
{
	json_bool(json, "complete", complete);
	put_time(json, "start", &session->manifest.start);
	put_time(json, "end", &session->manifest.end);
	put_workload(json, session);
	put_allowed(json, session);
	put_job(json, session);
	put_open_waits(json, session);
	put_workload_log(json, session);
	json_array(json, "probes");
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if ((session->cfg->probes | decode_unasked(session->cfg, session->workload_log_fd >= 0)) >> i & 1)
			put_probe(json, session, i);
	json_end(json);
	json_array(json, "collectors");
	for (unsigned int i = 0; i < session->collectors.n; i++)
		put_collector(json, session, &session->collectors.c[i]);
	json_end(json);
	put_uring(json, session);
	put_stages(json, session);
	put_storage(json, session);
	/* the kernel skipped these runs of hooks, in any process: calls may be missing */
	json_u64(json, "skipped_runs", session->status.counts.skipped);
	/* 32-bit calls: counted, not decoded */
	json_u64(json, "compat_calls", session->tracer.shared ? session->tracer.shared->compat : 0);
	json_u64(json, "injected_calls", injected_calls(&session->tracer));
	put_rings(json, &session->tracer);
	put_privileges(json, &session->privileges);
	put_self(json, session);
	if (complete)
		put_end(json, session);
	json_end(json);
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

int manifest_text(struct session *session, bool complete, char **text_ret, size_t *len_ret)
{
	__attribute__((cleanup(json_free))) struct json j = { 0 };
	int r = json_dup(&j, &session->manifest.head);

	if (r < 0)
		return r;
	put_manifest(&j, session, complete);
	r = json_finish(&j);
	if (r < 0)
		return r;
	*len_ret = j.len;
	*text_ret = TAKE_PTR(j.buf);
	return 0;
}
