/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced check`: whether this machine can be traced, and how to get what it lacks. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/options.h"
#include "base/util.h"
#include "check/check.h"
#include "cmd/cmd.h"
#include "os/terminal.h"
#include "trace/outdir.h"

#define EXIT_IMPOSSIBLE 1

struct options {
	struct check check;
	bool json;
};

static const char *set_output(struct option_parse *p, void *member, char *arg)
{
	static const struct outdir_names names = { .experiment = "" };
	char path[PATH_MAX];

	return outdir_expand(arg, &names, path, sizeof(path)) < 0 ? "not a name for a folder" :
								    option_text(p, member, arg);
}

static const struct option_row options[] = {
	{ "buffer", 0, "SIZE", "Memory of the rings, as for start", option_buffer,
	  offsetof(struct options, check.buffer_bytes) },
	{ "json", 'j', NULL, "An array of objects: need, state, found, remedy", option_true,
	  offsetof(struct options, json) },
	{ "min-free", 0, "SIZE", "Disk space to leave, as for start", option_size,
	  offsetof(struct options, check.min_free_bytes) },
	{ "output", 'o', "DIR", "Folder of the trace (default: traces)", set_output,
	  offsetof(struct options, check.out) },
	{ 0 },
};

static const struct option_line line = {
	.options = options,
	.doc = "Check that this machine can be traced: a line for each need, with the remedy where it is not met. "
	       "Run it with sudo, as start: without root it knows less."
	       "\v"
	       "States: ok; note: works, with a restriction; missing: works, without a part of the trace; fail: "
	       "cannot trace.\n"
	       "\n"
	       "Exit status: 0 when tracing is possible, 1 when it is not, 125 when dltraced "
	       "itself failed.",
};

static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb");
}

int cmd_check(int argc, char **argv)
{
	static struct options o = { .check = { .root = "", .min_free_bytes = UINT64_MAX } };
	struct option_parse p;
	int r = 0;

	options_parse(&line, argc, argv, 0, &p, &o);
	util_raise_open_files(); /* as start does */
	check_run(&o.check);
	if (o.json)
		r = check_print_json(&o.check, stdout);
	else
		check_print(&o.check, stdout, terminal_width(STDOUT_FILENO), wants_colour());
	if (r < 0) {
		log_err_r(r, "no JSON");
		return EXIT_DLTRACED;
	}
	return check_possible(&o.check) ? 0 : EXIT_IMPOSSIBLE;
}
