/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/lives/cpus.h"

#include <inttypes.h>
#include <stdio.h>

#include "trace/manifest_read.h"

/* Returns the name for CPUS of ALL. */
static uint32_t name_of(struct path_names *names, uint64_t cpus, uint64_t all)
{
	char text[64];
	const int len = snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64 " CPUs", cpus, all);

	return path_name(names, (struct reader_field){ text, (size_t)len });
}

void path_cpus_find(struct path_lives *lives, const struct manifest_facts *facts)
{
	for (uint32_t i = 1; i < lives->n; i++) {
		const uint64_t cpus = lives->life[i].cpus ?: facts->allowed.n_cpus;

		lives->life[i].few = cpus && cpus < facts->cpus ? name_of(lives->names, cpus, facts->cpus) : 0;
	}
}
