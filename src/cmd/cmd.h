/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands, one file cmd_<name>.c each. ARGV[0] is "dltraced NAME", which argp begins its
 * messages with, and ARGV[-1] the program as it was called. The exit status is returned, or
 * exited with by argp.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

int cmd_check(int argc, char **argv);
int cmd_daemon(int argc, char **argv);
int cmd_mark(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_stop(int argc, char **argv);

#endif
