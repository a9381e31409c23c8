// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests of io_uring and of libaio, a few at once. The system calls that carry them are not recorded; each
 * request is, in the order in which the kernel has ended them. No library: the ABI alone, which the build
 * machine's headers may lack.
 *
 * Requests of a batch run in any order, so that no two are about one file, and one at most is about names; those of
 * a chain run one after the other. A worker with a ring never leaves its table of descriptors: the kernel's own
 * threads, which do some of its requests, would stay in it.
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

struct sqe {
	uint8_t op, flags;
	uint16_t ioprio;
	int32_t fd;
	uint64_t off, addr;
	uint32_t len, op_flags;
	uint64_t user_data;
	uint16_t buf, personality;
	uint32_t file_index;
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
	int slots[SLOTS]; /* descriptors of the ring's own files: kept, so that we know their positions */
};

/* A request that is not done, and what it is about. */
struct request {
	struct record *r;
	struct life life;
	int fd;	   /* -1: none */
	bool over; /* closes it */
};

static struct batch {
	unsigned int n;
	bool chain, vector;
	bool named, over; /* one is about names, one closes a descriptor: that may be a name's folder */
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

/* Is the file of FD still to be had: in a chain, unless a request closes it? */
static bool is_free(struct worker *w, long fd)
{
	const struct batch *b = batch_of(w);
	const struct fd *f = fd_find(w, fd);

	for (const struct request *q = b->all; f && q < b->all + b->n; q++)
		if (q->fd == f->fd || (!b->chain && q->life.mode && q->life.dev == f->life.dev && q->life.ino == f->life.ino))
			return b->chain && !q->over;
	return true;
}

static struct record *request_add(struct worker *w, struct sqe *sqe, enum func f, long fd, bool over, const long args[6])
{
	struct batch *b = batch_of(w);
	const struct fd *known = fd_find(w, fd);
	struct request *q = &b->all[b->n];

	*q = (struct request){ .fd = known ? known->fd : -1, .over = over };
	if (known)
		q->life = known->life;
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
	const unsigned int slot = pick(w, SLOTS);
	long fd = fd_any(w);

	if (one_in(w, 3)) {
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

static bool ring_rw(struct worker *w, struct sqe *sqe)
{
	static const enum func which[] = { F_ring_read,  F_ring_write,	   F_ring_read_fixed, F_ring_write_fixed,
					   F_ring_readv, F_ring_writev };
	struct batch *b = batch_of(w);
	const unsigned int i = pick(w, b->vector ? 4 : 6);
	const long fd = file_any(w, sqe);
	const struct fd *known = fd_find(w, fd);
	long n;

	if (fd == NOTHING)
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
		sqe->buf = i >= 2 && one_in(w, 10);
	}
	w->notes.how[0] = size_of(fd);
	fixed_set(sqe, request_add(w, sqe, which[i], fd, false,
				   (const long[6]){ (int)fd, (long)sqe->addr, sqe->len, (long)sqe->off, 0, sqe->op_flags }));
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
		if (!(w->ring->known.ops[funcs[F_ring_ftruncate].nr].flags & 1))
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

static bool ring_close(struct worker *w, struct sqe *sqe)
{
	const long fd = one_in(w, 8) ? PICK(w, -1, 1L << 20, 1023) : fd_own(w);

	if (fd_find(w, fd) && (!is_free(w, fd) || batch_of(w)->named || (batch_of(w)->chain && batch_of(w)->n)))
		return false;
	batch_of(w)->over = true;
	sqe->fd = (int32_t)fd;
	ADD(w, sqe, close, fd, true, (int)fd);
	return true;
}

static bool ring_open(struct worker *w, struct sqe *sqe)
{
	struct open_how *how = &batch_of(w)->how[batch_of(w)->n];
	long dirfd, path = name_any(w, 0, &dirfd), flags = open_flags(w), mode = PICK(w, 0600, 0644, 0, 07777);

	if (flags & O_CREAT) /* of one that is made and not opened we could not know when */
		flags &= ~(O_DIRECT | O_DIRECTORY);
	sqe->fd = (int32_t)dirfd;
	sqe->addr = (uint64_t)path;
	if (one_in(w, 2)) {
		sqe->len = (uint32_t)mode;
		sqe->op_flags = (uint32_t)flags;
		ADD(w, sqe, openat, -1, false, (int)dirfd, path, flags, mode);
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
	switch (pick(w, 12)) {
	case 0 ... 5: return ring_rw(w, sqe);
	case 6 ... 7: return ring_sync(w, sqe);
	case 8: return ring_close(w, sqe);
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

/* REQUEST has ended with RES, and all others of its batch have, too. */
static void request_end(struct worker *w, struct request *q, int res)
{
	const enum func f = (enum func)q->r->func;
	const int64_t fd = q->r->args[0];

	if (fd == NOTHING) /* one of the ring's: its position is its descriptor's */
		q->r->args[0] = q->fd;
	record_end(w, q->r, res);
	q->r->args[0] = fd;
	if (f == F_ring_close && res == 0 && fd_find(w, q->fd))
		fd_forget(fd_find(w, q->fd));
	if ((f == F_ring_openat || f == F_ring_openat2) && res >= 0)
		q->r->lives[0] = life_of(res);
}

/* Both sorts of batches: whose file does more than one request use? Of its position nobody knows at each. */
static void shared_mark(struct batch *b)
{
	for (struct request *p = b->all; p < b->all + b->n; p++)
		for (struct request *q = b->all; q < b->all + b->n; q++)
			if (p != q && p->life.mode && p->life.dev == q->life.dev && p->life.ino == q->life.ino)
				p->r->shared = true;
}

void deed_ring(struct worker *w)
{
	struct ring *r = w->ring;
	struct batch *b = batch_of(w);
	const uint32_t mask = r ? *word(r->cq, r->p.cq.mask) : 0;
	unsigned int given = 0, done = 0, opened = 0;
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
		if ((q->r->func == F_ring_openat || q->r->func == F_ring_openat2) && cqe->res >= 0)
			fds[opened++] = cqe->res;
	}
	__atomic_store_n(word(r->cq, r->p.cq.head), head + b->n, __ATOMIC_RELEASE);
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
	const struct fd *known = fd_find(w, fd);
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
	*q = (struct request){ .fd = known ? known->fd : -1 };
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
