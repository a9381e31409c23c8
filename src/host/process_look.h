/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A look into /proc at a process that the kernel has reported before: its number may belong to another by now, and the
 * process may run another program, or for another user. A look is at one process, whatever becomes of its number, and
 * its facts count only when the process was the reported one before the look and after it.
 */
#ifndef HOST_PROCESS_LOOK_H
#define HOST_PROCESS_LOOK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The process as it was reported. */
struct process_seen {
	pid_t pid;
	uid_t uid; /* real */
	uint64_t start_ns; /* CLOCK_BOOTTIME */
	uint64_t args_at; /* address of its arguments; 0: not known */
};

struct process_look {
	struct process_seen seen;
	int dir; /* /proc/PID */
};

/*
 * Returns 0, -ENOENT when the process is gone or a zombie, -ESTALE when it is not the one that was seen, or -errno.
 * Where it has not returned 0, the look needs no end.
 */
int process_look_begin(struct process_look *look, const struct process_seen *seen);

/* Reads /proc/PID/NAME, as process_text() does. */
int process_look_text(const struct process_look *l, const char *name, size_t max, char **ret, size_t *len_ret);

/* Returns as the begin does: only after 0 what was read is of the process that was seen. */
int process_look_end(struct process_look *l);

#endif
