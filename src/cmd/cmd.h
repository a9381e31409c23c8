/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands, one file <name>.c each. ARGV[0] is "dltraced NAME", with which argp begins its messages, and ARGV[-1] the
 * program as it was called. Each returns the exit status, or argp exits with it.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct verdict;

int cmd_check(int argc, char **argv);
int cmd_daemon(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_validate(int argc, char **argv);

/*
 * For its unit test: parses and checks the command line of start, ARGV, into *CFG, which keeps pointers into it. Reads the
 * machine, changes nothing. Returns 0, or EINVAL after a message on stderr that names the mistake; with ARGP_FLAGS 0 the
 * process exits instead, also after --help.
 */
int cmd_start_parse(int argc, char **argv, unsigned int argp_flags, struct config *cfg);

/* Returns the columns of FD's terminal to print in; 80 without one. */
unsigned int terminal_width(int fd);

/* Returns a part of DIR, as a user would write it: from the working directory, where it lies below that. */
const char *path_from_here(const char *dir);

/*
 * Prints the last messages of a trace in the folder DIRFD, which is DIR, with its answer V; NULL: that was not requested.
 * ARCHIVED: --archive has packed it, or has logged why not.
 */
void cmd_end(const char *dir, int dirfd, const struct verdict *v, bool archived);

/* Logs why nothing reads DIR, which is no trace folder, by -errno RES. Returns RES. */
int log_not_read(int res, const char *dir);

/*
 * `dltraced status --watch': shows a running trace on a terminal, as blocks of text or as JSON, every INTERVAL_MS until the
 * trace WHICH (NULL: the only one) ends, or we are interrupted. Returns 0, or 1 with a message when there is none.
 */
int status_watch(const char *which, uint64_t interval_ms, bool json);

#endif
