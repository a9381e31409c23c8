/* SPDX-License-Identifier: BSD-2-Clause */
/* The workload's PYTHONPATH, through which a Python program loads our module and marks its regions. */
#ifndef JOB_PYTHON_PATH_H
#define JOB_PYTHON_PATH_H

#include <stdbool.h>

struct config;
struct workload_user;

/* Whether the workload of CFG gets it: by default, and by --regions auto. */
bool python_path_is_set(const struct config *cfg);

/*
 * Puts our folder in front of PYTHONPATH in USER's environment, if that is to be. Returns 0, or -errno, which it has
 * logged: -ENOENT where --regions auto was asked for and the package is not installed beside this program.
 */
int python_path_set(const struct config *cfg, struct workload_user *user);

#endif
