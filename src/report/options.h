/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `dltraced report'. */
#ifndef REPORT_OPTIONS_H
#define REPORT_OPTIONS_H

#include <stdbool.h>

#include "applog/applog.h"
#include "base/moment.h"
#include "report/cpu/cpu.h"
#include "report/memory/memory_map.h"
#include "report/phases/read.h"
#include "report/whatif/whatif.h"

#define REPORT_LOGS_MAX 64U
#define REPORT_STEPS_MAX 16U

struct report_args {
	bool json, cpu, compare;
	bool full; /* all tables, as text */
	bool of_cpu; /* an option was given that needs --cpu */
	bool of_traces; /* one was given that is not for --matrix */
	bool summary_only; /* write a summary beside each trace, and nothing else */
	bool columns; /* print what the tables hold, and nothing else */
	bool rules_only; /* print the rules, and nothing else */
	const char *csv; /* the folder, or NULL */
	const char *html; /* the file, "-" for stdout, or NULL */
	struct moment from, to; /* only rows of this time; as far as given */
	const char *in_phase; /* only rows of this phase; NULL: of all */
	const char *matrix; /* a folder of runs, in place of traces; NULL: none */
	const char *svg; /* the file for a picture, likewise: of MATRIX, or PICTURE */
	char *picture; /* the name of one of a trace; NULL: none */
	struct memory_options memory;
	const char *path; /* only calls on files there; NULL: all calls */
	struct report_cpu_options cpu_options; /* of --cpu */
	const char *logs[REPORT_LOGS_MAX];
	const char *steps[REPORT_STEPS_MAX];
	struct applog_rules rules;
	struct phases_options phases;
	struct whatif_wanted what_if;
	char **dirs; /* the trace folders, or summaries; none: the newest trace */
	int n_dirs;
};

/* Parses the command line; exits after a message when it is wrong. O points into itself and must not be moved. */
void report_args_parse(struct report_args *args, int argc, char **argv);
void report_args_free(struct report_args *o);

#endif
