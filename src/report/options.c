/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `dltraced report', as a table for argp. */
#include "report/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/options.h"
#include "base/options_unknown.h"
#include "base/util.h"
#include "report/compare.h"
#include "report/phases/zone.h"

/* Parses "3" or "0.5" as tenths of a percent. */
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

static const char *add_log(struct option_parse *parse, void *member, char *path)
{
	struct report_args *o = parse->into;
	autoclose int fd = util_open_regular(AT_FDCWD, path, 0);

	if (fd < 0)
		return fd == -EBADMSG ? "not a regular file" : strerror(-fd);
	if (o->phases.n_logs == REPORT_LOGS_MAX)
		return option_because(parse, "at most %u files", REPORT_LOGS_MAX);
	o->logs[o->phases.n_logs++] = path;
	return NULL;
}

static const char *add_step(struct option_parse *parse, void *member, char *name)
{
	struct report_args *o = parse->into;

	(void)member;
	if (o->phases.n_steps == REPORT_STEPS_MAX)
		return option_because(parse, "at most %u names", REPORT_STEPS_MAX);
	o->steps[o->phases.n_steps++] = name;
	return NULL;
}

static const char *set_zone(struct option_parse *p, void *member, char *arg)
{
	struct zone zone;

	return zone_parse(&zone, arg) ? option_text(p, member, arg) :
					"not UTC, not +02:00, and not a zone that this machine knows";
}

static const char *add_what_if(struct option_parse *p, void *member, char *arg)
{
	struct whatif_wanted *wanted = member;
	const char *wrong;

	if (wanted->n == WHATIF_WANTED_MAX)
		return option_because(p, "at most %u times", WHATIF_WANTED_MAX);
	wrong = whatif_change_parse(&wanted->change[wanted->n], arg, p->why, sizeof(p->why));
	wanted->n += !wrong;
	return wrong;
}

/* REGEX=NAME declares a phase, a name alone selects one. */
static const char *set_phase(struct option_parse *p, void *member, char *arg)
{
	struct report_args *args = p->into;

	if (strchr(arg, '='))
		return applog_add_rule(member, arg, p->why, sizeof(p->why)) < 0 ? p->why : NULL;
	if (args->in_phase)
		return "only one phase can be looked at";
	return option_text(p, &args->in_phase, arg);
}

/* Parses "0x1000-0x2000". */
static const char *set_range(struct option_parse *parse, void *member, char *arg)
{
	struct memory_options *o = member;
	char *end;

	errno = 0;
	o->from = strtoull(arg, &end, 0);
	if (*end != '-' || end == arg || arg[0] == '-')
		return "not a range of addresses, such as 0x7f0000000000-0x7f0000100000";
	arg = end + 1;
	o->to = strtoull(arg, &end, 0);
	return *end || end == arg || *arg == '-' || errno || o->to <= o->from ?
		       "not a range of addresses, the smaller one first" :
		       NULL;
}

static const char *set_block(struct option_parse *p, void *member, char *arg)
{
	const char *wrong = option_size(p, member, arg);
	const uint64_t size = *(uint64_t *)member;

	if (wrong)
		return wrong;
	return size < 4096 || (size & (size - 1)) ? "not a power of two from 4K on" : NULL;
}

#define TO(m) offsetof(struct report_args, m) /* NOLINT(bugprone-macro-parentheses): a member */

/* FILE with --matrix, else a picture and its parts */
static const char *set_svg(struct option_parse *p, void *member, char *arg)
{
	static const struct option_row parts[] = { { "bin", 0, "T", NULL, option_duration, TO(memory.bin_ns) },
						   { "block", 0, "SIZE", NULL, set_block, TO(memory.block_bytes) },
						   { "borderless", 0, "BOOL", NULL, option_bool,
						     TO(memory.borderless) },
						   { "min", 0, "SIZE", NULL, option_size, TO(memory.min_bytes) },
						   { "range", 0, "A-B", NULL, set_range, TO(memory) },
						   { 0 } };
	struct report_args *args = p->into;

	args->svg = arg;
	free(args->picture);
	return option_parts(p, parts, arg, &args->picture);
}

enum { OF_CPU = 1, OF_MATRIX = 2 /* may be given with --matrix */ };

static const struct option_row options[] = {
	{ "columns", 0, NULL, "List the columns of --json and --csv, as Markdown; takes no folder", option_true,
	  TO(columns) },
	{ "compare", 0, NULL,
	  "Show the folders side by side, with ratios to the first; without this option several folders are the hosts "
	  "of one job",
	  option_true, TO(compare) },
	{ "cpu", 0, NULL, "Report CPU time instead of files: which tasks ran, which waited, and for what", option_true,
	  TO(cpu) },
	{ "csv", 0, "DIR",
	  "Also write each table as a CSV file into this new folder; for several traces into one folder each",
	  option_text, TO(csv), OF_MATRIX },
	{ "from", 0, "T",
	  "Only rows from this time on: since the start of the trace (90, 1m30s, 250ms), or UTC (2026-11-27T04:00:00Z)",
	  option_moment, TO(from) },
	{ "full", 0, NULL, "All tables instead of the first screen", option_true, TO(full) },
	{ "html", 0, "FILE", "Write one page for a browser, with a timeline; it needs no network; - is standard output",
	  option_text, TO(html) },
	{ "json", 'j', NULL, "Print one JSON object, times in ns and sizes in bytes", option_true, TO(json),
	  OF_MATRIX },
	{ "matrix", 0, "DIR",
	  "Compare the runs of scripts/recipes/matrix in DIR: a list, statistics, what tracing costs; takes no other "
	  "folder",
	  option_text, TO(matrix), OF_MATRIX },
	{ "path", 0, "PATH",
	  "Only calls on files at or below this absolute path, for example a data set; as it is or as a report prints "
	  "it",
	  set_path, TO(path) },
	{ "rules", 0, NULL, "List the rules of the answer and the findings, as Markdown; takes no folder", option_true,
	  TO(rules_only) },
	{ "summary-only", 0, NULL,
	  "Write only DIR/summary.json, a small file of sums; `report' adds up those of several hosts without reading "
	  "rows",
	  option_true, TO(summary_only) },
	{ "svg", 0, "memory[,KEY=V] FILE",
	  "Write a picture of memory over time, by address, instead of the report; bin=T and block=SIZE: of a cell; "
	  "min=SIZE: the least allocated block with a frame (4K); borderless=yes; range=A-B: addresses. With --matrix, "
	  "--svg FILE also writes one of the times and of what tracing costs. - is standard output, instead of the "
	  "report",
	  set_svg, 0, OF_MATRIX },
	{ "to", 0, "T", "Only rows before this time, which is given as for --from", option_moment, TO(to) },
	{ "what-if", 0, "CHANGE[,CHANGE]",
	  "Also predict what the longest epoch of a PyTorch DataLoader would take with these changes at once: cached, "
	  "checkpoint=async|none, cpus=N, decode=Kx, latency=T, prefetch=N, quota=none, ready, storage=Kx, workers=N. "
	  "May be repeated",
	  add_what_if, TO(what_if) },
	OPTION_HEADING("With --cpu:"),
	{ "gap", 0, "T", "List gaps at least this long (default: 100ms)", option_duration, TO(cpu_options.gap_ns),
	  OF_CPU },
	{ "merge", 0, "PREFIX[,PREFIX]",
	  "Sum up tasks whose names begin with PREFIX (default: the kernel's workers; +PREFIX: these, too; none)",
	  option_text, TO(cpu_options.merge), OF_CPU },
	{ "pattern", 0, "GLOB[,GLOB]", "List the lifespans of these threads (default: " CPU_PATTERN ")", option_text,
	  TO(cpu_options.pattern), OF_CPU },
	{ "threshold", 0, "PERCENT", "Sum up tasks below this share as `other' (default: 3)", set_permille,
	  TO(cpu_options.threshold_permille), OF_CPU },
	OPTION_HEADING("The job's phases:"),
	{ "app-log", 0, "FILE",
	  "Read the phases from this log, plain or compressed (.gz, .zst), instead of the output in the trace, or "
	  "regions from this .pfw of DFTracer; may be repeated",
	  add_log, 0 },
	{ "app-log-tz", 0, "ZONE",
	  "Zone of times in logs without one: UTC, +02:00, Europe/Berlin (default: the traced host's)", set_zone,
	  TO(phases.zone) },
	{ "phase", 0, "NAME|REGEX=NAME",
	  "NAME: only rows in this phase, as the report names it: 'epoch 2', training. REGEX=NAME: a matching line of "
	  "a log begins the phase NAME, which ends at the next such line or at NAME_end. NAME_start "
	  "begins and NAME_end ends a phase; where nothing begins it, it began at the end before. \\1 is the text of "
	  "the first ( ). May be repeated",
	  set_phase, TO(rules) },
	{ "step", 0, "NAME",
	  "A region of this name, as NAME or CATEGORY.NAME in any case, ends a step, in place of those whose names end "
	  "in "
	  "step or compute. May be repeated",
	  add_step, 0 },
	{ 0 },
};

static const struct option_gone gone[] = {
	{ "borderless", "--svg memory,borderless=yes FILE" }, { "mem-bin", "--svg memory,bin=T FILE" },
	{ "mem-block", "--svg memory,block=SIZE FILE" },      { "mem-min", "--svg memory,min=SIZE FILE" },
	{ "mem-range", "--svg memory,range=A-B FILE" },       { 0 },
};

static const char *note_given(struct option_parse *p, const struct option_row *option, char *arg)
{
	struct report_args *o = p->into;

	o->of_cpu |= option->flags & OF_CPU;
	o->of_traces |= !(option->flags & OF_MATRIX);
	return NULL;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Takes the file of --svg NAME out of the arguments: the first one that is no folder. */
static const char *find_picture(struct option_parse *parse, struct report_args *args)
{
	int i = 0;

	while (i < args->n_dirs && is_folder(args->dirs[i]))
		i++;
	if (i == args->n_dirs)
		return option_because(
			parse, "which file? --svg takes the name of a picture, memory, and a file: --svg memory FILE");
	args->svg = args->dirs[i];
	memmove(&args->dirs[i], &args->dirs[i + 1], (size_t)(args->n_dirs - i - 1) * sizeof(*args->dirs));
	args->n_dirs--;
	if (args->html || args->json || args->csv || args->cpu || args->compare || args->full || args->path ||
	    args->summary_only || args->n_dirs > 1)
		return "--svg takes one trace folder, and can be combined with --from, --to and options of phases only";
	return NULL;
}

/* Checks that options are given with those that they need. */
static const char *finish(struct option_parse *parse)
{
	struct report_args *args = parse->into;
	const char *wrong;

	args->dirs = parse->args;
	args->n_dirs = parse->n_args;
	if (!args->n_dirs && is_folder(args->html))
		return option_because(parse, "which trace folder? %s is the file of --html FILE", args->html);
	wrong = args->picture && !args->matrix ? find_picture(parse, args) : NULL;
	if (wrong)
		return wrong;
	if (args->matrix && (args->n_dirs || args->of_traces))
		return "--matrix takes a folder of its own, and can be combined with --csv, --json and --svg only";
	if (args->of_cpu && !args->cpu)
		return "--gap, --merge, --pattern and --threshold are for --cpu";
	if (args->html && (args->cpu || args->json))
		return "--html cannot be combined with --cpu or --json: the page holds the JSON";
	if (args->cpu && (args->compare || args->path))
		return "--compare and --path cannot be combined with --cpu";
	if (args->summary_only && (args->html || args->json || args->csv || args->cpu || args->compare || args->full))
		return "--summary-only cannot be combined with --compare, --cpu, --csv, --full, --html or --json";
	if (args->what_if.n && (args->cpu || args->compare || args->path || args->summary_only))
		return "--what-if cannot be combined with --compare, --cpu, --path or --summary-only";
	if (args->compare && args->csv)
		return "--csv cannot be combined with --compare";
	if (args->compare && (args->n_dirs < 2 || args->n_dirs > COMPARE_MAX))
		return option_because(parse, "--compare takes 2 to %u trace folders", COMPARE_MAX);
	return NULL;
}

static const struct option_line line = {
	.options = options,
	.gone = gone,
	.args_doc = "[DIR|FILE...]",
	.doc = "Print what the job of a trace waited for, and what else is wrong with its reads and writes: one "
	       "screen, or with --full all tables. The default DIR is the newest trace below ./traces. With a folder "
	       "of traces it prints a line for each. FILEs are summaries of the hosts of one job, made by "
	       "--summary-only. A trace may be cut off or still growing. Needs no root.\vWith --cpu: time by task, "
	       "process, thread and CPU, phases, gaps, and what threads waited for. sched.out does not know the files "
	       "of a call: a wait for a disk is divided among folders by the latencies of the calls on their files.",
	.given = note_given,
	.finish = finish,
};

void report_args_parse(struct report_args *args, int argc, char **argv)
{
	struct option_parse p;

	*args = (struct report_args){
		.cpu_options = { .threshold_permille = CPU_THRESHOLD_PERMILLE, .gap_ns = CPU_GAP_NS },
	};
	args->phases.logs = args->logs;
	args->phases.steps = args->steps;
	args->phases.rules = &args->rules;
	args->cpu_options.phases = &args->phases;
	options_parse(&line, argc, argv, 0, &p, args);
}

void report_args_free(struct report_args *o)
{
	applog_free_rules(&o->rules);
	free(o->picture);
}
