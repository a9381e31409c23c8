/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a log of the job, plain or packed: passes its lines about phases to the phases, and notes oddities. The first
 * pass only looks for a line about phases within the trace's time. If there is one, the log is read again from its
 * begin; if not, it was written with another clock, or in another run, and is not used. The buffer holds the longest
 * line. Trusts no byte of the log.
 */
#ifndef REPORT_PHASES_LOG_H
#define REPORT_PHASES_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applog/applog.h"

struct phase_reader;

/* A log that is being read; at first, all but NAME is 0. */
struct phase_log {
	const char *name;
	uint64_t entries, broken, untimed; /* lines about phases */
	uint64_t last_ns; /* of its last line with a time */
	uint64_t first_ns; /* of its first line as DLIO writes them */
	uint64_t off_ns; /* the distance to the trace of the first line outside of it */
	bool before, within, behind; /* it has lines from before the trace, within it, after it */
	bool passes; /* its lines go to the phases; false in the first pass */
	bool has_init;
	uint64_t rule_lines[APPLOG_RULES_MAX]; /* lines that each rule matched */
};

/* Takes a line, and changes it. ROW_NS: the TIMESTAMP of the row that has it; 0: it is in a file. */
void phase_log_line(struct phase_reader *reader, struct phase_log *log, char *line, size_t len, uint64_t row_ns);
/* Notes what was odd about LOG, when it has ended. NAMED: by the user, who wants to know when nothing was found. */
void phase_log_note(struct phase_reader *reader, const struct phase_log *log, bool named);
/* Reads all of the file FD (taken over; -errno: it could not be opened, which is noted if it is NAMED). */
void phase_log_read(struct phase_reader *r, int fd, const char *name, bool named);

#endif
