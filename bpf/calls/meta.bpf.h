/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of calls about metadata: meta.bpf.c adds to them, meta_sums.bpf.c sends them. */
#ifndef META_BPF_H
#define META_BPF_H

#include "dlt.bpf.h"
#include "dlt/meta.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct dlt_meta_key);
	__type(value, struct dlt_meta_cell);
} dlt_meta_cells SEC(".maps");

#endif
