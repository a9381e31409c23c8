/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's options about the job's phases. */
#ifndef REPORT_PHASES_OPTIONS_H
#define REPORT_PHASES_OPTIONS_H

struct applog_rules;

/* How to find the phases of a trace folder's job. */
struct phases_options {
	const char *const *logs; /* from --app-log; in place of the folder's logs */
	unsigned int n_logs;
	const char *zone; /* from --app-log-tz; in place of the host's zone; NULL: none */
	struct applog_rules *rules; /* NULL: none */
	const char *const *steps; /* from --step: the names of regions that end steps; none: the usual ones */
	unsigned int n_steps;
};

#endif
