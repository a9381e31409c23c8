/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced status': the running traces, as a table or as JSON; status_watch.c shows one while it runs. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/options.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "cmd/verdict.h"
#include "control/client.h"
#include "drain/live.h"

struct status_options {
	bool json, watch;
	uint64_t interval_ns; /* 0: not given */
	const char *which;
};

static const char *set_interval(struct option_parse *p, void *member, char *arg)
{
	const char *why = option_time(p, member, arg);
	uint64_t ns = why ? 0 : *(uint64_t *)member;

	return ns >= LIVE_INTERVAL_MIN_MS * NSEC_PER_MSEC && ns <= LIVE_INTERVAL_MAX_MS * NSEC_PER_MSEC
		       ? NULL
		       : "not a time from 100ms to 1h (500ms, 2)";
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
	{ "watch", 'w', NULL, "Show calls, bytes and latencies of each process, live regions, and the files of hanging calls, until the trace ends",
	  option_true, offsetof(struct status_options, watch) },
	{ 0 },
};

/* Formats 1234567 as 1.2M, a word. A TEXT that is no number stays. */
static const char *count(char buf[FMT_MAX], const char *text)
{
	char *end;
	double x = strtod(text, &end);

	return end == text ? text : fmt_si(buf, x, "", "");
}

/* Formats bytes in powers of 1024, as everywhere: 1.18MiB. */
static const char *bytes(char buf[FMT_MAX], const char *text)
{
	char *end, *blank;
	double x = strtod(text, &end);

	if (end == text)
		return text;
	blank = strchr(fmt_bytes(buf, (uint64_t)x), ' ');
	if (blank)
		memmove(blank, blank + 1, strlen(blank));
	return buf;
}

static const char *hours(char buf[32], const char *seconds)
{
	char *end;
	unsigned long s = strtoul(seconds, &end, 10);

	if (end == seconds)
		return seconds;
	snprintf(buf, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	return buf;
}

static void print_trace(const struct trace *t)
{
	char elapsed[32], rows[FMT_MAX], rows_s[FMT_MAX], size[FMT_MAX], size_s[FMT_MAX], left[FMT_MAX];
	autofree char *line = util_fmt(
		"%-32s %7s %-8s %9s %8s %8s %6s %8s %8s %8s  %-16s %-16s %s", t->name, t->pid, t->phase,
		hours(elapsed, t->elapsed_s), count(rows, t->rows), count(rows_s, t->rows_s), t->lost,
		bytes(size, t->bytes), bytes(size_s, t->bytes_s), bytes(left, t->free_bytes), t->target,
		t->collectors, t->dir);

	/* the words are escaped as in the .out files, which leaves control characters beyond ASCII */
	fmt_text(stdout, line, 0);
	putchar('\n');
}

static const struct trace heading = {
	.name = "NAME", .pid = "PID", .phase = "PHASE", .elapsed_s = "ELAPSED", .rows = "ROWS", .rows_s = "ROWS/S",
	.lost = "LOST", .bytes = "WRITTEN", .bytes_s = "BYTES/S", .free_bytes = "FREE", .target = "TARGET",
	.collectors = "COLLECTORS", .dir = "FOLDER",
};

static void put_json(const struct trace *t, bool *any)
{
	autofree char *answer = NULL;
	size_t len;
	int r = t->silent ? -EAGAIN : trace_request(t, "json", NULL, &answer);

	if (r == -EAGAIN)
		answer = util_fmt("{\n  \"pid\": %s,\n  \"phase\": \"silent\"\n}", t->pid);
	else if (r < 0)
		return; /* the trace has ended meanwhile */
	len = answer ? strlen(answer) : 0;
	if (len && answer[len - 1] == '\n')
		answer[len - 1] = '\0';
	printf("%s\n%s", *any ? "," : "", answer ? answer : "");
	*any = true;
}

/*
 * Prints what the job of T has waited for so far, from the rows on the disk. The counts of the running trace do not suffice:
 * they have calls and latencies, but not which process trains and what it waits for, and the answer must be the report's. As
 * reading takes time, this is done only where a single trace is shown.
 */
static void print_verdict(const struct trace *t)
{
	char path[PATH_MAX];
	struct verdict v;

	if (trace_folder(t, path) < 0 || !strcmp(t->phase, "delay") || !strcmp(t->phase, "stalled"))
		return;
	verdict_read(&v, path, -1);
	if (v.brief && !strncmp(v.brief, "unknown", strlen("unknown")))
		puts("so far: it is not known yet what the job waits for");
	else if (v.text)
		fmt_line(stdout, "so far: ", v.text);
	else if (v.late || v.large)
		puts("so far: finding out what the job waits for takes longer than a moment; run dltraced report");
	verdict_free(&v);
}

/* Lists traces of other users: only their names, which are the arguments for a query. */
static void print_others(const struct traces *ts)
{
	const char *before = "not yours: ";

	for (unsigned int i = 0; i < ts->n; i++) {
		const struct trace *t = &ts->t[i];
		const bool service = !strcmp(t->owner, "service");

		if (trace_is_own(ts, t))
			continue;
		fputs(before, stdout);
		fmt_text(stdout, service ? t->experiment : t->name, 0);
		if (service)
			fputs(" (of the service)", stdout);
		else
			printf(" (of user %.*s)", (int)strcspn(t->owner, ","), t->owner);
		before = ", ";
	}
	if (*before == ',')
		puts("; dltraced status NAME, stop NAME");
}

static void print_json(const struct traces *ts, const struct trace *one)
{
	bool any = false;

	putchar('[');
	for (unsigned int i = 0; i < (one ? 1 : ts->n); i++)
		put_json(one ? one : &ts->t[i], &any);
	puts(any ? "\n]" : "]");
}

/* Prints the user's own traces of TS, or only ONE. */
static void print(const struct traces *ts, const struct trace *one)
{
	const struct trace *last = one;
	unsigned int n = 0;

	for (unsigned int i = 0; i < ts->n; i++) {
		if (one ? one != &ts->t[i] : !trace_is_own(ts, &ts->t[i]))
			continue;
		if (!n++)
			print_trace(&heading);
		last = &ts->t[i];
		print_trace(last);
	}
	if (n == 1)
		print_verdict(last);
	if (!one)
		print_others(ts);
}

int cmd_status(int argc, char **argv)
{
	static const struct option_line line = {
		.options = options,
		.args_doc = "[NAME|DIR|PID]",
		.doc = "List the running traces that you started, and the names of others that you have access to. With an "
		       "argument only that trace. With --json all traces that you have access to.",
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
				   "their folders"
				 : "");
	traces_free(&ts);
	return r;
}
