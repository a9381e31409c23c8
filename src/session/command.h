/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a start does with its command and its folder, whether it traces by itself or has the service do it. Steps log what
 * failed and return 0 or an exit status.
 */
#ifndef SESSION_COMMAND_H
#define SESSION_COMMAND_H

#include <stdbool.h>

struct config;
struct outdir;
struct workload;
struct workload_user;

/* Blocks the signals that a trace takes, but SIGHUP under nohup(1), and ignores SIGPIPE. A signalfd, or -errno. */
int command_signals(void);

/* Everything about the command of U that can be known before anything is touched; what sudo has done to it is said. */
int command_look(const struct config *cfg, const struct workload_user *u);

/* Forks the command as U, with --log into a new file of DIR, whose descriptor goes to LOG_FD. It waits at its gate. */
int command_fork(struct workload *w, const struct config *cfg, const struct workload_user *u, const struct outdir *dir,
		 int *log_fd);

/* Lets it go. */
int command_go(struct workload *w, const struct config *cfg);

/* The exit status of R, with which a command could not be found or executed; 0 where it could. */
int command_exit_code(int r);

/* Nobody has seen an end so long after ^C or TERM, which most have by then. */
#define COMMAND_GOES_ON_S 3
void command_say_it_goes_on(void);

struct command_interrupts {
	unsigned int n; /* ^C and TERM */
	int signal;	/* that ended it before the workload did */
};

/*
 * A signal, from FD: passed on to W, unless it has reached W through the terminal. Where W does not run, or is REMOTE, or on
 * the second ^C or TERM it is noted in I, as what ends the trace. Whether it is that.
 */
bool command_signalled(struct workload *w, int fd, bool remote, struct command_interrupts *i);

/* --collect, --archive and, of a trace that is WHOLE, what it says. CODE is what we exit with should the disk not answer. */
void command_finish(const struct config *cfg, const struct workload_user *u, const struct outdir *dir, int code, bool whole);

#endif
