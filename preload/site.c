/* SPDX-License-Identifier: BSD-2-Clause */
#include "site.h"

#include "numbers.h"
#include "thread.h"

static struct numbers sites;

uint32_t site_of(uint64_t hash, bool *defined)
{
	return numbers_of(&sites, hash, defined);
}

void site_define(enum dlt_alloc_op op, uint32_t number, const uint64_t *frames, uint32_t n)
{
	thread_define(op, number, n, frames, n * sizeof(*frames));
	numbers_defined(&sites, number);
}
