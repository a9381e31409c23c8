/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace from start to end: the only file that knows the order of things. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>

struct config;

/*
 * Run the trace that CFG describes. ARGV is dltraced's own command line, for the manifest. Returns
 * the exit status for the shell: the workload's own, 128+N, or 125 to 127 (docs/dltraced.8).
 */
int session_run(const struct config *cfg, char **argv);

struct outdir;
struct session;
struct workload_user;

/* What differs by who has asked for the trace. Steps log what failed, and return 0 or an exit status. */
struct session_kind {
	bool remote; /* by way of the service: the workload, its folder and its signals are another process's */
	int (*user)(struct session *s); /* its environment and working directory too */
	int (*command)(struct session *s); /* NULL: nothing is to be known before anything is touched */
	int (*targets)(struct session *s);
	int (*folder)(struct session *s);
	int (*fork)(struct session *s);
	int (*go)(struct session *s); /* the workload, if there is one, runs from here on */
	void (*workload_ended)(struct session *s, int fd); /* FD, its pidfd, is readable */
	void (*tick)(struct session *s); /* each second; NULL: nothing */
	void (*hang_up)(struct session *s); /* who waits for us need not wait for threads that hang; NULL: nobody does */
};

/* The folder that CFG names, by the variables of ENV, as user U. 0, or -errno, which has been said. */
int session_open_folder(struct outdir *d, const struct config *cfg, char *const *env, const struct workload_user *u);

/* As session_run(), of KIND, which finds OF as the session's. */
int session_run_as(const struct session_kind *kind, void *of, const struct config *cfg, char **argv);

#endif
