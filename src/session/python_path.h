/* SPDX-License-Identifier: BSD-2-Clause */
/* The workload's PYTHONPATH, through which a Python program loads our module and marks its regions. */
#ifndef SESSION_PYTHON_PATH_H
#define SESSION_PYTHON_PATH_H

struct config;
struct workload_user;

/*
 * Puts our folder in front of PYTHONPATH in USER's environment where CFG has --regions auto. Returns 0, or -errno,
 * which it has logged: -ENOENT where the package is not installed beside this program.
 */
int python_path_set(const struct config *cfg, struct workload_user *user);

#endif
