/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers that only the path can give: what they are called, and what is to be done. */
#include "report/rules/rules.h"

#include <stddef.h>

#define OF_PATH(name, the_code, the_title, the_number, the_advice) \
	const struct rule rule_##name = {                          \
		.code = the_code,                                  \
		.title = the_title,                                \
		.number = the_number,                              \
		.is_share = true,                                  \
		.evidence = path_evidence,                         \
		.advice = the_advice,                              \
	}

OF_PATH(storage_read, "storage-read", "The job waited for reads from storage",
	"waits for disks in reads and page faults; where these have a quarter of the reads, time on a CPU in reads, "
	"too",
	"Read more at a time and from more workers, keep the data on a faster or local disk, or where it fits in "
	"memory, "
	"keep it there.");
OF_PATH(open_metadata, "open-metadata", "The job waited for opening files and for metadata",
	"waits for disks, and time on a CPU, in calls that open, close, make, remove and look at files",
	"Pack small samples into few large files (tar shards, record files, a database), and keep files open.");
OF_PATH(decode_cpu, "decode-cpu", "Samples were decoded on the CPU, and the job waited for it",
	"time on a CPU of processes that serve others, and of one in charge while it makes batches",
	"Use more workers while CPUs are idle; else decode ahead of time, on the GPU, or with a faster library.");
OF_PATH(cpu_contention, "cpu-contention", "Threads that could run waited for a CPU",
	"time in which a thread could run, and had no CPU",
	"Use fewer threads (OMP_NUM_THREADS, workers), give the job more CPUs, or keep others off them.");
OF_PATH(checkpoint_write, "checkpoint-write", "The job waited for what it wrote: checkpoints, results",
	"waits for disks, and time on a CPU, in writes and syncs; time on a CPU in saves",
	"Write checkpoints less often, in the background, or to a faster disk first.");
OF_PATH(straggler, "straggler-worker", "One worker was slower than the others, which waited for it",
	"time of loaders that were busy for half of their lives or more, and the others of their generation for at "
	"most "
	"0.4 times that: as much as these were not busy",
	"Even out the samples between workers, prefetch more, or take batches in the order in which they are ready.");
OF_PATH(outside_wait, "outside-wait", "The job waited for the network, or for processes that are not its own",
	"waits that a process outside of the job ended, or a device",
	"What serves it is not in this trace: a server, a container's or a cluster's daemon, a program that was "
	"running "
	"before. Trace that, too (--pid, --container, or on its host).");
OF_PATH(network_read, "network-read", "The job waited for a server, or another peer, over the network",
	"waits that a server outside of the job ended, or a packet",
	"Fetch more at a time and over more connections, prefetch, or keep the data nearer: on a local disk, or in the "
	"same network.");
OF_PATH(network_write, "network-write", "The job waited for what it sent over the network to be taken",
	"waits of calls that send, which a packet ended; of any for the network, where four times as much is sent as "
	"received",
	"Send from another thread, and send less: fewer and larger messages, compressed. Or see why the other end "
	"takes it so slowly.");
OF_PATH(cpu_quota, "cpu-quota", "The job's CPU quota was used up, and it waited for the next period",
	"time in which a thread could run, but for the quota of its cgroup",
	"Give the container or the job more CPUs (docker --cpus, resources.limits.cpu, cpu.max), or run fewer threads "
	"than the quota has CPUs.");
OF_PATH(cpu_limit, "cpu-limit", "The job waited for a CPU, and the machine has CPUs that it may not use",
	"waits for a CPU of threads that may use fewer CPUs than the machine has",
	"Let it use more of them: taskset, numactl, --cpus-per-task of Slurm, docker --cpuset-cpus, Kubernetes' CPU "
	"manager, CPUAffinity= of systemd, or the program's own sched_setaffinity().");
OF_PATH(stopped, "stopped", "The job was stopped, by a signal or a debugger", "time in which a thread was stopped",
	"Find out who stops it: a scheduler that suspends jobs, a debugger, ^Z in a terminal.");
OF_PATH(terminal, "terminal", "The job waited for input at its terminal", "waits for a terminal",
	"Give it what it asks for by its arguments or its standard input.");
OF_PATH(lock_wait, "lock-wait", "The job waited for a lock on a file",
	"waits for a lock that another process held, and pauses between tries to get one",
	"Let each process have a file of its own, hold the lock for less time, or find out who holds it: /proc/locks "
	"has its PID.");
OF_PATH(held_by, "held-by", "Another process held up the job",
	"waits that a thread outside the job ended: in opens and reads (fanotify, leases), page faults (userfaultfd), "
	"calls on which it decides (seccomp)",
	"If it scans on access (virus scanner, audit, backup), exclude the data's folder there; else see what it does "
	"then: file servers hold leases, sandboxes decide on calls.");
OF_PATH(poll_sleep, "poll-sleep", "The job slept between looks at whether something was done",
	"waits that a timer ended again and again, while nothing else of the job worked",
	"Wait for the event itself (a blocking get, a condition, poll without a timeout), or sleep for less time.");

OF_PATH(no_answer, "no-answer", "The job waited for something that never came",
	"waits that nothing ended but a signal or the end of the trace, while nothing else of the job worked",
	"Look at who should have ended the wait: a process that was killed, two that wait for each other, a lock that "
	"is never given back.");
OF_PATH(import, "import", "The job loaded its program and its packages",
	"time of the first process, and of those in charge, before their programs and packages were loaded",
	"Import less, or later; put packages on a local disk; let one process import them and fork the others.");
OF_PATH(worker_startup, "worker-startup", "The job waited for its loaders to start",
	"time of processes that serve others, before their programs and packages were loaded",
	"Keep the loaders from one epoch to the next (PyTorch: persistent_workers=True), fork them instead of spawning "
	"them, and import less in them.");
OF_PATH(slow_rank, "slow-rank", "A rank waited for another rank that was slower",
	"time in which a process in charge waited for another one of the same program",
	"Look at what the slow rank does, by its own part of the time: give all ranks the same work, disk and CPUs.");
OF_PATH(child_process, "child-process", "The job waited for programs that it ran one by one",
	"time of short programs that a process in charge executed, and waited for",
	"Do their work in the process itself, or run several at a time, or one for many samples.");
OF_PATH(gil, "gil", "Threads of Python waited for one another: one at a time runs (the GIL)",
	"time in which a thread waited for Python's lock, in turns of 5 ms, for another thread of its process",
	"Let processes do the work of these threads, or code that gives the lock back (NumPy, PyTorch, C).");
OF_PATH(collate_main, "collate-main", "The training process took the time to take over its batches",
	"time on a CPU of a process in charge, in its regions `dataloader`",
	"Let the loaders collate, and hand over fewer and larger tensors: what is sent as lists and dicts is unpacked "
	"one by one.");
OF_PATH(own_writes, "own-writes", "The job waited for reads behind its own writes to the same disk",
	"waits for reads of a disk to which the job wrote meanwhile, half as much as it read or more",
	"Write checkpoints and logs to another disk, less often, or while nothing is read.");
OF_PATH(memory_limit, "memory-limit",
	"The job's memory limit kept its data out of the page cache, and it read it again",
	"storage-read of bytes that a cgroup's limit of memory made the job read again",
	"Give the job more memory (docker --memory, resources.limits.memory, memory.max), or let it need less: the "
	"limit counts the page cache, too.");
OF_PATH(disk_saturated, "disk-saturated", "A disk was at its limit, also while samples were decoded",
	"time in which a disk had requests, if it moves no more with several of them than with one",
	"Keep the data on a faster disk, or in memory, or read fewer bytes: smaller samples, a denser format. Faster "
	"decoding or more workers hardly help.");
OF_PATH(log_sync, "log-sync", "The job waited for small writes to reach the disk, one by one",
	"waits for writes and syncs, where less than 64 KiB are written for each sync",
	"Sync a log once for many lines, from a thread of its own, or not at all.");
OF_PATH(no_requests, "no-requests", "The job is a server, and waited for clients",
	"waits for clients: of a trainer or a rank only in accept",
	"It is not what makes them slow: trace the clients, or send it more at a time.");
OF_PATH(rate_limit, "rate-limit", "The job waited for workers that slept",
	"time in which processes that serve others slept until a time",
	"Find out what they wait for: a limit of requests, a pause after a failed try, a poll.");

OF_PATH(gpu_bound, "gpu-bound", "The GPUs set the pace: no one cause kept them idle for long",
	"time in which the GPU that was idle for longest worked, where no cause of its idle time has 0.1",
	"What helps is the model, its precision, the batch size, the GPUs. A GPU that waits for another one (NCCL) "
	"counts as "
	"busy: Nsight Systems (nsys) shows that.");

const struct rule rule_before_training = {
	.code = "trainer-bound",
	.title = "The GPUs waited for the training process itself, and not for data",
	.is_share = true,
	.evidence = path_evidence,
	.advice = "Look at what it does between two batches: its own Python, copies to the GPU, logging. A profiler "
		  "(py-spy, perf) shows that.",
};

const struct rule rule_storage_at_limit = {
	.code = "storage-read",
	.title = "The job waited for reads from storage",
	.is_share = true,
	.evidence = path_evidence,
	.advice = "The disk is at its limit, and more workers read no faster: keep the data on a faster disk or in "
		  "memory, or read fewer bytes (smaller samples, a denser format).",
};

const struct rule rule_file_syncs = {
	.code = "log-sync",
	.title = "The job waited for many small files to reach the disk, one by one",
	.is_share = true,
	.evidence = path_evidence,
	.advice = "Write them into few larger files (tar, zip, a database), or sync them together at the end: "
		  "syncfs(2), or `sync -f'.",
};

const struct rule rule_cpu_others = {
	.code = "cpu-contention",
	.title = "The job waited for CPUs that processes outside of it had",
	.is_share = true,
	.evidence = path_evidence,
	.advice =
		"Run it where others do not use the same CPUs (a node of its own, --exclusive of Slurm, a cpuset), or "
		"end what runs beside it: `top' shows that.",
};

const struct rule *const rules_of_path[] = {
	&rule_storage_read,
	&rule_open_metadata,
	&rule_decode_cpu,
	&rule_cpu_contention,
	&rule_checkpoint_write,
	&rule_straggler,
	&rule_outside_wait,
	&rule_network_read,
	&rule_network_write,
	&rule_cpu_quota,
	&rule_cpu_limit,
	&rule_collate_main,
	&rule_stopped,
	&rule_terminal,
	&rule_lock_wait,
	&rule_held_by,
	&rule_poll_sleep,
	&rule_import,
	&rule_worker_startup,
	&rule_slow_rank,
	&rule_gil,
	&rule_child_process,
	&rule_log_sync,
	&rule_own_writes,
	&rule_memory_limit,
	&rule_disk_saturated,
	&rule_no_requests,
	&rule_rate_limit,
	&rule_no_answer,
	&rule_gpu_bound,
	NULL,
};
