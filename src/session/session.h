/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace from start to end: the only file that knows the order of things. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

struct config;

/*
 * Run the trace that CFG describes. ARGV is dltraced's own command line, for the manifest. Returns
 * the exit status for the shell: the workload's own, 128+N, or 125 to 127 (docs/dltraced.8).
 */
int session_run(const struct config *cfg, char **argv);

struct outdir;
struct served;
struct workload_user;

/* The folder that CFG names, by the variables of ENV, as user U. 0, or -errno, which has been said. */
int session_open_folder(struct outdir *d, const struct config *cfg, char *const *env, const struct workload_user *u);

/* The same for a user of the service, whose command line ARGV is. */
int session_serve(const struct config *cfg, char **argv, struct served *served);

#endif
