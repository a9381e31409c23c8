/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log of the job, line by line, plain or packed: its lines about phases are told to the phases, and what is odd about
 * it is noted. Read in the reader's buffer of the longest line: up to the first such line of the trace's time, and from
 * the begin again when there is one. A log that has none was written by another clock, or of another run, and nothing of
 * it is told. Trusts no byte of it.
 */
#ifndef REPORT_PHASES_LOG_H
#define REPORT_PHASES_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applog/applog.h"

struct phase_reader;

/* A log on the way; .name set, the rest 0. */
struct phase_log {
	const char *name;
	uint64_t entries, broken, untimed; /* lines about phases */
	uint64_t last_ns;  /* of its last line with a time */
	uint64_t first_ns; /* of its first line as DLIO writes them */
	uint64_t off_ns;   /* the first outside line's distance to the trace */
	bool before, within, behind; /* it has lines of before the trace, of its time, of behind it */
	bool passes; /* its lines go to the phases; else it is only looked at */
	bool has_init;
	uint64_t rule_lines[APPLOG_RULES_MAX]; /* that each rule matched */
};

/* One line of it, which it changes. ROW_NS: the TIMESTAMP of the row that has it, 0 where it is not of one. */
void phase_log_line(struct phase_reader *r, struct phase_log *log, char *line, size_t len, uint64_t row_ns);
/* It has ended: what was odd. NAMED: the user has, and wants to know that nothing was found. */
void phase_log_note(struct phase_reader *r, const struct phase_log *log, bool named);
/* All of the file FD (taken over), or why it could not be opened (-errno), which is noted if it is NAMED. */
void phase_log_read(struct phase_reader *r, int fd, const char *name, bool named);

#endif
