/* SPDX-License-Identifier: BSD-2-Clause */
#include "thread.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "pool.h"

_Thread_local struct thread thread __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static bool have_key;
static void (*at_thread_end)(void);

/*
 * The probed instruction. PAGE and COPY are in the registers of arguments when it runs. On x86 it is a nop of one byte,
 * which the kernel emulates. Not one of five bytes: from Linux 6.18 on the kernel makes such a one a call of a page of
 * its own, which a forked child lacks.
 */
void dltraced_alloc_point(const struct dlt_alloc_page *page, uint64_t copy);
#if defined(__x86_64__)
__asm__(".text\n.globl dltraced_alloc_point\n.type dltraced_alloc_point, @function\ndltraced_alloc_point:\n"
	".cfi_startproc\n\t.byte 0x90\n\tret\n.cfi_endproc\n.size dltraced_alloc_point, . - dltraced_alloc_point\n");
#else
__asm__(".text\n.globl dltraced_alloc_point\n.type dltraced_alloc_point, %function\ndltraced_alloc_point:\n"
	".cfi_startproc\n\tnop\n\tret\n.cfi_endproc\n.size dltraced_alloc_point, . - dltraced_alloc_point\n");
#endif

static uint64_t magic(void)
{
	return config.tsc ? DLT_ALLOC_TSC : DLT_ALLOC_NS;
}

static void page_begin(struct dlt_alloc_page *page)
{
	page->head = (struct dlt_alloc_head){ .magic = magic(), .id = thread_ticks() };
	dltraced_alloc_point(page, DLT_ALLOC_BEGUN);
}

void thread_flush(struct dlt_alloc_page *page)
{
	if (!page->head.n)
		return;
	dltraced_alloc_point(page, DLT_ALLOC_FULL);
	__atomic_store_n(&page->head.n, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&page->head.seq, page->head.seq + 1, __ATOMIC_RELEASE);
}

struct dlt_alloc_page *thread_page_make(unsigned int n)
{
	struct dlt_alloc_page *page = thread.page;
	int saved = errno;

	if (page && page->head.magic) { /* without room */
		thread_flush(page);
		return page;
	}
	if (thread.ended || n > DLT_ALLOC_EVENTS)
		return NULL;
	if (!page) {
		page = pool_take();
		if (!page)
			return NULL;
	}
	page_begin(page);
	thread.page = page;
	if (have_key)
		pthread_setspecific(key, page); /* so that the destructor runs */
	errno = saved;
	return page;
}

void thread_define(enum dlt_alloc_op op, uint32_t number, uint64_t addr, const void *data, size_t len)
{
	unsigned int chunks =
		(unsigned int)((len + sizeof(struct dlt_alloc_event) - 1) / sizeof(struct dlt_alloc_event));
	struct dlt_alloc_page *page = thread_page(1 + chunks);
	struct dlt_alloc_event *event;

	if (!page)
		return;
	event = thread_write(page);
	*event = (struct dlt_alloc_event){
		.ticks = thread_ticks(),
		.addr = addr,
		.op_size = (uint64_t)op << DLT_ALLOC_OP_SHIFT,
		.site = number,
		.n = chunks,
	};
	memset(event + 1, 0, chunks * sizeof(*event));
	memcpy(event + 1, data, len);
	thread_written(page, 1 + chunks);
}

void thread_send(const struct dlt_alloc_event *e)
{
	struct {
		struct dlt_alloc_head head;
		struct dlt_alloc_event v[DLT_ALLOC_FEW]; /* as many are read */
	} page = { .head = { .magic = magic(), .id = e->ticks, .n = 1 }, .v = { *e } };

	__asm__ volatile("" : : "r"(&page) : "memory");
	dltraced_alloc_point((const struct dlt_alloc_page *)&page, DLT_ALLOC_SINGLE);
}

/* The destructors of other keys free memory, too: those run again as long as ours asks for it. */
static void thread_ends(void *page)
{
	if (++thread.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(key, page);
		return;
	}
	thread.busy = true;
	thread.ended = true;
	if (thread.page && thread.page->head.magic) {
		dltraced_alloc_point(thread.page, DLT_ALLOC_LAST);
		thread.page->head.magic = 0;
	}
	if (thread.page)
		pool_give(thread.page);
	thread.page = NULL;
	at_thread_end();
	thread.busy = false;
}

/* The main thread runs no destructors of keys. What comes after this is fetched where the thread ends, if the kernel
 * can. */
__attribute__((destructor)) static void program_ends(void)
{
	if (thread.page && thread.page->head.magic && !thread.busy)
		thread_flush(thread.page);
}

void thread_init(void (*at_end)(void))
{
	at_thread_end = at_end;
	have_key = !pthread_key_create(&key, thread_ends);
}
