/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/remote.h"

#include <errno.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/thread.h"
#include "base/util.h"

#define PAGE 4096
#define DEADLINE_S 2 /* what is there takes microseconds; a page from a busy disk, more */

/* Who is last, the reader or who waits for it, frees it. */
struct reading {
	pid_t pid;
	uint64_t addr;
	sem_t done;
	int users; /* atomic */
	ssize_t n; /* of process_vm_readv(2), or -errno; atomic, as ThreadSanitizer does not know sem_clockwait() */
	char text[REMOTE_STRING_MAX];
};

static bool stuck; /* atomic: one thread that hangs is enough */

static void leave(struct reading *r)
{
	if (__atomic_sub_fetch(&r->users, 1, __ATOMIC_ACQ_REL))
		return;
	sem_destroy(&r->done);
	free(r);
}

/* In two pieces: the string may end just before unmapped memory, which makes its piece fail. */
static void *read_main(void *ctx)
{
	struct reading *r = ctx;
	size_t rest = PAGE - r->addr % PAGE;
	struct iovec remote[] = { { (void *)(uintptr_t)r->addr, rest },
				  { (void *)(uintptr_t)(r->addr + rest), REMOTE_STRING_MAX - rest } };
	struct iovec local = { r->text, REMOTE_STRING_MAX };
	ssize_t n;

	n = process_vm_readv(r->pid, &local, 1, remote, ARRAY_SIZE(remote), 0);
	__atomic_store_n(&r->n, n < 0 ? -errno : n, __ATOMIC_RELEASE);
	sem_post(&r->done);
	leave(r);
	return NULL;
}

static ssize_t await(struct reading *r, char *buf)
{
	struct timespec deadline;
	size_t len;
	ssize_t n;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += DEADLINE_S;
	while ((err = sem_clockwait(&r->done, CLOCK_MONOTONIC, &deadline) < 0 ? errno : 0) == EINTR)
		;
	if (err) {
		__atomic_store_n(&stuck, true, __ATOMIC_RELAXED);
		return -ETIMEDOUT;
	}
	n = __atomic_load_n(&r->n, __ATOMIC_ACQUIRE);
	if (n <= 0)
		return n < 0 ? n : -EFAULT;
	len = strnlen(r->text, (size_t)n - 1);
	memcpy(buf, r->text, len);
	buf[len] = '\0';
	return (ssize_t)len;
}

ssize_t remote_string(pid_t pid, uint64_t addr, char buf[REMOTE_STRING_MAX])
{
	struct reading *r;
	ssize_t n;

	if (__atomic_load_n(&stuck, __ATOMIC_RELAXED))
		return -ETIMEDOUT;
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = (struct reading){ .pid = pid, .addr = addr, .users = 2 };
	sem_init(&r->done, 0, 0);
	n = thread_start_detached(read_main, r);
	if (n < 0)
		r->users = 1; /* nobody else */
	else
		n = await(r, buf);
	leave(r);
	return n;
}
