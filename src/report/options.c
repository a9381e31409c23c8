/* SPDX-License-Identifier: BSD-2-Clause */
/* See options.h. */
#include "report/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/options.h"
#include "base/util.h"
#include "report/compare.h"
#include "report/phases/zone.h"

/* "3", "0.5": tenths of a percent. */
static const char *set_permille(struct option_parse *p, void *member, char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= 0 && v <= 100))
		return "not a percentage from 0 to 100";
	*(unsigned int *)member = (unsigned int)(v * 10 + 0.5);
	return NULL;
}

static const char *set_path(struct option_parse *p, void *member, char *arg)
{
	return arg[0] == '/' ? option_text(p, member, arg) : "not an absolute path";
}

static const char *add_log(struct option_parse *p, void *member, char *path)
{
	struct report_asked *o = p->into;
	autoclose int fd = util_open_regular(AT_FDCWD, path, 0);

	if (fd < 0)
		return fd == -EBADMSG ? "not a regular file" : strerror(-fd);
	if (o->phases.n_logs == REPORT_LOGS_MAX)
		return option_because(p, "at most %u files", REPORT_LOGS_MAX);
	o->logs[o->phases.n_logs++] = path;
	return NULL;
}

static const char *set_zone(struct option_parse *p, void *member, char *arg)
{
	struct zone zone;

	return zone_parse(&zone, arg) ? option_text(p, member, arg) : "not UTC, +02:00 nor a zone that this machine knows";
}

static const char *add_rule(struct option_parse *p, void *member, char *arg)
{
	return applog_add_rule(member, arg, p->why, sizeof(p->why)) < 0 ? p->why : NULL;
}

#define TO(m) offsetof(struct report_asked, m) /* NOLINT(bugprone-macro-parentheses): a member */

enum { OF_CPU = 1 };

static const struct option_row options[] = {
	{ "columns", 0, NULL, "Print what the tables of --json and --csv hold, as Markdown; takes no folder", option_true, TO(columns) },
	{ "compare", 0, NULL,
	  "The folders side by side, with ratios to the first; without it several are one job's hosts to --json and --html",
	  option_true, TO(compare) },
	{ "cpu", 0, NULL, "CPU time in place of files: who ran, who waited and for what", option_true,
	  TO(cpu) },
	{ "csv", 0, "DIR", "Every table also as a CSV file in this folder, which is made; of several traces in one folder each",
	  option_text, TO(csv) },
	{ "full", 0, NULL, "All tables, in place of the first screen", option_true, TO(full) },
	{ "html", 0, "FILE", "One page for a browser, with a timeline and all that it needs inside; - is standard output", option_text,
	  TO(html) },
	{ "json", 'j', NULL, "One JSON object: ns, bytes, names as in the .out files", option_true, TO(json) },
	{ "path", 0, "PATH",
	  "Of calls only those on files at or below this absolute path, a data set for one; as it is or as a report prints it",
	  set_path, TO(path) },
	OPTION_HEADING("With --cpu:"),
	{ "gap", 0, "T", "List gaps from this length on (default: 100ms)", option_duration, TO(cpu_options.gap_ns), OF_CPU },
	{ "merge", 0, "PREFIX[,PREFIX]",
	  "Tasks that are one by how their names begin (default: the kernel's workers; +PREFIX: beside these; none)", option_text,
	  TO(cpu_options.merge), OF_CPU },
	{ "pattern", 0, "GLOB[,GLOB]", "Threads whose lifespans are listed (default: " CPU_PATTERN ")", option_text,
	  TO(cpu_options.pattern), OF_CPU },
	{ "threshold", 0, "PERCENT", "What is below is summed up as `other' (default: 3)", set_permille,
	  TO(cpu_options.threshold_permille), OF_CPU },
	OPTION_HEADING("The job's phases:"),
	{ "app-log", 0, "FILE", "A log of the job, plain or packed (.gz, .zst), in place of its output in the trace; may be repeated",
	  add_log, 0 },
	{ "app-log-tz", 0, "ZONE", "Of times in logs that name no zone: UTC, +02:00, Europe/Berlin (default: the traced host's)",
	  set_zone, TO(phases.zone) },
	{ "phase", 0, "REGEX=NAME",
	  "Lines of logs that match begin the phase NAME, until the next such or NAME_end; NAME_start begins and "
	  "NAME_end ends one, alone since the end before; \\1 is what the first ( ) matched; may be repeated", add_rule, TO(rules) },
	{ 0 },
};

static const char *note_given(struct option_parse *p, const struct option_row *option, char *arg)
{
	((struct report_asked *)p->into)->of_cpu |= option->flags & OF_CPU;
	return NULL;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What they lack or contradict together. */
static const char *finish(struct option_parse *p)
{
	struct report_asked *o = p->into;

	o->dirs = p->args;
	o->n_dirs = p->n_args;
	if (!o->n_dirs && is_folder(o->html))
		return option_because(p, "which trace folder? %s is taken for the file of --html FILE", o->html);
	if (o->of_cpu && !o->cpu)
		return "--gap, --merge, --pattern and --threshold are for --cpu";
	if (o->html && (o->cpu || o->json))
		return "--html goes without --cpu and --json: the page holds the JSON";
	if (o->cpu && (o->compare || o->path))
		return "--compare and --path go without --cpu";
	if (o->compare && o->csv)
		return "--csv goes without --compare";
	if (o->compare && (o->n_dirs < 2 || o->n_dirs > COMPARE_MAX))
		return option_because(p, "--compare takes 2 to %u trace folders", COMPARE_MAX);
	return NULL;
}

static const struct option_line line = {
	.options = options,
	.args_doc = "[DIR...]",
	.doc = "What the job of a trace waited for, and what else is wrong with how it reads and writes: a screen of it, or "
	       "with --full all tables. Without DIR it is the newest trace below ./traces; of a folder that holds traces it "
	       "is a line for each. Works on folders that are cut off or still growing, and needs no root."
	       "\vWith --cpu: time by task, process, thread and CPU, phases, gaps, and what threads waited for. "
	       "sched.out does not know the files of a call: which folders a wait for disk goes to is by the "
	       "latencies of the calls that went there.",
	.given = note_given, .finish = finish,
};

void report_asked_parse(struct report_asked *o, int argc, char **argv)
{
	struct option_parse p;

	*o = (struct report_asked){
		.cpu_options = { .threshold_permille = CPU_THRESHOLD_PERMILLE, .gap_ns = CPU_GAP_NS },
	};
	o->phases.logs = o->logs;
	o->phases.rules = &o->rules;
	o->cpu_options.phases = &o->phases;
	options_parse(&line, argc, argv, 0, &p, o);
}

void report_asked_free(struct report_asked *o)
{
	applog_free_rules(&o->rules);
}
