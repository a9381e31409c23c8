/* SPDX-License-Identifier: BSD-2-Clause */
/* What a user says of where the job's phases are to be found. */
#ifndef REPORT_PHASES_OPTIONS_H
#define REPORT_PHASES_OPTIONS_H

struct applog_rules;

/* How to find the phases of a trace folder's job. */
struct phases_options {
	const char *const *logs; /* of --app-log, in place of what the folder has */
	unsigned int n_logs;
	const char *zone; /* of --app-log-tz, in place of the host's; NULL */
	struct applog_rules *rules; /* NULL: none */
};

#endif
