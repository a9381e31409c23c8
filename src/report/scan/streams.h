/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs read and write that is no file with data in it: pipes, sockets, terminals, devices,
 * eventfds and the like, summed up by class; and what they print: their output and logs, with how often.
 */
#ifndef REPORT_SCAN_STREAMS_H
#define REPORT_SCAN_STREAMS_H

#include "report/scan/scan.h"
#include "stats/spread.h"

#define REPORT_CLASSES_MAX 64
#define REPORT_LOGS_MAX 4096 /* 9 MiB when full */

struct report_class {
	char name[48]; /* eventfd, pipe, /dev/null ... */
	uint64_t files, calls, time_ns;
	uint64_t reads, writes, read_bytes, write_bytes;
};

/* How one knows that it is output or a log. */
enum report_log_how { REPORT_STDOUT = 1, REPORT_STDERR = 2, REPORT_APPEND = 4, REPORT_LOG_NAME = 8 };

/* What one process writes to one log. */
struct report_log {
	uint64_t pid, fid;
	uint64_t calls, bytes, time_ns;
	uint64_t first_ns, last_ns; /* TIMESTAMP of its writes */
	struct spread *gaps;	    /* between writes, ns; NULL: there was one */
	unsigned int how;
	char *path; /* of those in top */
};

struct report_streams {
	struct report_class classes[REPORT_CLASSES_MAX]; /* the last takes all that find no room */
	unsigned int n_classes;
	struct table logs; /* struct report_log, by report_pair_key() */
	uint64_t left_out; /* writes to logs that are in no sum */
	struct report_log top[REPORT_TOP]; /* those with the most calls; their gaps are the table's */
	unsigned int n_top;
};

struct report_streams *report_streams_new(void);
void report_streams_free(struct report_streams *u);

/* A row of files.out: the class that the file, of TYPE, is of goes into F. */
void report_streams_file(struct scan *s, struct report_file *f);
/* A row of a call: of one that concerns it, on a file that it knows. */
void report_streams_call_of(const struct scan *s, const struct report_call_facts *c);
static inline void report_streams_call(const struct scan *s, const struct report_call_facts *c)
{
	if (c->file && (c->file->stream || c->write)) {
		const struct report_call_facts copy = *c;

		report_streams_call_of(s, &copy);
	}
}
void report_streams_pick(struct report *r);

/* "stdout", or more with a comma between. */
const char *report_log_how(unsigned int how, char buf[48]);
/* Writes in a second, over the time from the first to the last; negative where there was one. */
double report_log_rate(const struct report_log *l);

#endif
