/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "base/util.h"

static enum log_level max_level = LOG_LEVEL_INFO;
static int log_fd = STDERR_FILENO;
static int also_fd = -1; /* for errors */
static const char *also_before;
static unsigned int status_rows; /* rows of the terminal while it has a status line, else 0 */

#define STATUS_ROWS_MIN 4

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

void log_errors_also(int fd, const char *before)
{
	also_fd = fd;
	also_before = before;
}

int log_where(void)
{
	return log_fd;
}

/*
 * The job writes to the same terminal, so the line lives below a scrolling region that leaves the
 * last row out (DECSTBM, as apt does beside dpkg). ESC 7 and 8 keep the job's cursor.
 */
static void status_region(unsigned int rows)
{
	if (rows == status_rows)
		return;
	if (status_rows)
		dprintf(log_fd, "\0337\033[r\033[%u;1H\033[K\0338", status_rows);
	/* the newline scrolls where the cursor is on the last row */
	if (rows)
		dprintf(log_fd, "\n\0337\033[1;%ur\0338\033[A", rows - 1);
	status_rows = rows;
}

void log_status(const char *line)
{
	struct winsize size;

	if (max_level < LOG_LEVEL_INFO || !isatty(log_fd) || ioctl(log_fd, TIOCGWINSZ, &size) < 0)
		return;
	status_region(line && size.ws_row >= STATUS_ROWS_MIN ? size.ws_row : 0);
	if (status_rows)
		dprintf(log_fd, "\0337\033[%u;1H\033[K%.*s\0338", status_rows, size.ws_col, line);
}

/* It contains names of files and commands: neither terminal nor journal may take them for control sequences. */
static void make_plain(char *s)
{
	while (*s) {
		unsigned int len = text_shown_len(s, strnlen(s, 4));

		if (!len)
			*s = '?';
		s += MAX(len, 1U);
	}
}

/* Returns the length of the longest part of TEXT that ends with a whole character and has at most MAX bytes. */
static size_t part_len(const char *text, size_t len, size_t max)
{
	size_t n = len < max ? len : max;

	for (int i = 0; i < 3 && n < len && n > 1 && (text[n] & 0xc0) == 0x80; i++)
		n--;
	return n;
}

static ssize_t stream_write(void *cookie, const char *data, size_t len)
{
	char text[1024];

	for (size_t at = 0, n; at < len; at += n) {
		n = part_len(data + at, len - at, sizeof(text) - 1);
		for (size_t i = 0; i < n; i++)
			text[i] = data[at + i] ? data[at + i] : '?';
		text[n] = '\0';
		for (char *line = text, *end; line < text + n; line = end + 1) {
			end = line + strcspn(line, "\n");
			*end = '\0';
			make_plain(line);
			if (end < text + n)
				*end = '\n';
		}
		if (util_write_all(log_fd, text, n) < 0)
			return 0; /* the signature that fopencookie(3) wants */
	}
	return (ssize_t)len;
}

FILE *log_stream(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = stream_write });

	if (stream)
		setvbuf(stream, NULL, _IOLBF, 0);
	return stream;
}

/*
 * Does stderr go to the journal, DEVICE:INODE? A service's children inherit the variable, wherever their
 * messages go.
 */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char number[64];
	struct stat st;

	if (!stream || fstat(fd, &st) < 0)
		return false;
	snprintf(number, sizeof(number), "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	return strcmp(stream, number) == 0;
}

/* In one write, so that lines of several processes do not mix. */
static void put_line(int fd, enum log_level level, const char *before, const char *text)
{
	dprintf(fd, "%s%s%s\n", is_journal(fd) ? journal_prefix[level] : "dltraced: ", before, text);
}

/* With the text of R (-errno) after it, unless that is 0. */
static __attribute__((format(printf, 3, 0))) void emit(enum log_level level, int r, const char *fmt, va_list ap)
{
	static const char *const kinds[] = { "error: ", "warning: ", "", "" }; /* by level */
	char text[2048];
	size_t n;

	vsnprintf(text, sizeof(text), fmt, ap);
	n = strlen(text);
	if (r)
		snprintf(text + n, sizeof(text) - n, ": %s", limits_strerror(r));
	make_plain(text);
	put_line(log_fd, level, kinds[level], text);
	if (also_fd >= 0 && level == LOG_LEVEL_ERR)
		put_line(also_fd, level, also_before, text);
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	if (level > max_level)
		return;
	va_start(ap, fmt);
	emit(level, 0, fmt, ap);
	va_end(ap);
}

void log_pass(char *line)
{
	size_t len = strcspn(line, "\n");

	line[len] = '\0';
	make_plain(line);
	dprintf(log_fd, "%s\n", line);
}

int log_err_r(int r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_LEVEL_ERR, r, fmt, ap);
	va_end(ap);
	return r;
}
