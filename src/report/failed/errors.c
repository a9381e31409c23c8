/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/failed/errors.h"

#include <errno.h>
#include <stddef.h>

#include "base/util.h"

static const struct failed_error errors[] = {
	{ .nr = EACCES,
	  .name = "EACCES",
	  .words = "no permission",
	  .subject = FAILED_FOLDER,
	  .data = true,
	  .advice = "Give the job's user the right to it (ls -ld of the file and of each folder above; in a container, "
		    "the user inside), or name another folder." },
	{ .nr = ECONNREFUSED,
	  .name = "ECONNREFUSED",
	  .words = "nobody listens at the other end",
	  .subject = FAILED_PEER,
	  .advice = "Start the server first, or correct its address and port; a firewall can refuse, too." },
	{ .nr = ECONNRESET,
	  .name = "ECONNRESET",
	  .words = "the other end has dropped the connection",
	  .subject = FAILED_PEER,
	  .advice =
		  "Look at what the other end did then: it ended, or was restarted, or closes what is idle for long." },
	{ .nr = EDQUOT,
	  .name = "EDQUOT",
	  .words = "the disk quota is used up",
	  .subject = FAILED_FOLDER,
	  .advice =
		  "Remove files of the job's user there, or ask for a larger quota (quota -s, lfs quota, btrfs qgroup "
		  "show); what was being written is not whole." },
	{ .nr = EFBIG,
	  .name = "EFBIG",
	  .words = "the file would be too large",
	  .subject = FAILED_FOLDER,
	  .advice =
		  "Raise the limit of a file's size (ulimit -f), or write several smaller files; the file system has a "
		  "limit, too." },
	{ .nr = EHOSTUNREACH,
	  .name = "EHOSTUNREACH",
	  .words = "no way to the other host",
	  .subject = FAILED_PEER,
	  .advice = "Look at the route to that host, and whether it is up (ip route get, ping)." },
	{ .nr = EIO,
	  .name = "EIO",
	  .words = "input/output error",
	  .subject = FAILED_FOLDER,
	  .data = true,
	  .advice = "Look into the kernel's log (dmesg) for this disk or file server: what is stored there may be "
		    "damaged." },
	{ .nr = EMFILE,
	  .name = "EMFILE",
	  .words = "too many open files in the process",
	  .subject = FAILED_LIMIT,
	  .limit = "RLIMIT_NOFILE",
	  .advice = "Raise the limit (ulimit -n, LimitNOFILE= of systemd, docker --ulimit nofile), or close files; "
		    "PyTorch's loaders need fewer with torch.multiprocessing.set_sharing_strategy('file_system')." },
	{ .nr = ENFILE,
	  .name = "ENFILE",
	  .words = "too many open files on the machine",
	  .subject = FAILED_LIMIT,
	  .limit = "fs.file-max",
	  .advice = "Raise it (sysctl fs.file-max), or find who has so many files open (lsof)." },
	{ .nr = ENOMEM,
	  .name = "ENOMEM",
	  .words = "no memory",
	  .subject = FAILED_LIMIT,
	  .advice =
		  "Give the job more memory, or let it need less; the limit may be that of address space (ulimit -v), "
		  "of mappings (sysctl vm.max_map_count), of a cgroup, or of the machine (vm.overcommit_memory)." },
	{ .nr = ENOSPC,
	  .name = "ENOSPC",
	  .words = "no space left",
	  .subject = FAILED_FOLDER,
	  .advice = "Free space there (df -h, df -i), keep fewer checkpoints, or write to another disk; what was being "
		    "written is not whole. /dev/shm grows with docker --shm-size." },
	{ .nr = EPERM,
	  .name = "EPERM",
	  .words = "not permitted",
	  .subject = FAILED_FOLDER,
	  .data = true,
	  .advice = "Look for what forbids it: attributes (lsattr), the owner, a container's seccomp profile or "
		    "capabilities." },
	{ .nr = EROFS,
	  .name = "EROFS",
	  .words = "the file system is read-only",
	  .subject = FAILED_FOLDER,
	  .data = true,
	  .advice = "Mount it for writing, or write elsewhere; the kernel makes a damaged one read-only (dmesg)." },
	{ .nr = ESTALE,
	  .name = "ESTALE",
	  .words = "the file server has no such file any more",
	  .subject = FAILED_FOLDER,
	  .advice = "Replace a file that others have open by a rename, and never remove it before; mount the folder "
		    "again if it goes on." },
	{ .nr = ETIMEDOUT,
	  .name = "ETIMEDOUT",
	  .words = "the other end did not answer in time",
	  .subject = FAILED_PEER,
	  .advice = "Look whether that host and its server are up, and at what is in between (firewall, NAT)." },
};

const struct failed_error failed_short_write = {
	.name = "short",
	.words = "fewer bytes than given",
	.verb = "wrote less than it was given",
	.subject = FAILED_FOLDER,
	.advice = "Look whether the disk is full there or a limit was reached (df -h, quota -s, ulimit -f), and write "
		  "the "
		  "rest.",
};

const struct failed_error failed_no_process = {
	.nr = EAGAIN,
	.name = "EAGAIN",
	.words = "no more processes or threads",
	.subject = FAILED_LIMIT,
	.limit = "RLIMIT_NPROC or pids.max",
	.advice = "Raise the limit (ulimit -u, docker --pids-limit, TasksMax= of systemd, pids.max of the cgroup), or "
		  "start fewer: loaders, and threads of each (OMP_NUM_THREADS, torch.set_num_threads).",
};

#define NO_LOCK(error)                                                                                             \
	{                                                                                                          \
		.nr = (error), .name = #error, .words = "it may lock no more memory", .subject = FAILED_LIMIT,     \
		.limit = "RLIMIT_MEMLOCK",                                                                         \
		.advice = "Raise the limit (ulimit -l, LimitMEMLOCK= of systemd, docker --ulimit memlock=-1), or " \
			  "lock less: pinned memory, and buffers of io_uring and RDMA.",                           \
	}
static const struct failed_error no_lock[] = { NO_LOCK(EAGAIN), NO_LOCK(ENOMEM), NO_LOCK(EPERM) };

const struct failed_error *failed_no_lock(int nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(no_lock); i++)
		if (no_lock[i].nr == nr)
			return &no_lock[i];
	return NULL;
}

bool failed_is_no_lock(const struct failed_error *error)
{
	return error >= no_lock && error < no_lock + ARRAY_SIZE(no_lock);
}

const struct failed_error failed_no_answer = {
	.name = "no-answer",
	.words = "nothing came within the time",
	.verb = "had no answer",
	.subject = FAILED_PEER,
	.advice = "Look whether that host and its server are up; port 53 is a name server's (/etc/resolv.conf, "
		  "resolvectl).",
};

const struct failed_error *failed_error_of(int nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].nr == nr)
			return &errors[i];
	return NULL;
}
