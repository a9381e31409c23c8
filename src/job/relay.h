/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log relay: a process between the workload's output and the output's original destination, which also
 * writes it to the log. It lives until the last writer has gone, even when dltraced ends earlier.
 */
#ifndef JOB_RELAY_H
#define JOB_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct workload_user;

/* Its account of the log, while it runs and after: memory that it shares with us. Relaxed loads. */
struct relay_log {
	uint64_t written_bytes;
	uint64_t lost_bytes; /* of the workload's output, that are not in the log */
	int error; /* why the last of them were lost: -errno; 0: --min-free */
	/* written by us */
	uint64_t min_free;
	bool ended;
};

struct relay {
	pid_t pid; /* 0: none */
	int pidfd; /* readable once all output is in the log, and passed on */
	int request_fd; /* a byte asks whether the output so far has been taken; it comes back as the answer */
	uint8_t question;
	struct relay_log *log;
};

#define RELAY_NONE                            \
	{                                     \
		.pidfd = -1, .request_fd = -1 \
	}

/*
 * Fork the relay, as user USER, between our stdout and stderr and the two new ENDS (close-on-exec), which the
 * workload uses as its own: a pty where ours was a terminal, else a pipe. It ends when every copy of ENDS
 * is closed; it closes its own side of one when the destination has gone, so that writers get the error
 * that they would get without it. 0 or -errno; on failure nothing is left behind.
 */
int relay_start(struct relay *relay, const struct workload_user *user, int log_fd, int ends[2]);

/* Leave BYTES of the log's file system free (SPACE_DEFAULT, see space.h); 0, as at the start: none. */
void relay_keep_free(struct relay *r, uint64_t bytes);

/* The log has been removed: write no more to it, which would take space for nothing. Counts nothing. */
void relay_end_log(struct relay *r);

/*
 * Wait until all output written to ENDS so far is in the log and passed on, even while more is written: 0,
 * -ETIMEDOUT (the destination takes no more) or -errno.
 */
int relay_await(struct relay *relay, int timeout_ms);

/* Forget it, whether it has ended or goes on without us. Fine with none. */
void relay_free(struct relay *r);

/*
 * backlog.c: the relay's queue of output for the log, up to 1 MiB, and the thread that writes it. A slow
 * log holds up the job's output; one that takes nothing for a second does not: output without room then
 * counts as lost, until the log takes data again. Into the file FD, whose account is LOG; once, in a
 * process that has one thread so far. 0 or -errno.
 */
int backlog_start(int fd, struct relay_log *log);
void backlog_put(const char *text, size_t len);
/* Wait until all is written, for TIMEOUT_MS at most; -1: without a limit. */
void backlog_await(int timeout_ms);

#endif
