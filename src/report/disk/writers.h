/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Knows which process wrote each dirty byte of a file last, that is, each byte that no write-back has taken yet. Pure:
 * knows neither rows nor time; writes and write-backs come in their order. Memory is 12 bytes for each stretch of dirty
 * bytes with one writer, and 32 bytes for each MiB of a file that was ever written. Bounded: bytes without room are
 * counted, and have no writer.
 */
#ifndef REPORT_DISK_WRITERS_H
#define REPORT_DISK_WRITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/table.h"

#define WRITERS_CHUNK_BITS 20
#define WRITERS_CHUNKS_MAX (1U << 20) /* 32 MiB when full */
#define WRITERS_CALL_MAX (1ULL << 31) /* no call writes more: MAX_RW_COUNT, linux/fs.h */
#define WRITERS_BIO_MAX (1ULL << 32) /* no request has more: bi_size is 32 bits wide */
#define WRITERS_BYTES_MAX (64U << 20) /* of all stretches */

struct writers {
	struct table chunks; /* struct writers_chunk, by file and MiB */
	uint64_t bytes; /* of memory, in stretches */
	uint64_t left_out; /* bytes written that had no room */
};

void writers_init(struct writers *w);
void writers_free(struct writers *w);

/* PID wrote LEN bytes at OFF of the file FID; what is more than a call can write is left out. */
void writers_write(struct writers *writers, uint64_t fid, uint64_t off, uint64_t len, uint32_t pid);
/* Takes a stretch of LEN bytes whose last writer is PID; 0: none is known. */
typedef void (*writers_fn)(void *ctx, uint64_t len, uint32_t pid);
/* Gives the stretches of LEN bytes at OFF of FID to TAKE, in order; what is more than a request can have is one
 * stretch. After that, none of these bytes has a writer. */
void writers_take(struct writers *writers, uint64_t fid, uint64_t off, uint64_t len, writers_fn take, void *ctx);

#endif
