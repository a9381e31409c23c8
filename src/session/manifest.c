/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts the manifest together. What holds from the start is kept as text, head, and opens every version: the end
 * of a trace does not rewrite where it came from. The file is manifest_file.c's.
 */
#include "session/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "dlt/dlt.h"
#include "host/git.h"
#include "host/machine.h"
#include "host/rights/privileges.h"
#include "host/rights/workload_user.h"
#include "host/stall/guard.h"
#include "job/workload.h"
#include "kernel/ring.h"
#include "session/left_running.h"
#include "trace/config.h"

#define LEFT_SHOWN 8

static void put_list(struct json *j, const char *key, char *const *items)
{
	json_array(j, key);
	for (; items && *items; items++)
		json_str(j, NULL, *items);
	json_end(j);
}

/* What --no-args leaves out. */
static const char hidden[] = "(hidden)";

/* dltraced's own, which ends with the workload's. */
static void put_cmdline(struct json *j, const struct manifest *m)
{
	const struct config *cfg = m->cfg;

	json_array(j, "cmdline");
	for (char *const *arg = m->cmdline; arg && *arg; arg++) {
		const char *shell = cfg->no_args ? cfg->shell_cmd : NULL;

		/* the text of --workload, also behind its "=" */
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

	uname(&u); /* fails on a bad address alone */
	kernel = util_fmt("%s %s %s", u.sysname, u.release, u.machine);
	json_str(j, "host", u.nodename);
	json_str(j, "kernel", kernel);
	json_str(j, "kernel_version", u.version);
}

/* As the user: what is in the folder leads nowhere that they could not go. */
static int read_git(struct git_head *h, const struct manifest *m)
{
	int r;

	stall_guard_begin(m->cwd, STALL_GUARD_BY_SIGNAL);
	r = m->owner ? privileges_as_user(m->owner) : 0;
	if (r == 0)
		r = git_head_read(h, m->cwd);
	privileges_as_root();
	stall_guard_end();
	return r;
}

static void put_git(struct json *j, const struct manifest *m)
{
	struct git_head h;

	if (!m->cwd || read_git(&h, m) < 0)
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

int manifest_begin(struct manifest *m)
{
	struct json *j = &m->head;

	json_object(j, NULL);
	json_str(j, "tool", "dltraced");
	json_str(j, "version", DLT_VERSION);
	json_u64(j, "schema", DLT_SCHEMA);
	put_cmdline(j, m);
	json_str(j, "cwd", m->cwd);
	json_str(j, "experiment", m->cfg->experiment);
	manifest_put_target(j, m->cfg);
	put_git(j, m);
	json_object(j, "environment");
	manifest_put_environ(j, m->environ);
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

static void put_workload(struct json *j, const struct manifest *m)
{
	if (!m->cfg->argv) {
		json_null(j, "workload");
		return;
	}
	json_object(j, "workload");
	put_argv(j, m->cfg);
	json_str(j, "user", m->workload.user);
	json_u64(j, "pid", (uint64_t)m->workload.pid);
	put_time(j, "start", &m->workload.start);
	put_time(j, "end", &m->workload.end);
	if (m->workload.end.mono_ns && m->workload.status_unknown) {
		json_null(j, "status");
		json_null(j, "exit_code");
	} else if (m->workload.end.mono_ns) {
		json_s64(j, "status", m->workload.status);
		json_s64(j, "exit_code", m->workload.exit_code);
	}
	json_end(j);
}

/* At the end of the trace: processes of the job that went on, of the first of which it is said who they are. */
static void put_job(struct json *j, const struct left_running *l)
{
	uint64_t cpu_us = 0;

	if (!l || !l->known) {
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

static void put_workload_log(struct json *j, const struct manifest *m)
{
	if (!m->workload_log.kept) {
		json_null(j, "workload_log");
		return;
	}
	json_object(j, "workload_log");
	json_u64(j, "written_bytes", m->workload_log.written_bytes);
	json_u64(j, "lost_bytes", m->workload_log.lost_bytes);
	json_u64(j, "unsure_bytes", m->workload_log.unsure_bytes);
	json_end(j);
}

static void put_probe(struct json *j, const struct manifest_probe_row *p)
{
	json_object(j, NULL);
	json_str(j, "name", p->name);
	json_str(j, "backend", p->backend);
	if (p->hooks)
		json_str(j, "hooks", p->hooks);
	if (p->why)
		json_str(j, "why", p->why);
	json_u64(j, "calls", p->counts.calls);
	json_u64(j, "rows", p->counts.rows);
	json_u64(j, "lost", p->counts.lost);
	json_u64(j, "late", p->counts.late);
	json_u64(j, "unmatched", p->counts.unmatched);
	json_u64(j, "filtered", p->counts.filtered);
	json_u64(j, "bytes", p->counts.bytes);
	json_u64(j, "dropped", p->counts.dropped);
	json_u64(j, "dropped_bytes", p->counts.dropped_bytes);
	json_u64(j, "summed", p->counts.summed);
	if (p->counts.foreign)
		json_u64(j, "foreign", p->counts.foreign);
	json_u64(j, "unsure", p->counts.unsure);
	json_end(j);
}

static void put_collector(struct json *j, const struct manifest_collector_row *c)
{
	json_object(j, NULL);
	json_str(j, "name", c->name);
	json_str(j, "file", c->file);
	json_str(j, "state", c->state);
	json_u64(j, "rows", c->rows);
	json_u64(j, "bytes", c->bytes);
	json_u64(j, "lost", c->lost);
	json_u64(j, "dropped", c->dropped);
	json_u64(j, "dropped_bytes", c->dropped_bytes);
	json_end(j);
}

static void put_timestamp(struct json *j, const char *key, uint64_t ns)
{
	if (ns)
		json_u64(j, key, ns);
	else
		json_null(j, key);
}

static void put_segment(struct json *j, const struct manifest_segment_row *s)
{
	json_object(j, NULL);
	json_str(j, "file", s->file);
	put_timestamp(j, "first_timestamp", s->first_ns);
	put_timestamp(j, "last_timestamp", s->last_ns);
	json_u64(j, "rows", s->rows);
	json_u64(j, "bytes", s->bytes);
	json_u64(j, "stored_bytes", s->stored_bytes);
	json_end(j);
}

static void put_storage(struct json *j, const struct manifest_storage *s)
{
	json_object(j, "storage");
	json_str(j, "compress", s->compress);
	json_u64(j, "rotate_bytes", s->rotate_bytes);
	json_u64(j, "rotate_ns", s->rotate_ns);
	json_u64(j, "keep_bytes", s->keep_bytes);
	json_bool(j, "rollup_only", s->rollup_only);
	json_u64(j, "compressed_from_bytes", s->compressed_from_bytes);
	json_u64(j, "compressed_bytes", s->compressed_bytes);
	json_u64(j, "compress_cpu_us", s->compress_cpu_us);
	json_u64(j, "dropped_segments", s->dropped_segments);
	json_u64(j, "dropped_unsummed_rows", s->dropped_unsummed_rows);
	json_end(j);
}

static void put_rings(struct json *j, const struct manifest *m)
{
	json_object(j, "rings");
	json_u64(j, "count", m->n_rings);
	json_u64(j, "bytes_each", m->ring_bytes);
	json_u64(j, "stall_ms", ring_stall_ms(m->ring_bytes, m->ring_reserve_bytes));
	json_u64(j, "stall_records_per_s", RING_STALL_RECORDS_PER_S);
	json_u64(j, "stall_record_bytes", RING_STALL_RECORD_BYTES);
	json_end(j);
}

static uint64_t timeval_us(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

/*
 * The most memory that was resident, each ring once: ring.c maps its pages twice in a row, so that a
 * record never wraps, and the kernel counts both.
 */
static uint64_t max_rss_bytes(const struct rusage *ru, const struct manifest *m)
{
	uint64_t bytes = (uint64_t)ru->ru_maxrss * 1024, rings = m->n_rings * m->ring_bytes;

	return bytes > 2 * rings ? bytes - rings : bytes;
}

/* What may still be done to the machine while it is traced; null: everything. */
static void put_privileges(struct json *j, const struct privileges *p)
{
	const struct privilege *kept;

	json_object(j, "privileges");
	json_u64(j, "uid", geteuid());
	if (!p || !p->given_up) {
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

/* What the trace cost: this process alone, not the workload nor the collectors. */
static void put_self(struct json *j, const struct manifest *m)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	json_object(j, "self");
	json_u64(j, "pid", (uint64_t)getpid());
	json_u64(j, "cpu_user_us", timeval_us(&ru.ru_utime));
	json_u64(j, "cpu_system_us", timeval_us(&ru.ru_stime));
	json_u64(j, "max_rss_bytes", max_rss_bytes(&ru, m));
	json_u64(j, "written_bytes", m->written_bytes);
	json_end(j);
}

/* What is known only once all is over: how much of the workload's output no disk has yet. */
static void put_end(struct json *j, const struct manifest *m)
{
	uint64_t dirty;

	json_object(j, "clock_at_end");
	machine_put_clock(j, "");
	json_end(j);
	if (machine_dirty_bytes("", &dirty) == 0)
		json_u64(j, "dirty_bytes_at_end", dirty);
	json_u64(j, "not_on_disk_bytes", m->not_on_disk_bytes);
}

static void put_manifest(struct json *j, const struct manifest *m, bool complete)
{
	json_bool(j, "complete", complete);
	put_time(j, "start", &m->start);
	put_time(j, "end", &m->end);
	put_workload(j, m);
	put_job(j, m->left);
	put_workload_log(j, m);
	json_array(j, "probes");
	for (unsigned int i = 0; i < m->n_probes; i++)
		put_probe(j, &m->probes[i]);
	json_end(j);
	json_array(j, "collectors");
	for (unsigned int i = 0; i < m->n_collectors; i++)
		put_collector(j, &m->collectors[i]);
	json_end(j);
	if (m->uring_hooks || m->uring_why) {
		json_object(j, "io_uring");
		json_str(j, m->uring_hooks ? "hooks" : "why", m->uring_hooks ? m->uring_hooks : m->uring_why);
		json_end(j);
	}
	put_storage(j, &m->storage);
	json_array(j, "segments");
	for (size_t i = 0; i < m->n_segments; i++)
		put_segment(j, &m->segments[i]);
	json_end(j);
	json_u64(j, "skipped_runs", m->skipped_runs);
	json_u64(j, "compat_calls", m->compat_calls);
	put_rings(j, m);
	put_privileges(j, m->privileges);
	put_self(j, m);
	if (complete)
		put_end(j, m);
	json_end(j);
}

/* A copy that can be written on, with its objects still open. */
static int json_dup(struct json *copy, const struct json *j)
{
	*copy = *j;
	copy->buf = malloc(j->size);
	if (!copy->buf)
		return -ENOMEM;
	memcpy(copy->buf, j->buf, j->len);
	return 0;
}

int manifest_text(const struct manifest *m, bool complete, char **text_ret, size_t *len_ret)
{
	__attribute__((cleanup(json_free))) struct json j = { 0 };
	int r = json_dup(&j, &m->head);

	if (r < 0)
		return r;
	put_manifest(&j, m, complete);
	r = json_finish(&j);
	if (r < 0)
		return r;
	*len_ret = j.len;
	*text_ret = TAKE_PTR(j.buf);
	return 0;
}

void manifest_free(struct manifest *m)
{
	json_free(&m->head);
}
