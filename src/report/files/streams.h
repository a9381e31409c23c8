/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and writes of objects without stored data (pipes, sockets, terminals, devices, eventfds and the like), summed
 * up by class; and the output and logs that programs write, with the rates of writing.
 */
#ifndef REPORT_FILES_STREAMS_H
#define REPORT_FILES_STREAMS_H

#include "report/scan/scan.h"
#include "stats/spread.h"

struct report_part;

#define REPORT_CLASSES_MAX 64
#define REPORT_LOGS_MAX 4096 /* 9 MiB when full */

struct report_class {
	char name[48]; /* eventfd, pipe, /dev/null ... */
	uint64_t files, calls, time_ns;
	uint64_t reads, writes, read_bytes, write_bytes;
};

/* Reasons to take a file for output or a log. */
enum report_log_how { REPORT_STDOUT = 1, REPORT_STDERR = 2, REPORT_APPEND = 4, REPORT_LOG_NAME = 8 };

/* The writes of one process to one log. */
struct report_log {
	uint64_t pid, fid;
	uint64_t calls, bytes, time_ns;
	uint64_t first_ns, last_ns; /* TIMESTAMP of its writes */
	struct spread *gaps; /* between writes, ns; NULL: there was one write */
	unsigned int how;
	char *path; /* set in TOP alone */
};

struct report_streams {
	struct report_class classes[REPORT_CLASSES_MAX]; /* the last takes all classes that find no room */
	unsigned int n_classes;
	struct table logs; /* struct report_log, by report_pair_key() */
	uint64_t left_out; /* writes to logs that had no room */
	struct report_log top[REPORT_TOP]; /* those with the most calls; their gaps are the table's */
	unsigned int n_top;
};

/* Sets FILE's class by the current row of files.out. */
void report_streams_file(struct scan *scan, struct report_file *file);
/* Adds a call on a stream or log; report_streams_call() picks out these. */
void report_streams_call_of(const struct scan *scan, const struct report_call_facts *facts);
static inline void report_streams_call(const struct scan *s, const struct report_call_facts *c)
{
	if (c->file && (c->file->stream || c->write)) {
		const struct report_call_facts copy = *c;

		report_streams_call_of(s, &copy);
	}
}

/* Returns the reasons as text, separated by commas: "stdout". */
const char *report_log_how(unsigned int how, char buf[48]);
/* Returns writes per second, from the first to the last; negative when there was one write. */
double report_log_rate(const struct report_log *l);

extern const struct report_part report_streams_part;

#endif
