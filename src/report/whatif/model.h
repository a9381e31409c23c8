/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An epoch of a PyTorch job as pure services: what each batch and each step takes by itself, without any wait of one
 * for another. replay.h adds these waits again. All times are ns, as doubles: they are divided and scaled.
 */
#ifndef REPORT_WHATIF_MODEL_H
#define REPORT_WHATIF_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define WHATIF_BATCHES_MAX 2048U /* of an epoch: its first ones; the others take as long in proportion */
#define WHATIF_WORKERS_MAX 256U

/* How a DataLoader makes its batches: ARGS of its region dataloader.start. */
struct whatif_loader {
	bool known; /* the region has them */
	uint32_t workers; /* 0: the trainer makes them itself */
	uint32_t prefetch; /* batches that each worker makes ahead */
	bool persistent, pin, in_order, iterable;
};

/* A batch, where it is made. */
struct whatif_batch {
	uint32_t worker;
	uint32_t reads, requests; /* that waited for storage; waits for peers */
	double disk_ns, disk_bytes; /* waits for local disks, and what these fetched */
	double remote_ns; /* waits for file servers */
	double net_ns; /* for peers, by sockets */
	double sleep_ns; /* all other waits */
	double cpu_ns;
	double deliver_ns; /* from its end until the trainer can take it, while its worker makes the next one */
};

/* The trainer, from one batch to the next. */
struct whatif_step {
	double cpu_ns, sleep_ns; /* sleep: of a GPU, of other ranks, of a timer */
	double save_cpu_ns, save_wait_ns; /* in checkpoints */
	double save_bytes; /* that these wrote */
};

enum whatif_storage_kind {
	WHATIF_NO_STORAGE, /* hardly anything waited for a disk */
	WHATIF_LATENCY, /* each read takes its time, however many there are */
	WHATIF_LIMIT, /* all readers together get so many bytes, as of a cloud's volume: a token bucket */
};

struct whatif_storage {
	enum whatif_storage_kind kind;
	double rate, most; /* WHATIF_LIMIT: bytes/ns; the most seen in half a second */
	bool served; /* the bytes of batches are ns of a server that answers one request at a time */
	double depth, fast; /* of the bucket, bytes; bytes/ns while it is not empty */
};

struct whatif_model {
	struct whatif_loader loader;
	struct whatif_batch *batches;
	struct whatif_step *steps; /* as many */
	uint32_t n;
	struct whatif_storage storage;
	double cpus; /* that the job may use; a quota may have a fraction */
	double width; /* CPUs that the trainer uses at a time, 1 and more */
	double stretch; /* CPU time takes so many times as long, as other programs use the CPUs, too */
	double fork_ns; /* of the start, for each worker */
	double boot_ns; /* from a worker's fork to its first batch */
	double fetch_ns; /* to take a batch that is ready */
	double deliver_idle_ns; /* at most, where the worker has no other batch to make: its threads share Python's lock
				 */
	double gap_ns; /* between two batches of a busy worker */
	double last_ns; /* of the fetch that finds the epoch's end */
	bool async_saves; /* checkpoints are copied, then written while training goes on */
};

#endif
