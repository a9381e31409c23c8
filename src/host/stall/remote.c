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
	struct iovec pieces[REMOTE_PIECES];
	unsigned int n_pieces;
	ssize_t n; /* of process_vm_readv(2), or -errno */
	char bytes[REMOTE_BYTES_MAX];
};

static struct reading *stuck; /* atomic: one hanging thread is enough, and what it reads into is its own for good */

static void read_pieces(void *ctx)
{
	struct reading *r = ctx;
	struct iovec local = { r->bytes, 0 };

	for (unsigned int i = 0; i < r->n_pieces; i++)
		local.iov_len += r->pieces[i].iov_len;
	r->n = process_vm_readv(r->pid, &local, 1, r->pieces, r->n_pieces, 0);
	if (r->n <= 0)
		r->n = r->n < 0 ? -errno : -EFAULT;
}

ssize_t remote_read(pid_t pid, const struct remote_piece *pieces, unsigned int n_pieces, void *buf)
{
	struct reading *r;
	size_t all = 0;
	ssize_t n;

	if (__atomic_load_n(&stuck, __ATOMIC_RELAXED))
		return -ETIMEDOUT;
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->call = (struct async_call)ASYNC_CALL_NONE;
	r->pid = pid;
	r->n_pieces = n_pieces;
	for (unsigned int i = 0; i < n_pieces; i++) {
		r->pieces[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].addr, pieces[i].bytes };
		all += pieces[i].bytes;
	}
	n = n_pieces > REMOTE_PIECES || all > REMOTE_BYTES_MAX ? -EINVAL : async_call_begin(&r->call, read_pieces, r);
	if (!n && !async_call_wait(&r->call, DEADLINE_MS)) {
		__atomic_store_n(&stuck, r, __ATOMIC_RELAXED);
		return -ETIMEDOUT;
	}
	if (!n)
		n = r->n;
	if (n > 0)
		memcpy(buf, r->bytes, (size_t)n);
	async_call_free(&r->call);
	free(r);
	return n;
}

/* In two pieces: the string may end just before unmapped memory, which makes its piece fail. */
ssize_t remote_string(pid_t pid, uint64_t addr, char buf[REMOTE_STRING_MAX])
{
	size_t rest = PAGE - addr % PAGE;
	ssize_t n = remote_read(pid, (struct remote_piece[]){ { addr, rest }, { addr + rest, REMOTE_STRING_MAX - rest } }, 2, buf);

	if (n > 0) {
		n = (ssize_t)strnlen(buf, (size_t)n - 1);
		buf[n] = '\0';
	}
	return n;
}
