/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of io_uring's ABI that the workloads use. The headers of the build machine may be older than the kernel, so
 * the numbers and layouts stand here, and no library hides them. Owns no ring: each program maps and fills its own.
 */
#ifndef URING_H
#define URING_H

#include <stdint.h>

/* The numbers of the system calls on x86-64 and arm64. */
#define URING_SETUP 425
#define URING_ENTER 426
#define URING_REGISTER 427

enum {
	OP_READV = 1,
	OP_WRITEV = 2,
	OP_FSYNC = 3,
	OP_READ_FIXED = 4,
	OP_WRITE_FIXED = 5,
	OP_SYNC_FILE_RANGE = 8,
	OP_ASYNC_CANCEL = 14,
	OP_FALLOCATE = 17,
	OP_OPENAT = 18,
	OP_CLOSE = 19,
	OP_READ = 22,
	OP_WRITE = 23,
	OP_OPENAT2 = 28,
	OP_SPLICE = 30,
	OP_PROVIDE_BUFFERS = 31,
	OP_REMOVE_BUFFERS = 32,
	OP_TEE = 33,
	OP_RENAMEAT = 35,
	OP_UNLINKAT = 36,
	OP_MKDIRAT = 37,
	OP_SYMLINKAT = 38,
	OP_LINKAT = 39,
	OP_READ_MULTISHOT = 49,
	OP_FIXED_FD_INSTALL = 54,
	OP_FTRUNCATE = 55,
	OP_READV_FIXED = 60,
	OP_WRITEV_FIXED = 61,
	OPS = 64, /* more than any kernel has so far */
};

/* Flags of a submission and of a completion. */
#define SQE_FIXED_FILE (1 << 0)
#define SQE_DRAIN (1 << 1)
#define SQE_LINK (1 << 2)
#define SQE_HARDLINK (1 << 3)
#define SQE_ASYNC (1 << 4)
#define SQE_BUFFER_SELECT (1 << 5)
#define SQE_SKIP_SUCCESS (1 << 6)
#define CQE_MORE (1 << 1)

#define SETUP_SQPOLL (1U << 1)
#define SETUP_CQSIZE (1U << 3)
#define SETUP_COOP_TASKRUN (1U << 8)
#define SETUP_TASKRUN_FLAG (1U << 9)
#define SETUP_SINGLE_ISSUER (1U << 12)
#define SETUP_DEFER_TASKRUN (1U << 13)

/* What the kernel has, in struct params. No bit stands for opens and closes in slots of the ring (5.15). */
#define FEAT_SKIP_SUCCESS (1U << 11) /* 5.17 */
#define FEAT_LINKED_FILE (1U << 12)

#define ENTER_GETEVENTS (1U << 0)
#define ENTER_SQ_WAKEUP (1U << 1)
#define ENTER_SQ_WAIT (1U << 2)
#define SQ_NEED_WAKEUP (1U << 0) /* in the submission ring's word of flags */

#define REGISTER_BUFFERS 0
#define REGISTER_FILES 2
#define REGISTER_PROBE 8

/* Offsets for mmap(2); the submission ring is at 0. */
#define OFF_CQ 0x8000000L
#define OFF_SQES 0x10000000L

struct sqe {
	uint8_t op, flags;
	uint16_t ioprio;
	int32_t fd;
	uint64_t off, addr;
	uint32_t len, op_flags;
	uint64_t user_data;
	uint16_t buf, personality;
	uint32_t file_index; /* or the input of a splice */
	uint64_t pad[2];
};

struct cqe {
	uint64_t user_data;
	int32_t res;
	uint32_t flags;
};

/* Offsets into a mapped ring. */
struct offsets {
	uint32_t head, tail, mask, entries;
	uint32_t word[2]; /* submissions: flags, dropped; completions: overflow, the array of struct cqe */
	uint32_t array; /* submissions: the indices; completions: flags */
	uint32_t pad;
	uint64_t user_addr;
};

struct params {
	uint32_t sq_entries, cq_entries, flags, cpu, idle, features, wq_fd, pad[3];
	struct offsets sq, cq;
};

/* The answer to REGISTER_PROBE. */
struct probe {
	uint8_t last, n;
	uint16_t pad;
	uint32_t pad2[3];
	struct {
		uint8_t op, pad;
		uint16_t flags; /* 1: the kernel has this operation */
		uint32_t pad2;
	} ops[OPS];
};

_Static_assert(sizeof(struct sqe) == 64, "an entry of the ABI");
_Static_assert(sizeof(struct cqe) == 16, "an entry of the ABI");
_Static_assert(sizeof(struct params) == 120, "the parameters of the ABI");
_Static_assert(sizeof(struct probe) == 16 + 8 * OPS, "the probe of the ABI");

#endif
