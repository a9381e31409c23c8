/* SPDX-License-Identifier: BSD-2-Clause */
/* See async_log.h. One for the process, as log.c has one destination of messages. */
#include "host/stall/async_log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "host/stall/async_call.h"

#define END_MS 2000

static struct {
	int to; /* the file; the caller's */
	int read_fd; /* the thread's */
	int write_fd; /* -1: there is no thread */
	struct async_call call;
} writer = { .write_fd = -1, .call = ASYNC_CALL_NONE };

static void write_all(void *ctx)
{
	char text[PIPE_BUF];
	ssize_t n;

	while ((n = read(writer.read_fd, text, sizeof(text))) > 0)
		(void)!util_write_all(writer.to, text, (size_t)n);
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
	if (fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0 || async_call_begin(&writer.call, write_all, NULL) < 0) {
		util_close(&writer.read_fd);
		util_close(&writer.write_fd);
		return;
	}
	log_to(writer.write_fd);
}

bool async_log_end(void)
{
	if (writer.write_fd < 0)
		return false;
	log_to(-1); /* nobody else writes there: the thread keeps track of its end */
	util_close(&writer.write_fd);
	if (!async_call_wait(&writer.call, END_MS))
		return false; /* it uses the descriptor, and we are ending */
	log_to(writer.to);
	util_close(&writer.read_fd);
	async_call_free(&writer.call);
	return true;
}
