/* SPDX-License-Identifier: BSD-2-Clause */
/* See async_log.h. One for the process, as log.c has one place where messages go. */
#include "host/stall/async_log.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/thread.h"
#include "base/util.h"

#define END_MS 2000

static struct {
	int to;	      /* the file; the caller's */
	int read_fd;  /* the thread's */
	int write_fd; /* -1: there is no thread */
	int done_fd;
} writer = { .write_fd = -1 };

static void *async_log_main(void *arg)
{
	int done_fd = writer.done_fd; /* once it is readable the rest is not ours */
	char text[PIPE_BUF];
	ssize_t n;

	while ((n = read(writer.read_fd, text, sizeof(text))) > 0)
		(void)!util_write_all(writer.to, text, (size_t)n);
	eventfd_write(done_fd, 1);
	return NULL;
}

void async_log_begin(void)
{
	int fds[2], fd = log_where();
	struct stat st;

	if (writer.write_fd >= 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || pipe2(fds, O_CLOEXEC) < 0)
		return;
	writer.to = fd;
	writer.read_fd = fds[0];
	writer.write_fd = fds[1];
	writer.done_fd = eventfd(0, EFD_CLOEXEC);
	if (writer.done_fd < 0 || fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0 ||
	    thread_start_detached(async_log_main, NULL) < 0) {
		util_close(&writer.read_fd);
		util_close(&writer.write_fd);
		util_close(&writer.done_fd);
		return;
	}
	log_to(writer.write_fd);
}

bool async_log_end(void)
{
	struct pollfd p = { .fd = writer.done_fd, .events = POLLIN };
	eventfd_t n;

	if (writer.write_fd < 0)
		return false;
	log_to(-1); /* nobody else writes there: its end is the thread's */
	util_close(&writer.write_fd);
	if (poll(&p, 1, END_MS) < 1 || eventfd_read(writer.done_fd, &n) < 0)
		return false; /* it has the descriptors, and we end */
	log_to(writer.to);
	util_close(&writer.read_fd);
	util_close(&writer.done_fd);
	return true;
}
