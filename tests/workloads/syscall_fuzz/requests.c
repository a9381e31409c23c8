// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests of io_uring and of libaio, a few at once. The tally does not have the system calls that carry them; it has
 * each request, in the order in which the kernel has ended them. No library, only the ABI, which the build machine's
 * headers may lack.
 *
 * Requests of a batch run in any order, so no two of them are about one file, and at most one is about names; those of a
 * chain run one after the other. A worker with a ring never leaves its table of descriptors: the kernel's own threads,
 * which do some of its requests, would stay in it.
 */
#include "fuzz.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCH 6

/* --- the ABI of io_uring, linux/io_uring.h --------------------------------------------------------------- */

#define SYS_RING_SETUP 425
#define SYS_RING_ENTER 426
#define SYS_RING_REGISTER 427
#define ENTER_GETEVENTS 1
#define REGISTER_BUFFERS 0
#define REGISTER_FILES 2
#define REGISTER_PROBE 8
#define OFF_CQ 0x8000000L
#define OFF_SQES 0x10000000L
#define SQE_FIXED_FILE 1
#define SQE_DRAIN 2
#define SQE_LINK 4
#define SQE_HARDLINK 8
#define SQE_ASYNC 16
#define FSYNC_DATASYNC 1
#define FEAT_CQE_SKIP (1U << 11) /* since 5.17: opens and closes in slots are since 5.15, which no bit shows */
#define OP_FIXED_FD_INSTALL 54
#define FILE_INDEX_ALLOC (~0U)
#define SPLICE_FD_IN_FIXED (1U << 31)

struct sqe {
	uint8_t op, flags;
	uint16_t ioprio;
	int32_t fd;
	uint64_t off, addr;
	uint32_t len, op_flags;
	uint64_t user_data;
	uint16_t buf, personality;
	uint32_t file_index; /* or splice_fd_in */
	uint64_t pad[2];
};

struct cqe {
	uint64_t user_data;
	int32_t res;
	uint32_t flags;
};

struct offsets {
	uint32_t head, tail, mask, entries, word[2], array, pad; /* of completions the second word: where they are */
	uint64_t user_addr;
};

struct params {
	uint32_t sq_entries, cq_entries, flags, cpu, idle, features, wq_fd, pad[3];
	struct offsets sq, cq;
};

struct op_probe {
	uint8_t last, n;
	uint16_t pad;
	uint32_t pad2[3];
	struct {
		uint8_t op, pad;
		uint16_t flags; /* 1: there is this one */
		uint32_t pad2;
	} ops[64];
};

/* --- a worker's ring --------------------------------------------------------------------------------------- */

enum { SLOT_FILE, SLOT_APPEND, SLOT_FOLDER, SLOT_SOCKET, SLOT_FREE, SLOTS };

struct ring {
	int fd;
	struct params p;
	char *sq, *cq;
	struct sqe *sqes;
	struct op_probe known;
	int slots[SLOTS]; /* descriptors of the ring's own files: kept, so that we know their positions; -1: none is there */
};

bool more_requests;

/* A request that is not done, and what it is about. */
struct request {
	struct record *r;
	struct life lives[2];
	int fds[2]; /* -1: none */
	bool over;  /* closes the first */
	bool slot;  /* opens or closes in SLOT_FREE */
};

static struct batch {
	unsigned int n;
	bool chain, vector;
	bool named, over; /* one is about names, one closes a descriptor: that may be a name's folder */
	bool slot;	  /* one is about SLOT_FREE */
	struct request all[BATCH];
	struct open_how how[BATCH];
} batches[PROCESSES * THREADS_MAX];

static uint32_t *word(char *at, uint32_t offset)
{
	return (uint32_t *)(void *)(at + offset);
}

static void *ring_map(int fd, size_t size, long offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (p == MAP_FAILED)
		die("mmap of a ring");
	return p;
}

void ring_begin(struct worker *w)
{
	const struct iovec buffer = { w->buf, BUF };
	struct ring *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	if (r == MAP_FAILED)
		die("mmap of a ring");
	fd = (int)syscall(SYS_RING_SETUP, BATCH, &r->p);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* kernel.io_uring_disabled */
		return;
	if (fd < 0)
		die("io_uring_setup");
	/* no number of a call leads to it */
	r->fd = dup3(fd, 800 + (int)w->nr, O_CLOEXEC);
	if (r->fd < 0 || close(fd) < 0)
		die("the ring's descriptor");
	r->sq = ring_map(r->fd, r->p.sq.array + r->p.sq_entries * sizeof(uint32_t), 0);
	r->cq = ring_map(r->fd, r->p.cq.word[1] + r->p.cq_entries * sizeof(struct cqe), OFF_CQ);
	r->sqes = ring_map(r->fd, r->p.sq_entries * sizeof(struct sqe), OFF_SQES);
	if (syscall(SYS_RING_REGISTER, r->fd, REGISTER_PROBE, &r->known, 64) < 0 ||
	    syscall(SYS_RING_REGISTER, r->fd, REGISTER_BUFFERS, &buffer, 1) < 0)
		die("io_uring_register");
	w->ring = r;
}

void ring_files(struct worker *w)
{
	static const struct {
		const char *name;
		long flags;
	} files[] = { [SLOT_FILE] = { "fixed", O_RDWR }, [SLOT_APPEND] = { "appended", O_RDWR | O_APPEND } };

	struct ring *r = w->ring;

	if (!r)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		w->notes.paths[0] = files[i].name;
		r->slots[i] = (int)CALL(w, openat, w->dir_fd, (long)files[i].name, files[i].flags | O_CREAT | O_NONBLOCK, 0600);
		fd_take(w, r->slots[i], true, false);
	}
	r->slots[SLOT_FOLDER] = w->dir_fd;
	r->slots[SLOT_SOCKET] = w->sock[0];
	r->slots[SLOT_FREE] = -1;
	if (syscall(SYS_RING_REGISTER, r->fd, REGISTER_FILES, r->slots, SLOTS) < 0)
		die("io_uring_register: files");
}

/* --- a request of it ------------------------------------------------------------------------------------------ */

static struct batch *batch_of(const struct worker *w)
{
	return &batches[w->nr];
}

static bool same_life(const struct life *a, const struct life *b)
{
	return a->mode && a->dev == b->dev && a->ino == b->ino;
}

/* Is the file of FD still to be had: in a chain, unless a request closes it? */
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

/* File I of Q is that of FD, if we know it. */
static void request_file(struct worker *w, struct request *q, unsigned int i, long fd)
{
	const struct fd *known = fd_find(w, fd);

	q->fds[i] = known ? known->fd : -1;
	if (known)
		q->lives[i] = known->life;
}

static struct record *request_add(struct worker *w, struct sqe *sqe, enum func f, long fd, bool over, const long args[6])
{
	struct batch *b = batch_of(w);
	struct request *q = &b->all[b->n];

	*q = (struct request){ .fds = { -1, -1 }, .over = over };
	request_file(w, q, 0, fd);
	sqe->op = (uint8_t)funcs[f].nr;
	sqe->user_data = b->n++;
	q->r = record_begin(w, f, args);
	w->notes = NO_NOTES;
	return q->r;
}
#define ADD(w, sqe, name, fd, over, ...) request_add(w, sqe, F_ring_##name, fd, over, (const long[6]){ __VA_ARGS__ })

/* The descriptor of a file that is free, in SQE as itself or as one of the ring's; NOTHING: none. */
static long file_any(struct worker *w, struct sqe *sqe)
{
	struct batch *b = batch_of(w);
	const unsigned int slot = pick(w, b->slot ? SLOT_FREE : SLOTS);
	long fd = fd_any(w);

	if (one_in(w, 3)) {
		b->slot |= more_requests && slot == SLOT_FREE;
		sqe->flags |= SQE_FIXED_FILE;
		sqe->fd = (int32_t)slot;
		fd = w->ring->slots[slot];
	} else {
		sqe->fd = (int32_t)fd;
	}
	return is_free(w, fd) ? fd : NOTHING;
}

/* One of the ring's own files has no descriptor in its row. */
static void fixed_set(const struct sqe *sqe, struct record *r)
{
	if (sqe->flags & SQE_FIXED_FILE)
		r->args[0] = NOTHING;
}

/* Where a write that appends begins. */
static int64_t size_of(long fd)
{
	struct stat st;

	return fstat((int)fd, &st) < 0 ? NOTHING : st.st_size;
}

static bool is_known(const struct worker *w, unsigned int op)
{
	return w->ring->known.ops[op].flags & 1;
}

static bool ring_rw(struct worker *w, struct sqe *sqe)
{
	static const enum func which[] = { F_ring_read,	  F_ring_write,	 F_ring_read_fixed,  F_ring_write_fixed,
					   F_ring_readv,  F_ring_writev, F_ring_readv_fixed, F_ring_writev_fixed };
	struct batch *b = batch_of(w);
	const unsigned int i = pick(w, b->vector ? 4 : more_requests ? 8 : 6);
	const long fd = file_any(w, sqe);
	const struct fd *known = fd_find(w, fd);
	long n;

	if (fd == NOTHING || !is_known(w, (unsigned int)funcs[which[i]].nr))
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
	fixed_set(sqe, request_add(w, sqe, which[i], fd, false,
				   (const long[6]){ (int)fd, (long)sqe->addr, sqe->len, (long)sqe->off, 0, sqe->op_flags }));
	return true;
}

/* An end of a pipe of ours that is open as ACCESS, -1: none. */
static long pipe_any(struct worker *w, int access)
{
	const unsigned int from = pick(w, FDS);

	for (unsigned int i = 0; i < FDS; i++) {
		const struct fd *f = &w->fds[(from + i) % FDS];

		if (f->fd >= 0 && S_ISFIFO(f->life.mode) && (fcntl(f->fd, F_GETFL) & O_ACCMODE) == access)
			return f->fd;
	}
	return -1;
}

/* The other side of a pipe: one of the ring's own files, which have something in them. */
static long splice_file(struct worker *w, struct sqe *sqe, int64_t *at)
{
	const unsigned int slot = pick(w, 2);

	sqe->flags |= SQE_FIXED_FILE;
	sqe->fd = (int32_t)slot;
	*at = PICK(w, -1, 0, 100);
	return is_free(w, w->ring->slots[slot]) ? w->ring->slots[slot] : NOTHING;
}

/* One of the two is a pipe, mostly: or the kernel refuses it. None waits: all that we have do not block. */
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
		if (!is_known(w, (unsigned int)funcs[F_ring_ftruncate].nr))
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
 * Is a request to open or close in SLOT_FREE possible now? It is the only one of its batch that is about the slot, and
 * there is room for a descriptor of what it opens.
 */
static bool slot_take(struct worker *w)
{
	struct batch *b = batch_of(w);
	unsigned int room = 0;

	if (b->slot || !(w->ring->p.features & FEAT_CQE_SKIP) || !is_known(w, OP_FIXED_FD_INSTALL))
		return false;
	for (const struct fd *f = w->fds; f < w->fds + FDS; f++)
		room += f->fd < 0;
	b->slot = room > 0;
	return room > 0;
}

/* In SLOT_FREE, or where there is none; of a descriptor, too, the kernel has none of it. */
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
	if (more_requests && one_in(w, 3) && slot_take(w))
		return slot_close(w, sqe);

	const long fd = one_in(w, 8) ? PICK(w, -1, 1L << 20, 1023) : fd_own(w);

	if (fd_find(w, fd) && (!is_free(w, fd) || batch_of(w)->named || (batch_of(w)->chain && batch_of(w)->n)))
		return false;
	batch_of(w)->over = true;
	sqe->fd = (int32_t)fd;
	ADD(w, sqe, close, fd, true, (int)fd);
	return true;
}

/* An open with FLAGS in a slot. Where there is none for it the kernel opens the file all the same: no new one. */
static long slot_open(struct worker *w, struct sqe *sqe, long flags)
{
	const bool filled = w->ring->slots[SLOT_FREE] >= 0;

	sqe->file_index = one_in(w, 8) ? (uint32_t)PICK(w, SLOTS + 1, 1 << 20) :
			  one_in(w, 3) ? FILE_INDEX_ALLOC : SLOT_FREE + 1;
	if (sqe->file_index != SLOT_FREE + 1 && (filled || sqe->file_index != FILE_INDEX_ALLOC))
		flags &= ~(O_CREAT | __O_TMPFILE);
	return one_in(w, 8) ? flags : flags & ~O_CLOEXEC; /* which it refuses */
}

static bool ring_open(struct worker *w, struct sqe *sqe)
{
	struct batch *b = batch_of(w);
	struct request *q = &b->all[b->n];
	struct open_how *how = &b->how[b->n];
	long dirfd, path = name_any(w, 0, &dirfd), flags = open_flags(w), mode = PICK(w, 0600, 0644, 0, 07777);
	const bool slot = more_requests && one_in(w, 2) && slot_take(w);

	if (flags & O_CREAT) /* of one that is made and not opened we could not know when */
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

/* Puts a request into SQE. False: another try. */
static bool request_any(struct worker *w, struct sqe *sqe)
{
	struct batch *b = batch_of(w);

	*sqe = (struct sqe){};
	switch (pick(w, more_requests ? 13 : 12)) {
	case 0 ... 5: return ring_rw(w, sqe);
	case 6 ... 7: return ring_sync(w, sqe);
	case 8: return ring_close(w, sqe);
	case 12: return ring_splice(w, sqe);
	default:
		if (b->over || (b->named && !b->chain))
			return false;
		b->named = true;
		return one_in(w, 2) ? ring_open(w, sqe) : ring_name(w, sqe);
	}
}

static void requests_put(struct worker *w, unsigned int n)
{
	struct ring *r = w->ring;
	struct batch *b = batch_of(w);
	const uint32_t mask = *word(r->sq, r->p.sq.mask);
	uint32_t tail = *word(r->sq, r->p.sq.tail);

	*b = (struct batch){ .chain = one_in(w, 2) };
	w->batching = true;
	for (unsigned int tries = 0; b->n < n && tries < 4 * n; tries++) {
		struct sqe *sqe = &r->sqes[tail & mask];

		if (!request_any(w, sqe)) {
			w->notes = NO_NOTES;
			continue;
		}
		sqe->flags |= one_in(w, 3) ? SQE_ASYNC : 0;
		sqe->flags |= one_in(w, 20) ? SQE_DRAIN : 0;
		if (b->chain && b->n < n)
			sqe->flags |= one_in(w, 3) ? SQE_HARDLINK : SQE_LINK;
		word(r->sq, r->p.sq.array)[tail & mask] = tail & mask;
		tail++;
	}
	w->batching = false;
	__atomic_store_n(word(r->sq, r->p.sq.tail), tail, __ATOMIC_RELEASE);
}

static bool is_open(const struct request *q)
{
	return q->r->func == F_ring_openat || q->r->func == F_ring_openat2;
}

/* REQUEST has ended with RES, and all others of its batch have, too. */
static void request_end(struct worker *w, struct request *q, int res)
{
	const enum func f = (enum func)q->r->func;
	const int64_t fds[2] = { q->r->args[0], q->r->args[2] };

	for (unsigned int i = 0; i < 2; i++)
		if (fds[i] == NOTHING) /* one of the ring's: its position is its descriptor's */
			q->r->args[2 * i] = q->fds[i];
	record_end(w, q->r, res);
	q->r->args[0] = fds[0];
	q->r->args[2] = fds[1];
	if (f == F_ring_close && res == 0 && !q->slot && fd_find(w, q->fds[0]))
		fd_forget(fd_find(w, q->fds[0]));
	if (is_open(q) && res >= 0 && !q->slot)
		q->r->lives[0] = life_of(res);
}

/* A descriptor of the file in SLOT_FREE, by a request that is none of a file: it has no row. */
static int slot_install(struct worker *w)
{
	struct ring *r = w->ring;
	const uint32_t mask = *word(r->sq, r->p.sq.mask), tail = *word(r->sq, r->p.sq.tail);
	const uint32_t head = *word(r->cq, r->p.cq.head);
	int fd;

	r->sqes[tail & mask] = (struct sqe){ .op = OP_FIXED_FD_INSTALL, .flags = SQE_FIXED_FILE, .fd = SLOT_FREE };
	word(r->sq, r->p.sq.array)[tail & mask] = tail & mask;
	__atomic_store_n(word(r->sq, r->p.sq.tail), tail + 1, __ATOMIC_RELEASE);
	while (*word(r->cq, r->p.cq.tail) == head)
		if (syscall(SYS_RING_ENTER, r->fd, 1, 1, ENTER_GETEVENTS, NULL, 0) < 0 && errno != EINTR)
			die("io_uring_enter");
	fd = ((const struct cqe *)(void *)(r->cq + r->p.cq.word[1]))[head & *word(r->cq, r->p.cq.mask)].res;
	__atomic_store_n(word(r->cq, r->p.cq.head), head + 1, __ATOMIC_RELEASE);
	if (fd < 0) {
		errno = -fd;
		die("a descriptor of the ring's file");
	}
	return fd;
}

/* Q has opened or closed in SLOT_FREE: what was there is no longer. */
static void slot_changed(struct worker *w, struct request *q)
{
	int *fd = &w->ring->slots[SLOT_FREE];

	if (*fd >= 0) {
		CALL(w, close, *fd);
		fd_forget(fd_find(w, *fd));
		*fd = -1;
	}
	if (!is_open(q))
		return;
	*fd = slot_install(w);
	fd_take(w, *fd, true, false);
	q->r->lives[0] = life_of(*fd);
}

/* Both sorts of batches: whose file does more than one request use? Of its position nobody knows at each. */
static void shared_mark(struct batch *b)
{
	for (struct request *p = b->all; p < b->all + b->n; p++)
		for (struct request *q = b->all; q < b->all + b->n; q++)
			for (unsigned int i = 0; i < 4 && p != q; i++)
				p->r->shared |= same_life(&p->lives[i & 1], &q->lives[i >> 1]);
}

void deed_ring(struct worker *w)
{
	struct ring *r = w->ring;
	struct batch *b = batch_of(w);
	const uint32_t mask = r ? *word(r->cq, r->p.cq.mask) : 0;
	unsigned int given = 0, done = 0, opened = 0;
	struct request *changed = NULL;
	int fds[BATCH];
	uint32_t head;

	if (!r || w->depth)
		return;
	requests_put(w, 1 + pick(w, BATCH));
	shared_mark(b);
	while (done < b->n) {
		const long n = syscall(SYS_RING_ENTER, r->fd, b->n - given, b->n, ENTER_GETEVENTS, NULL, 0);

		if (n < 0 && errno != EINTR)
			die("io_uring_enter");
		given += n < 0 ? 0 : (unsigned int)n;
		done = *word(r->cq, r->p.cq.tail) - *word(r->cq, r->p.cq.head);
	}
	head = *word(r->cq, r->p.cq.head);
	for (unsigned int i = 0; i < b->n; i++) {
		const struct cqe *cqe = (const struct cqe *)(void *)(r->cq + r->p.cq.word[1]) + ((head + i) & mask);
		struct request *q = &b->all[cqe->user_data];

		request_end(w, q, cqe->res);
		if (q->slot && cqe->res >= 0)
			changed = q;
		else if (is_open(q) && cqe->res >= 0)
			fds[opened++] = cqe->res;
	}
	__atomic_store_n(word(r->cq, r->p.cq.head), head + b->n, __ATOMIC_RELEASE);
	if (changed)
		slot_changed(w, changed);
	for (unsigned int i = 0; i < opened; i++) /* makes calls where there is no room */
		fd_take(w, fds[i], false, false);
}

/* --- libaio ------------------------------------------------------------------------------------------------------ */

static struct record *iocb_any(struct worker *w, struct iocb *io)
{
	static const enum func which[] = { F_aio_pread, F_aio_pwrite, F_aio_fsync, F_aio_fdsync, F_aio_preadv, F_aio_pwritev };
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
	q->r = record_begin(w, f, (const long[6]){ (int)fd, (long)io->aio_buf, (long)io->aio_nbytes, io->aio_offset, 0,
						   io->aio_rw_flags });
	w->notes = NO_NOTES;
	return q->r;
}

/* Those that the kernel has not taken are no requests, and have no record. */
void deed_aio(struct worker *w)
{
	struct iocb ios[BATCH], *list[BATCH + 1];
	struct batch *b = batch_of(w);
	const unsigned int n = 1 + pick(w, BATCH);
	const struct timespec patience = { .tv_sec = 60 };
	struct io_event events[BATCH];
	long taken, got;

	if (w->depth)
		return;
	if (!w->aio && syscall(SYS_io_setup, BATCH, &w->aio) < 0) {
		if (errno == ENOSYS) /* CONFIG_AIO */
			return;
		die("io_setup");
	}
	*b = (struct batch){};
	for (unsigned int i = 0; i < n; i++) {
		iocb_any(w, &ios[i]);
		list[i] = one_in(w, 30) ? (struct iocb *)address_bad(w) : &ios[i];
	}
	taken = CALL(w, io_submit, (long)w->aio, one_in(w, 20) ? PICK(w, 0, -1) : n, one_in(w, 25) ? address_bad(w) : (long)list);
	for (long left = taken; left > 0; left -= got > 0 ? got : 0) {
		got = syscall(SYS_io_getevents, w->aio, left, left, events, &patience);
		if (got == 0 || (got < 0 && errno != EINTR))
			die("io_getevents");
		for (long i = 0; i < got; i++)
			record_end(w, b->all[(struct iocb *)events[i].obj - ios].r, events[i].res);
	}
}
