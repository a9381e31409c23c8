// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls: makes every call of every file probe, well and badly, and counts each one itself, so that
 * a tracer's rows can be compared with an independent tally that must be equal, not near.
 *
 *   calls [-t THREADS] [-f FORKS] [-n ITERATIONS] [-m CALLS] [-r] [-s] [-T TALLY] DIR
 *
 * (1 + FORKS) processes of THREADS threads each work in folders of their own under DIR. All of them
 * are set up first (stacks, pipes, aio contexts), then wait at a barrier; the first thread opens
 * DIR/MARK_BEGIN, which does not exist, and everything after that, until it fails to open
 * DIR/MARK_END, is in the tally: between the two marks these processes make no call of any probe
 * but the tallied ones (barriers are futexes; no stdio, no malloc, no thread or process is made).
 * So a test takes the rows of the printed pids between the two failed opens. The tally is written
 * after MARK_END.
 *
 * The tally: FUNC CALLS FAILS REQUESTED RETURNED ERRNO_SUM, one line per function made.
 *   REQUESTED  bytes asked for (the sum of the iovec); the length of mmap, munmap, msync, truncate,
 *              ftruncate, fallocate, sync_file_range; the new length of mremap; else 0
 *   RETURNED   bytes moved by reads, writes, their iocbs, sendfile, splice, copy_file_range; else 0
 *   ERRNO_SUM  the errno of every failed call, added up
 * Two kinds of line are no calls: "create" (files that an open really created) and
 * "io_submit:pread" and its like (one per iocb that the kernel took).
 *
 * With -r it has the last CPU to itself, in real time (SCHED_FIFO): nobody is preempted there. It is
 * for the caller to keep others away.
 *
 * It assumes nothing about which calls succeed: a file system without O_TMPFILE changes the numbers,
 * not their exactness. Calls that the architecture lacks are not made. What only newer kernels know
 * (before 5.10 more is missing) is tried before the marks; the second line of the output, "lacks
 * FUNC...", names the functions of which some calls are therefore left out. So on one file system the
 * numbers of all kernels with the same second line are the same, but for these functions all are.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 32
#define MAX_FORKS 64
#define STACK_SIZE (128 << 10)
/* long, because syscall(2) is variadic and the kernel reads whole registers */
#define BUF 65536L
#define PART 4096L
#define HUGE (5L << 30)

_Static_assert(sizeof(long) == 8, "64-bit only: positions are passed in one register");

/* Old calls that newer architectures do not have. */
#define ABSENT -1
#ifndef SYS_creat
#define SYS_creat ABSENT
#endif
#ifndef SYS_link
#define SYS_link ABSENT
#endif
#ifndef SYS_mkdir
#define SYS_mkdir ABSENT
#endif
#ifndef SYS_mknod
#define SYS_mknod ABSENT
#endif
#ifndef SYS_open
#define SYS_open ABSENT
#endif
#ifndef SYS_rename
#define SYS_rename ABSENT
#endif
#ifndef SYS_renameat
#define SYS_renameat ABSENT
#endif
#ifndef SYS_rmdir
#define SYS_rmdir ABSENT
#endif
#ifndef SYS_symlink
#define SYS_symlink ABSENT
#endif
#ifndef SYS_sync_file_range
#define SYS_sync_file_range ABSENT
#endif
#ifndef SYS_unlink
#define SYS_unlink ABSENT
#endif

/* name, and whether it returns bytes */
/* clang-format off */
#define CALLS(X) \
	X(brk, 0) X(close, 0) X(close_range, 0) X(copy_file_range, 1) X(creat, 0) X(fallocate, 0) \
	X(fdatasync, 0) X(fsync, 0) X(ftruncate, 0) X(io_submit, 0) X(link, 0) X(linkat, 0) \
	X(madvise, 0) X(mkdir, 0) X(mkdirat, 0) X(mknod, 0) X(mknodat, 0) X(mmap, 0) X(mremap, 0) X(msync, 0) \
	X(munmap, 0) X(open, 0) X(openat, 0) X(openat2, 0) X(pread64, 1) X(preadv, 1) \
	X(preadv2, 1) X(pwrite64, 1) X(pwritev, 1) X(pwritev2, 1) X(read, 1) X(readv, 1) \
	X(rename, 0) X(renameat, 0) X(renameat2, 0) X(rmdir, 0) X(sendfile, 1) X(splice, 1) \
	X(symlink, 0) X(symlinkat, 0) X(sync, 0) X(sync_file_range, 0) X(syncfs, 0) \
	X(truncate, 0) X(unlink, 0) X(unlinkat, 0) X(write, 1) X(writev, 1)
/* clang-format on */

enum func {
#define X(name, bytes) F_##name,
	CALLS(X)
#undef X
		F_NR_CALLS, /* from here on, lines of the tally that are not calls */
	F_create = F_NR_CALLS,
	F_aio_fsync,
	F_aio_poll,
	F_aio_pread,
	F_aio_preadv,
	F_aio_pwrite,
	F_aio_pwritev,
	F_NR,
};

static const struct {
	const char *name;
	bool bytes;
} funcs[F_NR] = {
#define X(name, bytes) [F_##name] = { #name, bytes },
	CALLS(X)
#undef X
		[F_create] = { "create", false },
	[F_aio_fsync] = { "io_submit:fsync", true },
	[F_aio_poll] = { "io_submit:poll", true },
	[F_aio_pread] = { "io_submit:pread", true },
	[F_aio_preadv] = { "io_submit:preadv", true },
	[F_aio_pwrite] = { "io_submit:pwrite", true },
	[F_aio_pwritev] = { "io_submit:pwritev", true },
};

struct tally {
	uint64_t calls;
	uint64_t fails;
	uint64_t requested;
	uint64_t returned;
	uint64_t errno_sum;
};

struct worker {
	unsigned int nr;
	char dir[64]; /* relative: every process runs in DIR */
	char a[64], b[64], none[64];
	int dirfd;
	int pipe[2], dry[2], sock[2]; /* nothing is written to dry, and no process waits for it */
	int fd_base; /* where close_range has room for its descriptors */
	aio_context_t aio;
	uint64_t calls;
	struct tally tally[F_NR];
	char buf[BUF] __attribute__((aligned(4096)));
};

struct shared {
	pthread_barrier_t barrier;
	struct worker workers[];
};

static struct {
	unsigned long threads, forks, iterations, mixed;
	bool alone, sync;
	const char *tally_path;
} opt = { .threads = 1, .iterations = 4 };

static struct shared *shared;
static bool lacks_close_range; /* CLOSE_RANGE_CLOEXEC: since 5.11 */
static pid_t main_pid;

/* If a worker fails before the barrier, others wait there, so this ends all of them. */
static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	fputs("calls: ", stderr);
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, ": %s\n", strerror(err));
	va_end(ap);
	if (main_pid && getpid() != main_pid)
		kill(main_pid, SIGTERM);
	exit(1);
}

/* ---- the tally ------------------------------------------------------------------------------- */

static long tally(struct worker *w, enum func f, long ret, uint64_t requested)
{
	struct tally *t = &w->tally[f];

	if (ret == -1)
		ret = -errno;
	t->calls++;
	t->requested += requested;
	if (ret < 0) {
		t->fails++;
		t->errno_sum += (uint64_t)-ret;
	} else if (funcs[f].bytes) {
		t->returned += (uint64_t)ret;
	}
	w->calls += f < F_NR_CALLS;
	return ret;
}

/* So that a call that is absent is no statement without an effect. */
static inline long result(long ret)
{
	return ret;
}

#define CALL(f, requested, ...) \
	result(SYS_##f == ABSENT ? -ENOSYS : tally(w, F_##f, syscall(SYS_##f, __VA_ARGS__), requested))

static int created(struct worker *w, long fd)
{
	if (fd >= 0)
		tally(w, F_create, 0, 0);
	return (int)fd;
}

static int make(struct worker *w, const char *path)
{
	return created(w, CALL(openat, 0, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0600));
}

static int make_filled(struct worker *w, const char *path)
{
	int fd = make(w, path);

	CALL(write, BUF, fd, w->buf, BUF);
	return fd;
}

static void shut(struct worker *w, long fd)
{
	CALL(close, 0, fd);
}

static void drop(struct worker *w, const char *path)
{
	CALL(unlinkat, 0, AT_FDCWD, path, 0);
}

/* ---- the calls, probe by probe; each part leaves the folder as it found it ------------------- */

static void part_open(struct worker *w)
{
	struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_BENEATH };
	const struct open_how make_how = { .flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0600 };
	const struct open_how no_links = { .flags = O_RDONLY, .resolve = RESOLVE_NO_SYMLINKS };
	struct {
		struct open_how how;
		uint64_t later;
	} newer = { .how = how, .later = 1 };
	long fd;

	shut(w, created(w, CALL(creat, 0, w->a, 0640)));
	drop(w, w->a);
	shut(w, make(w, w->a));
	make(w, w->a); /* EEXIST */
	shut(w, CALL(open, 0, w->a, O_RDONLY));
	CALL(open, 0, w->none, O_RDONLY); /* ENOENT */
	CALL(creat, 0, w->dir, 0600); /* EISDIR */
	/* The file exists: no row "create". */
	shut(w, CALL(openat, 0, w->dirfd, "a", O_WRONLY | O_CREAT | O_TRUNC, 0600));
	shut(w, created(w, CALL(openat, 0, w->dirfd, ".", O_RDWR | O_TMPFILE, 0600)));
	CALL(openat, 0, w->dirfd, "a/b", O_RDONLY); /* ENOTDIR */
	CALL(openat, 0, AT_FDCWD, (char *)1, O_RDONLY); /* EFAULT */
	shut(w, CALL(openat2, 0, w->dirfd, "a", &how, sizeof(how)));
	CALL(openat2, 0, w->dirfd, "../a", &how, sizeof(how)); /* EXDEV */
	CALL(openat2, 0, w->dirfd, "a", &how, 1L); /* EINVAL */
	CALL(openat2, 0, w->dirfd, "a", &newer, sizeof(newer)); /* E2BIG */
	CALL(openat2, 0, w->dirfd, "a", NULL, sizeof(how)); /* EFAULT */
	shut(w, created(w, CALL(openat2, 0, w->dirfd, "b", &make_how, sizeof(make_how))));
	CALL(openat2, 0, w->dirfd, "b", &make_how, sizeof(make_how)); /* EEXIST */
	drop(w, w->b);

	CALL(symlinkat, 0, "a", w->dirfd, "b");
	shut(w, CALL(openat, 0, w->dirfd, "b", O_RDONLY));
	CALL(openat, 0, w->dirfd, "b", O_RDONLY | O_NOFOLLOW); /* ELOOP */
	CALL(openat2, 0, w->dirfd, "b", &no_links, sizeof(no_links)); /* ELOOP */
	drop(w, w->b);
	fd = CALL(openat, 0, w->dirfd, "a", O_PATH);
	CALL(read, PART, fd, w->buf, PART); /* EBADF */
	shut(w, fd);
	shut(w, CALL(openat, 0, w->dirfd, ".", O_RDONLY | O_DIRECTORY));
	CALL(openat, 0, w->dirfd, "a", O_RDONLY | O_DIRECTORY); /* ENOTDIR */
	CALL(openat, 0, w->dirfd, ".", O_RDONLY | O_TMPFILE, 0600); /* EINVAL */
	CALL(openat, 0, -1, "a", O_RDONLY); /* EBADF */
	CALL(openat, 0, w->dirfd, "", O_RDONLY); /* ENOENT */
	fd = CALL(openat, 0, w->dirfd, "/dev/null", O_WRONLY);
	CALL(write, PART, fd, w->buf, PART);
	shut(w, fd);
	drop(w, w->a);
}

static void part_rw(struct worker *w)
{
	int fd = make_filled(w, w->a);

	CALL(write, 0, fd, w->buf, 0L);
	CALL(write, PART, -1, w->buf, PART); /* EBADF */
	CALL(pwrite64, PART, fd, w->buf, PART, BUF); /* the file grows */
	CALL(pwrite64, PART, fd, w->buf, PART, -1L); /* EINVAL */
	CALL(read, BUF, fd, w->buf, BUF); /* short: PART is left */
	CALL(read, BUF, fd, w->buf, BUF); /* end of file */
	CALL(pread64, PART, fd, w->buf, PART, PART);
	CALL(pread64, BUF, fd, w->buf, BUF, BUF + PART / 2); /* short */
	CALL(pread64, HUGE, fd, w->buf, HUGE, 2 * BUF); /* asks for over 32 bits */
	CALL(pread64, PART, fd, (char *)1, PART, 0L); /* EFAULT */
	CALL(read, PART, w->dirfd, w->buf, PART); /* EISDIR */
	CALL(write, PART, w->pipe[1], w->buf, PART);
	CALL(read, BUF, w->pipe[0], w->buf, BUF); /* short */
	CALL(pread64, PART, w->pipe[0], w->buf, PART, 0L); /* ESPIPE */
	CALL(read, PART, w->dry[0], w->buf, PART); /* EAGAIN */
	CALL(write, PART, w->sock[0], w->buf, PART);
	CALL(read, BUF, w->sock[1], w->buf, BUF); /* short */
	shut(w, fd);
	drop(w, w->a);
}

static void part_rw_flags(struct worker *w)
{
	long fd = make_filled(w, w->a);

	shut(w, fd);
	fd = CALL(openat, 0, AT_FDCWD, w->a, O_RDWR | O_APPEND);
	CALL(write, PART, fd, w->buf, PART);
	CALL(pwrite64, PART, fd, w->buf, PART, PART); /* at the end nevertheless */
	CALL(pread64, PART, fd, w->buf, PART, BUF + PART);
	CALL(read, BUF, fd, w->buf, BUF); /* the end of file */
	shut(w, fd);
	fd = CALL(openat, 0, AT_FDCWD, w->a, O_RDWR | O_DIRECT);
	CALL(pread64, BUF, fd, w->buf, BUF, 0L);
	CALL(pwrite64, PART, fd, w->buf, PART, PART);
	CALL(pwrite64, 1, fd, w->buf + 1, 1L, 1L); /* EINVAL where it must be aligned */
	shut(w, fd);
	fd = CALL(openat, 0, AT_FDCWD, w->a, O_RDONLY);
	CALL(write, PART, fd, w->buf, PART); /* EBADF */
	shut(w, fd);
	drop(w, w->a);
}

static void part_vectors(struct worker *w)
{
	enum { MANY = 40 };
	struct iovec iov[2] = { { w->buf, PART }, { w->buf + PART, BUF - PART } }, many[MANY];
	int fd = make(w, w->a);

	for (long i = 0; i < MANY; i++)
		many[i] = (struct iovec){ w->buf + i * PART / 8, (size_t)i };
	CALL(writev, BUF, fd, iov, 2L);
	CALL(writev, BUF, -1, iov, 2L); /* EBADF */
	CALL(pwritev, BUF, fd, iov, 2L, BUF, 0L);
	CALL(pwritev, BUF, fd, iov, 2L, -1L, 0L); /* EINVAL */
	CALL(pwritev2, BUF, fd, iov, 2L, 0L, 0L, RWF_DSYNC);
	CALL(pwritev2, PART, fd, iov, 1L, -1L, 0L, 0); /* -1: at the file's own position */
	CALL(pwritev2, BUF, fd, iov, 2L, 0L, 0L, 1 << 30); /* EOPNOTSUPP: no such flag */
	CALL(readv, BUF, fd, iov, 2L);
	CALL(readv, BUF, -1, iov, 2L); /* EBADF */
	CALL(preadv, BUF, fd, iov, 2L, BUF + PART, 0L);
	CALL(preadv, BUF, fd, iov, 2L, -1L, 0L); /* EINVAL */
	CALL(preadv2, BUF, fd, iov, 2L, 0L, 0L, 0);
	CALL(preadv2, PART, fd, iov, 1L, -1L, 0L, 0); /* -1: at the file's own position */
	CALL(preadv2, BUF, -1, iov, 2L, 0L, 0L, 0); /* EBADF */
	CALL(preadv2, PART, fd, iov, 1L, PART, 0L, RWF_NOWAIT);
	CALL(preadv2, BUF, w->pipe[0], iov, 2L, 0L, 0L, 0); /* ESPIPE */
	CALL(pwritev2, BUF, fd, iov, 2L, PART, 0L, RWF_APPEND | RWF_SYNC);
	CALL(pwritev, MANY * (MANY - 1) / 2, fd, many, (long)MANY, PART, 0L);
	CALL(preadv, MANY * (MANY - 1) / 2, fd, many, (long)MANY, PART, 0L);
	CALL(readv, 0, fd, iov, 0L);
	CALL(readv, 0, fd, (char *)1, 2L); /* EFAULT */
	CALL(writev, 0, fd, iov, 1025L); /* EINVAL: more than there may be */
	shut(w, fd);
	drop(w, w->a);
}

static void part_move(struct worker *w)
{
	int a = make_filled(w, w->a);
	int b = make(w, w->b);
	loff_t from = 0, to = BUF;

	CALL(sendfile, BUF, b, a, &from, BUF);
	CALL(sendfile, BUF, b, a, NULL, BUF); /* end of file */
	CALL(sendfile, BUF, -1, a, NULL, BUF); /* EBADF */
	from = PART;
	CALL(splice, PART, a, &from, w->pipe[1], NULL, PART, 0);
	CALL(splice, PART, w->pipe[0], NULL, b, &to, PART, 0);
	CALL(splice, PART, a, NULL, b, NULL, PART, 0); /* EINVAL: neither is a pipe */
	from = 0;
	CALL(copy_file_range, BUF, a, &from, b, &to, BUF, 0);
	CALL(copy_file_range, BUF, a, &from, b, &to, BUF, 0); /* end of file */
	CALL(copy_file_range, BUF, a, NULL, -1, NULL, BUF, 0); /* EBADF */
	CALL(copy_file_range, BUF, a, NULL, b, NULL, BUF, 1 << 10); /* EINVAL: no such flag */
	CALL(copy_file_range, PART, w->dry[0], NULL, b, NULL, PART, 0); /* EINVAL: a pipe */
	from = 0, to = PART;
	CALL(copy_file_range, BUF, a, &from, a, &to, BUF, 0); /* EINVAL: they overlap */
	CALL(sendfile, PART, w->pipe[1], a, &from, PART);
	CALL(splice, PART, w->pipe[0], NULL, w->dry[1], NULL, PART, 0);
	CALL(read, PART, w->dry[0], w->buf, PART);
	CALL(splice, PART, w->dry[0], NULL, b, NULL, PART, SPLICE_F_NONBLOCK); /* EAGAIN */
	CALL(splice, PART, a, &from, -1, NULL, PART, 0); /* EBADF */
	CALL(sendfile, PART, w->sock[0], a, &from, PART);
	CALL(read, PART, w->sock[1], w->buf, PART);
	shut(w, a);
	shut(w, b);
	drop(w, w->a);
	drop(w, w->b);
}

static void part_aio(struct worker *w)
{
	static const struct {
		uint16_t op;
		enum func f;
	} kinds[] = {
		{ IOCB_CMD_PWRITE, F_aio_pwrite },
		{ IOCB_CMD_PWRITEV, F_aio_pwritev },
		{ IOCB_CMD_PREAD, F_aio_pread },
		{ IOCB_CMD_PREADV, F_aio_preadv },
	};
	enum { NR = sizeof(kinds) / sizeof(kinds[0]) };
	struct iovec iov[2] = { { w->buf, PART }, { w->buf + PART, BUF - PART } };
	struct iocb cb[NR] = {}, *list[NR];
	struct io_event events[NR];
	int fd = make_filled(w, w->a);
	long taken;

	for (int i = 0; i < NR; i++) {
		bool vec = kinds[i].op == IOCB_CMD_PREADV || kinds[i].op == IOCB_CMD_PWRITEV;

		cb[i].aio_data = (uint64_t)i;
		cb[i].aio_lio_opcode = kinds[i].op;
		cb[i].aio_fildes = (uint32_t)fd;
		cb[i].aio_buf = vec ? (uintptr_t)iov : (uintptr_t)w->buf;
		cb[i].aio_nbytes = vec ? 2 : BUF;
		list[i] = &cb[i];
	}
	taken = CALL(io_submit, 0, w->aio, (long)NR, list);
	if (taken > 0)
		taken = syscall(SYS_io_getevents, w->aio, taken, (long)NR, events, NULL);
	for (long i = 0; i < taken; i++)
		tally(w, kinds[events[i].data].f, (long)events[i].res, BUF);
	/* The third iocb is refused, so the call takes two; then it is the first. */
	cb[0] = (struct iocb){ .aio_lio_opcode = IOCB_CMD_FSYNC, .aio_fildes = (uint32_t)fd, .aio_data = F_aio_fsync };
	cb[1] = (struct iocb){ .aio_lio_opcode = IOCB_CMD_POLL,
			       .aio_fildes = (uint32_t)w->pipe[1],
			       .aio_buf = POLLOUT,
			       .aio_data = F_aio_poll };
	cb[2].aio_lio_opcode = 100;
	taken = CALL(io_submit, 0, w->aio, 3L, list);
	if (taken > 0)
		taken = syscall(SYS_io_getevents, w->aio, taken, (long)NR, events, NULL);
	for (long i = 0; i < taken; i++)
		tally(w, (enum func)events[i].data, (long)events[i].res, 0);
	CALL(io_submit, 0, w->aio, 1L, &list[2]); /* EINVAL */
	CALL(io_submit, 0, 0L, 1L, list); /* EINVAL: no such context */
	shut(w, fd);
	drop(w, w->a);
}

static void part_map(struct worker *w)
{
	const long prot = PROT_READ | PROT_WRITE;
	long fd = make_filled(w, w->a);
	long p, anon, moved;

	p = CALL(mmap, BUF, NULL, BUF, prot, (long)MAP_SHARED, fd, 0L);
	anon = CALL(mmap, BUF, NULL, BUF, prot, (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
	CALL(mmap, BUF, NULL, BUF, prot, (long)MAP_SHARED, -1L, 0L); /* EBADF */
	CALL(mmap, 0, NULL, 0L, prot, (long)MAP_SHARED, fd, 0L); /* EINVAL */
	CALL(msync, BUF, p, BUF, MS_ASYNC);
	CALL(msync, PART, p, PART, MS_SYNC);
	CALL(msync, PART, p + 1, PART, MS_SYNC); /* EINVAL: not at a page's begin */
	CALL(mremap, 2 * BUF, p + 1, BUF, 2 * BUF, (long)MREMAP_MAYMOVE, 0L); /* EINVAL */
	p = CALL(mremap, 2 * BUF, p, BUF, 2 * BUF, (long)MREMAP_MAYMOVE, 0L);
	CALL(mmap, PART, p, PART, prot, (long)(MAP_SHARED | MAP_FIXED), fd, PART);
	CALL(mmap, PART, p, PART, prot, (long)(MAP_SHARED | MAP_FIXED_NOREPLACE), fd, 0L); /* EEXIST */
	CALL(mmap, PART, NULL, PART, prot, (long)MAP_PRIVATE, fd, 1L); /* EINVAL: the offset is not a page's */
	CALL(mmap, PART, NULL, PART, prot, (long)MAP_PRIVATE, (long)w->dirfd, 0L); /* ENODEV */
	CALL(mremap, PART, anon, BUF, PART, 0L, 0L);
	moved = CALL(mremap, PART, anon, PART, PART, (long)(MREMAP_MAYMOVE | MREMAP_DONTUNMAP), 0L);
	moved = CALL(mremap, PART, moved, PART, PART, (long)(MREMAP_MAYMOVE | MREMAP_FIXED), anon);
	CALL(madvise, PART, moved, PART, (long)MADV_DONTNEED);
	CALL(madvise, PART, moved, PART, 99L); /* EINVAL */
	CALL(madvise, PART, moved + 1, PART, (long)MADV_DONTNEED); /* EINVAL: not at a page's begin */
	CALL(brk, 0, 0L); /* returns the end of the heap, as does one that fails: */
	CALL(brk, 0, 1L);
	CALL(munmap, PART, moved, PART);
	CALL(msync, PART, PART, PART, MS_SYNC); /* ENOMEM: nothing is mapped at so low an address (vm.mmap_min_addr) */
	CALL(munmap, 0, p, 0L); /* EINVAL */
	CALL(munmap, BUF, p + 1, BUF); /* EINVAL */
	CALL(munmap, 2 * BUF, p, 2 * BUF);
	shut(w, fd);
	drop(w, w->a);
}

static void part_close(struct worker *w)
{
	const unsigned int first = (unsigned int)w->fd_base, last = first + 2;
	int fd = make(w, w->a);

	for (unsigned int i = first; i <= last; i++)
		fcntl(fd, F_DUPFD, first);
	if (!lacks_close_range)
		CALL(close_range, 0, first, last, CLOSE_RANGE_CLOEXEC);
	CALL(close_range, 0, first, last, 0);
	CALL(close_range, 0, last, first, 0); /* EINVAL */
	CALL(close_range, 0, first, last, 1 << 10); /* EINVAL: no such flag */
	shut(w, -1); /* EBADF */
	shut(w, fd);
	drop(w, w->a);
}

static void part_names(struct worker *w)
{
	char name[257];
	long fd;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	shut(w, make(w, w->a));

	CALL(mkdir, 0, w->b, 0700);
	CALL(mkdir, 0, w->a, 0700); /* EEXIST */
	CALL(rmdir, 0, w->b);
	CALL(rmdir, 0, w->a); /* ENOTDIR */
	CALL(mkdirat, 0, w->dirfd, "d", 0750);
	CALL(mkdirat, 0, w->dirfd, "d", 0750); /* EEXIST */
	CALL(unlinkat, 0, w->dirfd, "d", 0); /* EISDIR */
	CALL(mkdirat, 0, w->dirfd, "d/e", 0700);
	CALL(rmdir, 0, w->dir); /* ENOTEMPTY */
	CALL(unlinkat, 0, w->dirfd, "d", AT_REMOVEDIR); /* ENOTEMPTY */
	CALL(unlinkat, 0, w->dirfd, "d/e", AT_REMOVEDIR);
	CALL(unlinkat, 0, w->dirfd, "d", AT_REMOVEDIR);
	CALL(mkdir, 0, (char *)1, 0700); /* EFAULT */
	CALL(mkdirat, 0, w->dirfd, name, 0700); /* ENAMETOOLONG */
	CALL(unlinkat, 0, w->dirfd, "a", 1 << 20); /* EINVAL: no such flag */

	CALL(rename, 0, w->a, w->b);
	CALL(rename, 0, w->b, w->a);
	CALL(rename, 0, w->none, w->b); /* ENOENT */
	CALL(renameat, 0, w->dirfd, "a", AT_FDCWD, w->b);
	CALL(renameat, 0, AT_FDCWD, w->b, w->dirfd, "a");
	CALL(renameat, 0, w->dirfd, "none", w->dirfd, "b"); /* ENOENT */

	CALL(link, 0, w->a, w->b);
	CALL(link, 0, w->a, w->b); /* EEXIST */
	CALL(unlink, 0, w->b);
	CALL(unlink, 0, w->b); /* ENOENT */
	CALL(linkat, 0, w->dirfd, "a", AT_FDCWD, w->b, 0);
	CALL(linkat, 0, w->dirfd, "none", AT_FDCWD, w->b, 0); /* ENOENT */
	CALL(renameat2, 0, w->dirfd, "a", w->dirfd, "b", RENAME_EXCHANGE);
	CALL(renameat2, 0, w->dirfd, "a", w->dirfd, "b", RENAME_NOREPLACE); /* EEXIST */
	CALL(renameat2, 0, w->dirfd, "a", w->dirfd, "b", RENAME_EXCHANGE | RENAME_NOREPLACE); /* EINVAL */
	drop(w, w->b);
	CALL(renameat2, 0, w->dirfd, "a", w->dirfd, "b", RENAME_WHITEOUT);
	CALL(rename, 0, w->b, w->a);

	CALL(symlinkat, 0, "a", w->dirfd, "b");
	CALL(linkat, 0, w->dirfd, "b", w->dirfd, "c", AT_SYMLINK_FOLLOW);
	CALL(unlinkat, 0, w->dirfd, "c", 0);
	drop(w, w->b);
	fd = CALL(openat, 0, w->dirfd, ".", O_WRONLY | O_TMPFILE, 0600);
	created(w, fd);
	CALL(linkat, 0, fd, "", w->dirfd, "b", AT_EMPTY_PATH);
	shut(w, fd);
	drop(w, w->b);

	CALL(symlink, 0, "text of the link", w->b);
	CALL(symlink, 0, "", w->b); /* ENOENT */
	drop(w, w->b);
	CALL(symlinkat, 0, "a", w->dirfd, "b");
	CALL(symlinkat, 0, "a", w->dirfd, "b"); /* EEXIST */
	drop(w, w->b);

	CALL(mknod, 0, w->b, S_IFIFO | 0600, 0L);
	CALL(mknod, 0, w->b, S_IFIFO | 0600, 0L); /* EEXIST */
	drop(w, w->b);
	CALL(mknodat, 0, w->dirfd, "b", S_IFREG | 0600, 0L);
	CALL(mknodat, 0, w->dirfd, "b", S_IFREG | 0600, 0L); /* EEXIST */
	drop(w, w->b);
	CALL(mknodat, 0, w->dirfd, "b", S_IFCHR | 0600, (long)makedev(1, 3)); /* /dev/null */
	drop(w, w->b);
	CALL(mknodat, 0, w->dirfd, "b", S_IFSOCK | 0600, 0L);
	drop(w, w->b);
	CALL(mknodat, 0, w->dirfd, "b", S_IFDIR | 0700, 0L); /* EPERM */
	drop(w, w->a);
}

static void part_sync(struct worker *w)
{
	int fd = make_filled(w, w->a);

	CALL(fsync, 0, fd);
	CALL(fsync, 0, -1); /* EBADF */
	CALL(fsync, 0, w->pipe[1]); /* EINVAL */
	CALL(fdatasync, 0, fd);
	CALL(fdatasync, 0, -1); /* EBADF */
	CALL(sync_file_range, PART, fd, 0L, PART, SYNC_FILE_RANGE_WRITE);
	CALL(sync_file_range, PART, fd, -1L, PART, SYNC_FILE_RANGE_WRITE); /* EINVAL */
	CALL(sync_file_range, BUF, fd, PART, BUF,
	     SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
	CALL(sync_file_range, PART, fd, 0L, PART, 1 << 10); /* EINVAL: no such flag */
	CALL(fsync, 0, w->dirfd);
	CALL(syncfs, 0, fd);
	CALL(syncfs, 0, -1); /* EBADF */
	if (opt.sync)
		CALL(sync, 0, 0);
	CALL(truncate, PART, w->a, PART);
	CALL(truncate, PART, w->none, PART); /* ENOENT */
	CALL(ftruncate, BUF, fd, BUF);
	CALL(ftruncate, BUF, -1, BUF); /* EBADF */
	CALL(fallocate, 2 * BUF, fd, 0, 0L, 2 * BUF);
	CALL(fallocate, PART, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PART, PART);
	CALL(fallocate, 0, fd, 0, 0L, 0L); /* EINVAL */
	CALL(fallocate, PART, fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, PART, PART);
	CALL(fallocate, PART, fd, FALLOC_FL_COLLAPSE_RANGE, 0L, PART);
	CALL(fallocate, PART, w->pipe[1], 0, 0L, PART); /* ESPIPE */
	CALL(truncate, PART, w->dir, PART); /* EISDIR */
	CALL(ftruncate, PART, w->dirfd, PART); /* EINVAL */
	shut(w, fd);
	drop(w, w->a);
}

static void (*const parts[])(struct worker *) = {
	part_aio,  part_close, part_map,      part_move, part_names,
	part_open, part_rw,    part_rw_flags, part_sync, part_vectors,
};

/* The calls of a fast loader, over and over: the load of -m. */
static void mixed(struct worker *w)
{
	const long flags = MAP_SHARED, prot = PROT_READ;
	long fd = make(w, w->a), p;

	CALL(write, PART, fd, w->buf, PART);
	CALL(pwrite64, PART, fd, w->buf, PART, PART);
	CALL(read, PART, fd, w->buf, PART);
	CALL(read, PART, fd, w->buf, PART); /* end of file */
	for (long at = 0; at < 8; at++)
		CALL(pread64, PART / 4, fd, w->buf, PART / 4, at * PART / 4);
	p = CALL(mmap, PART, NULL, PART, prot, flags, fd, 0L);
	CALL(munmap, PART, p, PART);
	shut(w, fd);
	drop(w, w->a);
	CALL(openat, 0, w->dirfd, "a", O_RDONLY); /* ENOENT */
}

/* ---- processes and threads ------------------------------------------------------------------- */

static void worker_setup(struct worker *w)
{
	if (mkdir(w->dir, 0700) < 0 && errno != EEXIST)
		die("mkdir %s", w->dir);
	w->dirfd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->dirfd < 0 || pipe2(w->pipe, O_CLOEXEC) < 0 || pipe2(w->dry, O_CLOEXEC | O_NONBLOCK) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, w->sock) < 0)
		die("%s", w->dir);
	/* ENOSYS or EAGAIN: io_submit then fails, and the tally has this error */
	if (syscall(SYS_io_setup, 16, &w->aio) < 0)
		w->aio = 0;
	/* More than MAX_THREADS threads have open, less than the usual limit of 1024. */
	w->fd_base = 768 + 4 * (int)(w->nr % opt.threads);
}

static void worker_run(struct worker *w)
{
	const unsigned long workers = (1 + opt.forks) * opt.threads;
	const uint64_t quota = (opt.mixed + workers - 1) / workers;

	while (w->calls < quota)
		mixed(w);
	for (unsigned long i = 0; !opt.mixed && i < opt.iterations; i++)
		for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
			parts[p](w);
}

/* Only the first worker sets marks, while all others wait at the barrier. */
static void mark(const struct worker *w, const char *name)
{
	pthread_barrier_wait(&shared->barrier);
	if (w->nr == 0 && syscall(SYS_openat, AT_FDCWD, name, O_RDONLY) >= 0)
		die("%s exists", name);
	pthread_barrier_wait(&shared->barrier);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	worker_setup(w);
	mark(w, "MARK_BEGIN");
	worker_run(w);
	mark(w, "MARK_END");
	if (rmdir(w->dir) < 0)
		die("rmdir %s", w->dir);
	return NULL;
}

static void process_run(unsigned int nr)
{
	struct worker *first = &shared->workers[nr * opt.threads];
	pthread_t threads[MAX_THREADS];
	pthread_attr_t attr;
	char *stacks = mmap(NULL, opt.threads * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stacks == MAP_FAILED)
		die("stacks");
	pthread_attr_init(&attr);
	for (unsigned long i = 1; i < opt.threads; i++) {
		pthread_attr_setstack(&attr, stacks + i * STACK_SIZE, STACK_SIZE);
		errno = pthread_create(&threads[i], &attr, worker_main, first + i);
		if (errno)
			die("pthread_create");
	}
	worker_main(first);
	for (unsigned long i = 1; i < opt.threads; i++)
		pthread_join(threads[i], NULL);
}

static void shared_init(void)
{
	const unsigned long workers = (1 + opt.forks) * opt.threads;
	pthread_barrierattr_t attr;

	shared = mmap(NULL, sizeof(*shared) + workers * sizeof(struct worker), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &attr, (unsigned int)workers);
	for (unsigned int i = 0; i < workers; i++) {
		struct worker *w = &shared->workers[i];

		w->nr = i;
		snprintf(w->dir, sizeof(w->dir), "worker.%u", i);
		snprintf(w->a, sizeof(w->a), "worker.%u/a", i);
		snprintf(w->b, sizeof(w->b), "worker.%u/b", i);
		snprintf(w->none, sizeof(w->none), "worker.%u/none", i);
	}
}

static void tally_write(FILE *f)
{
	const unsigned long workers = (1 + opt.forks) * opt.threads;

	fputs("FUNC\tCALLS\tFAILS\tREQUESTED\tRETURNED\tERRNO_SUM\n", f);
	for (int i = 0; i < F_NR; i++) {
		struct tally sum = {};

		for (unsigned long n = 0; n < workers; n++) {
			const struct tally *t = &shared->workers[n].tally[i];

			sum.calls += t->calls;
			sum.fails += t->fails;
			sum.requested += t->requested;
			sum.returned += t->returned;
			sum.errno_sum += t->errno_sum;
		}
		if (sum.calls)
			fprintf(f, "%s\t%lu\t%lu\t%lu\t%lu\t%lu\n", funcs[i].name, sum.calls, sum.fails, sum.requested,
				sum.returned, sum.errno_sum);
	}
	if (fflush(f) || ferror(f))
		die("write the tally");
}

static unsigned long number(const char *text, unsigned long min, unsigned long max)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || end == text || n < min || n > max) {
		errno = EINVAL;
		die("%s is not a number from %lu to %lu", text, min, max);
	}
	return n;
}

static void cpu_take(void)
{
	struct sched_param param = { .sched_priority = 1 };
	cpu_set_t last;

	CPU_ZERO(&last);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	if (sched_setaffinity(0, sizeof(last), &last) < 0 || sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		die("-r");
}

static void usage(void)
{
	fputs("usage: calls [-t THREADS] [-f FORKS] [-n ITERATIONS] [-m CALLS] [-r] [-s]\n"
	      "             [-T TALLY] DIR\n"
	      "  -m  at least CALLS calls in all, of a fast mix instead of everything\n"
	      "  -r  alone on the last CPU, with real-time priority\n"
	      "  -s  sync(2) too: it reaches every file system of the machine\n"
	      "  -T  where the tally goes (default: standard output)\n",
	      stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	pid_t pids[MAX_FORKS];
	FILE *out = stdout;
	int o;

	while ((o = getopt(argc, argv, "t:f:n:m:rsT:")) != -1)
		switch (o) {
		case 't':
			opt.threads = number(optarg, 1, MAX_THREADS);
			break;
		case 'f':
			opt.forks = number(optarg, 0, MAX_FORKS);
			break;
		case 'n':
			opt.iterations = number(optarg, 0, 1000000000);
			break;
		case 'm':
			opt.mixed = number(optarg, 1, 1000000000000);
			break;
		case 'r':
			opt.alone = true;
			break;
		case 's':
			opt.sync = true;
			break;
		case 'T':
			opt.tally_path = optarg;
			break;
		default:
			usage();
		}
	if (argc - optind != 1)
		usage();
	if (opt.alone)
		cpu_take();
	/* Before chdir: the path TALLY is relative to the caller's folder. */
	if (opt.tally_path && !(out = fopen(opt.tally_path, "we")))
		die("%s", opt.tally_path);
	if ((mkdir(argv[optind], 0700) < 0 && errno != EEXIST) || chdir(argv[optind]) < 0)
		die("%s", argv[optind]);
	main_pid = getpid();
	/* no descriptor has that number */
	lacks_close_range = syscall(SYS_close_range, ~0U, ~0U, CLOSE_RANGE_CLOEXEC) < 0;
	shared_init();
	printf("pids\t%d", main_pid);
	for (unsigned int i = 0; i < opt.forks; i++) {
		fflush(stdout);
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			process_run(1 + i);
			_exit(0);
		}
		printf("\t%d", pids[i]);
	}
	puts(lacks_close_range ? "\nlacks\tclose_range" : "\nlacks");
	fflush(stdout);
	process_run(0);
	for (unsigned int i = 0; i < opt.forks; i++) {
		int status;

		if (waitpid(pids[i], &status, 0) < 0 || status)
			die("process %d ended with status %d", pids[i], status);
	}
	tally_write(out);
	return 0;
}
