/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace's default name, after its target. Pure. */
#ifndef HOST_EXPERIMENT_H
#define HOST_EXPERIMENT_H

#include <stddef.h>

struct config;

/*
 * Returns the name of the script that CFG's workload runs ("python train.py" gives train), else of its
 * program; without a workload the name of the first target (pid123, a cgroup, a container, all). Safe as
 * part of a folder's name.
 */
void experiment_name(const struct config *cfg, char *name, size_t size);

#endif
