/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands, each in a file of its name (mark is in stop.c, serve in daemon.c), which has a folder where it is not
 * alone. ARGV[0] is "dltraced NAME", with which argp begins its messages; ARGV[-1] is the program as it was called.
 * Each returns the exit status, or argp exits with it.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>

struct config;
struct verdict;

int cmd_anonymize(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_cut(int argc, char **argv);
int cmd_daemon(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_validate(int argc, char **argv);

/*
 * Parses and checks the command line of start, ARGV, into *CFG, which keeps pointers into ARGV. Looks at the machine,
 * but changes nothing. Returns 0, or EINVAL after a message on stderr that names the mistake; with ARGP_FLAGS 0 the
 * process exits instead, also after --help. A function of its own for its unit test.
 */
int cmd_start_parse(int argc, char **argv, unsigned int argp_flags, struct config *cfg);

/* Prints the version, and those of the libraries. */
void version_print(void);

/* Returns DIR as a user would write it: where it is below the working directory, only the part from there on. */
const char *path_from_here(const char *dir);

/*
 * Prints the last messages of a trace in the folder DIRFD, which is DIR, with the answer VERDICT; NULL: no answer was
 * requested. ARCHIVED: -o DIR.tar.gz has packed the folder, or has logged why not.
 */
void cmd_end(const char *dir, int dirfd, const struct verdict *verdict, bool archived);

#endif
