/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the parts of functions: functions.c has the thread and detaches, functions_process.c finds what a process
 * has mapped and attaches, functions_library.c finds functions in files. Only the thread uses them.
 */
#ifndef KERNEL_UPROBE_FUNCTIONS_IMPL_H
#define KERNEL_UPROBE_FUNCTIONS_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/uprobe/functions.h"

struct bpf_link;
struct mapping;
struct probe_function;
struct probe_object;

#define PROCESSES_MAX 256 /* at a time */
#define LIBRARIES_MAX 32 /* of all processes, files that have such functions */
#define LIBRARY_FUNCTIONS 16
#define SEEN_MAX 16 /* of a process */
#define LINKS_MAX 768 /* of two descriptors each */
#define LINES_MAX 64

/* A file that has functions of the table. */
struct library {
	dev_t dev;
	ino_t ino;
	int fd;
	unsigned int n;
	struct library_function {
		const struct probe_function *is;
		const struct probe_object *object;
		uint64_t offset;
	} v[LIBRARY_FUNCTIONS];
};

struct attached {
	pid_t pid; /* 0: a free place */
	uint64_t start_ticks;
	uint64_t looked_ns; /* CLOCK_MONOTONIC */
	bool refused; /* it must have no probes */
	unsigned int n_seen, n_ends;
	struct {
		uint32_t major, minor;
		uint64_t ino;
	} seen[SEEN_MAX]; /* mappings that need no second look */
};

struct link {
	struct bpf_link *link;
	pid_t pid;
};

struct functions {
	const struct tracer *t;
	pid_t but;
	int stop_fd, ready_fd, done_fd;
	bool abandoned; /* nobody waits for the thread any more, and T is gone; atomic */
	int ready; /* the result of the beginning */
	char error[256];
	struct library libraries[LIBRARIES_MAX];
	unsigned int n_libraries;
	struct attached processes[PROCESSES_MAX];
	bool full; /* a process has found no place */
	bool began; /* a new process must be a child of one that is here */
	struct link links[LINKS_MAX];
	unsigned int n_links;
	char *lines[LINES_MAX];
	unsigned int n_lines;
	struct functions_counts counts; /* relaxed */
};

/* Ends the thread when nobody waits for it any more. To be called after what may have taken any time. */
void functions_end_if_abandoned(const struct functions *functions);
/* Adds LINE, which it owns, to those of the beginning; NULL: memory was out. */
void functions_add_line(struct functions *functions, char *line);

/* Whether a library of this NAME may have functions of the probes that are loaded. */
bool functions_want(const struct functions *functions, const char *name);
/* Returns the library that process PID has mapped as MAPPING; NULL: there is no room, or it cannot be opened. */
struct library *functions_library(struct functions *functions, pid_t pid, const struct mapping *mapping);

/* Returns the place of process PID, of 0 a free one; NULL: there is none. */
struct attached *functions_process(struct functions *functions, pid_t pid);
/* Takes a process of the target, a new one or one that was here before: attaches to what it has mapped since. */
void functions_meet(void *functions, pid_t pid);

#endif
