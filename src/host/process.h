/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine's processes as /proc tells of them. Keeps nothing and knows no target. */
#ifndef HOST_PROCESS_H
#define HOST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid, ppid;
	uint64_t start_ticks; /* since boot: tells two lives of one number apart */
	bool kernel;	      /* a kernel thread */
	uint64_t cpu_us;      /* user and system, of threads that have ended too */
	char comm[16];	      /* any bytes */
};

/* Read process PID; 0 or -errno, -ENOENT when it is gone or a zombie. */
int process_read(struct process *p, pid_t pid);

/* Whether the process that has the number PID now had it at MONO_NS (CLOCK_MONOTONIC) already: it is not another. */
bool process_was(pid_t pid, uint64_t mono_ns);

/*
 * Whether PID has been killed, or has left, and the kernel holds one of its threads, for a file server that does not
 * answer: it is a process yet, and nobody can end it.
 */
bool process_is_held(pid_t pid);

/* The process that thread TID belongs to, or -errno. */
pid_t process_of_thread(pid_t tid);

/* All processes in a new array, which the caller frees. 0 or -errno. */
int process_list(struct process **ret, size_t *n_ret);

#endif
