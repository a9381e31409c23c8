/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a trace folder, once the trace is written: files of the workload are copied into it, and it is
 * packed. Called from the control plane, after the drain has ended; a child that has become the workload's
 * user does all of it, so nothing is read or replaced that this user could not. There is no deadline:
 * SIGINT and SIGTERM, which are consumed, end it.
 */
#ifndef JOB_COLLECT_H
#define JOB_COLLECT_H

#include <stddef.h>

struct config_list;
struct workload_user;

/*
 * Copy the files that GLOBS match (glob(3) with {a,b} and ~, from the working directory) to DIR/collected/,
 * under their relative paths; as with tar(1) a path loses its leading "/" and everything up to its last
 * "..". DIRFD is the folder DIR. Regular files only: links are not followed. Returns 0 when all named files
 * are there, else the -errno of the first that is not (the others are), -ENOENT for a glob that matches
 * nothing, and ERROR is a line about them.
 */
int collect_files(const struct workload_user *u, const char *dir, int dirfd, const struct config_list *globs,
		  char *error, size_t size);

/*
 * Pack the folder DIR (an absolute path) into DIR.tar.gz, which must not exist: 0, or -errno and a line in
 * ERROR.
 */
int collect_archive(const struct workload_user *u, const char *dir, char *error, size_t size);

#endif
