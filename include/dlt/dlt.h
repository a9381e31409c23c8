/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel side and the daemon share: the record header, file identities, the slots of calls in
 * flight, counters and configuration. Compiled by clang -target bpf and by the host compiler; both assert
 * sizes. The BPF side includes vmlinux.h first, the host side <linux/types.h>.
 */
#ifndef DLT_H
#define DLT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define DLT_SCHEMA 1

enum dlt_probe {
	DLT_NO_PROBE,
#define PROBE(name) DLT_##name,
#include "src/trace/probes.def"
#undef PROBE
	DLT_PROBES,
};

#define DLT_COMM_LEN 16
#define DLT_PATH_MAX 4096 /* with its NUL, as the kernel's PATH_MAX */
#define DLT_SYSCALLS 512 /* above every number of the native 64-bit tables */

/* Values of nullable signed fields. No call returns or takes them. */
#define DLT_NONE (-0x7fffffffffffffffLL - 1) /* "-": does not apply */
#define DLT_NONE32 (-0x7fffffff - 1) /* the same in 32 bits */
#define DLT_UNKNOWN (DLT_NONE + 1) /* "?": the call was in flight */
#define DLT_NO_SIZE \
	0x9e3779b97f4a7c15ULL /* "-" of an unsigned size; a call may request any size, but hardly this one */

/* Every record begins with this. TIMESTAMP is taken after the reserve: see docs/design.md. */
struct dlt_hdr {
	__u64 ts_ns; /* CLOCK_MONOTONIC, end of the operation */
	__u64 lat_ns; /* end - start */
	__u32 tgid; /* of the initial pid namespace, like tid */
	__u32 tid;
	char comm[DLT_COMM_LEN];
	__u16 probe; /* enum dlt_probe */
	__u16 func; /* index in the probe's table of calls */
	__u32 size; /* bytes used, this header included */
};

/* The identity of a file's life, which a FID stands for. DEV is the kernel's dev_t (major << 20 | minor). */
struct dlt_file_id {
	__u64 ino; /* 0: no file */
	__u32 dev; /* of the superblock */
	__u32 gen; /* differs from that of other lives of the number: see bpf/file_id.bpf.h */
};

/* Facts that are not part of the identity, as they change. */
struct dlt_file_at {
	__u64 real_ino; /* of the file below overlayfs that has the data; 0: the file is not on overlayfs */
	__u32 real_dev;
	__u32 dev; /* that of stat(2); 0: equal to the one in the identity */
};

/* The remote end of a socket. */
struct dlt_peer {
	__u8 addr[16]; /* IPv4: the first four */
	__u16 family; /* 0: none; AF_INET, AF_INET6 */
	__u16 port;
};

/* dlt_file.flags and the flags of a walked path */
#define DLT_PATH_UNREACHABLE 1 /* not below the process's root */
#define DLT_PATH_TRUNCATED 2 /* longer than DLT_PATH_MAX, or deeper than the walk goes */
#define DLT_PATH_DELETED 4 /* the name was removed */
#define DLT_PATH_FLOATING 8 /* on a mount of the kernel's own: pipes, sockets, memfd */

/* Not a process's root: the path is as in the mount's own namespace. */
#define DLT_VIEW_ANYWHERE 2

struct dlt_file {
	struct dlt_file_id id;
	__u64 size;
	__u32 mode; /* i_mode */
	__u32 flags;
	__u32 magic; /* s_magic */
	__u32 view; /* the root that the path begins at: see view_of() of bpf/file.bpf.h, whose numbers are odd */
	char fstype[16];
	struct dlt_file_at at;
};

/*
 * Records with strings end in up to four of them, one after the other: user strings with their NUL,
 * walked paths as components from the last to the first with a NUL each.
 */
struct dlt_segs {
	__u16 len[4];
};
#define DLT_SEG_VERBATIM 0xffff /* instead of a folder's length: the name in it stays as passed */

/* A call in flight, from sys_enter to sys_exit. */
struct dlt_call {
	__u64 start_ns;
	__u32 tid; /* 0: free */
	__u32 tgid;
	__u8 probe; /* the call table's entry */
	__u8 func;
	__u8 shape;
	__u8 flags;
	__u32 nr;
	__u64 args[6];
	__u64 disk_bytes; /* task->ioac.read_bytes at the start */
	union {
		struct dlt_file_id id; /* for calls whose file is gone at the end (close) */
		struct {
			__u64 vfs_start_ns, vfs_ns; /* vfs_open() inside an open; 0: not seen */
		};
	};
};

/* Facts about a system call number for the dispatcher. */
struct dlt_callinfo {
	__u8 probe; /* 0: not traced */
	__u8 func;
	__u8 shape; /* for the probe's handler */
	__u8 flags; /* DLT_CALL_* */
};
#define DLT_CALL_ENTRY 1 /* also has a handler for the start */
#define DLT_CALL_SILENT 2 /* counts as in flight: its success is not reported (io_uring) */
#define DLT_CALL_NO_ROW 4 /* traced only for the rows of other calls: not counted */
#define DLT_CALL_REGION 8 /* only where the first argument is DLT_REGIONS_PRCTL */
#define DLT_CALL_OWNER 16 /* from this bit on: the number of the dispatcher that saw it begin */

/*
 * Counters per probe and CPU, of CPU C and probe P at C * DLT_STATS_STRIDE + P: CPUs share no cache line.
 * The daemon maps them: bpf(2) on a map keeps kprobes and perf's tracepoints of that CPU from running
 * programs (bpf_disable_instrumentation(), kernel 5.10 on; if the task is preempted there, until it goes
 * on), and events that they miss are lost. Entries seen = emitted + lost + in flight.
 */
#define DLT_STATS_STRIDE ((DLT_PROBES + 7) / 8 * 8)
struct dlt_stats {
	__u64 seen;
	__u64 emitted;
	__u64 lost;
	__u64 rows_lost; /* for calls with several rows: rows beyond the first */
	__u64 foreign; /* by processes that the trace's owner may not see: see dlt_config.owned */
	__u64 unseen; /* hooks that the kernel did not call, for probes whose rows do not need them: sched */
	/* the causes of LOST; for the rest of it, and for ROWS_LOST, a ring was full */
	__u64 lost_room; /* a table of calls, requests, threads or sums was full */
	__u64 lost_unseen; /* the kernel did not call the program at its start or at its end */
	__u64 unread; /* printed: writes that were skipped, as there were too many; waits: likewise, waits without a row
		       */
	/* bio: writers of pages, forgotten before the pages were written back; cache: files that had pages in the cache
	 */
	__u64 overwritten;
	__u64 refused; /* cache: pages that may or may not have been used: their chunk had no room */
	__u64 brief; /* meta, vfs_rw: calls without a row, which are only in sums */
	__u64 fileless; /* bio: rows of data whose file is not known, in whole or in part */
};

/* One for the whole trace, written by both sides. */
struct dlt_shared {
	__u64 overflow; /* calls in the overflow hash */
	__u64 compat; /* 32-bit calls of target processes: counted, not decoded */
	__u64 forks; /* processes ever added by fork */
	__u32 stopping; /* no new calls */
	__u32 new_containers; /* cgroups of containers that were made during the trace, where those are traced */
	__u32 cgroups_came; /* bit N: an awaited cgroup was made whose number is N + 1 (dlt_cgroup_paths) */
	__u32 quiet; /* before --delay has passed: the target is followed, no rows are sent */
	__u32 writes_shown; /* bio knows the files of requests: cache's sums include write-back */
	/*
	 * Begins and ends of epochs at which the cache's sums change their turn (struct dlt_cache_cell): regions sets
	 * CACHE_TURN to one more than CACHE_SENT, the daemon CACHE_SENT once it has sent the sums of the turn before.
	 */
	__u32 cache_turn, cache_sent;
	__u32 cache_cells; /* files that the cache has sums for */
	__u32 cache_forgets; /* files that it had sums for until cells were scarce; may wrap */
	__u64 cache_turn_ns; /* CLOCK_MONOTONIC of the last change */
	__u32 net_sums; /* calls on sockets may be added up, as there are programs that send the sums */
	__u32 rw_sums; /* likewise short reads and writes */
};

#define DLT_MAX_DISKS 32

/* Bits of a process's byte in the target map; under --all, IN marks processes that are left out. */
#define DLT_TARGET_IN 1
#define DLT_TARGET_HELD 4 /* the workload's process at its gate: it still runs dltraced's code, and has no rows */
#define DLT_TARGET_ENDED 2 /* but other threads of it may still be on their way to the exit hook */

/* dlt_config.perf: hooks that run with preemption off and can be used here */
#define DLT_PERF_TP 1
#define DLT_PERF_KPROBE 2

/* The hook for a function inside the kernel. */
enum dlt_func_hook {
	DLT_FUNC_HOOK_NONE,
	DLT_FUNC_HOOK_FENTRY,
	DLT_FUNC_HOOK_KPROBE,
};

/* Structs of the kernel to which programs cast numbers. */
#define DLT_CAST_TYPES(X) \
	X(address_space)  \
	X(bio)            \
	X(dentry)         \
	X(file)           \
	X(inode) X(io_kiocb) X(io_ring_ctx) X(mount) X(pt_regs) X(request) X(task_struct) X(timespec64) X(vfsmount)

/* Their ids in its BTF. */
struct dlt_type_ids {
#define X(name) __u32 name;
	DLT_CAST_TYPES(X)
#undef X
};

/* Functions of the kernel that programs call. */
#define DLT_KFUNCS(X) X(bpf_rdonly_cast) X(bpf_preempt_disable) X(bpf_preempt_enable)

/*
 * Their numbers: those of helpers that no kernel has, until the daemon replaces them by this kernel's BTF ids
 * (src/kernel/object.c).
 */
#define DLT_KFUNC_BASE 0x646c7400
enum dlt_kfunc {
#define X(name) DLT_KFUNC_##name,
	DLT_KFUNCS(X)
#undef X
		DLT_KFUNCS_N,
};

/* Memory whose accesses are looked for. */
struct dlt_watch {
	__u64 addr, len;
};
#define DLT_WATCHES 4 /* as many as the CPU has registers for */

/* Read-only configuration of every object, set before load. */
struct dlt_config {
	struct dlt_watch watch[DLT_WATCHES]; /* LEN 0: none */
	__u64 probes; /* bits of enum dlt_probe: those that the trace has */
	__u64 brief_ns; /* reads and writes shorter than this that needed no disk are only in sums; 0: none */
	__u32 n_rings;
	__u32 ring_reserve; /* bytes of a ring that high-rate probes must leave free */
	__u32 ring_bytes;
	__u32 slot_mask;
	__u32 self_tgid;
	__u32 max_tgid; /* the target map has room for process numbers below */
	__u32 n_disks; /* 0: all disks */
	__u32 owner; /* the target's user, if OWNED */
	__u32 page_shift;
	__u32 access_hz; /* samples a second */
	__u32 cache_mask; /* number of struct dlt_cache_chunks, less 1; 0: the cache is not traced */
	__u32 disks[DLT_MAX_DISKS]; /* dev_t of whole disks, major << 20 | minor */
	struct dlt_type_ids ids;
	__u8 all; /* every process except dltraced */
	__u8 no_args;
	__u8 cgroups; /* targets given by cgroup */
	__u8 new_containers;
	__u8 tp; /* hooked on tp/raw_syscalls, not by typed programs */
	__u8 hold; /* programs turn preemption off while they run */
	__u8 perf; /* DLT_PERF_*: the hooks to use where this kernel skips runs of typed programs */
	__u8 owned; /* OWNER, who is not root, reads the trace: it has only rows of OWNER's processes */
	__u8 func_hook; /* enum dlt_func_hook */
	__u8 plain; /* without the parts that a probe's rows can do without: see struct probe */
	__u8 access; /* enum config_access: how accesses of memory are seen */
	__u8 functions; /* probes on functions of processes that run already: see kernel/uprobe/functions.h */
	__u8 frames; /* that their rows have at most: 0, 1 or DLT_ALLOC_FRAMES */
	__u8 meta_all; /* each call of meta has a row, not only the long ones */
	__u8 net_rows; /* each call on a socket has a row */
	__u8 net_names; /* what names the peers of sockets is sent, too */
};

#define DLT_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)

DLT_ASSERT_SIZE(dlt_hdr, 48);
DLT_ASSERT_SIZE(dlt_file_id, 16);
DLT_ASSERT_SIZE(dlt_file_at, 16);
DLT_ASSERT_SIZE(dlt_peer, 20);
DLT_ASSERT_SIZE(dlt_file, 72);
DLT_ASSERT_SIZE(dlt_call, 96);
DLT_ASSERT_SIZE(dlt_callinfo, 4);
DLT_ASSERT_SIZE(dlt_config,
		60 + 4 * DLT_MAX_DISKS + sizeof(struct dlt_type_ids) + DLT_WATCHES * sizeof(struct dlt_watch) + 16);

#endif
