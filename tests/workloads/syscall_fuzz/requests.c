// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests of io_uring and of libaio, a few at once. The tally does not have the system calls that carry them; it has
 * each request, in the order in which the kernel has ended them.
 *
 * Requests of a batch run in any order, so no two of them are about one file, and at most one is about names; those of
 * a chain run one after the other. A worker with a ring never leaves its table of descriptors: the kernel's own
 * threads, which do some of its requests, would stay in it.
 */
#include "fuzz.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCH 6

#define FSYNC_DATASYNC 1
#define FILE_INDEX_ALLOC (~0U)
#define SPLICE_FD_IN_FIXED (1U << 31)

/* A request in flight, and its files. */
struct request {
	struct record *r;
	struct life lives[2];
	int fds[2]; /* -1: none */
	bool over; /* closes its first file */
	bool slot; /* opens or closes in SLOT_FREE */
	uint8_t flags; /* SQE_* */
	bool ended;
};

static struct batch {
	unsigned int n, nr; /* nr: of the next batch */
	bool chain, vector;
	bool named, over; /* one request is about names, one closes a descriptor, perhaps of a name's folder */
	bool slot; /* one request is about SLOT_FREE */
	struct request all[BATCH];
	struct open_how how[BATCH];
} batches[PROCESSES * THREADS_MAX];

/* --- a request of a ring ------------------------------------------------------------------------------------------ */

static struct batch *batch_of(const struct worker *w)
{
	return &batches[w->nr];
}

static bool same_life(const struct life *a, const struct life *b)
{
	return a->mode && a->dev == b->dev && a->ino == b->ino;
}

/* Whether a request may use the file of FD: a chain may, unless one of its requests closes it. */
static bool is_free(struct worker *w, long fd)
{
	const struct batch *b = batch_of(w);
	const struct fd *f = fd_find(w, fd);

	for (const struct request *q = b->all; f && q < b->all + b->n; q++)
		for (unsigned int i = 0; i < 2; i++)
			if (q->fds[i] == f->fd || (!b->chain && same_life(&q->lives[i], &f->life)))
				return b->chain && !q->over;
	return true;
}

/* File I of Q becomes that of FD, if it is known. */
static void request_file(struct worker *w, struct request *q, unsigned int i, long fd)
{
	const struct fd *known = fd_find(w, fd);

	q->fds[i] = known ? known->fd : -1;
	if (known)
		q->lives[i] = known->life;
}

static struct record *request_add(struct worker *w, struct sqe *sqe, enum func f, long fd, bool over,
				  const long args[6])
{
	struct batch *b = batch_of(w);
	struct request *q = &b->all[b->n];

	*q = (struct request){ .fds = { -1, -1 }, .over = over };
	request_file(w, q, 0, fd);
	sqe->op = (uint8_t)funcs[f].nr;
	sqe->user_data = (uint64_t)b->nr << 8 | b->n++;
	q->r = record_begin(w, f, args);
	q->r->tid = w->ring->tid;
	q->r->ring = ring_kind_name(w->ring);
	w->notes = NO_NOTES;
	return q->r;
}
#define ADD(w, sqe, name, fd, over, ...) request_add(w, sqe, F_ring_##name, fd, over, (const long[6]){ __VA_ARGS__ })

/*
 * The descriptor of a file that is free, put into SQE directly or as a slot of the ring. Returns NOTHING where there is
 * none.
 */
static long file_any(struct worker *w, struct sqe *sqe)
{
	struct batch *b = batch_of(w);
	const unsigned int slot = pick(w, b->slot ? SLOT_FREE : SLOTS);
	long fd = fd_any(w);

	if (one_in(w, 3)) {
		b->slot |= slot == SLOT_FREE;
		sqe->flags |= SQE_FIXED_FILE;
		sqe->fd = (int32_t)slot;
		fd = w->ring->slots[slot];
	} else {
		sqe->fd = (int32_t)fd;
	}
	return is_free(w, fd) ? fd : NOTHING;
}

/* A file in a slot of the ring has no descriptor in its row. */
static void fixed_set(const struct sqe *sqe, struct record *r)
{
	if (sqe->flags & SQE_FIXED_FILE)
		r->args[0] = NOTHING;
}

/* Returns where a write that appends begins. */
static int64_t size_of(long fd)
{
	struct stat st;

	return fstat((int)fd, &st) < 0 ? NOTHING : st.st_size;
}

static bool is_known(enum func f)
{
	return ring_knows((unsigned int)funcs[f].nr);
}

static bool ring_rw(struct worker *w, struct sqe *sqe)
{
	static const enum func which[] = { F_ring_read,  F_ring_write,  F_ring_read_fixed,  F_ring_write_fixed,
					   F_ring_readv, F_ring_writev, F_ring_readv_fixed, F_ring_writev_fixed };
	struct batch *b = batch_of(w);
	const unsigned int i = pick(w, b->vector ? 4 : 8);
	const long fd = file_any(w, sqe);
	const struct fd *known = fd_find(w, fd);
	long n;

	if (fd == NOTHING || !is_known(which[i]))
		return false;
	sqe->op_flags = (uint32_t)PICK(w, 0, 0, 0, RWF_APPEND, RWF_APPEND, RWF_DSYNC, RWF_SYNC, RWF_NOWAIT, 1 << 20);
	sqe->off = (uint64_t)(one_in(w, 2) ? -1 : offset_any(w));
	if (known && !S_ISREG(known->life.mode) && !S_ISDIR(known->life.mode))
		sqe->op_flags |= RWF_NOWAIT; /* io_uring waits for pipes and sockets that do not block */
	if (i >= 4) {
		b->vector = true;
		sqe->addr = (uint64_t)vector_any(w, &n);
		sqe->len = (uint32_t)n;
	} else {
		sqe->addr = (uint64_t)buffer_any(w);
		sqe->len = (uint32_t)length_any(w);
	}
	sqe->buf = (i == 2 || i == 3 || i >= 6) && one_in(w, 10);
	w->notes.how[0] = size_of(fd);
	fixed_set(sqe,
		  request_add(w, sqe, which[i], fd, false,
			      (const long[6]){ (int)fd, (long)sqe->addr, sqe->len, (long)sqe->off, 0, sqe->op_flags }));
	return true;
}

/* The other side of a pipe: a slot of the ring whose file has data. */
static long splice_file(struct worker *w, struct sqe *sqe, int64_t *at)
{
	const unsigned int slot = pick(w, 2);

	sqe->flags |= SQE_FIXED_FILE;
	sqe->fd = (int32_t)slot;
	*at = PICK(w, -1, 0, 100);
	return is_free(w, w->ring->slots[slot]) ? w->ring->slots[slot] : NOTHING;
}

/* Mostly one of the two is a pipe: else the kernel refuses to splice. None waits: all own files are non-blocking. */
static bool ring_splice(struct worker *w, struct sqe *sqe)
{
	const unsigned int side = pick(w, 3); /* of the pipe */
	const long pipe = side < 2 ? pipe_any(w, side ? O_WRONLY : O_RDONLY) : -1, n = length_any(w);
	const bool filled = one_in(w, 2);
	struct sqe source = {};
	long in = file_any(w, &source), out = file_any(w, sqe);
	int64_t from = one_in(w, 2) ? -1 : offset_any(w), to = one_in(w, 2) ? -1 : offset_any(w);
	struct record *r;

	if (pipe >= 0 && is_free(w, pipe)) {
		if (filled)
			*(side ? &in : &out) = splice_file(w, side ? &source : sqe, side ? &from : &to);
		*(side ? &out : &in) = pipe;
		(side ? sqe : &source)->fd = (int)pipe;
		(side ? sqe : &source)->flags = 0;
		*(side ? &to : &from) = -1;
	}
	if (in == NOTHING || out == NOTHING)
		return false;
	sqe->file_index = (uint32_t)source.fd;
	sqe->addr = (uint64_t)from;
	sqe->off = (uint64_t)to;
	sqe->len = (uint32_t)n;
	sqe->op_flags = (uint32_t)PICK(w, 0, 0, 0, 1, 2, 3, 1 << 20);
	r = ADD(w, sqe, splice, in, false, (int)in, from, (int)out, to, sqe->len, sqe->op_flags);
	request_file(w, &batch_of(w)->all[batch_of(w)->n - 1], 1, out);
	if (source.flags & SQE_FIXED_FILE) {
		sqe->op_flags |= SPLICE_FD_IN_FIXED;
		r->args[0] = NOTHING;
	}
	if (sqe->flags & SQE_FIXED_FILE)
		r->args[2] = NOTHING;
	return true;
}

/* From pipe to pipe, without a row. */
static bool ring_tee(struct worker *w, struct sqe *sqe)
{
	const long in = pipe_any(w, O_RDONLY), out = pipe_any(w, O_WRONLY);

	if (in < 0 || out < 0 || !is_free(w, in) || !is_free(w, out))
		return false;
	sqe->file_index = (uint32_t)in;
	sqe->fd = (int)out;
	sqe->len = (uint32_t)length_any(w);
	ADD(w, sqe, tee, in, false, (int)in, 0, (int)out, 0, sqe->len);
	request_file(w, &batch_of(w)->all[batch_of(w)->n - 1], 1, out);
	return true;
}

static bool ring_sync(struct worker *w, struct sqe *sqe)
{
	const long fd = file_any(w, sqe), off = one_in(w, 2) ? offset_any(w) : 4096L * pick(w, 3), len = size_any(w);
	struct record *r;

	if (fd == NOTHING)
		return false;
	sqe->off = (uint64_t)off;
	sqe->len = (uint32_t)len;
	switch (pick(w, 5)) {
	case 0:
		if (one_in(w, 2))
			sqe->off = sqe->len = 0;
		r = ADD(w, sqe, fsync, fd, false, (int)fd, (long)sqe->off, sqe->len);
		break;
	case 1:
		sqe->op_flags = FSYNC_DATASYNC;
		r = ADD(w, sqe, fdatasync, fd, false, (int)fd, off, sqe->len);
		break;
	case 2:
		sqe->op_flags = (uint32_t)PICK(w, 1, 2, 4, 7, 0, 8);
		r = ADD(w, sqe, sync_file_range, fd, false, (int)fd, off, sqe->len, sqe->op_flags);
		break;
	case 3:
		if (!is_known(F_ring_ftruncate))
			return false;
		sqe->off = (uint64_t)len;
		sqe->len = 0;
		r = ADD(w, sqe, ftruncate, fd, false, (int)fd, len);
		break;
	default:
		sqe->len = (uint32_t)PICK(w, 0, 1, 3, 8, 16, 32, 1 << 20);
		sqe->addr = (uint64_t)len;
		r = ADD(w, sqe, fallocate, fd, false, (int)fd, sqe->len, off, len);
	}
	fixed_set(sqe, r);
	return true;
}

/*
 * Whether a request may open or close in SLOT_FREE now: it is the only one of its batch for the slot, and there is room
 * for a descriptor of the file that it opens.
 */
static bool slot_take(struct worker *w)
{
	struct batch *b = batch_of(w);
	unsigned int room = 0;

	if (b->slot || !(w->ring->p.features & FEAT_SKIP_SUCCESS) || !ring_knows(OP_FIXED_FD_INSTALL))
		return false;
	for (const struct fd *f = w->fds; f < w->fds + FDS; f++)
		room += f->fd < 0;
	b->slot = room > 0;
	return room > 0;
}

/* Closes SLOT_FREE, or a slot that does not exist. The kernel refuses a request that has a descriptor as well. */
static bool slot_close(struct worker *w, struct sqe *sqe)
{
	const bool there = !one_in(w, 8);
	const long fd = there ? w->ring->slots[SLOT_FREE] : -1;
	struct record *r;

	sqe->file_index = there ? SLOT_FREE + 1 : (uint32_t)PICK(w, SLOTS + 1, 1 << 20);
	sqe->fd = one_in(w, 10);
	r = ADD(w, sqe, close, fd, false, (int)fd);
	r->args[0] = NOTHING;
	batch_of(w)->all[batch_of(w)->n - 1].slot = true;
	return true;
}

static bool ring_close(struct worker *w, struct sqe *sqe)
{
	if (one_in(w, 3) && slot_take(w))
		return slot_close(w, sqe);

	const long fd = one_in(w, 8) ? PICK(w, -1, 1L << 20, 1023) : fd_own(w);

	if (fd_find(w, fd) && (!is_free(w, fd) || batch_of(w)->named || (batch_of(w)->chain && batch_of(w)->n)))
		return false;
	batch_of(w)->over = true;
	sqe->fd = (int32_t)fd;
	ADD(w, sqe, close, fd, true, (int)fd);
	return true;
}

/* An open with FLAGS into a slot. Without the slot the kernel opens the file nevertheless: so it must not create one.
 */
static long slot_open(struct worker *w, struct sqe *sqe, long flags)
{
	const bool filled = w->ring->slots[SLOT_FREE] >= 0;

	sqe->file_index = one_in(w, 8) ? (uint32_t)PICK(w, SLOTS + 1, 1 << 20) :
			  one_in(w, 3) ? FILE_INDEX_ALLOC :
					 SLOT_FREE + 1;
	if (sqe->file_index != SLOT_FREE + 1 && (filled || sqe->file_index != FILE_INDEX_ALLOC))
		flags &= ~(O_CREAT | __O_TMPFILE);
	return one_in(w, 8) ? flags : flags & ~O_CLOEXEC; /* refused with a slot */
}

static bool ring_open(struct worker *w, struct sqe *sqe)
{
	struct batch *b = batch_of(w);
	struct request *q = &b->all[b->n];
	struct open_how *how = &b->how[b->n];
	long dirfd, path = name_any(w, 0, &dirfd), flags = open_flags(w), mode = PICK(w, 0600, 0644, 0, 07777);
	const bool slot = one_in(w, 2) && slot_take(w);

	if (flags & O_CREAT) /* a file that is made but not opened could appear at any time */
		flags &= ~(O_DIRECT | O_DIRECTORY);
	if (slot)
		flags = slot_open(w, sqe, flags);
	sqe->fd = (int32_t)dirfd;
	sqe->addr = (uint64_t)path;
	if (one_in(w, 2)) {
		sqe->len = (uint32_t)mode;
		sqe->op_flags = (uint32_t)flags;
		ADD(w, sqe, openat, -1, false, (int)dirfd, path, flags, mode);
		q->slot = slot;
		return true;
	}
	*how = (struct open_how){ .flags = (uint64_t)flags };
	if (flags & (O_CREAT | __O_TMPFILE))
		how->mode = (uint64_t)mode;
	sqe->len = (uint32_t)(one_in(w, 20) ? PICK(w, 0, 1, 8) : (long)sizeof(*how));
	sqe->off = (uint64_t)(one_in(w, 20) ? address_bad(w) : (long)how);
	if (sqe->off == (uint64_t)how) {
		w->notes.how[0] = (int64_t)how->flags;
		w->notes.how[1] = (int64_t)how->mode;
	}
	ADD(w, sqe, openat2, -1, false, (int)dirfd, path, (long)sqe->off, sqe->len);
	q->slot = slot;
	return true;
}

static void ring_two(struct worker *w, struct sqe *sqe)
{
	long dir[2], path[2];

	for (unsigned int i = 0; i < 2; i++)
		path[i] = name_any(w, i, &dir[i]);
	sqe->fd = (int32_t)dir[0];
	sqe->addr = (uint64_t)path[0];
	sqe->len = (uint32_t)dir[1];
	sqe->off = (uint64_t)path[1];
	if (one_in(w, 3)) {
		sqe->op_flags = (uint32_t)PICK(w, 0, 0, AT_SYMLINK_FOLLOW, 1);
		ADD(w, sqe, linkat, -1, false, (int)dir[0], path[0], (int)dir[1], path[1], sqe->op_flags);
	} else {
		sqe->op_flags = (uint32_t)PICK(w, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT, 8);
		ADD(w, sqe, renameat, -1, false, (int)dir[0], path[0], (int)dir[1], path[1], sqe->op_flags);
	}
}

static bool ring_name(struct worker *w, struct sqe *sqe)
{
	const unsigned int which = pick(w, 5);
	long dirfd, path, text;

	if (which < 2) {
		ring_two(w, sqe);
		return true;
	}
	text = which == 2 ? link_text(w) : 0;
	path = name_any(w, 0, &dirfd);
	sqe->fd = (int32_t)dirfd;
	sqe->addr = (uint64_t)path;
	switch (which) {
	case 2:
		sqe->addr = (uint64_t)text;
		sqe->off = (uint64_t)path;
		ADD(w, sqe, symlinkat, -1, false, text, (int)dirfd, path);
		break;
	case 3:
		sqe->len = 0700;
		ADD(w, sqe, mkdirat, -1, false, (int)dirfd, path, 0700);
		break;
	default:
		sqe->op_flags = (uint32_t)PICK(w, 0, 0, AT_REMOVEDIR, 1);
		ADD(w, sqe, unlinkat, -1, false, (int)dirfd, path, sqe->op_flags);
	}
	return true;
}

/* Puts a request into SQE. Returns false where another one must be tried. */
static bool request_any(struct worker *w, struct sqe *sqe)
{
	struct batch *b = batch_of(w);

	*sqe = (struct sqe){};
	switch (pick(w, 14)) {
	case 0 ... 5:
		return ring_rw(w, sqe);
	case 6 ... 7:
		return ring_sync(w, sqe);
	case 8:
		return ring_close(w, sqe);
	case 12:
		return ring_splice(w, sqe);
	case 13:
		return ring_tee(w, sqe);
	default:
		if (b->over || (b->named && !b->chain))
			return false;
		b->named = true;
		return one_in(w, 2) ? ring_open(w, sqe) : ring_name(w, sqe);
	}
}

static bool is_open(const struct request *q)
{
	return q->r->func == F_ring_openat || q->r->func == F_ring_openat2;
}

/*
 * Whether the success of the request may go unreported. For an open, the fuzzer must learn which file it made. For
 * requests about names, the kernel does not report failures either.
 */
static bool may_skip(const struct request *q)
{
	const int64_t flags = q->r->func == F_ring_openat ? q->r->args[2] : q->r->how[0];

	switch (q->r->func) {
	case F_ring_linkat:
	case F_ring_mkdirat:
	case F_ring_renameat:
	case F_ring_symlinkat:
	case F_ring_unlinkat:
		return false;
	case F_ring_openat:
	case F_ring_openat2:
		return q->slot && flags != NOTHING && !(flags & (O_CREAT | __O_TMPFILE));
	default:
		return true;
	}
}

/*
 * In a chain the requests run in order: the last one's completion shows that all before it have ended. The kernel turns
 * a hard link at the head of a refused chain into a normal one; without a completion this would go unnoticed.
 */
static uint8_t flags_any(struct worker *w, unsigned int i)
{
	struct batch *b = batch_of(w);
	const bool last = i + 1 == b->n, skips = w->ring->kind == RING_SKIP;
	const bool drains = w->ring->kind == RING_PLAIN || skips; /* on other rings Linux 6.18 may never run the
								   * requests that a drain holds up */
	uint8_t flags = one_in(w, 3) ? SQE_ASYNC : 0;

	flags |= drains && one_in(w, 20) ? SQE_DRAIN : 0;
	if (!b->chain || (last && !one_in(w, 8)))
		return flags;
	if (last || !skips || !may_skip(&b->all[i]) || one_in(w, 4))
		return flags | (one_in(w, 3) ? SQE_HARDLINK : SQE_LINK);
	return flags | SQE_SKIP_SUCCESS | (i && one_in(w, 3) ? SQE_HARDLINK : SQE_LINK);
}

static void requests_put(struct worker *w, unsigned int n)
{
	struct batch *b = batch_of(w);
	struct sqe sqes[BATCH];

	*b = (struct batch){ .nr = b->nr + 1, .chain = w->ring->kind == RING_SKIP ? !one_in(w, 8) : one_in(w, 2) };
	w->batching = true;
	for (unsigned int tries = 0; b->n < n && tries < 4 * n; tries++) {
		if (!request_any(w, &sqes[b->n]))
			w->notes = NO_NOTES;
	}
	w->batching = false;
	for (unsigned int i = 0; i < b->n; i++) {
		b->all[i].flags = flags_any(w, i);
		sqes[i].flags |= b->all[i].flags;
		*ring_next(w->ring) = sqes[i];
	}
}

/* Q has ended with RES, and so have all others of its batch. SILENT: without a completion. */
static void request_end(struct worker *w, struct request *q, int res, enum silent silent)
{
	const enum func f = (enum func)q->r->func;
	const int64_t fds[2] = { q->r->args[0], q->r->args[2] };

	q->ended = true;
	if (f == F_ring_tee)
		return;
	for (unsigned int i = 0; i < 2; i++)
		if (fds[i] == NOTHING) /* a file of the ring: its position is its descriptor's */
			q->r->args[2 * i] = q->fds[i];
	record_end(w, q->r, res);
	q->r->silent = silent;
	q->r->args[0] = fds[0];
	q->r->args[2] = fds[1];
	if (f == F_ring_close && res == 0 && !q->slot && fd_find(w, q->fds[0]))
		fd_forget(fd_find(w, q->fds[0]));
	if (is_open(q) && res >= 0 && !q->slot)
		q->r->lives[0] = life_of(res);
}

/* Q has opened or closed in SLOT_FREE: the file before it is gone. */
static void slot_changed(struct worker *w, struct request *q)
{
	const struct sqe install = { .op = OP_FIXED_FD_INSTALL, .flags = SQE_FIXED_FILE, .fd = SLOT_FREE };
	int *fd = &w->ring->slots[SLOT_FREE];

	if (*fd >= 0) {
		CALL(w, close, *fd);
		fd_forget(fd_find(w, *fd));
		*fd = -1;
	}
	if (!is_open(q))
		return;
	*fd = ring_alone(w->ring, install); /* a request without a file, and so without a row, makes a descriptor of the
					     * file */
	if (*fd < 0) {
		errno = -*fd;
		die("a descriptor of the ring's file");
	}
	fd_take(w, *fd, true, false);
	q->r->lives[0] = life_of(*fd);
}

/* For both sorts of batches: marks files that several requests use, as their positions at each request are unknown. */
static void shared_mark(struct batch *b)
{
	for (struct request *p = b->all; p < b->all + b->n; p++)
		for (struct request *q = b->all; q < b->all + b->n; q++)
			for (unsigned int i = 0; i < 4 && p != q; i++)
				p->r->shared |= same_life(&p->lives[i & 1], &q->lives[i >> 1]);
}

static struct request *request_of(struct batch *b, const struct cqe *cqe)
{
	const unsigned int i = cqe->user_data & 0xff;

	if (cqe->user_data >> 8 != b->nr || i >= b->n) {
		errno = EPROTO;
		die("a completion of no request");
	}
	return &b->all[i];
}

/*
 * Whether the request of CQE, which was to succeed silently, has ended its chain. It has failed: the requests after it
 * are canceled silently. One that was canceled itself, because of one before it, is not the end; at the head it is, as
 * the kernel has refused a later one.
 */
static bool ends_silently(struct batch *b, const struct cqe *cqe)
{
	const struct request *q = request_of(b, cqe);

	return q->flags & SQE_SKIP_SUCCESS && q->flags & SQE_LINK && (q == b->all || cqe->res != -ECANCELED);
}

/* Waits until all requests have ended. Returns the number of completions. */
static unsigned int completions_await(struct worker *w)
{
	struct ring *r = w->ring;
	struct batch *b = batch_of(w);
	const bool all = r->kind != RING_SKIP || !b->chain;
	bool over = b->n == 0;
	unsigned int n = 0;

	while (!over) {
		ring_enter(r, all ? b->n : n + 1);
		for (const unsigned int there = ring_completions(r); n < there; n++) {
			const struct cqe *cqe = ring_completion(r, n);

			over |= request_of(b, cqe) == &b->all[b->n - 1] || ends_silently(b, cqe);
		}
		over = all ? n == b->n : over;
	}
	return n;
}

/*
 * Whether the kernel may have refused the chain: then not even its head runs, and the completion of the head shows that
 * it was refused, or canceled because of another request.
 */
static bool may_be_refused(const struct batch *b)
{
	return b->all[0].flags & SQE_SKIP_SUCCESS && b->all[0].r->silent == REPORTED;
}

/* Ends with RES all requests before Q (NULL: all) that have no completion. */
static void silent_end(struct worker *w, const struct request *q, int res, enum silent silent)
{
	struct batch *b = batch_of(w);

	for (struct request *before = b->all; b->chain && before < (q ? q : b->all + b->n); before++)
		if (!before->ended)
			request_end(w, before, res, silent);
}

void deed_ring(struct worker *w)
{
	struct batch *b = batch_of(w);
	unsigned int n, opened = 0;
	struct request *changed = NULL;
	int fds[BATCH];

	if (!w->ring || w->depth)
		return;
	w->ring = ring_any(w);
	requests_put(w, 1 + pick(w, BATCH));
	shared_mark(b);
	n = completions_await(w);
	for (unsigned int i = 0; i < n; i++) {
		const struct cqe *cqe = ring_completion(w->ring, i);
		struct request *q = request_of(b, cqe);

		silent_end(w, q, 0, SILENT);
		request_end(w, q, cqe->res, REPORTED);
		if (is_open(q) && !q->slot && cqe->res >= 0)
			fds[opened++] = cqe->res;
	}
	silent_end(w, NULL, -ECANCELED, may_be_refused(b) ? SILENT_OR_REFUSED : SILENT);
	ring_taken(w->ring, n);
	for (struct request *q = b->all; q < b->all + b->n; q++)
		if (q->slot && q->r->ret >= 0)
			changed = q;
	if (changed)
		slot_changed(w, changed);
	for (unsigned int i = 0; i < opened; i++) /* its calls may need room */
		fd_take(w, fds[i], false, false);
}

/* --- libaio ------------------------------------------------------------------------------------------------------ */

static struct record *iocb_any(struct worker *w, struct iocb *io)
{
	static const enum func which[] = { F_aio_pread,  F_aio_pwrite, F_aio_fsync,
					   F_aio_fdsync, F_aio_preadv, F_aio_pwritev };
	struct batch *b = batch_of(w);
	const enum func f = which[pick(w, b->vector ? 4 : 6)];
	const long fd = fd_any(w);
	struct request *q = &b->all[b->n++];
	long n = 0;

	*io = (struct iocb){ .aio_lio_opcode = (uint16_t)funcs[f].nr, .aio_fildes = (uint32_t)fd };
	if (f == F_aio_pread || f == F_aio_pwrite) {
		io->aio_buf = (uint64_t)buffer_any(w);
		io->aio_nbytes = (uint64_t)length_any(w);
	} else if (f == F_aio_preadv || f == F_aio_pwritev) {
		b->vector = true;
		io->aio_buf = (uint64_t)vector_any(w, &n);
		io->aio_nbytes = (uint64_t)n;
	}
	if (f != F_aio_fsync && f != F_aio_fdsync) {
		io->aio_offset = offset_any(w);
		io->aio_rw_flags = (int32_t)PICK(w, 0, 0, 0, RWF_DSYNC, RWF_SYNC, RWF_NOWAIT, 1 << 20);
	}
	*q = (struct request){ .fds = { -1, -1 } };
	request_file(w, q, 0, fd);
	q->r = record_begin(w, f,
			    (const long[6]){ (int)fd, (long)io->aio_buf, (long)io->aio_nbytes, io->aio_offset, 0,
					     io->aio_rw_flags });
	w->notes = NO_NOTES;
	return q->r;
}

/*
 * Before the first call: later the kernel may put the context's ring into a hole of the arena, where mappings come and
 * go.
 */
void aio_begin(struct worker *w)
{
	if (syscall(SYS_io_setup, BATCH, &w->aio) < 0 && errno != ENOSYS) /* CONFIG_AIO */
		die("io_setup");
}

/* Iocbs that the kernel has not taken are no requests, and have no record. */
void deed_aio(struct worker *w)
{
	struct iocb ios[BATCH], *list[BATCH + 1];
	struct batch *b = batch_of(w);
	const unsigned int n = 1 + pick(w, BATCH);
	const struct timespec patience = { .tv_sec = 60 };
	struct io_event events[BATCH];
	long taken, got;

	if (w->depth || !w->aio)
		return;
	*b = (struct batch){ .nr = b->nr };
	for (unsigned int i = 0; i < n; i++) {
		iocb_any(w, &ios[i]);
		list[i] = one_in(w, 30) ? (struct iocb *)address_bad(w) : &ios[i];
	}
	taken = CALL(w, io_submit, (long)w->aio, one_in(w, 20) ? PICK(w, 0, -1) : n,
		     one_in(w, 25) ? address_bad(w) : (long)list);
	for (long left = taken; left > 0; left -= got > 0 ? got : 0) {
		got = syscall(SYS_io_getevents, w->aio, left, left, events, &patience);
		if (got == 0 || (got < 0 && errno != EINTR))
			die("io_getevents");
		for (long i = 0; i < got; i++)
			record_end(w, b->all[(struct iocb *)events[i].obj - ios].r, events[i].res);
	}
}
