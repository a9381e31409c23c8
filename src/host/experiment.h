/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trace is called when nobody says: named after what it traces. Pure. */
#ifndef HOST_EXPERIMENT_H
#define HOST_EXPERIMENT_H

#include <stddef.h>

struct config;

/*
 * The name of the script that CFG's workload runs ("python train.py" gives train), else of its
 * program; without a workload of the first target (pid123, a cgroup, a container, all). Safe as
 * part of a folder's name.
 */
void experiment_name(const struct config *cfg, char *name, size_t size);

#endif
