/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The workload's log, followed as it grows: its lines become rows of workload.out. Drain thread. A relay
 * that may outlive us writes the log, so the file is followed: a line's TIMESTAMP is when the drain found
 * it, at most one period late.
 */
#ifndef DRAIN_LOGTAIL_H
#define DRAIN_LOGTAIL_H

#include <stddef.h>
#include <stdint.h>

#include "dlt/workload.h"

struct decode;

struct logtail {
	int fd; /* -1: no log */
	uint64_t unsure_bytes; /* of the log: the disk may not have them; read by the control plane, relaxed */
	int refused; /* why, -errno */
	size_t len;
	char line[DLT_TEXT_MAX];
};

/* Follow NAME in the folder DIRFD; 0 or -errno. */
int logtail_open(struct logtail *logtail, int dirfd, const char *name);
/* Write rows for new lines; with LAST also for one without its newline. */
void logtail_read(struct logtail *logtail, struct decode *decode, int last);
/* Check whether the disk has refused part of the log. Waits for nothing. */
void logtail_check_disk(struct logtail *t);
/* Write the log to the disk until UNTIL_NS (CLOCK_MONOTONIC); returns the bytes left to the system to write. */
uint64_t logtail_to_disk(struct logtail *logtail, uint64_t until_ns);
void logtail_close(struct logtail *t);

#endif
