/* SPDX-License-Identifier: BSD-2-Clause */
/* A short list of processes, as a command line has it. Pure. */
#ifndef BASE_PIDS_H
#define BASE_PIDS_H

#include <stdbool.h>
#include <stdint.h>

#define PIDS_MAX 64

struct pids {
	uint64_t v[PIDS_MAX];
	unsigned int n; /* 0: none is named, and all are meant */
};

/* Parses numbers with commas between. Returns 0; -EINVAL when S is not such a list, or has more than PIDS_MAX. */
int pids_parse(struct pids *pids, const char *s);
bool pids_have(const struct pids *p, uint64_t pid);

#endif
