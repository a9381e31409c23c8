/* SPDX-License-Identifier: BSD-2-Clause */
/* Room beyond the stack: a buffer for each CPU. */
#ifndef SCRATCH_BPF_H
#define SCRATCH_BPF_H

#include "dlt.bpf.h"

#define REC_MAX 24576 /* four full paths, the fixed part, and a component to overrun by */

/* Where a record with strings is put together, and where a path walk keeps its place. */
struct scratch {
	char rec[REC_MAX]; /* the fixed part, then the strings */
	__u32 used; /* bytes of rec */
	__u32 walk_flags; /* DLT_PATH_* */
	__u64 dentry, mnt; /* struct vfsmount * */
	__u64 root_dentry, root_mnt;
	__u32 walk_end;
	__u32 pad;
	__u64 start_ns; /* of the call; 0: no latency */
	__u64 viewer, where_inode, where_dentry, where_mnt, where_file; /* input of scratch_describe(), */
	struct dlt_file file; /* and its result */
	__u64 name_start_ns; /* of the call that file_emit() sends a name for */
	__u32 name_tgid, name_tid, name_func;
	__u32 pad2;
	__u64 id_inode, id_dentry; /* input of file_id_special(), and its results */
	struct dlt_file_id id, below;
	struct dlt_file_at at;
	__u64 origin, data;
	__u64 handle[16]; /* of a file on NFS */
	__u64 env_at, env_end; /* the walk over an environment */
	__u32 env_inside; /* env_at lies within a string that is too long to be read whole */
	__u32 env_failed;
	struct { /* of the folder that a path names: see meta.bpf.c */
		__u64 hash, folder;
		__u32 len, folder_len;
	} path;
	__u64 subject[5]; /* struct subject of meta.bpf.c */
	__u64 meta_key[3]; /* struct dlt_meta_key */
	struct dlt_segs env_found;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} dlt_scratch SEC(".maps");

static __always_inline struct scratch *scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&dlt_scratch, &zero);
}

#endif
