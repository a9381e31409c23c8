/* SPDX-License-Identifier: BSD-2-Clause */
/* The answers of a running trace to stop, status and mark. Control plane. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "base/util.h"
#include "collectors/kinds.h"
#include "session/manifest.h"
#include "session/state.h"
#include "trace/probe.h"

static const char *const phase_names[] = {
	[PHASE_DELAY] = "delay",       [PHASE_TRACING] = "tracing", [PHASE_LINGER] = "linger",
	[PHASE_UNTRACED] = "untraced", [PHASE_OVER] = "over",
};

const char *session_phase(const struct session *s)
{
	if (s->traced && s->phase == PHASE_TRACING && s->status.stalled_logged)
		return "stalled";
	return s->traced ? phase_names[s->phase] : "untraced";
}

const char *session_folder(const struct session *s, char path[PATH_MAX])
{
	return util_fd_path(s->dir.fd, path) < 0 ? s->dir.path : path;
}

const char *session_name(const char *folder)
{
	const char *slash = strrchr(folder, '/');

	return slash && slash[1] ? slash + 1 : folder;
}

/* Returns for how long the session has traced; 0: not yet, or never. */
static double elapsed_s(const struct session *s)
{
	uint64_t end_ns = session_has_ended(s) ? s->manifest.end.mono_ns : clock_now_ns(CLOCK_MONOTONIC);

	return s->traced && s->phase != PHASE_DELAY && end_ns > s->status.start_ns ?
		       (double)(end_ns - s->status.start_ns) / 1e9 :
		       0;
}

#define ANSWER_MS 20 /* how long a client of `status' may wait for a slow file system */

static uint64_t free_bytes(struct session *s)
{
	session_look(s, ANSWER_MS);
	return s->folder_watch.space.free_bytes;
}

/* Puts at most 4096 of LEN bytes of TEXT as one word, escaped as in the text files. */
static void put_word(FILE *out, const char *text, size_t len)
{
	char word[TEXT_ESCAPED_MAX(4096)];

	fwrite(word, 1, (size_t)(text_put_str(word, text, MIN(len, (size_t)4096)) - word), out);
}

static void refresh(struct session *s)
{
	if (s->traced && !session_has_ended(s))
		status_update(&s->status, &s->tracer, &s->drain);
}

/* --- targets and sources --------------------------------------------------------------------------------- */

/* Puts KIND:ONE or KINDs:N, after a comma if it is not the first one. */
static void put_kind(FILE *out, const char *kind, unsigned int n, const char *one)
{
	const char *comma = ftell(out) > 0 ? "," : "";

	if (n == 1)
		fprintf(out, "%s%s:%s", comma, kind, one);
	else if (n)
		fprintf(out, "%s%ss:%u", comma, kind, n);
}

static void put_target(const struct session *session, FILE *out)
{
	const struct config *cfg = session->cfg;
	char number[16] = "";

	if (cfg->all)
		fputs("all", out);
	if (cfg->argv) {
		snprintf(number, sizeof(number), "%d", session->workload.pid);
		put_kind(out, "workload", 1, number);
	}
	if (cfg->n_pids)
		snprintf(number, sizeof(number), "%d", cfg->pids[0]);
	put_kind(out, "pid", cfg->n_pids, number);
	put_kind(out, "cgroup", cfg->cgroups.n, cfg->cgroups.n ? cfg->cgroups.items[0] : "");
	put_kind(out, "container", cfg->containers.n, cfg->containers.n ? cfg->containers.items[0] : "");
}

/* Puts the collectors that run; the manifest and JSON have the states of others. */
static void put_collectors(const struct session *s, FILE *out)
{
	for (unsigned int i = 0; i < s->collectors.n; i++)
		if (!strncmp(s->collectors.c[i].state, "running", strlen("running")))
			fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", s->collectors.c[i].kind->name);
}

static void put_owner(const struct session *s, FILE *out)
{
	if (s->caller.service)
		fputs("service", out);
	else
		fprintf(out, "%u", s->caller.uid);
	if (!s->caller.service && s->user.uid != s->caller.uid) /* --user: the job may set marks */
		fprintf(out, ",%u", s->user.uid);
}

/* Puts what PUT prints as one word; `-' for nothing. */
static void put_words(const struct session *session, void (*put)(const struct session *s, FILE *out), FILE *out)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *words = open_memstream(&text, &len);

	if (!words)
		return;
	put(session, words);
	if (!fclose(words) && len)
		put_word(out, text, len);
	else
		fputc('-', out);
}

/*
 * Puts one line of words: name, PID, phase, seconds, rows, lost, bytes written, bytes free, folder, experiment, rows/s,
 * bytes/s, target, collectors, owner, terminal session. The owner is `service', or the uid of the user who started the
 * trace, with that of --user after a comma if it is another one. Clients may be older or newer: new words come last.
 */
static int answer_status(struct session *session, const struct control_request *rq, FILE *out)
{
	char path[PATH_MAX];
	const char *folder = session_folder(session, path);

	refresh(session);
	put_word(out, session_name(folder), strlen(session_name(folder)));
	fprintf(out, "\t%d\t%s\t%.1f\t%llu\t%llu\t%llu\t%llu\t", getpid(), session_phase(session), elapsed_s(session),
		(unsigned long long)session->status.rows, (unsigned long long)session->status.lost,
		(unsigned long long)session->status.bytes, (unsigned long long)free_bytes(session));
	put_word(out, folder, strlen(folder));
	fputc('\t', out);
	put_word(out, session->cfg->experiment, strlen(session->cfg->experiment));
	fprintf(out, "\t%.0f\t%.0f\t", session_has_ended(session) ? 0 : session->status.rates.rows_s,
		session_has_ended(session) ? 0 : session->status.rates.bytes_s);
	put_words(session, put_target, out);
	fputc('\t', out);
	put_words(session, put_collectors, out);
	fputc('\t', out);
	put_words(session, put_owner, out);
	fprintf(out, "\t%d\n", session->caller.session);
	return 0;
}

static void put_probes(struct json *json, const struct session *session)
{
	json_array(json, "probes");
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe_counts *counts = &session->status.counts.probes[i];

		if (!(session->tracer.probes >> i & 1) && !counts->rows && !counts->lost)
			continue;
		json_object(json, NULL);
		json_str(json, "name", probes[i]->name);
		json_u64(json, "rows", counts->rows);
		json_u64(json, "lost", counts->lost);
		json_u64(json, "bytes", counts->bytes);
		json_f64(json, "rows_per_s", session_has_ended(session) ? 0 : session->status.rates.probe_rows_s[i]);
		json_end(json);
	}
	json_end(json);
}

static void put_collector_states(struct json *json, const struct session *session)
{
	json_array(json, "collectors");
	for (unsigned int i = 0; i < session->collectors.n; i++) {
		const struct collector *c = &session->collectors.c[i];

		json_object(json, NULL);
		json_str(json, "name", c->kind->name);
		json_str(json, "state", c->state);
		json_u64(json, "rows", __atomic_load_n(&c->sink.rows, __ATOMIC_RELAXED));
		json_end(json);
	}
	json_end(json);
}

static int answer_json(struct session *session, const struct control_request *rq, FILE *out)
{
	char path[PATH_MAX];
	const char *folder = session_folder(session, path);
	struct json j = {};

	refresh(session);
	json_object(&j, NULL);
	json_str(&j, "name", session_name(folder));
	json_u64(&j, "pid", (uint64_t)getpid());
	json_str(&j, "experiment", session->cfg->experiment);
	json_str(&j, "dir", folder);
	json_bool(&j, "by_service", session->caller.service);
	json_u64(&j, "uid", session->caller.uid);
	json_str(&j, "phase", session_phase(session));
	json_u64(&j, "elapsed_ms", (uint64_t)(elapsed_s(session) * 1000));
	json_u64(&j, "workload_pid", (uint64_t)session->workload.pid);
	json_u64(&j, "rows", session->status.rows);
	json_u64(&j, "bytes", session->status.bytes);
	json_u64(&j, "lost", session->status.lost);
	json_u64(&j, "free_bytes", free_bytes(session));
	json_f64(&j, "rows_per_s", session_has_ended(session) ? 0 : session->status.rates.rows_s);
	json_f64(&j, "bytes_per_s", session_has_ended(session) ? 0 : session->status.rates.bytes_s);
	manifest_put_target(&j, session->cfg);
	put_collector_states(&j, session);
	put_probes(&j, session);
	json_end(&j);
	json_write(&j, out);
	return 0;
}

static int answer_stop(struct session *session, const struct control_request *rq, FILE *out)
{
	if (session_has_ended(session)) {
		fputs("the trace has ended; only its workload is running\n", out);
		return -EALREADY;
	}
	watch_stop(session, "stop");
	if (session_is_stuck(session))
		fprintf(out,
			"%s does not answer: the trace ends without the rows not yet written, unless it answers before "
			"the workload ends\n",
			session->dir.path);
	status_put_summary(&session->status, session->dir.path, out);
	return 0;
}

static int answer_mark(struct session *session, const struct control_request *rq, FILE *out)
{
	size_t len = strlen(rq->text);
	int r;

	if (!session->traced || session_has_ended(session) || session->phase == PHASE_DELAY) {
		fputs("it is not tracing\n", out);
		return -EAGAIN;
	}
	r = len && len <= CONTROL_TEXT_MAX ? drain_mark(&session->drain, (uint32_t)rq->pid, rq->text, len) : -EINVAL;
	if (r < 0)
		fprintf(out, "the mark was not taken: %s\n", strerror(-r));
	return r;
}

static const struct verb {
	const char *name;
	int (*answer)(struct session *s, const struct control_request *rq, FILE *out);
} verbs[] = {
	{ "hung", session_hung_answer },
	{ "json", answer_json },
	{ "mark", answer_mark },
	{ "status", answer_status },
	{ "stop", answer_stop },
	{ "views", session_live_answer }, /* not "watch", which older versions request without reading JSON */
	{ "waiting", session_waiting_answer },
};

static int on_request(void *ctx, const struct control_request *rq, FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(rq->verb, verbs[i].name))
			return verbs[i].answer(ctx, rq, out);
	fputs("the trace was started by another version of dltraced, which does not know this request\n", out);
	return -ENOSYS;
}

void session_listen(struct session *s)
{
	int r = control_open(&s->control, &s->loop, s->user.uid, s->dir.path, on_request, session_live_gone, s);

	if (r < 0)
		log_debug("no socket for stop, status and mark: %s", strerror(-r));
}
