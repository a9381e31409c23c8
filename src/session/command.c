/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/util.h"
#include "host/exec_error.h"
#include "host/machine/space.h"
#include "host/path_search.h"
#include "host/rights/privileges.h"
#include "host/rights/workload_user.h"
#include "host/stall/guard.h"
#include "job/collect.h"
#include "job/workload.h"
#include "os/env.h"
#include "trace/config.h"
#include "trace/outdir.h"

int command_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	struct sigaction hup;
	sigset_t mask;
	int fd;

	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&mask, signals[i]);
	/* nohup(1): an ignored signal that is not blocked stays ignored */
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler == SIG_IGN)
		sigdelset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/*
 * Logs why the command could not be found or executed, and returns its exit status. With its user's rights, since the
 * file is read, and what keeps that user from it is the reason.
 */
static int cannot_execute(const char *name, const struct workload_user *user, int r)
{
	const char *path_entry = env_find(user->environ ? user->environ : environ, "PATH=");
	char why[2 * PATH_MAX];

	stall_guard_begin(name, STALL_GUARD_BY_SIGNAL);
	if (privileges_as_user(user) == 0)
		exec_error_text(name, path_entry ? path_entry + strlen("PATH=") : NULL, r, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "%s", strerror(-r));
	privileges_as_root();
	stall_guard_end();
	log_err("%.*s: %s", NAME_MAX, *name ? name : "''", why);
	return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

int command_look(const struct config *cfg, const struct workload_user *user)
{
	const char *path_entry = env_find(user->environ ? user->environ : environ, "PATH=");
	char path[4096], ours[4096];
	int r;

	if (user->lacks)
		log_warn("%s", user->lacks);
	if (!cfg->argv)
		return 0;
	stall_guard_begin(cfg->argv[0], STALL_GUARD_BY_SIGNAL);
	r = privileges_as_user(user);
	if (r == 0)
		r = path_search(cfg->argv[0], path_entry ? path_entry + strlen("PATH=") : NULL, path, sizeof(path));
	privileges_as_root();
	stall_guard_end();
	if (r < 0)
		return cannot_execute(cfg->argv[0], user, r);
	if (user->sudo && !path_search(cfg->argv[0], getenv("PATH"), ours, sizeof(ours)) && strcmp(path, ours))
		log_info("%s is %s, as in %s's PATH (root's has %s)", cfg->argv[0], path, user->name, ours);
	return 0;
}

int command_fork(struct workload *workload, const struct config *cfg, const struct workload_user *user,
		 const struct outdir *dir, int *log_fd)
{
	struct space space = {};
	int r;

	if (cfg->log) {
		stall_guard_begin(dir->path, STALL_GUARD_BY_SIGNAL);
		r = privileges_as_user(user);
		if (r < 0)
			log_debug("files are made as root: %s", strerror(-r));
		*log_fd = util_create_at(dir->fd, OUTDIR_LOG_NEW, O_APPEND);
		if (*log_fd >= 0 && space_look(&space, *log_fd, cfg->min_free_bytes) < 0)
			space.least_bytes = cfg->min_free_bytes;
		privileges_as_root();
		stall_guard_end();
		if (*log_fd < 0) {
			log_err_r(*log_fd, "%s/" OUTDIR_LOG_NEW, dir->path);
			return EXIT_DLTRACED;
		}
	}
	r = workload_prepare(workload, cfg->argv, user, *log_fd);
	if (r == -ECHILD && stall_guard_lost()) /* ^C reaches the child through the terminal too */
		return stall_guard_lost();
	if (r < 0) {
		log_err_r(r, "cannot fork the workload");
		return EXIT_DLTRACED;
	}
	if (cfg->log)
		relay_keep_free(&workload->relay, space.least_bytes);
	return 0;
}

int command_go(struct workload *w, const struct config *cfg, const struct workload_user *u)
{
	int r = workload_go(w);

	return r < 0 ? cannot_execute(cfg->argv[0], u, r) : 0;
}

void command_log_goes_on(void)
{
	log_info(
		"the workload got the signal and goes on, and so does its trace: a second ^C (or TERM) ends the trace");
}

static const struct stop {
	int sig;
	const char *why;
} stops[] = {
	{ SIGSTOP, "by SIGSTOP" },
	{ SIGTSTP, "by ^Z, or SIGTSTP" },
	{ SIGTTIN, "because it reads from the terminal in the background" },
	{ SIGTTOU, "because it writes to the terminal in the background" },
};

void command_log_stops(struct workload *workload)
{
	const int sig = workload_stop_news(workload);
	const char *why = "by a signal";

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		if (stops[i].sig == sig)
			why = stops[i].why;
	if (sig == SIGCONT)
		log_info("the workload was stopped (^Z, SIGSTOP), and goes on: the trace has that time as a wait of "
			 "its processes");
	else if (sig)
		log_warn("the workload is stopped, %s: fg in its shell, or kill -CONT %d, lets it go on; the trace "
			 "goes on meanwhile",
			 why, workload->pid);
}

bool command_signalled(struct workload *w, int fd, bool remote, struct command_interrupts *i)
{
	const bool runs = w->pid && !w->ended;
	struct signalfd_siginfo si;
	int sig;

	if (read(fd, &si, sizeof(si)) != sizeof(si))
		return false;
	sig = (int)si.ssi_signo;
	i->n += sig == SIGINT || sig == SIGTERM;
	if (runs && !remote && i->n < 2) {
		/* the terminal sent ^C and ^\ to the child, too; a signal from a process must be passed on */
		if ((sig != SIGINT && sig != SIGQUIT) || si.ssi_code == SI_USER)
			workload_signal(w, sig);
		return false;
	}
	if (sig == SIGUSR1 || sig == SIGUSR2)
		return false;
	if (runs && !i->signal)
		log_info("not waiting for the end: the workload goes on as process %d", w->pid);
	i->signal = sig;
	return true;
}

void command_finish(const struct config *cfg, const struct workload_user *user, const struct outdir *dir, int code,
		    bool whole)
{
	char error[512];

	if (cfg->collect.n && collect_files(user, dir->path, dir->fd, &cfg->collect, error, sizeof(error)) < 0)
		log_warn("%s", error);
	if (cfg->archive && collect_archive(user, dir->path, error, sizeof(error)) < 0)
		log_warn("%s", error);
	if (cfg->at_end && whole) {
		stall_guard_begin(dir->path, code);
		cfg->at_end(cfg, dir->path, dir->fd);
		stall_guard_end();
	}
}
