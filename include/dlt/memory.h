/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine's memory at one moment: a record that the daemon itself makes. */
#ifndef DLT_MEMORY_H
#define DLT_MEMORY_H

#include "dlt/dlt.h"

/* Bytes; DLT_NONE: the kernel does not report it. */
struct dlt_memory {
	struct dlt_hdr hdr;
	__s64 free, available, cached, dirty, writeback, anon, shmem, swap_free;
};

#endif
