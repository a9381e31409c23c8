/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine's processes as /proc shows them. Keeps nothing and knows no target. */
#ifndef HOST_PROCESS_H
#define HOST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid, ppid;
	uint64_t start_ticks; /* since boot: distinguishes two processes that had one number in turn */
	bool kernel; /* a kernel thread */
	char state; /* of its first thread: a letter of proc_pid_stat(5) */
	int threads;
	uint64_t args_at; /* address of its arguments: another one after each exec; 0: not shown to us, or none */
	uint64_t cpu_us; /* user and system, including threads that have ended */
	char comm[16]; /* any bytes */
};

#define PROCESS_TEXT_MAX 65536 /* more than status, stat and cgroup have */
/* Reads /proc/PID/NAME, as by util_read_file(): 0 or -errno, -ENOENT when the process is gone. */
int process_text(pid_t pid, const char *name, size_t max, char **ret, size_t *len_ret);

/*
 * Parses the numbers after KEY ("\nUid:\t") in the text of /proc/PID/status or its like, up to N of them;
 * returns how many there are. The kernel escapes newlines in the name above them.
 */
unsigned int process_numbers(const char *text, const char *key, int base, unsigned long long *v, unsigned int n);

/* Parses TEXT, the stat of process PID, as process_read() does. */
int process_parse(struct process *process, pid_t pid, const char *text);

/* Returns the state of thread TID, a letter of proc_pid_stat(5); 0: it cannot be known. */
char process_state(pid_t tid);

/* Read process PID; 0 or -errno, -ENOENT when it is gone or a zombie. */
int process_read(struct process *p, pid_t pid);

/* Was P, a process or a thread, there at MONO_NS (CLOCK_MONOTONIC) already, so that it is not a later one? */
bool process_is_from(const struct process *p, uint64_t mono_ns);

/*
 * Has PID been killed, or exited, while the kernel holds one of its threads because a file server does not
 * answer? It is still a process, and nothing can end it.
 */
bool process_is_held(pid_t pid);

/* Returns the process that thread TID belongs to, or -errno. */
pid_t process_of_thread(pid_t tid);

/* Lists all processes in a new array, which the caller frees. 0 or -errno. */
int process_list(struct process **ret, size_t *n_ret);

#endif
