/* SPDX-License-Identifier: BSD-2-Clause */
/* dltraced report: trace folders summed up, on the terminal or as JSON. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "log.h"
#include "report.h"

struct options {
	bool json;
	char **dirs;
	int n_dirs;
};

static const struct argp_option option_table[] = {
	{ "json", 'j', NULL, 0,
	  "One JSON object per folder: ns, bytes, names as in the .out files", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'j':
		o->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->dirs = state->argv + state->next;
		o->n_dirs = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which trace folder? (dltraced start names it when it ends)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "DIR...",
	.doc = "Sum up trace folders: calls, latencies, files, processes, disks, and what is "
	       "missing. Works on folders that are cut off or still growing, and needs no root.",
};

static int report_one(const char *dir, bool json)
{
	struct report *r;
	int res = report_load(&r, dir, json);

	if (res == -ENODATA)
		log_err("%s is not a trace folder: it holds neither a manifest.json of dltraced "
			"nor a .out file with its header", dir);
	else if (res < 0)
		log_err_r(res, "%s: cannot be reported on", dir);
	if (res < 0)
		return res;
	if (json)
		res = report_json(r, stdout);
	else
		report_text(r, stdout);
	report_free(r);
	return res < 0 ? log_err_r(res, "%s: no JSON", dir) : 0;
}

int cmd_report(int argc, char **argv)
{
	struct options o = { 0 };
	int status = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	for (int i = 0; i < o.n_dirs; i++) {
		if (report_one(o.dirs[i], o.json) < 0)
			status = CMD_EXIT_FAILURE;
		else if (!o.json && i + 1 < o.n_dirs)
			putchar('\n');
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		log_err("standard output: %s", strerror(errno));
		status = CMD_EXIT_FAILURE;
	}
	return status;
}
