/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced stop', `dltraced mark': one request to one running trace. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "control/client.h"
#include "control/control.h"

/* Ask the trace WHICH (NULL: the only one) and say what it says. The exit status. */
static int ask(const char *which, const char *verb, const char *text)
{
	autofree char *answer = NULL;
	const struct trace *t;
	struct traces ts;
	int r = -ESRCH;

	traces_find(&ts);
	t = traces_pick(&ts, which);
	if (t) {
		char *line, *rest;

		r = trace_ask(t, verb, text, &answer);
		if (r == -EAGAIN)
			log_err("process %s does not answer: it is stopped, or held by its disk; what it was asked it may do when it goes on",
				t->pid);
		else if (r < 0 && !answer)
			log_err_r(r, "%s", t->dir);
		for (line = answer ? strtok_r(answer, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
			log_msg(r < 0 ? LOG_LEVEL_ERR : LOG_LEVEL_INFO, "%s", line);
	}
	traces_free(&ts);
	return r < 0 ? 1 : 0;
}

/* --- stop ------------------------------------------------------------------------------------------ */

static error_t stop_option(int key, char *arg, struct argp_state *state)
{
	const char **which = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*which)
		argp_error(state, "one trace at a time");
	*which = arg;
	return 0;
}

int cmd_stop(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = stop_option,
		.args_doc = "[NAME|DIR|PID]",
		.doc = "End a running trace, by its name, its folder or its process: its files are whole when "
		       "this returns. The workload goes on. Without an argument, the only one there is.",
	};
	const char *which = NULL;

	argp_parse(&argp, argc, argv, 0, NULL, &which);
	return ask(which, "stop", NULL);
}

/* --- mark ------------------------------------------------------------------------------------------ */

struct mark_options {
	const char *which, *text;
};

static const struct argp_option mark_options[] = {
	{ "trace", 't', "NAME|DIR|PID", 0, "Which trace, where several are running", 0 },
	{ 0 },
};

static error_t mark_option(int key, char *arg, struct argp_state *state)
{
	struct mark_options *o = state->input;

	if (key == 't')
		o->which = arg;
	else if (key == ARGP_KEY_ARG && !o->text)
		o->text = arg;
	else if (key == ARGP_KEY_ARG)
		argp_error(state, "one text: quote its blanks");
	else if (key == ARGP_KEY_END && (!o->text || !*o->text || strlen(o->text) > CONTROL_TEXT_MAX))
		argp_error(state, "a text of 1 to %d bytes", CONTROL_TEXT_MAX);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

int cmd_mark(int argc, char **argv)
{
	static const struct argp argp = {
		.options = mark_options,
		.parser = mark_option,
		.args_doc = "TEXT",
		.doc = "Write a row with TEXT and the time into marks.out of a running trace: a phase of the job "
		       "that begins, say. The job may do so itself.",
	};
	struct mark_options o = {};

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return ask(o.which, "mark", o.text);
}
