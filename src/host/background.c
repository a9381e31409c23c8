/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/background.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/util.h"
#include "trace/outdir.h"

static int ready_fd = -1; /* the child's end of the pipe to the parent */
static int caller_fd = -1; /* the caller's stderr, for failures before the trace is set up */
static int file_fd = -1; /* dltraced.log */

/*
 * Nothing that we start may hold the caller's terminal or pipe: the caller would wait for its end. The
 * workload's output is in its log.
 */
static void let_go(void)
{
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	caller_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (caller_fd >= 0)
		log_to(caller_fd);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
}

static void report_start(pid_t pid, enum background_reach reach, const char *folder)
{
	const char *slash = strrchr(folder, '/'), *by = folder;
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	if (reach == BACKGROUND_BY_NUMBER)
		by = number;
	else if (reach == BACKGROUND_BY_NAME && slash)
		by = slash + 1;
	log_info("tracing in the background: process %d, folder %s", pid, folder);
	if (reach == BACKGROUND_NOT)
		log_info("`dltraced stop' and `dltraced status' do not reach it (no place for a socket, see -v): "
			 "`kill %d' goes to the command, a second one ends the trace",
			 pid);
	else
		log_info("`dltraced stop %s' ends the trace, `dltraced status'%s shows it", by,
			 reach == BACKGROUND_BY_FOLDER ? " with the same" : "");
}

int background_start(void)
{
	char text[4200];
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		log_err_r(-errno, "--background: cannot fork");
		return 125;
	}
	if (!pid) {
		close(fds[0]);
		ready_fd = fds[1];
		setsid();
		let_go();
		return 0;
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof(text) - 1);
	close(fds[0]);
	if (n > 1) {
		text[n] = '\0';
		report_start(pid, (enum background_reach) * text, text + 1);
		return -1;
	}
	/* it ended before it was set up, and has printed the reason */
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || !WEXITSTATUS(status))
		return 125;
	return WEXITSTATUS(status);
}

void background_log(int dirfd)
{
	if (ready_fd >= 0)
		file_fd = util_create_at(dirfd, OUTDIR_OWN_LOG, O_APPEND);
}

bool background_caller_gone(void)
{
	struct pollfd p = { .fd = ready_fd };

	return ready_fd >= 0 && poll(&p, 1, 0) > 0 && p.revents & POLLERR;
}

void background_ready(const char *path, enum background_reach reach)
{
	autofree char *text = util_fmt("%c%s", reach, path);

	if (ready_fd < 0)
		return;
	if (!text || util_write_all(ready_fd, text, strlen(text)) < 0)
		log_debug("the parent has ended");
	util_close(&ready_fd);
	if (file_fd >= 0) {
		dup2(file_fd, STDOUT_FILENO);
		dup2(file_fd, STDERR_FILENO);
	}
	util_close(&file_fd);
	log_to(STDERR_FILENO);
	util_close(&caller_fd);
}
