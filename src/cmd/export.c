/* SPDX-License-Identifier: BSD-2-Clause */
/* dltraced export: the rows of trace folders in the formats of other programs. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/options.h"
#include "base/similar.h"
#include "cmd/cmd.h"
#include "cmd/export_duckdb.h"
#include "cmd/traces/not_read.h"
#include "export/export.h"
#include "host/stall/proxy.h"

struct options {
	struct export_options export;
	enum { BY_US, PARQUET, DUCKDB } by; /* which program writes it */
};

static const char *set_format(struct option_parse *parse, void *member, char *arg)
{
	struct similar s = similar_to(arg, strlen(arg));
	struct options *options = parse->into;
	const char *help;
	char hint[64];

	if (!strcmp(arg, "parquet"))
		options->by = PARQUET;
	else if (!strcmp(arg, "duckdb"))
		options->by = DUCKDB;
	else
		options->by = BY_US;
	if (options->by != BY_US)
		return NULL;
	*(const struct exporter **)member = export_find(arg);
	if (*(const struct exporter **)member)
		return NULL;
	for (unsigned int i = 0; export_format(i, &help); i++)
		similar_offer(&s, export_format(i, &help));
	similar_offer(&s, "duckdb");
	similar_offer(&s, "parquet");
	char *at = parse->why, *const end = parse->why + sizeof(parse->why);

	at += snprintf(at, sizeof(parse->why), "no such format%s (there are duckdb, parquet",
		       similar_text(&s, "", hint, sizeof(hint)));
	for (unsigned int i = 0; export_format(i, &help) && at < end; i++)
		at += snprintf(at, (size_t)(end - at), ", %s", export_format(i, &help));
	if (at < end)
		snprintf(at, (size_t)(end - at), ")");
	return parse->why;
}

static const char *set_dialect(struct option_parse *p, void *member, char *arg)
{
	if (arg[0] < '1' || arg[0] > '3' || arg[1])
		return "not 1, 2 or 3";
	*(unsigned int *)member = (unsigned int)(arg[0] - '0');
	return NULL;
}

#define TO(m) offsetof(struct options, export.m) /* NOLINT(bugprone-macro-parentheses): a member */

static const struct option_row options[] = {
	{ "format", 'f', "FORMAT", "One of: csv, duckdb, fio, folded, ndjson, parquet, perfetto, pfw, sqlite",
	  set_format, TO(format) },
	{ "output", 'o', "FILE", "The output; - is standard output. A name that ends with .gz is compressed",
	  option_text, TO(out) },
	{ "from", 0, "T",
	  "Only rows from this time on: since the start of the trace (90, 1m30s, 250ms), or UTC (2026-11-27T04:00:00Z)",
	  option_moment, TO(times.from) },
	{ "path", 0, "PATH", "Only calls on files at or below this absolute path", option_text, TO(path) },
	{ "phase", 0, "NAME",
	  "Only rows in this phase of the job, as the report names it: 'epoch 3', epoch, checkpoint", option_text,
	  TO(times.phase) },
	{ "pid", 'p', "PID[,PID]", "Only rows of these processes, in files whose rows have a process", option_pids,
	  TO(pids) },
	{ "probes", 'P', "LIST", "Only these files of the trace, named without .out", option_text, TO(probes) },
	{ "to", 0, "T", "Only rows before this time, which is given as for --from", option_moment, TO(times.to) },
	{ "dialect", 0, "N", "Dialect of pfw: 1, 2 or 3, higher for newer readers (default: 2)", set_dialect,
	  TO(dialect) },
	{ "split", 0, "SIZE", "For perfetto: begin another file at this size (default: 500M)", option_size,
	  TO(split_bytes) },
	{ 0 },
};

static const char *finish(struct option_parse *parse)
{
	const bool by_us = ((struct options *)parse->into)->by == BY_US;
	struct export_options *options = &((struct options *)parse->into)->export;

	options->dirs = parse->args;
	options->n_dirs = parse->n_args;
	if (!options->format && by_us)
		return "which format? Name it with -f";
	if (!options->out)
		return "where to? Name a file with -o, or - for standard output";
	if (!by_us && !strcmp(options->out, "-"))
		return "parquet and duckdb need a file with -o";
	if (options->path && options->path[0] != '/')
		return "--path: not an absolute path";
	return options->n_dirs ? NULL : "which trace folder?";
}

static const struct option_line line = {
	.options = options,
	.args_doc = "DIR...",
	.doc = "Write the rows of a trace in the format of another program; several folders are the hosts of one job. "
	       "A trace may be cut off or still growing. Needs no root.",
	.finish = finish,
};

/* Logs the first of DIRS that is not a folder, for example an archive. Returns whether there is one. */
static bool log_file(char *const *dirs, unsigned int n)
{
	struct stat st;

	for (unsigned int i = 0; i < n; i++)
		if (stat(dirs[i], &st) == 0 && !S_ISDIR(st.st_mode))
			return log_not_read(-ENOTDIR, dirs[i]) < 0;
	return false;
}

int cmd_export(int argc, char **argv)
{
	struct options o = { .export.split_bytes = 500U << 20 };
	struct option_parse p;
	bool foreign = false;
	int status = 0, res;

	options_parse(&line, argc, argv, 0, &p, &o);
	if (proxy_wait(o.export.dirs, o.export.n_dirs, &status))
		return status;
	if (log_file(o.export.dirs, (unsigned int)o.export.n_dirs))
		return EXIT_DLTRACED;
	if (log_newer(o.export.dirs, o.export.n_dirs))
		return EXIT_DLTRACED;
	for (int i = 0; i < o.export.n_dirs; i++)
		foreign |= log_foreign(o.export.dirs[i]);
	if (o.by != BY_US) {
		status = export_duckdb(&o.export, o.by == PARQUET);
		return status || !foreign ? status : EXIT_DAMAGED;
	}
	res = export_run(&o.export);
	if (res < 0)
		return EXIT_DLTRACED;
	return res > 0 || foreign ? EXIT_DAMAGED : 0;
}
