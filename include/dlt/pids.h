/* SPDX-License-Identifier: BSD-2-Clause */
/* Process life: the record of bpf/process/pids.bpf.c, which also keeps the target filter. */
#ifndef DLT_PIDS_H
#define DLT_PIDS_H

#include "dlt/dlt.h"

enum dlt_pids_event {
	DLT_PIDS_SNAPSHOT, /* a process from before the trace, or one moved into a traced cgroup */
	DLT_PIDS_FORK,
	DLT_PIDS_THREAD,
	DLT_PIDS_EXEC,
	DLT_PIDS_RENAME,
	DLT_PIDS_EXIT,
	DLT_PIDS_LEFT, /* it has executed a program that runs as another user: it has no more rows */
	DLT_PIDS_REFUSED, /* the kernel has made no process or thread for it, or has locked no memory */
};

#define DLT_ARGS_MAX 4096

/* Limits of a process, setrlimit(2), that its exit has. */
enum dlt_rlimit {
	DLT_RLIMIT_AS,
	DLT_RLIMIT_CPU,
	DLT_RLIMIT_FSIZE,
	DLT_RLIMIT_MEMLOCK,
	DLT_RLIMIT_NOFILE,
	DLT_RLIMIT_NPROC,
	DLT_RLIMITS, /* their end */
};

/* hdr.tgid, tid and comm are those of the task in question, not of the actor. */
struct dlt_pids {
	struct dlt_hdr hdr;
	struct dlt_segs segs; /* 0: exec: argv with its NULs; rename: the old name; exec: 1..: see dlt_pids_variable */
	__u32 event;
	__u32 ppid;
	__s64 status; /* waitpid's raw number, at the process's exit; of DLT_PIDS_REFUSED -errno */
	__u32 nspid; /* in its own pid namespace */
	__u32 uid;
	/* at exit, of the thread or, with status, of the process */
	__u64 utime_ns, stime_ns;
	__u64 maxrss_bytes;
	__u64 majflt;
	__u64 disk_read, disk_write; /* bytes */
	__u64 minflt;
	/* what a look into /proc must find, or it is a look at another process, or at another program */
	__u64 start_ns; /* of the process, CLOCK_BOOTTIME */
	__u64 args_at; /* address of the arguments: the kernel chooses it anew at each exec; 0: none */
	__u32 environ_read; /* exec: the segments have what the environment has of these variables */
	/* at the exit of a process that a signal ended, or that ended with a status other than 0 and was asked to */
	__u32 by; /* enum dlt_pids_by */
	__u32 by_pid;
	__u32 cpus; /* at exit: how many CPUs the thread might use; 0: not known */
	__u64 limit_bytes; /* of the cgroup's memory that was used up when the kernel sent SIGKILL; 0: none was */
	char by_comm[DLT_COMM_LEN];
	__u64 rlimits[DLT_RLIMITS]; /* at the exit of a process, plus 1; 0: unlimited, or not known */
	__u64 requested; /* number of the signal that asked it to end, and did not end it by itself; 0: none */
	__u32 call; /* number of the call, of DLT_PIDS_REFUSED */
	__u32 pad;
};

DLT_ASSERT_SIZE(dlt_pids, 256);

/* Who has sent a signal. */
enum dlt_pids_by {
	DLT_PIDS_BY_UNKNOWN, /* no signal, or not seen */
	DLT_PIDS_BY_KERNEL,
	DLT_PIDS_BY_OOM, /* the kernel, as the machine's memory was used up */
	DLT_PIDS_BY_OOM_LIMIT, /* the kernel, as that of a cgroup was */
	DLT_PIDS_BY_SELF,
	DLT_PIDS_BY_JOB, /* another process of the target */
	DLT_PIDS_BY_OTHER,
	DLT_PIDS_BYS, /* their end */
};

/* Variables of the environment that an exec's record has as segments, each as "NAME=VALUE" with its NUL. */
enum dlt_pids_variable {
	DLT_PIDS_RANK = 1,
	DLT_PIDS_SLURM_PROCID,
	DLT_PIDS_OMPI_RANK,
	DLT_PIDS_VARIABLES, /* their end */
};
#define DLT_VARIABLE_MAX 64 /* what is longer is cut: it is no number */

/* Key of the map of traced cgroups: kernfs ids are unique only within one hierarchy. */
struct dlt_cgroup_key {
	__u64 id; /* = the directory's inode number */
	__u32 hierarchy; /* 0: v2 */
	__u32 pad;
};

/* Key of the map of cgroups that are traced as soon as they exist. */
#define DLT_CGROUP_PATH_MAX 500 /* with its NUL; keys of hash maps end at 512 bytes */
struct dlt_cgroup_path {
	__u32 hierarchy;
	char path[DLT_CGROUP_PATH_MAX]; /* from the hierarchy's root; zero behind its end */
};

DLT_ASSERT_SIZE(dlt_cgroup_path, 504);

#endif
