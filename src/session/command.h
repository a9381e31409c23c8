/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of a start that concern its command and its folder, whether it traces by itself or through the service.
 * Steps log errors and return 0 or an exit status.
 */
#ifndef SESSION_COMMAND_H
#define SESSION_COMMAND_H

#include <stdbool.h>

struct config;
struct outdir;
struct workload;
struct workload_user;

/*
 * Blocks the signals that a trace handles, except SIGHUP under nohup(1), and ignores SIGPIPE. Returns a signalfd, or
 * -errno.
 */
int command_signals(void);

/* Checks that USER's command can be found and executed, and logs where sudo has changed which program that is. */
int command_look(const struct config *cfg, const struct workload_user *user);

/*
 * Forks the command as USER, with --log into a new file of DIR, whose descriptor goes to LOG_FD. The child waits at its
 * gate.
 */
int command_fork(struct workload *workload, const struct config *cfg, const struct workload_user *user,
		 const struct outdir *dir, int *log_fd);

/* Opens the gate. U is the user of command_fork(). */
int command_go(struct workload *w, const struct config *cfg, const struct workload_user *u);

/* Most commands end within this time after ^C or TERM; then dltraced prints how to end the trace. */
#define COMMAND_GOES_ON_S 3
void command_log_goes_on(void);

/*
 * Logs that WORKLOAD was stopped, as by ^Z, and how to let it go on: it would seem to hang, and the time counts as a
 * wait. Logs when it goes on, too.
 */
void command_log_stops(struct workload *workload);

struct command_interrupts {
	unsigned int n; /* ^C and TERM */
	int signal; /* the signal that ended the trace before the workload; 0: none */
};

/*
 * Takes a signal from FD and passes it on to W, unless it has reached W through the terminal. The signal ends the trace
 * instead where W does not run, where W is REMOTE, and on the second ^C or TERM: then I keeps it, and true is returned.
 */
bool command_signalled(struct workload *w, int fd, bool remote, struct command_interrupts *i);

/*
 * Runs --collect, the archive and, for a WHOLE trace, prints the answer. If the disk does not answer, the process exits
 * with CODE.
 */
void command_finish(const struct config *cfg, const struct workload_user *user, const struct outdir *dir, int code,
		    bool whole);

#endif
