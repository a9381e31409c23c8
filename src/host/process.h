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

#define PROCESS_TEXT_MAX 65536 /* more than status, stat and cgroup have */
/* The text of /proc/PID/NAME, as by util_read_file(): 0 or -errno, -ENOENT when the process is gone. */
int process_text(pid_t pid, const char *name, size_t max, char **ret, size_t *len_ret);

/*
 * The numbers behind KEY ("\nUid:\t") in the text of /proc/PID/status or its like, up to N of them; how many there are.
 * The kernel escapes newlines in the name above them.
 */
unsigned int process_numbers(const char *text, const char *key, int base, unsigned long long *v, unsigned int n);

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
