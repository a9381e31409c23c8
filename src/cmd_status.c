/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced status': the running traces, as a table or as JSON. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "control_client.h"
#include "log.h"
#include "util.h"

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "An array with an object for each, with rows and losses per probe", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	*json = true;
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
		.doc = "List the running traces that you may ask: your own, and with root all.",
	};
	struct traces ts;
	bool json = false;

	argp_parse(&argp, argc, argv, 0, NULL, &json);
	traces_find(&ts);
	if (json)
		print_json(&ts);
	else if (ts.n)
		print_table(&ts);
	else
		log_info("no trace%s is running%s", ts.hidden ? " of yours" : "",
			 ts.hidden ? "; those of others are root's to ask" : "");
	traces_free(&ts);
	return 0;
}
