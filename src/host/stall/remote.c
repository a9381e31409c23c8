/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/remote.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/util.h"
#include "host/stall/async_call.h"

#define PAGE 4096
#define DEADLINE_MS 2000 /* resident memory takes microseconds; a page from a busy disk, more */

struct reading {
	struct async_call call;
	pid_t pid;
	uint64_t addr;
	ssize_t n; /* of process_vm_readv(2), or -errno */
	char text[REMOTE_STRING_MAX];
};

static struct reading *stuck; /* atomic: one hanging thread is enough, and what it reads into is its own for good */

/* In two pieces: the string may end just before unmapped memory, which makes its piece fail. */
static void read_text(void *ctx)
{
	struct reading *r = ctx;
	size_t rest = PAGE - r->addr % PAGE;
	struct iovec remote[] = { { (void *)(uintptr_t)r->addr, rest },
				  { (void *)(uintptr_t)(r->addr + rest), REMOTE_STRING_MAX - rest } };
	struct iovec local = { r->text, REMOTE_STRING_MAX };

	r->n = process_vm_readv(r->pid, &local, 1, remote, ARRAY_SIZE(remote), 0);
	if (r->n <= 0)
		r->n = r->n < 0 ? -errno : -EFAULT;
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
	r->call = (struct async_call)ASYNC_CALL_NONE;
	r->pid = pid;
	r->addr = addr;
	n = async_call_begin(&r->call, read_text, r);
	if (!n && !async_call_wait(&r->call, DEADLINE_MS)) {
		__atomic_store_n(&stuck, r, __ATOMIC_RELAXED);
		return -ETIMEDOUT;
	}
	if (!n)
		n = r->n;
	if (n > 0) {
		n = (ssize_t)strnlen(r->text, (size_t)n - 1);
		*(char *)mempcpy(buf, r->text, (size_t)n) = '\0';
	}
	async_call_free(&r->call);
	free(r);
	return n;
}
