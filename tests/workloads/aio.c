/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aio: makes requests of io_uring and of libaio, well and badly, and writes down what became of each.
 *
 *   aio [-t THREADS] [-q] [-n ROUNDS] -T TALLY MODE FOLDER
 *
 *   uring     every file operation of io_uring: inline, by workers (IOSQE_ASYNC), in chains, with fixed
 *             files and buffers, canceled, refused, more than once; -q: by the kernel's SQPOLL thread
 *   overflow  more completions than the ring has room for
 *   same      many requests with one user_data
 *   hang      a read of an empty pipe, until a signal ends it
 *   libaio    requests of io_submit, reaped by io_getevents and by io_pgetevents
 *   two       one thread submits, another reaps
 *   stuck     a write past the page cache to FOLDER, which is a file here: it has not ended, until a signal ends us
 *   unreaped  reaped by way of the ring in memory, which is no call
 *   places    direct I/O by io_uring and libaio, at a given place and where the kernel chooses it
 *
 * The tally has a line per request: the trace's file, then COLUMN=VALUE of the row that it must have,
 * by TABs. Operations that this kernel lacks are left out. No library: the system calls themselves.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "uring.h"

#define PART 4096
#define PARTS 16

/* --- tally ---------------------------------------------------------------------------------------- */

static FILE *tally;
static pthread_mutex_t tally_lock = PTHREAD_MUTEX_INITIALIZER;

/* A request and the row that it must have. */
struct request {
	char row[12288]; /* with one %lld for the result, unless FIXED_RESULT */
	bool fixed_result; /* ROW is whole */
	bool ended;
	int res;
	int rows;
};

static void row_end(struct request *r, int res)
{
	char line[12400];

	/* not printf: names may contain any byte */
	char *at = r->fixed_result ? NULL : strstr(r->row, "%lld");

	if (at)
		snprintf(line, sizeof(line), "%.*s%d%s\n", (int)(at - r->row), r->row, res, at + 4);
	else
		snprintf(line, sizeof(line), "%s\n", r->row);
	pthread_mutex_lock(&tally_lock);
	fputs(line, tally);
	fflush(tally);
	pthread_mutex_unlock(&tally_lock);
	r->ended = true;
	r->res = res;
	r->rows++;
}

/* --- rings ---------------------------------------------------------------------------------------- */

struct ring {
	int fd;
	struct params p;
	char *sq, *cq;
	struct sqe *sqes;
	struct cqe *cqes;
	uint32_t tail;
	unsigned int queued, out; /* entries not submitted yet; submitted and not completed */
	pid_t tid; /* the thread whose requests these are; 0 with SQPOLL: not known */
	bool ops[OPS];
};

#define AT(base, offset) ((_Atomic uint32_t *)(void *)((base) + (offset)))

static void ring_open(struct ring *r, unsigned int entries, unsigned int cq_entries, bool sqpoll)
{
	struct probe probe = { 0 };
	size_t sq_bytes, cq_bytes;

	memset(r, 0, sizeof(*r));
	r->p.flags = (sqpoll ? SETUP_SQPOLL : 0) | (cq_entries ? SETUP_CQSIZE : 0);
	r->p.cq_entries = cq_entries;
	r->p.idle = 50;
	r->fd = (int)syscall(URING_SETUP, entries, &r->p);
	if (r->fd < 0)
		err(77, "io_uring_setup");
	sq_bytes = r->p.sq.array + r->p.sq_entries * sizeof(uint32_t);
	cq_bytes = r->p.cq.word[1] + r->p.cq_entries * sizeof(struct cqe);
	r->sq = mmap(NULL, sq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	r->cq = mmap(NULL, cq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, OFF_CQ);
	r->sqes = mmap(NULL, r->p.sq_entries * sizeof(struct sqe), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, OFF_SQES);
	if (r->sq == MAP_FAILED || r->cq == MAP_FAILED || (void *)r->sqes == MAP_FAILED)
		err(1, "mmap of a ring");
	r->cqes = (struct cqe *)(void *)(r->cq + r->p.cq.word[1]);
	r->tid = sqpoll ? 0 : (pid_t)syscall(SYS_gettid);
	if (syscall(URING_REGISTER, r->fd, REGISTER_PROBE, &probe, OPS) < 0)
		err(1, "io_uring_register: probe");
	for (unsigned int i = 0; i < OPS && i < probe.n; i++)
		r->ops[i] = probe.ops[i].flags & 1;
}

/* Returns the next entry, all zero. Waits where SQPOLL has not taken it yet. */
static struct sqe *ring_entry(struct ring *r)
{
	uint32_t i = r->tail & *AT(r->sq, r->p.sq.mask);
	struct sqe *sqe = &r->sqes[i];

	while ((r->p.flags & SETUP_SQPOLL) && r->tail - *AT(r->sq, r->p.sq.head) >= r->p.sq_entries)
		if (syscall(URING_ENTER, r->fd, 0, 0, ENTER_SQ_WAKEUP | ENTER_SQ_WAIT, NULL, 0) < 0 && errno != EINTR)
			err(1, "io_uring_enter: a full ring");
	memset(sqe, 0, sizeof(*sqe));
	((uint32_t *)(void *)(r->sq + r->p.sq.array))[i] = i;
	return sqe;
}

static void ring_push(struct ring *r)
{
	r->tail++;
	r->queued++;
}

static int ring_enter(struct ring *r, unsigned int wait)
{
	unsigned int flags = wait ? ENTER_GETEVENTS : 0, n = r->queued;
	int got;

	/* all at once, so that SQPOLL finds the whole chain */
	atomic_store(AT(r->sq, r->p.sq.tail), r->tail);
	if (r->p.flags & SETUP_SQPOLL) {
		atomic_thread_fence(memory_order_seq_cst);
		if (*AT(r->sq, r->p.sq.word[0]) & SQ_NEED_WAKEUP)
			flags |= ENTER_SQ_WAKEUP;
	}
	do
		got = (int)syscall(URING_ENTER, r->fd, n, wait, flags, NULL, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno != EBUSY)
		err(1, "io_uring_enter");
	if (r->p.flags & SETUP_SQPOLL)
		got = (int)n;
	if (got > 0) {
		r->out += (unsigned int)got;
		r->queued -= (unsigned int)got;
	}
	return got;
}

/* Takes one completion. Returns false where there is none. */
static bool ring_take(struct ring *r, struct cqe *cqe)
{
	uint32_t head = *AT(r->cq, r->p.cq.head);

	if (head == *AT(r->cq, r->p.cq.tail))
		return false;
	*cqe = r->cqes[head & *AT(r->cq, r->p.cq.mask)];
	atomic_store(AT(r->cq, r->p.cq.head), head + 1);
	if (!(cqe->flags & CQE_MORE))
		r->out--;
	return true;
}

/* Takes all completions that are there. */
static void ring_reap(struct ring *r)
{
	struct cqe cqe;

	while (ring_take(r, &cqe))
		if (cqe.user_data)
			row_end((struct request *)(uintptr_t)cqe.user_data, cqe.res);
}

/* Submits what is queued, and waits until all but LEFT requests are done. */
static void ring_finish(struct ring *r, unsigned int left)
{
	while (r->queued)
		ring_enter(r, 0);
	for (ring_reap(r); r->out > left; ring_reap(r))
		ring_enter(r, 1);
}

static void ring_close(struct ring *r)
{
	ring_finish(r, 0);
	close(r->fd);
}

/* --- rows ------------------------------------------------------------------------------------------ */

static struct request *request_new(void)
{
	struct request *r = calloc(1, sizeof(*r)); /* kept until the end: there are few */

	return r ? r : (err(1, "out of memory"), NULL);
}

#define ROW(r, fmt, ...) snprintf((r)->row, sizeof((r)->row), fmt, __VA_ARGS__)

static const char *process_text(const struct ring *ring)
{
	static __thread char text[64];

	if (ring->tid)
		snprintf(text, sizeof(text), "PID=%d\tTID=%d", getpid(), ring->tid);
	else
		snprintf(text, sizeof(text), "PID=%d", getpid());
	return text;
}

struct target {
	int fd;
	const char *name;
	int fixed; /* slot among the ring's files, -1: by descriptor */
};

static const char *fd_text(const struct target *t)
{
	static __thread char text[16];

	if (t->fixed >= 0)
		return "-";
	snprintf(text, sizeof(text), "%d", t->fd);
	return text;
}

/* More fields of the next request. */
static __thread struct {
	uint16_t buf;
	uint32_t op_flags;
	uint64_t user_data;
} next;

static struct sqe *queue(struct ring *ring, struct request *r, int op, int flags)
{
	struct sqe *sqe = ring_entry(ring);

	sqe->op = (uint8_t)op;
	sqe->flags = (uint8_t)flags;
	sqe->user_data = next.user_data ? next.user_data : (uintptr_t)r;
	sqe->buf = next.buf;
	sqe->op_flags = next.op_flags;
	memset(&next, 0, sizeof(next));
	return sqe;
}

static void target_set(struct sqe *sqe, const struct target *t)
{
	sqe->fd = t->fixed >= 0 ? t->fixed : t->fd;
	if (t->fixed >= 0)
		sqe->flags |= SQE_FIXED_FILE;
}

/* A read or write. SHOWN: the OFFSET of its row. */
static struct request *queue_rw(struct ring *ring, int op, const char *func, const struct target *t, void *addr,
				unsigned int len, long long off, const char *shown, unsigned int requested, int flags)
{
	struct request *r = request_new();
	struct sqe *sqe = queue(ring, r, op, flags);
	bool write = op == OP_WRITE || op == OP_WRITEV || op == OP_WRITE_FIXED;

	target_set(sqe, t);
	sqe->off = (uint64_t)off;
	sqe->addr = (uintptr_t)addr;
	sqe->len = len;
	ROW(r,
	    "vfs_rw\tFUNC=io_uring:%s\t%s\tRW=%c\tREQUESTED=%u\tRETURNED=%%lld\tOFFSET=%s\tDISK_BYTES=-\tFD=%s\tFILE=%s",
	    func, process_text(ring), write ? 'W' : 'R', requested, shown, fd_text(t), t->name);
	ring_push(ring);
	return r;
}

static const char *dec(long long v)
{
	static __thread char text[4][24];
	static __thread unsigned int i;

	i = (i + 1) % 4;
	snprintf(text[i], sizeof(text[i]), "%lld", v);
	return text[i];
}

static struct request *queue_sync(struct ring *ring, int op, const char *func, const struct target *t, uint64_t off,
				  uint64_t addr, unsigned int len, unsigned int op_flags, const char *offset,
				  const char *length, int flags)
{
	struct request *r = request_new();
	struct sqe *sqe = queue(ring, r, op, flags);

	target_set(sqe, t);
	sqe->off = off;
	sqe->addr = addr;
	sqe->len = len;
	sqe->op_flags = op_flags;
	ROW(r, "sync\tFUNC=io_uring:%s\t%s\tRET=%%lld\tFD=%s\tOFFSET=%s\tLEN=%s\tFILE=%s", func, process_text(ring),
	    fd_text(t), offset, length, t->name);
	ring_push(ring);
	return r;
}

/* SHOWN: the FLAGS of the row. SLOT: number of the ring's slot plus 1; 0: a descriptor. */
static struct request *queue_open(struct ring *ring, int dirfd, const char *path, unsigned int open_flags,
				  const char *shown, const char *file, unsigned int slot, int flags)
{
	struct request *r = request_new();
	struct sqe *sqe = queue(ring, r, OP_OPENAT, flags);

	sqe->fd = dirfd;
	sqe->addr = (uintptr_t)path;
	sqe->len = 0640;
	sqe->op_flags = open_flags;
	sqe->file_index = slot;
	ROW(r, "open\tFUNC=io_uring:openat\t%s\tRET=%%lld\tFLAGS=%s\tMODE=%s\tVFS_LAT_NS=-\tPATH=%s\tFILE=%s",
	    process_text(ring), shown, open_flags & O_CREAT ? "0640" : "-", path, file);
	ring_push(ring);
	return r;
}

static struct request *queue_close(struct ring *ring, int fd, unsigned int slot, const char *file, int flags)
{
	struct request *r = request_new();
	struct sqe *sqe = queue(ring, r, OP_CLOSE, flags);

	sqe->fd = slot ? 0 : fd;
	sqe->file_index = slot;
	ROW(r, "close\tFUNC=io_uring:close\t%s\tRET=%%lld\tFD=%s\tLAST=-\tFILE=%s", process_text(ring),
	    slot ? "-" : dec(fd), file);
	ring_push(ring);
	return r;
}

/* PATH, PATH2, MODE_SHOWN, FLAGS_SHOWN: as in the row; paths are absolute. */
static void queue_name(struct ring *ring, int op, const char *func, int dirfd, const char *name, int dirfd2,
		       const char *name2, unsigned int mode, unsigned int op_flags, const char *mode_shown,
		       const char *flags_shown, const char *path, const char *path2, int flags)
{
	struct request *r = request_new();
	struct sqe *sqe = queue(ring, r, op, flags);

	sqe->fd = dirfd;
	sqe->addr = (uintptr_t)name;
	sqe->off = (uintptr_t)name2;
	sqe->len = op == OP_MKDIRAT ? mode : (unsigned int)dirfd2;
	sqe->op_flags = op_flags;
	if (op == OP_SYMLINKAT || op == OP_UNLINKAT)
		sqe->len = 0;
	ROW(r, "create_del\tFUNC=io_uring:%s\t%s\tRET=%%lld\tMODE=%s\tFLAGS=%s\tPATH=%s\tPATH2=%s", func,
	    process_text(ring), mode_shown, flags_shown, path, path2);
	ring_push(ring);
}

static void expect_row(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void expect_row(const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&tally_lock);
	va_start(ap, fmt);
	vfprintf(tally, fmt, ap);
	va_end(ap);
	fputc('\n', tally);
	fflush(tally);
	pthread_mutex_unlock(&tally_lock);
}

/* --- the requests of a thread ----------------------------------------------------------------------- */

static const char *folder;
static int rounds = 3;
static bool sqpoll;

struct space {
	char dir[2048]; /* absolute, for this thread alone */
	char file[32]; /* the name of its file */
	int dirfd, fd;
	char *buf;
};

static void space_open(struct space *s, int nr)
{
	char path[4096];

	snprintf(s->dir, sizeof(s->dir), "%s/t%d", folder, nr);
	snprintf(s->file, sizeof(s->file), "data%d", nr);
	if (mkdir(s->dir, 0755) < 0)
		err(1, "%s", s->dir);
	s->dirfd = open(s->dir, O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof(path), "%s/%s", s->dir, s->file);
	s->fd = open(path, O_RDWR | O_CREAT, 0644);
	s->buf = mmap(NULL, PART * PARTS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->dirfd < 0 || s->fd < 0 || s->buf == MAP_FAILED || ftruncate(s->fd, 10000) < 0)
		err(1, "%s", path);
}

static void do_rw(struct ring *ring, struct space *s)
{
	struct target plain = { s->fd, s->file, -1 };
	struct target fixed = { s->fd, s->file, 0 }, none = { 9999, "-", -1 }, no_slot = { 0, "-", 7 };
	char dirname[64];
	struct target dir = { s->dirfd, dirname, -1 };
	struct iovec iov[3] = { { s->buf, 100 }, { s->buf + PART, 200 }, { s->buf + 2 * PART, 300 } };
	int fds[8] = { s->fd, -1, -1, -1, -1, -1, -1, -1 };
	struct iovec bufs = { s->buf, PART * PARTS };

	snprintf(dirname, sizeof(dirname), "%s", strrchr(s->dir, '/') + 1);
	if (syscall(SYS_io_uring_register, ring->fd, 2, fds, 8) < 0 ||
	    syscall(SYS_io_uring_register, ring->fd, 0, &bufs, 1) < 0)
		err(1, "io_uring_register");
	for (int flags = 0; flags <= SQE_ASYNC; flags += SQE_ASYNC) {
		queue_rw(ring, OP_WRITE, "write", &plain, s->buf, PART, 0, "0", PART, flags);
		ring_finish(ring, 0);
		queue_rw(ring, OP_READ, "read", &plain, s->buf, PART, 4096, "4096", PART, flags);
		queue_rw(ring, OP_READ, "read", &plain, s->buf, PART, 9000, "9000", PART, flags); /* short */
		queue_rw(ring, OP_READ, "read", &plain, s->buf, PART, 1 << 20, "1048576", PART, flags); /* 0 */
		queue_rw(ring, OP_READV, "readv", &plain, iov, 3, 10, "10", 600, flags);
		queue_rw(ring, OP_READ_FIXED, "read_fixed", &fixed, s->buf + PART, 512, 512, "512", 512, flags);
		queue_rw(ring, OP_READ, "read", &fixed, s->buf, 77, 0, "0", 77, flags);
		queue_rw(ring, OP_READ, "read", &none, s->buf, 77, 5, "-", 77, flags); /* EBADF */
		queue_rw(ring, OP_READ, "read", &no_slot, s->buf, 77, 5, "-", 77, flags); /* EBADF */
		queue_rw(ring, OP_READ, "read", &dir, s->buf, 77, 0, "0", 77, flags); /* EISDIR */
		queue_rw(ring, OP_READ, "read", &plain, (void *)8, PART, 0, "0", PART, flags); /* EFAULT */
		ring_finish(ring, 0);
		queue_rw(ring, OP_WRITEV, "writev", &plain, iov, 3, 9700, "9700", 600, flags);
		queue_rw(ring, OP_WRITE_FIXED, "write_fixed", &plain, s->buf, 64, 128, "128", 64, flags);
		queue_rw(ring, OP_WRITE, "write", &fixed, s->buf, 0, 128, "128", 0, flags);
		ring_finish(ring, 0);
		/* the file's own position */
		lseek(s->fd, 1000, SEEK_SET);
		queue_rw(ring, OP_READ, "read", &plain, s->buf, 50, -1, "1000", 50, flags);
		ring_finish(ring, 0);
		queue_rw(ring, OP_READ, "read", &plain, s->buf, 60, -1, "1050", 60, flags);
		ring_finish(ring, 0);
	}
	/* refused, by most kernels at once: no such buffer, no such flags of a request and of a read */
	next.buf = 7;
	queue_rw(ring, OP_READ_FIXED, "read_fixed", &plain, s->buf, 10, 0, "0", 10, 0);
	ring_finish(ring, 0);
	queue_rw(ring, OP_READ, "read", &plain, s->buf, 12, 0, "0", 12, 0x80);
	ring_finish(ring, 0);
	next.op_flags = 0x8000;
	queue_rw(ring, OP_READ, "read", &plain, s->buf, 10, 0, "0", 10, 0);
	ring_finish(ring, 0);
}

static void do_append(struct ring *ring, struct space *s)
{
	char path[4096];
	struct target t = { .name = "log", .fixed = -1 };

	snprintf(path, sizeof(path), "%s/log", s->dir);
	t.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	queue_rw(ring, OP_WRITE, "write", &t, s->buf, 100, 0, "0", 100, 0);
	ring_finish(ring, 0);
	queue_rw(ring, OP_WRITE, "write", &t, s->buf, 100, 0, "100", 100, SQE_ASYNC);
	ring_finish(ring, 0);
	close(t.fd);
}

/* A chain that succeeds, one that breaks, one that goes on nevertheless. */
static void do_chains(struct ring *ring, struct space *s)
{
	struct target t = { s->fd, s->file, -1 }, none = { 9999, "-", -1 };

	queue_rw(ring, OP_WRITE, "write", &t, s->buf, PART, 0, "0", PART, SQE_LINK);
	queue_sync(ring, OP_FSYNC, "fsync", &t, 0, 0, 0, 0, "-", "-", SQE_LINK);
	queue_rw(ring, OP_READ, "read", &t, s->buf, PART, 0, "0", PART, 0);
	ring_finish(ring, 0);
	queue_rw(ring, OP_READ, "read", &none, s->buf, 10, 0, "-", 10, SQE_HARDLINK);
	queue_rw(ring, OP_READ, "read", &t, s->buf, 11, 0, "0", 11, 0);
	ring_finish(ring, 0);
	queue_rw(ring, OP_READ, "read", &none, s->buf, 10, 0, "-", 10, SQE_LINK);
	queue_rw(ring, OP_READ, "read", &t, s->buf, 10, 0, "0", 10, 0); /* ECANCELED */
	ring_finish(ring, 0);
}

static void do_sync(struct ring *ring, struct space *s)
{
	struct target t = { s->fd, s->file, -1 }, fixed = { s->fd, s->file, 0 }, none = { 9998, "-", -1 };

	queue_sync(ring, OP_FSYNC, "fsync", &t, 0, 0, 0, 0, "-", "-", 0);
	queue_sync(ring, OP_FSYNC, "fdatasync", &fixed, 0, 0, 0, 1, "-", "-", 0);
	queue_sync(ring, OP_FSYNC, "fsync", &t, 4096, 0, 8192, 0, "4096", "8192", 0);
	queue_sync(ring, OP_FSYNC, "fsync", &none, 0, 0, 0, 0, "-", "-", 0);
	queue_sync(ring, OP_SYNC_FILE_RANGE, "sync_file_range", &t, 0, 0, 4096, 2, "0", "4096", 0);
	queue_sync(ring, OP_FALLOCATE, "fallocate", &t, 0, 12000, 1 /* KEEP_SIZE */, 0, "0", "12000", 0);
	if (ring->ops[OP_FTRUNCATE])
		queue_sync(ring, OP_FTRUNCATE, "ftruncate", &t, 10000, 0, 0, 0, "-", "10000", 0);
	ring_finish(ring, 0);
}

static void do_open(struct ring *ring, struct space *s)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = { O_RDONLY, 0, 0 };
	char path[64], abs[4096], long_name[4096], missing[4096];
	struct request *r, *chain[3];
	int link;
	struct sqe *sqe;

	snprintf(path, sizeof(path), "new%d", (int)ring->p.flags);
	r = queue_open(ring, s->dirfd, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, "RDWR|CLOEXEC|CREAT|EXCL", path, 0,
		       0);
	ring_finish(ring, 0);
	expect_row("create_del\tFUNC=create\tPID=%d\tRET=0\tMODE=0640\tPATH=%s/%s", getpid(), s->dir, path);
	queue_close(ring, r->res, 0, path, 0);
	ring_finish(ring, 0);
	queue_close(ring, 9996, 0, "-",
		    SQE_ASYNC); /* EBADF; not the number above, which another thread may have by now */
	queue_open(ring, s->dirfd, path, O_RDWR | O_CREAT | O_EXCL, "RDWR|CREAT|EXCL", "-", 0, SQE_ASYNC); /* EEXIST */
	snprintf(missing, sizeof(missing), "%s/missing", s->dir);
	queue_open(ring, AT_FDCWD, missing, O_RDONLY, "RDONLY", "-", 0, 0); /* ENOENT */
	ring_finish(ring, 0);

	/* paths are whole, however long */
	memset(long_name, 0, sizeof(long_name));
	for (size_t i = 0; i < 2000; i += 2)
		memcpy(long_name + i, "./", 2);
	strcat(long_name, path);
	r = queue_open(ring, s->dirfd, long_name, O_RDONLY, "RDONLY", path, 0, 0);
	ring_finish(ring, 0);
	close(r->res);

	if (ring->ops[OP_OPENAT2]) {
		r = request_new();
		sqe = queue(ring, r, OP_OPENAT2, 0);
		sqe->fd = s->dirfd;
		sqe->addr = (uintptr_t)path;
		sqe->len = sizeof(how);
		sqe->off = (uintptr_t)&how;
		ROW(r,
		    "open\tFUNC=io_uring:openat2\t%s\tRET=%%lld\tFLAGS=RDONLY\tMODE=-\tPATH=%s\tREALPATH=%s/%s\tFILE=%s",
		    process_text(ring), path, s->dir, path, path);
		ring_push(ring);
		ring_finish(ring, 0);
		close(r->res);
	}

	/* one chain: open into a slot of the ring, read from it, close it */
	struct target slot = { 0, path, 3 };

	/* older kernels look up the slots of a chain when it is submitted: there it cannot be a chain */
	link = ring->p.features & FEAT_LINKED_FILE ? SQE_LINK : 0;
	chain[0] = queue_open(ring, s->dirfd, path, O_RDWR, "RDWR", path, 4, link);
	if (!link)
		ring_finish(ring, 0);
	chain[1] = queue_rw(ring, OP_WRITE, "write", &slot, s->buf, 33, 0, "0", 33, link);
	if (!link)
		ring_finish(ring, 0);
	chain[2] = queue_rw(ring, OP_READ, "read", &slot, s->buf, 33, 3, "3", 33, 0);
	ring_finish(ring, 0);
	if (chain[0]->res < 0 || chain[1]->res != 33 || chain[2]->res != 30)
		errx(1, "chain: %d %d %d", chain[0]->res, chain[1]->res, chain[2]->res);
	queue_close(ring, 0, 4, path, 0);
	ring_finish(ring, 0);
	snprintf(abs, sizeof(abs), "%s/%s", s->dir, path);
	queue_name(ring, OP_UNLINKAT, "unlinkat", s->dirfd, path, 0, NULL, 0, 0, "-", "0", abs, "-", 0);
	ring_finish(ring, 0);
}

static void do_names(struct ring *ring, struct space *s)
{
	char a[4096], b[4096], c[4096];

	if (!ring->ops[OP_LINKAT])
		return;
	snprintf(a, sizeof(a), "%s/sub", s->dir);
	snprintf(b, sizeof(b), "%s/sub2", s->dir);
	snprintf(c, sizeof(c), "%s/link", s->dir);
	queue_name(ring, OP_MKDIRAT, "mkdirat", s->dirfd, "sub", 0, NULL, 0750, 0, "0750", "-", a, "-", 0);
	ring_finish(ring, 0);
	queue_name(ring, OP_MKDIRAT, "mkdirat", AT_FDCWD, a, 0, NULL, 0755, 0, "0755", "-", a, "-",
		   SQE_ASYNC); /* EEXIST */
	ring_finish(ring, 0);
	queue_name(ring, OP_RENAMEAT, "renameat", s->dirfd, "sub", s->dirfd, "sub2", 0, 1, "-", "0x1", a, b, 0);
	ring_finish(ring, 0);
	queue_name(ring, OP_SYMLINKAT, "symlinkat", s->dirfd, "some/where", 0, "link", 0, 0, "-", "-", c, "some/where",
		   0);
	ring_finish(ring, 0);
	snprintf(a, sizeof(a), "%s/%s", s->dir, s->file);
	snprintf(b, sizeof(b), "%s/hard", s->dir);
	queue_name(ring, OP_LINKAT, "linkat", AT_FDCWD, a, s->dirfd, "hard", 0, 0, "-", "0", a, b, 0);
	ring_finish(ring, 0);
	queue_name(ring, OP_UNLINKAT, "unlinkat", s->dirfd, "hard", 0, NULL, 0, 0, "-", "0", b, "-", SQE_ASYNC);
	queue_name(ring, OP_UNLINKAT, "unlinkat", s->dirfd, "link", 0, NULL, 0, 0, "-", "0", c, "-", 0);
	ring_finish(ring, 0);
	snprintf(b, sizeof(b), "%s/sub2", s->dir);
	queue_name(ring, OP_UNLINKAT, "unlinkat", s->dirfd, "sub2", 0, NULL, 0, AT_REMOVEDIR, "-", "0x200", b, "-", 0);
	ring_finish(ring, 0);
	queue_name(ring, OP_UNLINKAT, "unlinkat", s->dirfd, "sub2", 0, NULL, 0, 0, "-", "0", b, "-", 0); /* ENOENT */
	ring_finish(ring, 0);
}

static void pipe_name(int fd, char name[64])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, 63);
	name[n < 0 ? 0 : n] = '\0';
}

/*
 * Cancels the only request in flight. One try may not be enough: if a worker has taken the request but does not wait in
 * it yet, it is woken in vain (io_wq_worker_cancel), and the request waits for ever. Later tries find nothing to
 * cancel.
 */
static void cancel(struct ring *ring, struct request *r)
{
	do {
		struct sqe *sqe = queue(ring, NULL, OP_ASYNC_CANCEL, 0);

		sqe->fd = -1;
		sqe->addr = (uintptr_t)r;
		ring_push(ring);
		ring_finish(ring, 1);
		poll(NULL, 0, 1);
		ring_reap(ring);
	} while (ring->out);
}

/* Reads that wait: one gets data, one is canceled, one has many completions. */
static void do_pipes(struct ring *ring, struct space *s)
{
	int p[2];
	char name[64];
	struct target t = { .name = name, .fixed = -1 }, file = { s->fd, s->file, -1 };
	struct request *r;
	struct sqe *sqe;

	if (pipe(p) < 0)
		err(1, "pipe");
	t.fd = p[0];
	pipe_name(p[0], name);
	for (int flags = 0; flags <= SQE_ASYNC; flags += SQE_ASYNC) {
		queue_rw(ring, OP_READ, "read", &t, s->buf, 100, 0, "-", 100, flags);
		while (ring->queued)
			ring_enter(ring, 0);
		if (write(p[1], "hello", 5) != 5)
			err(1, "write");
		ring_finish(ring, 0);
		r = queue_rw(ring, OP_READ, "read", &t, s->buf, 100, 0, "-", 100, flags);
		while (ring->queued)
			ring_enter(ring, 0);
		poll(NULL, 0, 2);
		cancel(ring, r);
		if (r->res != -ECANCELED && r->res != -EINTR)
			errx(1, "cancelled: %d, told %d", r->res, r->ended);
	}
	if (ring->ops[OP_READ_MULTISHOT]) {
		sqe = queue(ring, NULL, OP_PROVIDE_BUFFERS, 0);
		sqe->fd = 8;
		sqe->addr = (uintptr_t)s->buf;
		sqe->len = 64;
		sqe->buf = 5;
		ring_push(ring);
		ring_finish(ring, 0);
		next.buf = 5;
		r = queue_rw(ring, OP_READ_MULTISHOT, "read_multishot", &t, NULL, 0, -1, "-", 0, SQE_BUFFER_SELECT);
		while (ring->queued)
			ring_enter(ring, 0);
		for (int i = 1; i <= 3; i++) {
			struct cqe cqe;

			if (write(p[1], "0123456789", (size_t)i) != i)
				err(1, "write");
			while (!ring_take(ring, &cqe))
				ring_enter(ring, 1);
			row_end(r, cqe.res);
			if (cqe.res != i)
				errx(1, "multishot: %d", cqe.res);
		}
		cancel(ring, r);
		if (r->rows != 4)
			errx(1, "multishot: %d rows", r->rows);
	}
	/* a splice has two rows: R of the source, W of the destination */
	char to[64];

	pipe_name(p[1], to);
	r = request_new();
	sqe = queue(ring, r, OP_SPLICE, 0);
	sqe->fd = p[1];
	sqe->off = ~0ULL;
	sqe->file_index = (uint32_t)s->fd;
	sqe->addr = 100;
	sqe->len = 1000;
	ROW(r, "vfs_rw\tFUNC=io_uring:splice\t%s\tRW=R\tREQUESTED=1000\tRETURNED=%%lld\tOFFSET=100\tFD=%d\tFILE=%s",
	    process_text(ring), s->fd, file.name);
	ring_push(ring);
	ring_finish(ring, 0);
	expect_row("vfs_rw\tFUNC=io_uring:splice\t%s\tRW=W\tREQUESTED=1000\tRETURNED=%d\tOFFSET=-\tFD=%d\tFILE=%s",
		   process_text(ring), r->res, p[1], to);
	close(p[0]);
	close(p[1]);
}

/*
 * Requests without a report of success: their rows have no result, unless they fail. The data that one reads shows that
 * it has ended: on a busy machine a worker may still have it, and it would fail if the ring were closed before.
 */
static void do_skip(struct ring *ring, struct space *s)
{
	struct target t = { s->fd, s->file, -1 }, none = { 9997, "-", -1 };
	volatile char *last = s->buf + 20;
	struct request *r;

	if (!(ring->p.features & FEAT_SKIP_SUCCESS))
		return;
	if (pwrite(s->fd, "read without a result", 21, 0) != 21)
		err(1, "%s", s->file);
	*last = 0;
	queue_rw(ring, OP_READ, "read", &none, s->buf, 10, 0, "-", 10, SQE_SKIP_SUCCESS);
	r = queue_rw(ring, OP_READ, "read", &t, s->buf, 21, 0, "-", 21, SQE_SKIP_SUCCESS);
	snprintf(r->row, sizeof(r->row),
		 "vfs_rw\tFUNC=io_uring:read\t%s\tRW=R\tREQUESTED=21\tRETURNED=-\tOFFSET=0\tFD=%d\tFILE=%s",
		 process_text(ring), s->fd, s->file);
	r->fixed_result = true;
	ring_enter(ring, 0);
	row_end(r, 0);
	ring->out--; /* it has no completion */
	ring_finish(ring, 0);
	while (!*last)
		poll(NULL, 0, 1);
}

static void *uring_thread(void *arg)
{
	struct space s;
	struct ring ring;

	space_open(&s, (int)(intptr_t)arg);
	ring_open(&ring, 64, 0, sqpoll);
	do_rw(&ring, &s);
	for (int i = 0; i < rounds; i++) {
		do_append(&ring, &s);
		do_chains(&ring, &s);
		do_sync(&ring, &s);
		do_open(&ring, &s);
		do_names(&ring, &s);
		do_pipes(&ring, &s);
		if (!sqpoll)
			do_skip(&ring, &s);
	}
	ring_close(&ring);
	return NULL;
}

/* More completions than the ring has room for: the kernel keeps them. */
static void *overflow_thread(void *arg)
{
	struct space s;
	struct ring ring;
	struct target t = { .fixed = -1 };

	space_open(&s, (int)(intptr_t)arg);
	t.fd = s.fd;
	t.name = s.file;
	ring_open(&ring, 8, 8, sqpoll);
	for (int round = 0; round < rounds; round++) {
		for (int batch = 0; batch < 4; batch++) {
			for (unsigned int i = 0; i < 8; i++)
				queue_rw(&ring, OP_READ, "read", &t, s.buf, 100 + i, i, dec(i), 100 + i,
					 i & 1 ? SQE_ASYNC : 0);
			while (ring.queued) {
				if (ring_enter(&ring, 0) < 0)
					ring_finish(&ring, 0);
				if (sqpoll)
					poll(NULL, 0, 20);
			}
		}
		poll(NULL, 0, 20); /* those of workers as well */
		ring_finish(&ring, 0);
	}
	ring_close(&ring);
	return NULL;
}

/* Many requests in flight with one user_data, which the kernel does not require to be unique. */
static void *same_thread(void *arg)
{
	struct space s;
	struct ring ring;
	struct cqe cqe;

	space_open(&s, (int)(intptr_t)arg);
	ring_open(&ring, 64, 0, sqpoll);
	for (int round = 0; round < rounds; round++) {
		for (unsigned int i = 0; i < 32; i++) {
			struct target t = { s.fd, s.file, -1 };

			next.user_data = 42;
			row_end(queue_rw(&ring, OP_READ, "read", &t, s.buf, 1 + i, 0, "0", 1 + i, SQE_ASYNC),
				(int)(1 + i));
		}
		while (ring.queued)
			ring_enter(&ring, 0);
		while (ring.out)
			if (!ring_take(&ring, &cqe))
				ring_enter(&ring, 1);
	}
	ring_close(&ring);
	return NULL;
}

/* Reads of an empty pipe and an open of a FIFO without a writer: they wait until a signal ends the program. */
static void *hang_thread(void *arg)
{
	struct space s;
	struct ring ring;
	char name[64], path[4096];
	struct target t = { .name = name, .fixed = -1 };
	int p[2];

	space_open(&s, (int)(intptr_t)arg);
	ring_open(&ring, 8, 0, false);
	snprintf(path, sizeof(path), "%s/fifo", s.dir);
	if (pipe(p) < 0 || mkfifo(path, 0600) < 0)
		err(1, "pipe");
	pipe_name(p[0], name);
	t.fd = p[0];
	queue_rw(&ring, OP_READ, "read", &t, s.buf, 100, 0, "-", 100, 0);
	queue_open(&ring, s.dirfd, "fifo", O_RDONLY, "RDONLY", "-", 0, SQE_ASYNC);
	while (ring.queued)
		ring_enter(&ring, 0);
	expect_row("hangs");
	for (;;)
		pause();
	return NULL;
}

/* --- libaio ------------------------------------------------------------------------------------------ */

#define IOCBS 16

struct iocb_row {
	struct iocb iocb; /* first: the event has its address */
	struct request r;
};

static void iocb_set(struct iocb_row *c, int op, const char *func, int fd, const char *file, void *buf, size_t n,
		     long long off, size_t requested, const char *offset)
{
	const char *rw = op == IOCB_CMD_PREAD || op == IOCB_CMD_PREADV   ? "R" :
			 op == IOCB_CMD_PWRITE || op == IOCB_CMD_PWRITEV ? "W" :
									   "-";

	memset(c, 0, sizeof(*c));
	c->iocb.aio_lio_opcode = (uint16_t)op;
	c->iocb.aio_fildes = (uint32_t)fd;
	c->iocb.aio_buf = (uintptr_t)buf;
	c->iocb.aio_nbytes = n;
	c->iocb.aio_offset = off;
	c->iocb.aio_data = (uintptr_t)c;
	ROW(&c->r,
	    "vfs_rw\tFUNC=io_submit:%s\tPID=%d\tTID=%ld\tRW=%s\tREQUESTED=%zu\tRETURNED=%%lld\tOFFSET=%s\tDISK_BYTES=-\tFD=%d\tFILE=%s",
	    func, getpid(), syscall(SYS_gettid), rw, requested, offset, fd, file);
}

static long reap(aio_context_t ctx, long min, long max, bool p, struct io_event *events)
{
	return p ? syscall(SYS_io_pgetevents, ctx, min, max, events, NULL, NULL) :
		   syscall(SYS_io_getevents, ctx, min, max, events, NULL);
}

static void ended(struct io_event *events, long n)
{
	for (long i = 0; i < n; i++)
		row_end(&((struct iocb_row *)(uintptr_t)events[i].data)->r, (int)events[i].res);
}

static void *libaio_thread(void *arg)
{
	static const char *const no_such = "-";
	struct iocb_row *c = calloc(IOCBS, sizeof(*c));
	struct io_event events[IOCBS];
	struct iocb *list[IOCBS + 1];
	aio_context_t ctx = 0;
	struct iovec iov[2];
	struct space s;
	long n, taken;
	char path[4096];
	int direct;

	space_open(&s, (int)(intptr_t)arg);
	snprintf(path, sizeof(path), "%s/%s", s.dir, s.file);
	direct = open(path, O_RDWR | O_DIRECT);
	if (!c || syscall(SYS_io_setup, 64, &ctx) < 0)
		err(77, "io_setup");
	for (int round = 0; round < rounds; round++) {
		n = 0;
		iov[0] = (struct iovec){ s.buf, 100 };
		iov[1] = (struct iovec){ s.buf + 200, 50 };
		iocb_set(&c[n++], IOCB_CMD_PWRITE, "pwrite", s.fd, s.file, s.buf, PART, 0, PART, "0");
		iocb_set(&c[n++], IOCB_CMD_PREAD, "pread", s.fd, s.file, s.buf, PART, 8192, PART, "8192"); /* short */
		iocb_set(&c[n++], IOCB_CMD_PREADV, "preadv", s.fd, s.file, iov, 2, 7, 150, "7");
		iocb_set(&c[n++], IOCB_CMD_PWRITEV, "pwritev", s.fd, s.file, iov, 2, 9, 150, "9");
		iocb_set(&c[n++], IOCB_CMD_PREAD, "pread", s.fd, s.file, (void *)8, PART, 0, PART, "0"); /* EFAULT */
		iocb_set(&c[n++], IOCB_CMD_FSYNC, "fsync", s.fd, s.file, NULL, 0, 0, 0, "0");
		iocb_set(&c[n++], IOCB_CMD_FDSYNC, "fdsync", s.fd, s.file, NULL, 0, 0, 0, "0");
		if (direct >= 0)
			iocb_set(&c[n++], IOCB_CMD_PREAD, "pread", direct, s.file, s.buf + PART, PART, 4096, PART,
				 "4096");
		for (long i = 0; i < n; i++)
			list[i] = &c[i].iocb;
		/* a refused iocb ends the call: it and those after it have no rows */
		iocb_set(&c[n], IOCB_CMD_PREAD, "pread", 9999, no_such, s.buf, PART, 0, PART, "-");
		list[n] = &c[n].iocb;
		taken = syscall(SYS_io_submit, ctx, n + 1, list);
		if (taken < 0)
			err(1, "io_submit");
		for (long left = taken; left;) {
			long got = reap(ctx, 1, left, round & 1, events);

			if (got < 0)
				err(1, "io_getevents");
			ended(events, got);
			left -= got;
		}
		if (syscall(SYS_io_submit, ctx, 1L, &list[n]) != -1)
			errx(1, "io_submit of a descriptor that is none");
		expect_row("vfs_rw\tFUNC=io_submit\tPID=%d\tTID=%ld\tRW=-\tRETURNED=%d", getpid(), syscall(SYS_gettid),
			   -errno);
	}
	syscall(SYS_io_destroy, ctx);
	return NULL;
}

/* One thread submits, another reaps, perhaps before io_submit has returned. */
struct two {
	aio_context_t ctx;
	long n;
};

static void *two_reaper(void *arg)
{
	struct io_event events[IOCBS];
	struct two *two = arg;

	for (long left = two->n; left;) {
		long got = reap(two->ctx, 1, left < IOCBS ? left : IOCBS, false, events);

		if (got < 0)
			err(1, "io_getevents");
		ended(events, got);
		left -= got;
	}
	return NULL;
}

static void *two_thread(void *arg)
{
	long n = rounds * 100L;
	struct iocb_row *c = calloc((size_t)n, sizeof(*c));
	struct two two = { 0, n };
	struct space s;
	pthread_t reaper;

	space_open(&s, (int)(intptr_t)arg);
	if (!c || syscall(SYS_io_setup, 64, &two.ctx) < 0 || pthread_create(&reaper, NULL, two_reaper, &two))
		err(77, "io_setup");
	for (long i = 0; i < n; i++) {
		struct iocb *list[1] = { &c[i].iocb };

		iocb_set(&c[i], IOCB_CMD_PREAD, "pread", s.fd, s.file, s.buf, (size_t)i % 4000, i, (size_t)i % 4000,
			 dec(i));
		while (syscall(SYS_io_submit, two.ctx, 1L, list) < 0) {
			expect_row("vfs_rw\tFUNC=io_submit\tPID=%d\tTID=%ld\tRETURNED=%d", getpid(),
				   syscall(SYS_gettid), -errno);
			if (errno != EAGAIN)
				err(1, "io_submit");
		}
	}
	pthread_join(reaper, NULL);
	syscall(SYS_io_destroy, two.ctx);
	return NULL;
}

/* For a disk that stands still: no thread waits for the write. */
static void *stuck_thread(void *arg __attribute__((unused)))
{
	struct iocb_row *c = calloc(1, sizeof(*c));
	void *buf = aligned_alloc(PART, PART);
	int fd = open(folder, O_WRONLY | O_DIRECT);
	struct iocb *list[1] = { &c->iocb };
	aio_context_t ctx = 0;

	if (!c || !buf || fd < 0)
		err(1, "%s", folder);
	memset(buf, 'x', PART);
	if (syscall(SYS_io_setup, 1, &ctx) < 0)
		err(77, "io_setup");
	iocb_set(c, IOCB_CMD_PWRITE, "pwrite", fd, folder, buf, PART, PART, PART, "4096");
	if (syscall(SYS_io_submit, ctx, 1L, list) != 1)
		err(1, "io_submit");
	expect_row("stuck");
	for (;;)
		pause();
	return NULL;
}

/* Takes an event from the ring in memory, without a call, and reuses the iocb; then leaves the event there. */
static void *unreaped_thread(void *arg)
{
	struct ring_memory {
		unsigned int id, nr, head, tail;
	} * ring;
	struct iocb_row *c = calloc(1, sizeof(*c));
	struct iocb *list[1] = { &c->iocb };
	aio_context_t ctx = 0;
	struct space s;

	space_open(&s, (int)(intptr_t)arg);
	if (!c || syscall(SYS_io_setup, 64, &ctx) < 0)
		err(77, "io_setup");
	ring = (struct ring_memory *)ctx;
	for (int i = 0; i < rounds; i++) {
		iocb_set(c, IOCB_CMD_PREAD, "pread", s.fd, s.file, s.buf, (size_t)(10 + i), 0, (size_t)(10 + i), "0");
		if (syscall(SYS_io_submit, ctx, 1L, list) != 1)
			err(1, "io_submit");
		while (ring->head == *(volatile unsigned int *)&ring->tail)
			poll(NULL, 0, 1);
		ring->head = (ring->head + 1) % ring->nr;
		expect_row("vfs_rw\tFUNC=io_submit:pread\tREQUESTED=%d\tRETURNED=%c\tFILE=%s", 10 + i,
			   i + 1 < rounds ? '-' : '?', s.file);
	}
	return NULL;
}

/* --- both --------------------------------------------------------------------------------------------- */

static int space_file(const struct space *s, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", s->dir, s->file);
	fd = open(path, flags | O_DIRECT);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

/* Nobody sees where an iocb begins that appends, so its row has no place. */
static void places_libaio(struct space *s, int fd)
{
	struct iocb_row c;
	struct iocb *list[1] = { &c.iocb };
	struct io_event event;
	aio_context_t ctx = 0;

	if (syscall(SYS_io_setup, 1, &ctx) < 0)
		err(77, "io_setup");
	iocb_set(&c, IOCB_CMD_PWRITE, "pwrite", fd, s->file, s->buf, PART, 0, PART, "-");
	if (syscall(SYS_io_submit, ctx, 1L, list) != 1 || reap(ctx, 1, 1, false, &event) != 1)
		err(1, "io_submit");
	ended(&event, 1);
	syscall(SYS_io_destroy, ctx);
}

/* A server's file system, FUSE here, may not say where a request began. */
static void *places_thread(void *arg)
{
	struct space s;
	struct ring ring;
	struct statfs fs;
	struct target t = { .name = s.file, .fixed = -1 };
	bool known;

	space_open(&s, (int)(intptr_t)arg);
	ring_open(&ring, 8, 0, false);
	if (fstatfs(s.fd, &fs) < 0)
		err(1, "fstatfs");
	known = fs.f_type != FUSE_SUPER_MAGIC;
	t.fd = space_file(&s, O_RDWR);
	queue_rw(&ring, OP_WRITE, "write", &t, s.buf, PART, 2 * PART, "8192", PART, 0);
	ring_finish(&ring, 0);
	lseek(t.fd, PART, SEEK_SET);
	queue_rw(&ring, OP_READ, "read", &t, s.buf, PART, -1, known ? "4096" : "-", PART, 0);
	ring_finish(&ring, 0);
	close(t.fd);
	t.fd = space_file(&s, O_WRONLY | O_APPEND);
	queue_rw(&ring, OP_WRITE, "write", &t, s.buf, PART, 0, known ? "12288" : "-", PART, 0);
	ring_finish(&ring, 0);
	places_libaio(&s, t.fd);
	ring_close(&ring);
	return NULL;
}

/* --- main ------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	void *(*run)(void *nr);
} modes[] = {
	{ "uring", uring_thread }, { "overflow", overflow_thread }, { "same", same_thread },
	{ "hang", hang_thread },   { "libaio", libaio_thread },     { "places", places_thread },
	{ "stuck", stuck_thread }, { "two", two_thread },           { "unreaped", unreaped_thread },
};

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int n = 1, c;

	while ((c = getopt(argc, argv, "t:n:T:q")) >= 0) {
		if (c == 't')
			n = atoi(optarg);
		else if (c == 'n')
			rounds = atoi(optarg);
		else if (c == 'q')
			sqpoll = true;
		else if (c == 'T')
			tally = fopen(optarg, "we");
		else
			return 2;
	}
	if (argc - optind != 2 || !tally || n < 1 || n > 64)
		errx(2, "usage: aio [-t THREADS] [-q] [-n ROUNDS] -T TALLY MODE FOLDER");
	folder = argv[optind + 1];
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, argv[optind]))
			continue;
		for (int t = 0; t < n; t++)
			if (pthread_create(&threads[t], NULL, modes[i].run, (void *)(intptr_t)t))
				errx(1, "cannot start a thread");
		for (int t = 0; t < n; t++)
			pthread_join(threads[t], NULL);
		return fclose(tally) ? 1 : 0;
	}
	errx(2, "%s: no such mode", argv[optind]);
}
