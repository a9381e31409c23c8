/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced stop', `dltraced mark': one request to one running trace. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "cmd/traces/verdict.h"
#include "control/client.h"
#include "control/control.h"

/* Prints the last lines of `start' for TRACE, which has ended. */
static void print_end(const struct trace *trace)
{
	char path[PATH_MAX];
	autoclose int fd = -1;
	struct verdict v;

	if (trace_folder(trace, path) < 0)
		return;
	verdict_read(&v, path, -1);
	fd = v.late ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* late: the file system may not answer */
	if (fd >= 0)
		cmd_end(path, fd, &v, false);
	verdict_free(&v);
}

/* The service starts its own traces again, unless it is ending itself. */
static void warn_starts_again(const struct trace *t)
{
	if (trace_is_of_service(t))
		log_info("the service starts this trace again: to end it for good, put `enabled = no' into [trace %s] "
			 "of dltraced.conf, and run `systemctl reload dltraced'",
			 trace_called(t));
}

/*
 * Sends a request to the trace WHICH (NULL: the only one) and prints the answer; if the request ENDS the trace, the
 * last lines of `start', too. Returns the exit status.
 */
static int request(const char *which, const char *verb, const char *text, bool ends)
{
	autofree char *answer = NULL;
	const struct trace *trace;
	struct traces ts;
	int r = -ESRCH;

	traces_find(&ts);
	trace = traces_pick(&ts, which);
	if (trace) {
		char *line, *rest;

		r = trace_request(trace, verb, text, &answer);
		if (r == -EAGAIN)
			log_err("process %s does not answer: it is stopped, or held by its disk; it may still do what "
				"was requested when it goes on",
				trace->pid);
		else if (r < 0 && !answer)
			log_err_r(r, "%s", trace->dir);
		for (line = answer ? strtok_r(answer, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
			log_msg(r < 0 ? LOG_LEVEL_ERR : LOG_LEVEL_INFO, "%s", line);
		if (r == 0 && ends) {
			print_end(trace);
			warn_starts_again(trace);
		}
	}
	traces_free(&ts);
	return r < 0 ? 1 : 0;
}

/* --- stop ------------------------------------------------------------------------------------------ */

static const char *one_trace(struct option_parse *p)
{
	return p->n_args > 1 ? "one trace at a time" : NULL;
}

int cmd_stop(int argc, char **argv)
{
	static const struct option_line line = {
		.args_doc = "[NAME|DIR|PID]",
		.doc = "End a running trace, given by its name, its folder or its process. Its files are whole when "
		       "this returns, and the workload goes on. The default is the trace that you started in this "
		       "terminal, or else the only one that you started. Root can end any trace by its name.",
		.finish = one_trace,
	};
	struct option_parse p;

	options_parse(&line, argc, argv, 0, &p, NULL);
	return request(p.n_args ? p.args[0] : NULL, "stop", NULL, true);
}

/* --- mark ------------------------------------------------------------------------------------------ */

static const struct option_row mark_options[] = {
	{ "trace", 't', "NAME|DIR|PID", "The trace, needed where you started several or none", option_text, 0 },
	{ 0 },
};

static const char *one_text(struct option_parse *p)
{
	if (p->n_args > 1)
		return "one text: quote its blanks";
	if (!p->n_args || !*p->args[0] || strlen(p->args[0]) > CONTROL_TEXT_MAX)
		return option_because(p, "give one text, of 1 to %d bytes", CONTROL_TEXT_MAX);
	return NULL;
}

int cmd_mark(int argc, char **argv)
{
	static const struct option_line line = {
		.options = mark_options,
		.args_doc = "TEXT",
		.doc = "Add a row with TEXT and the time to marks.out of a running trace, for example where a phase "
		       "of the job begins. The job itself may call it.",
		.finish = one_text,
	};
	const char *which = NULL;
	struct option_parse p;

	options_parse(&line, argc, argv, 0, &p, &which);
	return request(which, "mark", p.args[0], false);
}
