/* SPDX-License-Identifier: BSD-2-Clause */
#include "log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum log_level max_level = LOG_LEVEL_INFO;
static int log_fd = STDERR_FILENO;
static char status[256];

/* sd-daemon(3): "<N>" before a line is its syslog priority. */
static const char *const journal_prefix[] = { "<3>", "<4>", "<6>", "<7>" };

void log_set_level(enum log_level level)
{
	max_level = level;
}

enum log_level log_get_level(void)
{
	return max_level;
}

void log_to(int fd)
{
	log_fd = fd;
}

void log_status(const char *line)
{
	bool was = status[0];

	if (max_level < LOG_LEVEL_INFO || !isatty(log_fd))
		return;
	snprintf(status, sizeof(status), "%s", line ? line : "");
	if (was || line)
		dprintf(log_fd, "\r\033[K%s", status);
}

static void emit(enum log_level level, const char *text)
{
	bool journal = getenv("JOURNAL_STREAM") != NULL;
	const char *kind = level == LOG_LEVEL_ERR ? "error: " : level == LOG_LEVEL_WARN ? "warning: " : "";

	/* One write per message, so that lines of several processes do not mix. */
	dprintf(log_fd, "%s%s%s%s\n%s", status[0] ? "\r\033[K" : "",
		journal ? journal_prefix[level] : "dltraced: ", kind, text, status);
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	if (level > max_level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	emit(level, text);
}

int log_err_r(int r, const char *fmt, ...)
{
	char text[2048];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, ": %s", strerror(-r));
	emit(LOG_LEVEL_ERR, text);
	return r;
}
