/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the process that wrote the bytes which the kernel writes back: compares each write-back with the writes that
 * began before it was given to the disk. A write gets its row when it ends, which may be long after parts of it were
 * written back, so writes are first sorted by their begins. Pure: knows no columns. Memory is bounded: 56 bytes for
 * each write-back, 40 for each of the last WRITEBACKS_WRITES writes, and the writers of dirty bytes (writers.h).
 */
#ifndef REPORT_DISK_WRITEBACKS_H
#define REPORT_DISK_WRITEBACKS_H

#include "report/disk/writers.h"

#define WRITEBACKS_MAX (1U << 20) /* write-backs */
#define WRITEBACKS_WRITES (1U << 19) /* writes that wait until no write that began earlier can come */
#define WRITEBACKS_LATE (1U << 16) /* those of them that ended long after writes that began later */

struct writeback {
	uint64_t issued_ns, fid, off, bytes;
	uint64_t time_ns; /* this and what follows are the caller's */
	uint32_t pid, writers, requests;
};

struct writebacks_write {
	uint64_t begin_ns, fid, off, len;
	uint32_t pid;
};

/* Takes LEN bytes of X, which PID wrote; 0: no known write did. The stretches of X come in order. */
typedef void (*writebacks_fn)(void *ctx, const struct writeback *x, uint64_t len, uint32_t pid);

struct writebacks {
	struct writeback *v;
	uint32_t n, next; /* next: the first that is not compared yet */
	struct writebacks_write *write, *late; /* those sorted by their begins; those not sorted yet */
	uint32_t n_writes, n_late;
	uint64_t compared_ns; /* writes that began before this time have been taken */
	uint64_t out_of_order; /* writes whose rows came too late */
	struct writers writers;
	writebacks_fn take;
	void *ctx;
};

void writebacks_init(struct writebacks *b, writebacks_fn take, void *ctx);
void writebacks_free(struct writebacks *b);
/* Adds a write-back, before the first write. False: there is no room. */
bool writebacks_add(struct writebacks *b, const struct writeback *x);
/* Adds a write, whose end is not before the end of the one before. */
void writebacks_write(struct writebacks *writebacks, const struct writebacks_write *write);
/* Compares the rest; after the last write. */
void writebacks_end(struct writebacks *b);

#endif
