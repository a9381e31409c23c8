/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ended a wait, by its columns in waits.out, or in a row of sched.out: a thread of the job, which is looked at in
 * its place, or else a leaf.
 */
#ifndef REPORT_PATH_WAITS_ENDERS_H
#define REPORT_PATH_WAITS_ENDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/path/sums/leaf.h"
#include "report/path/waits/calls.h"
#include "trace/reader.h"

/* STATE */
enum path_state { PATH_ASLEEP, PATH_BLOCKED, PATH_FOR_DISK, PATH_CAN_RUN, PATH_QUOTA };

/* BY */
enum path_by {
	PATH_BY_UNKNOWN,
	PATH_BY_DISK,
	PATH_BY_END,
	PATH_BY_EXIT,
	PATH_BY_INTERRUPT,
	PATH_BY_KERNEL,
	PATH_BY_NET,
	PATH_BY_SIGNAL,
	PATH_BY_THREAD,
	PATH_BY_TIMER,
};

/* What FID stands for. */
enum path_file {
	PATH_NO_FILE, /* none, or one that is not open yet */
	PATH_FUSE_FILE, /* likewise, of a job that has files of FUSE */
	PATH_ANY_FILE,
	PATH_STORED_FILE,
	PATH_TERMINAL_FILE,
	PATH_DEVICE_FILE,
	PATH_PIPE_FILE,
	PATH_SOCKET_FILE
};

/* The call in which a thread ended it, as far as that, or its name, shows what it had in its hands. */
enum path_by_call {
	PATH_BY_ANY_CALL, /* another one, or not known */
	PATH_BY_CONTROL, /* ioctl: an answer to a notification (userfaultfd, seccomp) */
	PATH_BY_GIVING_BACK, /* fcntl, close: a lease */
	PATH_BY_AUDIT, /* none: the kernel's thread that takes the records of audit(8) from a full queue */
};

struct path_ender {
	uint32_t life; /* the thread of the job that ended the wait; 0: none */
	uint32_t call_name, file_name; /* names; 0: none */
	uint32_t
		other; /* likewise, of the thread that ended it; of the remote end where a packet or an interrupt did */
	uint8_t call; /* index of its facts */
	uint8_t state, file; /* enum path_state, path_file */
	uint8_t by : 4, by_call : 4; /* enum path_by, path_by_call */
	bool outside; /* the thread that ended it is not of the job */
	bool again; /* a timer ended it, and it began again at once */
	bool after; /* it is such a wait that began again */
	bool gil; /* it is one in turns of Python's lock, or the last of them */
};

enum path_state path_state_of(struct reader_field state);
enum path_by path_by_of(struct reader_field by);
enum path_by_call path_by_call_of(struct reader_field call);

/* Whether the thread could run all the time. */
static inline bool path_ender_can_run(const struct path_ender *e)
{
	return e->state >= PATH_CAN_RUN;
}

/* Whether a signal ended a wait that was not for one: what it was for is not known. */
bool path_ender_is_interrupted(const struct path_ender *e);

/* Whether it was for a lease on a file, which its holder gave back before the file was opened (F_SETLEASE). */
bool path_ender_is_lease(const struct path_ender *e);

/* Returns the leaf for the wait OWN, which ended as LAST did, and not by a thread of the job. Not of whom it is. */
struct path_leaf path_ender_leaf(const struct path_ender *own, const struct path_ender *last);

#endif
