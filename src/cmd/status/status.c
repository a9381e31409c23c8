/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced status': the running traces, as a table or as JSON; status_watch.c shows one while it runs. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "base/util.h"
#include "base/wrap.h"
#include "cmd/cmd.h"
#include "cmd/status/status_table.h"
#include "cmd/status/status_watch.h"
#include "cmd/traces/verdict.h"
#include "control/client.h"
#include "drain/rows/live.h"
#include "os/terminal.h"

struct status_options {
	bool json, watch;
	uint64_t interval_ns; /* 0: not given */
	const char *which;
};

static const char *set_interval(struct option_parse *p, void *member, char *arg)
{
	const char *why = option_time(p, member, arg);
	uint64_t ns = why ? 0 : *(uint64_t *)member;

	return ns >= LIVE_INTERVAL_MIN_MS * NSEC_PER_MSEC && ns <= LIVE_INTERVAL_MAX_MS * NSEC_PER_MSEC ?
		       NULL :
		       "not a time from 100ms to 1h (500ms, 2)";
}

static const char *finish(struct option_parse *p)
{
	struct status_options *o = p->into;

	if (p->n_args > 1)
		return "one trace at a time";
	o->which = p->n_args ? p->args[0] : NULL;
	return !o->watch && o->interval_ns ? "--interval goes with --watch" : NULL;
}

static const struct option_row options[] = {
	{ "interval", 'i', "T", "Interval of --watch: 500ms, 2 (default: 1)", set_interval,
	  offsetof(struct status_options, interval_ns) },
	{ "json", 'j', NULL,
	  "Print an array with an object per trace: target, rates, collectors, and rows and losses per "
	  "probe; with --watch an object on each line",
	  option_true, offsetof(struct status_options, json) },
	{ "watch", 'w', NULL,
	  "Show calls, bytes and latencies of each process, where the last ten seconds went, who waits for whom in "
	  "a job that hangs, live regions, and the files of hanging calls, until the trace ends",
	  option_true, offsetof(struct status_options, watch) },
	{ 0 },
};

static void put_json(const struct trace *trace, bool *any)
{
	autofree char *answer = NULL;
	size_t len;
	int r = trace->silent ? -EAGAIN : trace_request(trace, "json", NULL, &answer);

	if (r == -EAGAIN)
		answer = util_fmt("{\n  \"pid\": %s,\n  \"phase\": \"silent\"\n}", trace->pid);
	else if (r < 0)
		return; /* the trace has ended meanwhile */
	len = answer ? strlen(answer) : 0;
	if (len && answer[len - 1] == '\n')
		answer[len - 1] = '\0';
	printf("%s\n%s", *any ? "," : "", answer ? answer : "");
	*any = true;
}

/*
 * Prints what the job of TRACE has waited for so far, from the rows on the disk. The counts of the running trace do not
 * suffice: they have calls and latencies, but not which process trains and what it waits for, and the answer must be
 * the report's. As reading takes time, this is done only where a single trace is shown.
 */
static void print_verdict(const struct trace *trace, unsigned int width)
{
	const char *text = NULL;
	char path[PATH_MAX];
	struct verdict v;

	if (trace_folder(trace, path) < 0 || !strcmp(trace->phase, "delay") || !strcmp(trace->phase, "stalled"))
		return;
	verdict_read(&v, path, -1);
	if (v.brief && !strncmp(v.brief, "unknown", strlen("unknown")))
		text = "it is not known yet what the job waits for";
	else if (v.text)
		text = v.text;
	else if (v.late || v.large)
		text = "finding out what the job waits for takes longer than a moment; run dltraced report";
	if (text) {
		fputs("so far: ", stdout);
		wrap_text(stdout, text, strlen("so far: "), width);
	}
	verdict_free(&v);
}

static void print_json(const struct traces *ts, const struct trace *one)
{
	bool any = false;

	putchar('[');
	for (unsigned int i = 0; i < (one ? 1 : ts->n); i++)
		put_json(one ? one : &ts->t[i], &any);
	puts(any ? "\n]" : "]");
}

/* Prints those of TS that the user has started (OWN), or the others; *LAST becomes the last one. Returns how many. */
static unsigned int print_those(const struct traces *ts, bool own, unsigned int width, const struct trace **last)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ts->n; i++) {
		if (trace_is_own(ts, &ts->t[i]) != own)
			continue;
		status_row(stdout, &ts->t[i], width, terminal_limit(STDOUT_FILENO));
		*last = &ts->t[i];
		n++;
	}
	return n;
}

/* Prints all traces of TS, the user's own first, or only ONE. */
static void print(const struct traces *ts, const struct trace *one)
{
	unsigned int width = terminal_width(STDOUT_FILENO), n = 1;

	status_head(stdout, width);
	if (one) {
		status_row(stdout, one, width, terminal_limit(STDOUT_FILENO));
	} else {
		n = print_those(ts, true, width, &one);
		n += print_those(ts, false, width, &one);
	}
	if (n == 1)
		print_verdict(one, width);
}

int cmd_status(int argc, char **argv)
{
	static const struct option_line line = {
		.options = options,
		.args_doc = "[NAME|DIR|PID]",
		.doc = "List the running traces that you have access to, your own first: for root, those of all users "
		       "and of the service. With an argument only that trace.",
		.finish = finish,
	};
	const struct trace *one = NULL;
	struct status_options o = {};
	struct option_parse p;
	struct traces ts;
	int r = 0;

	options_parse(&line, argc, argv, 0, &p, &o);
	if (o.watch)
		return status_watch(o.which, (o.interval_ns ?: NSEC_PER_SEC) / NSEC_PER_MSEC, o.json);
	traces_find(&ts);
	if (o.which && !(one = traces_pick(&ts, o.which)))
		r = 1;
	else if (o.json)
		print_json(&ts, one);
	else if (ts.n)
		print(&ts, one);
	else
		log_info("no trace%s is running%s%s", ts.hidden ? " of yours" : "",
			 ts.hidden ? "; only root can see those of others" : "",
			 ts.deaf ? "; without XDG_RUNTIME_DIR those that you started without root are found only by "
				   "their folders" :
				   "");
	traces_free(&ts);
	return r;
}
