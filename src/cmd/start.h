/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `dltraced start`, for its unit test. */
#ifndef CMD_START_H
#define CMD_START_H

struct config;

/*
 * Parse and check ARGV into *CFG, which keeps pointers into it. Reads the machine, changes nothing.
 * 0, or EINVAL after a message on stderr that names what is wrong; with ARGP_FLAGS 0 the process
 * exits instead, also after --help.
 */
int cmd_start_parse(int argc, char **argv, unsigned int argp_flags, struct config *cfg);

#endif
