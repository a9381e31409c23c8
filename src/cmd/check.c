/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced check`: can this machine be traced, and what to do about what it lacks. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/util.h"
#include "check/check.h"
#include "cmd/cmd.h"
#include "trace/config.h"
#include "trace/outdir.h"

#define WIDTH_MAX 100U
#define WIDTH_MIN 60U
#define EXIT_IMPOSSIBLE 1
#define BUFFER_MIN_BYTES 4096

enum { KEY_BUFFER = 0x100, KEY_MIN_FREE };

struct options {
	struct check check;
	bool json;
};

static const struct argp_option option_table[] = {
	{ "buffer", KEY_BUFFER, "SIZE", 0, "Memory of the rings, as for start", 0 },
	{ "json", 'j', NULL, 0, "An array of objects: need, state, found, remedy", 0 },
	{ "min-free", KEY_MIN_FREE, "SIZE", 0, "Space to leave, as for start", 0 },
	{ "output", 'o', "DIR", 0, "Where the trace will be (default: traces)", 0 },
	{ 0 },
};

static void parse_size(struct argp_state *state, const char *name, const char *arg, uint64_t *ret)
{
	if (config_parse_size(arg, ret) < 0)
		argp_error(state, "--%s '%s': not a size (4096, 64K, 2M, 1G)", name, arg);
}

static void parse_output(struct argp_state *state, const char *arg, const char **ret)
{
	static const struct outdir_names names = { .experiment = "" };
	char path[PATH_MAX];

	if (outdir_expand(arg, &names, path, sizeof(path)) < 0)
		argp_error(state, "--output '%s': not a name for a folder", arg);
	*ret = arg;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'j':
		o->json = true;
		return 0;
	case 'o':
		parse_output(state, arg, &o->check.out);
		return 0;
	case KEY_BUFFER:
		parse_size(state, "buffer", arg, &o->check.buffer_bytes);
		if (o->check.buffer_bytes < BUFFER_MIN_BYTES)
			argp_error(state, "--buffer '%s': less than a page (4K)", arg);
		return 0;
	case KEY_MIN_FREE:
		parse_size(state, "min-free", arg, &o->check.min_free_bytes);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.doc = "Can this machine be traced? One line for each need, and what to do about it. Run "
	       "it as start will be, with sudo: without root it says less."
	       "\v"
	       "States: ok; note: works, but; missing: works without, something is lost; fail: "
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

static unsigned int width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return WIDTH_MAX;
	return MAX(MIN((unsigned int)size.ws_col, WIDTH_MAX), WIDTH_MIN);
}

int cmd_check(int argc, char **argv)
{
	struct options o = { .check = { .root = "", .min_free_bytes = UINT64_MAX } };
	int r = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	/* the trial file may be more than ulimit -f allows: that is to be an error, not our end */
	signal(SIGXFSZ, SIG_IGN);
	util_raise_open_files(); /* as start does */
	check_run(&o.check);
	if (o.json)
		r = check_print_json(&o.check, stdout);
	else
		check_print(&o.check, stdout, width(), wants_colour());
	if (r < 0) {
		log_err_r(r, "no JSON");
		return EXIT_DLTRACED;
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		log_err("standard output: %s", strerror(errno));
		return EXIT_DLTRACED;
	}
	return check_possible(&o.check) ? 0 : EXIT_IMPOSSIBLE;
}
