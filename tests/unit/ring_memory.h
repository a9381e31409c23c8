/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A BPF ring buffer in memory, laid out as the kernel maps one, and what the kernel does to it
 * (kernel/bpf/ringbuf.c): reserve, submit, discard. One thread per ring produces; another may consume.
 */
#ifndef RING_MEMORY_H
#define RING_MEMORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "kernel/ring.h"

/* linux/bpf.h */
#define BUSY (1U << 31)
#define DISCARD (1U << 30)
#define HDR_BYTES 8

struct ring_memory {
	uint64_t *consumer, *producer;
	char *data;
	uint64_t bytes;
};

/*
 * The consumer's page, and the producer's with the data twice after it, so that every record is contiguous. BYTES: a
 * power of two, whole pages.
 */
static inline void ring_memory_make(struct ring_memory *m, struct ring *r, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int prot = PROT_READ | PROT_WRITE;
	autoclose int fd = memfd_create("ring", MFD_CLOEXEC);
	char *cons = mmap(NULL, page, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *prod = mmap(NULL, page + 2 * bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(fd >= 0 && cons != MAP_FAILED && prod != MAP_FAILED);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	for (char *at = prod + page; at < prod + page + 2 * bytes; at += bytes)
		assert_ptr_equal(mmap(at, bytes, prot, MAP_SHARED | MAP_FIXED, fd, 0), at);
	*m = (struct ring_memory){ (uint64_t *)cons, (uint64_t *)prod, prod + page, bytes };
	*r = (struct ring){
		.consumer_pos = m->consumer, .producer_pos = m->producer, .data = m->data, .mask = bytes - 1
	};
}

static inline void ring_memory_free(struct ring_memory *m)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	munmap(m->consumer, page);
	munmap(m->producer, page + 2 * m->bytes);
}

/* bpf_ringbuf_query(BPF_RB_AVAIL_DATA) */
static inline uint64_t ring_memory_waiting(const struct ring_memory *m)
{
	return *m->producer - __atomic_load_n(m->consumer, __ATOMIC_ACQUIRE);
}

/* Reserves a record of LEN bytes, busy; NULL when there is no room. Its memory keeps its old content. */
static inline uint32_t *ring_memory_reserve(struct ring_memory *m, uint32_t len)
{
	const uint64_t total = (HDR_BYTES + (uint64_t)len + 7) & ~7ULL;
	uint32_t *head = (uint32_t *)(m->data + (*m->producer & (m->bytes - 1)));

	if (ring_memory_waiting(m) + total > m->bytes - 1)
		return NULL;
	head[0] = len | BUSY;
	__atomic_store_n(m->producer, *m->producer + total, __ATOMIC_RELEASE);
	return head;
}

static inline void *ring_memory_rec(uint32_t *head)
{
	return head + HDR_BYTES / sizeof(*head);
}

static inline void ring_memory_submit(uint32_t *head)
{
	__atomic_store_n(&head[0], head[0] & ~BUSY, __ATOMIC_RELEASE);
}

static inline void ring_memory_discard(uint32_t *head)
{
	__atomic_store_n(&head[0], (head[0] & ~BUSY) | DISCARD, __ATOMIC_RELEASE);
}

#endif
