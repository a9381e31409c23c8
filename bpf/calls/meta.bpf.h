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

/* Of CPU C from element C * DLT_META_NEAR on. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dlt_meta_near);
} dlt_meta_near SEC(".maps");

#define HASH_FACTOR 0x9e3779b97f4a7c15ULL

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * HASH_FACTOR;
	return hash ^ hash >> 29;
}

static __always_inline __u64 key_tag(const struct dlt_meta_key *key)
{
	return mix(mix(key->folder, key->request), (__u64)key->tgid << 32 | key->func) | 1;
}

/* Returns the place of the key with TAG on CPU, or NULL; it may be another key's. */
static __always_inline volatile struct dlt_meta_near *near_at(__u64 tag, __u32 cpu)
{
	__u32 i = cpu * DLT_META_NEAR + (tag >> 32) % DLT_META_NEAR;

	return bpf_map_lookup_elem(&dlt_meta_near, &i);
}

#endif
