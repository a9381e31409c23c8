/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced status': the running traces, as a table or as JSON; one of them as it goes is status_watch.c's. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "config.h"
#include "control_client.h"
#include "live.h"
#include "log.h"
#include "status_watch.h"
#include "util.h"

struct status_options {
	bool json, watch;
	uint64_t interval_ns; /* 0: not given */
	const char *which;
};

static const struct argp_option options[] = {
	{ "interval", 'i', "T", 0, "With --watch, how often: 500ms, 2 (default: 1)", 0 },
	{ "json", 'j', NULL, 0, "An array with an object for each, with rows and losses per probe; with --watch an "
	  "object on each line", 0 },
	{ "watch", 'w', NULL, 0, "Calls, bytes and latencies of each process, and what calls hang on, until the "
	  "trace ends", 0 },
	{ 0 },
};

static error_t parse_interval(struct status_options *o, const char *arg, struct argp_state *state)
{
	if (config_parse_time(arg, &o->interval_ns) < 0 || o->interval_ns < LIVE_INTERVAL_MIN_MS * NSEC_PER_MSEC ||
	    o->interval_ns > LIVE_INTERVAL_MAX_MS * NSEC_PER_MSEC)
		argp_error(state, "--interval '%s': not a time from 100ms to 1h (500ms, 2)", arg);
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct status_options *o = state->input;

	if (key == 'i')
		return parse_interval(o, arg, state);
	if (key == 'j')
		o->json = true;
	else if (key == 'w')
		o->watch = true;
	else if (key == ARGP_KEY_ARG && !o->which)
		o->which = arg;
	else if (key == ARGP_KEY_ARG)
		argp_error(state, "one trace at a time");
	else if (key == ARGP_KEY_END && !o->watch && (o->which || o->interval_ns))
		argp_error(state, "a trace and --interval go with --watch; without it all traces are listed");
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static void print_table(const struct traces *ts)
{
	printf("%-32s %7s %-8s %10s %14s %8s %12s %14s  %s\n", "NAME", "PID", "PHASE", "ELAPSED_S", "ROWS", "LOST",
	       "BYTES", "FREE_BYTES", "FOLDER");
	for (unsigned int i = 0; i < ts->n; i++) {
		const struct trace *t = &ts->t[i];

		printf("%-32s %7s %-8s %10s %14s %8s %12s %14s  %s\n", t->name, t->pid, t->phase, t->elapsed_s, t->rows,
		       t->lost, t->bytes, t->free_bytes, t->dir);
	}
}

static void print_json(const struct traces *ts)
{
	bool any = false;

	putchar('[');
	for (unsigned int i = 0; i < ts->n; i++) {
		autofree char *said = NULL;
		size_t len;

		if (trace_ask(&ts->t[i], "json", NULL, &said) < 0)
			continue; /* it ended meanwhile */
		len = strlen(said);
		if (len && said[len - 1] == '\n')
			said[len - 1] = '\0';
		printf("%s\n%s", any ? "," : "", said);
		any = true;
	}
	puts(any ? "\n]" : "]");
}

int cmd_status(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[--watch [NAME|DIR|PID]]",
		.doc = "List the running traces that you may ask: your own, and with root all; or watch one of them.",
	};
	struct status_options o = {};
	struct traces ts;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.watch)
		return status_watch(o.which, (o.interval_ns ?: NSEC_PER_SEC) / NSEC_PER_MSEC, o.json);
	traces_find(&ts);
	if (o.json)
		print_json(&ts);
	else if (ts.n)
		print_table(&ts);
	else
		log_info("no trace%s is running%s%s", ts.hidden ? " of yours" : "",
			 ts.hidden ? "; those of others are root's to ask" : "",
			 ts.deaf ? "; without XDG_RUNTIME_DIR only those of root and of the service are known" : "");
	traces_free(&ts);
	return 0;
}
