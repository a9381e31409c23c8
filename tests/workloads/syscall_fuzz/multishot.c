// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads of io_uring that go on until something ends them (IORING_OP_READ_MULTISHOT), into buffers that the kernel
 * chooses: each of their completions is a read. What gives and takes buffers, and what cancels, is no request of a
 * file.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUP 7
#define NAME 0x5107 /* user_data */

/* The file that is read, and a descriptor for writing to it. */
struct source {
	int in, out;
	bool slot; /* IN is the ring's SLOT_SOCKET */
	bool ours; /* both are closed at the end */
};

static void end_close(struct worker *w, int fd)
{
	if (!fd_find(w, fd)) /* there was no room for it: it is closed already */
		return;
	CALL(w, close, fd);
	fd_forget(fd_find(w, fd));
}

static bool source_open(struct worker *w, struct source *s)
{
	int ends[2] = { -1, -1 };

	*s = (struct source){ .in = w->sock[0], .out = w->sock[1] };
	switch (pick(w, 6)) {
	case 0:
		s->slot = true;
		return true;
	case 1: /* a file that cannot be polled */
		s->in = (int)fd_any(w);
		return fd_find(w, s->in) && S_ISREG(fd_find(w, s->in)->life.mode);
	case 2:
		ends[0] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		ends[1] = dup(ends[0]);
		break;
	case 3:
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
			return false;
		break;
	default:
		if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
			return false;
	}
	*s = (struct source){ .in = ends[0], .out = ends[1], .ours = true };
	fd_take(w, s->in, true, false);
	fd_take(w, s->out, true, false);
	if (fd_find(w, s->in) && fd_find(w, s->out))
		return true;
	end_close(w, s->in);
	end_close(w, s->out);
	return false;
}

static struct record *read_begin(struct worker *w, const struct source *s, bool buffers)
{
	struct sqe *sqe = ring_next(w->ring);
	struct record *r;

	*sqe = (struct sqe){ .op = (uint8_t)funcs[F_ring_read_multishot].nr,
			     .user_data = NAME,
			     .fd = s->slot ? SLOT_SOCKET : s->in };
	sqe->flags = (uint8_t)((s->slot ? SQE_FIXED_FILE : 0) | (one_in(w, 4) ? SQE_ASYNC : 0) |
			       (buffers ? SQE_BUFFER_SELECT : 0));
	sqe->off = (uint64_t)(one_in(w, 4) && !s->ours ? offset_any(w) : -1);
	sqe->len = one_in(w, 20) ? 100 : 0; /* refused: the buffer gives the length */
	sqe->buf = GROUP;
	r = record_begin(w, F_ring_read_multishot, (const long[6]){ s->in, 0, sqe->len, (long)sqe->off, 0, 0 });
	r->tid = w->ring->tid;
	r->ring = ring_kind_name(w->ring);
	if (s->slot)
		r->args[0] = NOTHING;
	w->notes = NO_NOTES;
	return r;
}

/*
 * Takes all completions: each of the read gets a copy of R. MORE: the read goes on. Returns how many belong to other
 * requests.
 */
static unsigned int reads_take(struct worker *w, const struct record *r, bool *more)
{
	const unsigned int n = ring_completions(w->ring);
	unsigned int others = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct cqe *cqe = ring_completion(w->ring, i);

		if (cqe->user_data != NAME) {
			others++;
			continue;
		}
		record_end(w, record_again(r), cqe->res);
		*more = cqe->flags & CQE_MORE;
	}
	ring_taken(w->ring, n);
	return others;
}

/* Cancels the read, which may end before that: with 0, as its pipe is closed. */
static void read_cancel(struct worker *w, const struct record *r)
{
	unsigned int canceled;
	bool more = true;

	while (more) {
		*ring_next(w->ring) = (struct sqe){ .op = OP_ASYNC_CANCEL, .addr = NAME, .fd = -1 };
		for (canceled = 0; !canceled;) {
			ring_enter(w->ring, 1);
			canceled = reads_take(w, r, &more);
		}
	}
}

static void buffers_give(struct worker *w, unsigned int n, uint32_t size)
{
	const struct sqe sqe = {
		.op = OP_PROVIDE_BUFFERS, .fd = (int)n, .addr = (uint64_t)w->buf, .len = size, .buf = GROUP
	};

	if (ring_alone(w->ring, sqe) < 0)
		die("buffers");
}

void deed_multishot(struct worker *w)
{
	const unsigned int buffers = (unsigned int)PICK(w, 0, 1, 4, 8), writes = pick(w, 6);
	struct record *r;
	struct source s;
	bool more = true;

	if (!w->ring || w->depth || !ring_knows((unsigned int)funcs[F_ring_read_multishot].nr) || !source_open(w, &s))
		return;
	w->ring = ring_any(w);
	if (buffers)
		buffers_give(w, buffers, (uint32_t)PICK(w, 8, 8, 100, 4096));
	r = read_begin(w, &s, !one_in(w, 20));
	ring_enter(w->ring, 0);
	reads_take(w, r, &more);
	for (unsigned int i = 0; more && i < writes; i++) {
		*(uint64_t *)(void *)w->buf = 3; /* the number for an eventfd */
		if (CALL(w, write, s.out, (long)w->buf, PICK(w, 8, 8, 50, 5000)) <= 0)
			break;
		ring_enter(w->ring, 1);
		reads_take(w, r, &more);
	}
	if (more && s.ours && one_in(w, 2)) {
		end_close(w, s.out);
		s.out = -1;
	}
	if (more)
		read_cancel(w, r);
	ring_alone(w->ring, (struct sqe){ .op = OP_REMOVE_BUFFERS, .fd = 100, .buf = GROUP });
	if (s.ours) {
		end_close(w, s.in);
		if (s.out >= 0)
			end_close(w, s.out);
	}
}
