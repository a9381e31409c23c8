/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for the pages of threads: taken from the system in pieces, given back never, used again. */
#ifndef PRELOAD_POOL_H
#define PRELOAD_POOL_H

struct dlt_alloc_page;

/* Returns a page whose content is anything, which the kernel clears in a forked child; NULL: there is no memory. */
struct dlt_alloc_page *pool_take(void);
void pool_give(struct dlt_alloc_page *page);

#endif
