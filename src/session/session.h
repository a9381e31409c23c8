/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace from start to end. Only this room knows the order of the steps. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>

struct config;

/*
 * Runs the trace that CFG describes. ARGV is dltraced's own command line, for the manifest. Returns the exit status for
 * the shell: the workload's own, 128+N, or 125 to 127 (docs/dltraced.8).
 */
int session_run(const struct config *cfg, char **argv);

struct outdir;
struct session;
struct workload_user;

/*
 * The differences between a caller's own trace and one through the service. Steps log errors, and return 0 or an exit
 * status.
 */
struct session_kind {
	bool remote; /* through the service: another process has the workload, its folder and its signals */
	int (*user)(struct session *s); /* sets environment and working directory, too */
	int (*command)(struct session *s); /* NULL: no checks before anything is touched */
	int (*targets)(struct session *s);
	int (*folder)(struct session *s);
	int (*fork)(struct session *s);
	int (*go)(struct session *s); /* lets the workload run, if there is one */
	void (*workload_ended)(struct session *s, int fd); /* FD, its pidfd, is readable */
	void (*tick)(struct session *s); /* each second; NULL: nothing */
	void (*hang_up)(
		struct session *s); /* when threads hang, releases a process that waits for us; NULL: none waits */
};

/* Opens the folder that CFG names, as user USER. ENV has the variables for its name. Returns 0, or -errno after a
 * message. */
int session_open_folder(struct outdir *outdir, const struct config *cfg, char *const *env,
			const struct workload_user *user);

/* Runs a trace of KIND, as session_run() does. OF is the kind's own data. */
int session_run_as(const struct session_kind *kind, void *of, const struct config *cfg, char **argv);

#endif
