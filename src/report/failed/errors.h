/* SPDX-License-Identifier: BSD-2-Clause */
/* The errors of calls that no program expects: what each means, and what is to be done. Pure. */
#ifndef REPORT_FAILED_ERRORS_H
#define REPORT_FAILED_ERRORS_H

#include <stdbool.h>

/* What such an error is about. */
enum failed_subject {
	FAILED_FOLDER, /* the files of a folder: its disk, its quota, its rights */
	FAILED_LIMIT, /* a limit of the process or of the machine, whatever the file */
	FAILED_PEER, /* the other end of a socket */
};

struct failed_error {
	int nr; /* as errno(3) */
	const char *name, *words;
	enum failed_subject subject;
	bool data; /* only of data: programs try what they may not open of the system, and of their packages */
	const char *limit; /* its name; NULL: none */
	const char *verb; /* what the call did, where it has no error number; NULL: it failed */
	const char *advice;
};

/* Returns what is known of error NR; NULL: programs expect it, as ENOENT of a search, or EAGAIN. */
const struct failed_error *failed_error_of(int nr);
/* A write that took less than it was given, without an error. */
extern const struct failed_error failed_short_write;
/* A process or a thread that a limit did not allow: EAGAIN, which other calls mean otherwise. */
extern const struct failed_error failed_no_process;
/* Returns the error NR of a lock of memory (mlock(2), MAP_LOCKED) that a limit has refused; NULL: it is another one. */
const struct failed_error *failed_no_lock(int nr);
bool failed_is_no_lock(const struct failed_error *error);
/* A wait for an answer, or for a connection, which ended when its time was over. */
extern const struct failed_error failed_no_answer;

#endif
