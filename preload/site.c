/* SPDX-License-Identifier: BSD-2-Clause */
#include "site.h"

#include <string.h>

#include "numbers.h"
#include "thread.h"

static struct numbers sites;

uint32_t site_of(uint64_t hash, bool *defined)
{
	return numbers_of(&sites, hash, defined);
}

void site_define(enum dlt_alloc_op op, uint32_t number, const uint64_t *frames, uint32_t n)
{
	unsigned int chunks = (n * 8 + 31) / 32;
	struct dlt_alloc_page *page = thread_page(1 + chunks);
	struct dlt_alloc_event *e;

	if (page) {
		e = thread_write(page);
		*e = (struct dlt_alloc_event){
			.ticks = thread_ticks(),
			.addr = n,
			.op_size = (uint64_t)op << DLT_ALLOC_OP_SHIFT,
			.site = number,
			.n = chunks,
		};
		memset(e + 1, 0, chunks * 32);
		memcpy(e + 1, frames, n * 8);
		thread_written(page, 1 + chunks);
	}
	numbers_defined(&sites, number);
}
