/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages for humans, on stderr. Only cmd_*, session and main-program code log, once, where the
 * context is known; library code returns -errno. Into systemd's journal (JOURNAL_STREAM) lines
 * carry a priority prefix instead of the program's name.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdio.h>

enum log_level { LOG_LEVEL_ERR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Messages above LEVEL are dropped; LOG_LEVEL_INFO at start. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* Messages go to FD, which stays the caller's, instead of stderr. */
void log_to(int fd);
int log_where(void);

/* Errors go to FD as well, with BEFORE in front of them, which stays the caller's; -1: no longer. */
void log_errors_also(int fd, const char *before);

/*
 * Returns a stream to the place of messages, for those of libraries, above all argp's, which repeat their
 * input: plain text and newlines come through. NULL when memory is out.
 */
FILE *log_stream(void);

/*
 * The status line: the last row of a terminal, redrawn in place, below all other output. NULL removes it.
 * Does nothing below LOG_LEVEL_INFO or when stderr is not a terminal.
 */
void log_status(const char *line);

void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_err(...) log_msg(LOG_LEVEL_ERR, __VA_ARGS__)
#define log_warn(...) log_msg(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_msg(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* A line that another dltraced has formatted, unchanged but for characters that a terminal must not receive. */
void log_pass(char *line);

/* Log an error with the text of R (-errno) after it, and return R. */
int log_err_r(int r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
