/* SPDX-License-Identifier: BSD-2-Clause */
/* An instant as a command line has it: a time since some beginning, or UTC. Pure. */
#ifndef BASE_MOMENT_H
#define BASE_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: not given. */
struct moment {
	bool given, utc;
	uint64_t ns; /* since the beginning; since 1970, if UTC */
};

/* Parses "90", "1m30s", "2026-11-27T04:00:00Z", with a fraction or without seconds, too. Returns 0 or -EINVAL. */
int moment_parse(struct moment *m, const char *s);
/* Returns M as a time since the beginning, which is at BEGIN_NS of UTC; 0 where M is before it. */
uint64_t moment_since(const struct moment *m, uint64_t begin_utc_ns);

#endif
