/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * writers: writes files in every way there is, each by a process that ends before its pages are written back.
 *
 *   writers prepare FOLDER   makes what the ways begin with
 *   writers run FOLDER       writes a file in each way, and syncs each when its writer has ended
 *
 * Prints a line for each: WAY PID TID INODE, then FROM-TO of the bytes that must be written back; none where that is
 * the file system's choice. A way that this kernel or file system lacks is left out. No library: only the system calls
 * themselves.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uring.h"

#define BYTES (256 << 10)
#define LACKING 77 /* status of a writer that this system does not support */
#define WHOLE "0-262144"

static char *data; /* BYTES bytes, aligned to a page */

static void whole_or_die(ssize_t n, const char *what)
{
	if (n == BYTES)
		return;
	if (n < 0 && (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS || errno == EPERM || errno == EXDEV))
		exit(LACKING);
	err(1, "%s: %zd", what, n);
}

static int source(void)
{
	int fd = open("source", O_RDONLY | O_CLOEXEC);

	return fd >= 0 ? fd : (err(1, "source"), -1);
}

/* --- calls ---------------------------------------------------------------------------------------- */

static void by_write(int fd)
{
	whole_or_die(pwrite(fd, data, BYTES, 0), "pwrite");
}

static void *thread_main(void *arg)
{
	by_write(*(int *)arg);
	return (void *)(intptr_t)syscall(SYS_gettid);
}

static pid_t tid; /* the thread that wrote */

static void by_thread(int fd)
{
	pthread_t thread;
	void *ret;

	if (pthread_create(&thread, NULL, thread_main, &fd) || pthread_join(thread, &ret))
		errx(1, "a thread");
	tid = (pid_t)(intptr_t)ret;
}

static void by_mapping(int fd)
{
	char *at;

	if (ftruncate(fd, BYTES))
		err(1, "ftruncate");
	at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		err(1, "mmap");
	memcpy(at, data, BYTES);
}

static void by_libaio(int fd)
{
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_PWRITE,
			   .aio_fildes = (uint32_t)fd,
			   .aio_buf = (uintptr_t)data,
			   .aio_nbytes = BYTES };
	struct iocb *cbs[] = { &cb };
	struct io_event event;
	aio_context_t ctx = 0;

	if (syscall(SYS_io_setup, 1, &ctx))
		exit(LACKING);
	if (syscall(SYS_io_submit, ctx, 1, cbs) != 1 || syscall(SYS_io_getevents, ctx, 1, 1, &event, NULL) != 1)
		err(1, "libaio");
	whole_or_die((ssize_t)event.res, "libaio");
}

static void by_sendfile(int fd)
{
	whole_or_die(sendfile(fd, source(), NULL, BYTES), "sendfile");
}

static void by_copy(int fd)
{
	whole_or_die(syscall(SYS_copy_file_range, source(), NULL, fd, NULL, (size_t)BYTES, 0), "copy_file_range");
}

/* The clone shares its blocks with the source, except for a page that is written then. */
static void by_clone(int fd)
{
	if (ioctl(fd, FICLONE, source()))
		exit(LACKING);
	if (pwrite(fd, data, 4096, 8192) != 4096)
		err(1, "pwrite");
}

/* --- io_uring ------------------------------------------------------------------------------------- */

static void *ring_map(int ring, size_t bytes, off_t off)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, off);

	return at != MAP_FAILED ? at : (err(1, "mmap of a ring"), NULL);
}

static void uring_write(int fd, uint8_t flags)
{
	struct params p = { 0 };
	int ring = (int)syscall(URING_SETUP, 1, &p);
	struct sqe *sqe;
	char *sq, *cq;

	if (ring < 0)
		exit(LACKING);
	sq = ring_map(ring, p.sq.array + p.sq_entries * sizeof(uint32_t), 0);
	cq = ring_map(ring, p.cq.word[1] + p.cq_entries * sizeof(struct cqe), OFF_CQ);
	sqe = ring_map(ring, p.sq_entries * sizeof(*sqe), OFF_SQES);
	*sqe = (struct sqe){ .op = OP_WRITE, .flags = flags, .fd = fd, .addr = (uintptr_t)data, .len = BYTES };
	*(uint32_t *)(void *)(sq + p.sq.array) = 0;
	atomic_store((_Atomic uint32_t *)(void *)(sq + p.sq.tail), 1);
	if (syscall(URING_ENTER, ring, 1, 1, ENTER_GETEVENTS, NULL, 0) != 1)
		err(1, "io_uring_enter");
	errno = EIO;
	whole_or_die(((struct cqe *)(void *)(cq + p.cq.word[1]))->res, "io_uring");
}

static void by_uring(int fd)
{
	uring_write(fd, 0);
}

static void by_uring_worker(int fd)
{
	uring_write(fd, SQE_ASYNC);
}

/* --- sizes and holes ------------------------------------------------------------------------------ */

static void by_cut(int fd)
{
	if (ftruncate(fd, 5000))
		err(1, "ftruncate");
}

static void by_growth(int fd)
{
	if (ftruncate(fd, 5000) || ftruncate(fd, 100000))
		err(1, "ftruncate");
}

static void fallocated(int fd, int mode)
{
	if (!fallocate(fd, mode, 1000, 10000))
		return;
	if (errno == EOPNOTSUPP)
		exit(LACKING);
	err(1, "fallocate");
}

static void by_zeroes(int fd)
{
	fallocated(fd, FALLOC_FL_ZERO_RANGE);
}

static void by_hole(int fd)
{
	fallocated(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
}

static void by_reserve(int fd)
{
	fallocated(fd, 0);
}

/* --- the ways ------------------------------------------------------------------------------------- */

static const struct way {
	const char *name;
	void (*write)(int fd);
	const char *ranges;
	int flags; /* for open */
	int prepared; /* the file exists, and is clean */
	int worker; /* another thread of the process may write */
} ways[] = {
	{ .name = "aio", .write = by_libaio, .ranges = WHOLE },
	{ .name = "aio_direct", .write = by_libaio, .ranges = WHOLE, .flags = O_DIRECT },
	{ .name = "cloned", .write = by_clone, .ranges = "8192-12288" },
	{ .name = "copied", .write = by_copy, .ranges = "" },
	{ .name = "cut", .write = by_cut, .ranges = "", .prepared = 1 },
	{ .name = "direct", .write = by_write, .ranges = WHOLE, .flags = O_DIRECT },
	{ .name = "grown", .write = by_growth, .ranges = "4096-5000", .prepared = 1 },
	{ .name = "mapped", .write = by_mapping, .ranges = WHOLE },
	{ .name = "nameless", .write = by_write, .ranges = WHOLE, .flags = O_TMPFILE },
	{ .name = "over", .write = by_write, .ranges = WHOLE, .prepared = 1 },
	{ .name = "punched", .write = by_hole, .ranges = "1000-4096 8192-11000", .prepared = 1 },
	{ .name = "reserved", .write = by_reserve, .ranges = "" },
	{ .name = "sent", .write = by_sendfile, .ranges = WHOLE },
	{ .name = "synced", .write = by_write, .ranges = WHOLE, .flags = O_DSYNC },
	{ .name = "thread", .write = by_thread, .ranges = WHOLE },
	{ .name = "uring", .write = by_uring, .ranges = WHOLE, .worker = 1 },
	{ .name = "uring_direct", .write = by_uring, .ranges = WHOLE, .flags = O_DIRECT, .worker = 1 },
	{ .name = "uring_worker", .write = by_uring_worker, .ranges = WHOLE, .worker = 1 },
	{ .name = "written", .write = by_write, .ranges = WHOLE },
	{ .name = "zeroed", .write = by_zeroes, .ranges = "1000-4096 8192-11000", .prepared = 1 },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void prepare(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || pwrite(fd, data, BYTES, 0) != BYTES || fsync(fd))
		err(1, "%s", name);
	close(fd);
}

/* The writer: opens its file; FD: the file without a name. */
static void writer(const struct way *w, int fd, int out)
{
	tid = getpid();
	if (fd < 0)
		fd = open(w->name, O_RDWR | O_CREAT | O_CLOEXEC | w->flags, 0600);
	if (fd < 0)
		exit(errno == EINVAL ? LACKING : 1);
	w->write(fd);
	if (write(out, &tid, sizeof(tid)) != sizeof(tid))
		exit(1);
	exit(0);
}

static void run(const struct way *w)
{
	int nameless = (w->flags & O_TMPFILE) == O_TMPFILE, fd = -1, out[2], status;
	pid_t pid, wrote = 0;
	struct stat st;

	if (nameless && (fd = open(".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600)) < 0)
		return;
	if (pipe2(out, O_CLOEXEC) || (pid = fork()) < 0)
		err(1, "%s", w->name);
	if (!pid)
		writer(w, fd, out[1]);
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	close(out[1]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == LACKING) {
		unlink(w->name);
		return;
	}
	if (status || read(out[0], &wrote, sizeof(wrote)) != sizeof(wrote))
		errx(1, "%s: status %#x", w->name, (unsigned int)status);
	if (fd < 0)
		fd = open(w->name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || fsync(fd))
		err(1, "%s", w->name);
	close(fd);
	close(out[0]);
	if (w->worker)
		printf("%s %d - %llu %s\n", w->name, pid, (unsigned long long)st.st_ino, w->ranges);
	else
		printf("%s %d %d %llu %s\n", w->name, pid, wrote, (unsigned long long)st.st_ino, w->ranges);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int preparing = argc == 3 && !strcmp(argv[1], "prepare");

	if (!preparing && (argc != 3 || strcmp(argv[1], "run"))) {
		fprintf(stderr, "usage: writers prepare|run FOLDER\n");
		return 2;
	}
	data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED || chdir(argv[2]))
		err(1, "%s", argv[2]);
	for (size_t i = 0; i < BYTES; i++)
		data[i] = (char)(i * 2654435761U >> 13);
	if (preparing)
		prepare("source");
	for (size_t i = 0; i < WAYS; i++) {
		if (!preparing)
			run(&ways[i]);
		else if (ways[i].prepared)
			prepare(ways[i].name);
	}
	return 0;
}
