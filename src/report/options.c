/* SPDX-License-Identifier: BSD-2-Clause */
/* See options.h. */
#include "report/options.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "report/compare.h"
#include "report/phases/zone.h"

enum {
	KEY_CPU = 256, KEY_CSV, KEY_COLUMNS, KEY_MERGE, KEY_PATTERN, KEY_THRESHOLD, KEY_GAP, KEY_HTML, KEY_COMPARE, KEY_PATH, KEY_APP_LOG,
	KEY_APP_LOG_TZ, KEY_PHASE,
};

static const struct argp_option option_table[] = {
	{ "html", KEY_HTML, "FILE", 0,
	  "One page for a browser, with a timeline and all that it needs inside; - is standard output", 0 },
	{ "json", 'j', NULL, 0, "One JSON object: ns, bytes, names as in the .out files", 0 },
	{ "csv", KEY_CSV, "DIR", 0,
	  "Every table also as a CSV file in this folder, which is made; of several traces in one folder each", 0 },
	{ "columns", KEY_COLUMNS, NULL, 0, "Print what the tables of --json and --csv hold, as Markdown; takes no folder", 0 },
	{ "compare", KEY_COMPARE, NULL, 0,
	  "The folders side by side, with ratios to the first; without it several are one job's hosts to --json and --html",
	  0 },
	{ "path", KEY_PATH, "PATH", 0, 
	  "Of calls only those on files at or below this absolute path, a data set for one; as it is or as a report prints it",
	  0 },
	{ "cpu", KEY_CPU, NULL, 0,
	  "CPU time in place of files: who ran, who waited and for what (of traces made with --sched)",
	  1 },
	{ NULL, 0, NULL, 0, "The job's phases:", 3 },
	{ "app-log", KEY_APP_LOG, "FILE", 0,
	  "A log of the job, plain or packed (.gz, .zst), in place of its output in the trace; may be repeated", 3 },
	{ "app-log-tz", KEY_APP_LOG_TZ, "ZONE", 0,
	  "Of times in logs that name no zone: UTC, +02:00, Europe/Berlin (default: the traced host's)", 3 },
	{ "phase", KEY_PHASE, "REGEX=NAME", 0,
	  "Lines of logs that match begin the phase NAME, until the next such or NAME_end; NAME_start begins and "
	  "NAME_end ends one; \\1 is what the first ( ) matched; may be repeated", 3 },
	{ NULL, 0, NULL, 0, "With --cpu:", 2 },
	{ "gap", KEY_GAP, "T", 0, "Tell gaps from this length on (default: 100ms)", 2 },
	{ "merge", KEY_MERGE, "PREFIX[,PREFIX]", 0,
	  "Tasks that are one by how their names begin (default: the kernel's workers; +PREFIX: beside these; none)",
	  2 },
	{ "pattern", KEY_PATTERN, "GLOB[,GLOB]", 0,
	  "Threads to tell the lifespans of (default: " CPU_PATTERN ")", 2 },
	{ "threshold", KEY_THRESHOLD, "PERCENT", 0, "What is below is summed up as `other' (default: 3)", 2 },
	{ 0 },
};

/* "3", "0.5": tenths of a percent. */
static bool parse_permille(const char *arg, unsigned int *ret)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= 0 && v <= 100))
		return false;
	*ret = (unsigned int)(v * 10 + 0.5);
	return true;
}

static bool parse_gap(const char *arg, uint64_t *ret)
{
	static const struct { const char *unit; double ns; } units[] = {
		{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 },
	};
	char *end;
	double v = strtod(arg, &end);

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (end != arg && strcmp(end, units[i].unit) == 0 && v > 0 && v < 1e9) {
			*ret = MAX((uint64_t)(v * units[i].ns), 1);
			return true;
		}
	return false;
}

static error_t parse_cpu_option(int key, char *arg, struct argp_state *state)
{
	struct report_asked *o = state->input;

	switch (key) {
	case KEY_GAP:
		if (!parse_gap(arg, &o->cpu_options.gap_ns))
			argp_error(state, "--gap %s: not a time such as 100ms or 2s", arg);
		break;
	case KEY_MERGE:
		o->cpu_options.merge = arg;
		break;
	case KEY_PATTERN:
		o->cpu_options.pattern = arg;
		break;
	case KEY_THRESHOLD:
		if (!parse_permille(arg, &o->cpu_options.threshold_permille))
			argp_error(state, "--threshold %s: not a percentage from 0 to 100", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	o->of_cpu = true;
	return 0;
}

static void add_log(struct report_asked *o, const char *path, struct argp_state *state)
{
	int fd = util_open_regular(AT_FDCWD, path, 0);

	if (fd < 0)
		argp_error(state, "--app-log %s: %s", path, fd == -EBADMSG ? "not a regular file" : strerror(-fd));
	if (o->phases.n_logs == REPORT_LOGS_MAX)
		argp_error(state, "--app-log: at most %u files", REPORT_LOGS_MAX);
	if (fd >= 0)
		close(fd);
	o->logs[o->phases.n_logs++] = path;
}

static error_t parse_phase_option(int key, char *arg, struct argp_state *state)
{
	struct report_asked *o = state->input;
	char error[256];
	struct zone zone;

	switch (key) {
	case KEY_APP_LOG:
		add_log(o, arg, state);
		return 0;
	case KEY_APP_LOG_TZ:
		if (!zone_parse(&zone, arg))
			argp_error(state, "--app-log-tz %s: not UTC, +02:00 nor a zone that this machine knows", arg);
		o->phases.zone = arg;
		return 0;
	case KEY_PHASE:
		if (applog_add_rule(&o->rules, arg, error, sizeof(error)) < 0)
			argp_error(state, "--phase %s: %s", arg, error);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_asked *o = state->input;

	switch (key) {
	case 'j':
		o->json = true;
		return 0;
	case KEY_CPU:
		o->cpu = true;
		return 0;
	case KEY_HTML:
		if (!arg[0])
			argp_error(state, "--html: the name of the file is empty (- is standard output)");
		o->html = arg;
		return 0;
	case KEY_COMPARE:
		o->compare = true;
		return 0;
	case KEY_CSV:
		if (!arg[0])
			argp_error(state, "--csv: the name of the folder is empty");
		o->csv = arg;
		return 0;
	case KEY_COLUMNS:
		o->columns = true;
		return 0;
	case KEY_PATH:
		if (arg[0] != '/')
			argp_error(state, "--path %s: not an absolute path", arg);
		o->path = arg;
		return 0;
	case ARGP_KEY_ARGS:
		o->dirs = state->argv + state->next;
		o->n_dirs = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (o->columns)
			return 0;
		if (o->html)
			argp_error(state, "which trace folder? %s is taken for the file of --html FILE", o->html);
		argp_error(state, "which trace folder? (dltraced start names it when it ends)");
		return 0;
	case ARGP_KEY_END:
		if (o->of_cpu && !o->cpu)
			argp_error(state, "--gap, --merge, --pattern and --threshold are for --cpu");
		if (o->html && (o->cpu || o->json))
			argp_error(state, "--html goes without --cpu and --json: the page holds the JSON");
		if (o->cpu && (o->compare || o->path))
			argp_error(state, "--compare and --path go without --cpu");
		if (o->compare && o->csv)
			argp_error(state, "--csv goes without --compare");
		if (o->compare && (o->n_dirs < 2 || o->n_dirs > COMPARE_MAX))
			argp_error(state, "--compare takes 2 to %u trace folders", COMPARE_MAX);
		return 0;
	default:
		return parse_phase_option(key, arg, state) == 0 ? 0 : parse_cpu_option(key, arg, state);
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "DIR...",
	.doc = "Sum up trace folders: calls, latencies, files, processes, disks, and what is "
	       "missing. Works on folders that are cut off or still growing, and needs no root."
	       "\vWith --cpu: time by task, process, thread and CPU, phases, gaps, and what threads waited for. "
	       "sched.out does not know the files of a call: which folders a wait for disk goes to is by the "
	       "latencies of the calls that went there.",
};

void report_asked_parse(struct report_asked *o, int argc, char **argv)
{
	*o = (struct report_asked){
		.cpu_options = { .threshold_permille = CPU_THRESHOLD_PERMILLE, .gap_ns = CPU_GAP_NS },
	};
	o->phases.logs = o->logs;
	o->phases.rules = &o->rules;
	o->cpu_options.phases = &o->phases;
	argp_parse(&argp, argc, argv, 0, NULL, o);
}

void report_asked_free(struct report_asked *o)
{
	applog_free_rules(&o->rules);
}
