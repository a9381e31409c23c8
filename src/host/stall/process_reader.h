/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader: a process of ours that reads what other processes may hold up, their memory and some of their files in
 * /proc (cmdline, environ, maps, fdinfo). Each of them waits for the lock of the process's memory map, or for a page of
 * it, and a program may keep the one and withhold the other for as long as it likes: with a file system of its own
 * (FUSE) it needs no rights for that. So the reader is asked, and one that does not come back is killed, or left behind
 * where the kernel does not let it go, and another one takes its place. It is a process and no thread, as a process
 * cannot end while a thread hangs in the kernel.
 *
 * One thread at a time asks, and for one look at a time.
 */
#ifndef HOST_STALL_PROCESS_READER_H
#define HOST_STALL_PROCESS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_READER_TEXT_MAX (1 << 20)
#define PROCESS_READER_TEXTS 2
#define PROCESS_READER_NAME_MAX 64

/* What to read of process PID. */
struct process_reader_look {
	pid_t pid;
	char name[PROCESS_READER_TEXTS][PROCESS_READER_NAME_MAX]; /* files of /proc/PID; "": none */
	size_t max[PROCESS_READER_TEXTS]; /* bytes of each, at most PROCESS_READER_TEXT_MAX */
	uint64_t addr; /* or where the first has no name: max[0] bytes of memory, as far as they can be read */
};

/* What was read; of the reader, until the next look. */
struct process_reader_text {
	const char *text; /* with a NUL behind it */
	ssize_t len; /* or -errno, -ENOENT when the process is gone */
};

/*
 * Forks the process from which readers are made: early, as it keeps what this process has then, but descriptors. It
 * calls CONFINE(CTX), which may be NULL, to give up rights. Without this call the first look does it. 0 or -errno.
 */
int process_reader_begin(int (*confine)(void *ctx), void *ctx);
/* Returns whether PID, a child of PPID, is of the reader. */
bool process_reader_is(pid_t pid, pid_t ppid);
/* Returns the process from which readers are made; 0: there is none. */
pid_t process_reader_pid(void);
/* Ends it. */
void process_reader_end(void);

/* Begins a look: 0, or -errno where there can be no reader any more. The last look is forgotten. */
int process_reader_query(const struct process_reader_look *look);
/*
 * Waits for it up to WAIT_MS, -1: to its end or deadline. Returns 0 with TEXTS; -EAGAIN: not yet; -ETIMEDOUT: the
 * process does not answer, and the look is over; -errno. The deadline is a second in which the reader waits in the
 * kernel, and ever shorter, down to 60 ms, where others have not answered before.
 */
int process_reader_answer(int wait_ms, struct process_reader_text texts[PROCESS_READER_TEXTS]);

/* Reads /proc/PID/NAME by a reader, as process_text() does, with a deadline: see process_reader_answer(). */
int process_reader_file(pid_t pid, const char *name, size_t max, char **ret, size_t *len_ret);

#endif
