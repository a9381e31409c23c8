/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of manifest.json about the job. */
#include <sys/stat.h>

#include "base/json.h"
#include "base/util.h"
#include "job/relay.h"
#include "session/manifest_members.h"
#include "session/state.h"
#include "trace/open_waits.h"
#include "trace/usage.h"

#define LEFT_SHOWN 8

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
	manifest_put_argv(json, session->cfg);
	json_str(json, "user", session->user.name);
	json_u64(json, "pid", (uint64_t)session->workload.pid);
	manifest_put_time(json, "start", &manifest->workload_start);
	manifest_put_time(json, "end", &manifest->workload_end);
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

void manifest_put_job(struct json *json, const struct session *session)
{
	put_workload(json, session);
	put_allowed(json, session);
	put_job(json, session);
	put_open_waits(json, session);
	put_workload_log(json, session);
}
