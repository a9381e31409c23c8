/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands, one file cmd_<name>.c each. ARGV[0] is "dltraced NAME", which argp begins its
 * messages with, and ARGV[-1] the program as it was called. The exit status is returned, or
 * exited with by argp.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct verdict;

int cmd_check(int argc, char **argv);
int cmd_daemon(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_stop(int argc, char **argv);

/*
 * For its unit test: parse and check the command line of start, ARGV, into *CFG, which keeps pointers into it. Reads the
 * machine, changes nothing. 0, or EINVAL after a message on stderr that names what is wrong; with ARGP_FLAGS 0 the process
 * exits instead, also after --help.
 */
int cmd_start_parse(int argc, char **argv, unsigned int argp_flags, struct config *cfg);

/* The columns to print on FD's terminal; 80 where there is none. */
unsigned int terminal_width(int fd);

/* DIR as whoever called us would write it: from the working directory where it lies below that. A part of DIR. */
const char *path_from_here(const char *dir);

/* The last messages of a trace in the folder DIRFD, which is DIR, with what its job waited for; NULL: that was not asked. */
void cmd_end(const char *dir, int dirfd, const struct verdict *v);

/*
 * `dltraced status --watch': a running trace as it goes, on a terminal, as blocks of text or as JSON, until the trace WHICH
 * (NULL: the only one) ends, or we are interrupted: a look every INTERVAL_MS. 0, or 1 with a message when there is none.
 */
int status_watch(const char *which, uint64_t interval_ms, bool json);

#endif
