// SPDX-License-Identifier: BSD-2-Clause
/*
 * shim: what a tracer inside the process costs at the least. Preloaded, it wraps libc's functions
 * and writes a line of JSON for each call, with times in microseconds and the file's name, as such
 * tracers do: formatted by snprintf() into a buffer of 1 MiB per thread, which is written when it
 * is full and at the end. It stands in for them here; it is no tracer to use (children, exec, stdio,
 * dup and everything that does not go through libc are not seen).
 *
 * SHIM_LOG names the file that the lines go to.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_SIZE (1 << 20)
#define LINE_MAX_SIZE 512
#define MAX_FD 1024
#define MAX_THREADS 64

struct out {
	pid_t tid;
	size_t used;
	long lines;
	char buffer[BUFFER_SIZE];
};

static int log_fd = -1;
static pid_t pid;
static struct out *outs[MAX_THREADS];
static int n_outs;
static __thread struct out *mine; /* a buffer per thread, so that threads do not wait for each other */

static char names[MAX_FD][64]; /* the last component, by file descriptor */

#define REAL(func, ret, ...) static ret (*real_##func)(__VA_ARGS__);

REAL(open, int, const char *, int, ...)
REAL(close, int, int)
REAL(read, ssize_t, int, void *, size_t)
REAL(write, ssize_t, int, const void *, size_t)
REAL(pread, ssize_t, int, void *, size_t, off_t)
REAL(pwrite, ssize_t, int, const void *, size_t, off_t)
REAL(mmap, void *, void *, size_t, int, int, int, off_t)
REAL(munmap, int, void *, size_t)
REAL(unlink, int, const char *)

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void flush(struct out *o)
{
	size_t done = 0;
	ssize_t n;

	while (done < o->used) {
		n = real_write(log_fd, o->buffer + done, o->used - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	o->used = 0;
}

static struct out *out_new(void)
{
	struct out *o = calloc(1, sizeof(*o));
	int nr = __atomic_fetch_add(&n_outs, 1, __ATOMIC_RELAXED);

	if (!o || nr >= MAX_THREADS)
		abort();
	o->tid = (pid_t)syscall(SYS_gettid);
	outs[nr] = o;
	return o;
}

static void line(const char *func, int64_t start, int fd, const char *name, size_t len, int64_t offset, int64_t ret)
{
	const int64_t end = now_ns();

	if (log_fd < 0)
		return;
	if (!mine)
		mine = out_new();
	if (!name)
		name = fd >= 0 && fd < MAX_FD ? names[fd] : "";
	if (mine->used + LINE_MAX_SIZE > BUFFER_SIZE)
		flush(mine);
	mine->used +=
		(size_t)snprintf(mine->buffer + mine->used, LINE_MAX_SIZE,
				 "{\"id\":%ld,\"name\":\"%s\",\"cat\":\"POSIX\",\"pid\":%d,\"tid\":%d,\"ts\":%lld,"
				 "\"dur\":%lld,\"ph\":\"X\",\"args\":{\"fname\":\"%.200s\",\"fd\":%d,\"size\":%zu,"
				 "\"offset\":%lld,\"ret\":%lld}}\n",
				 mine->lines++, func, pid, mine->tid, (long long)start / 1000,
				 (long long)(end - start) / 1000, name, fd, len, (long long)offset, (long long)ret);
}

static void remember(int fd, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (fd >= 0 && fd < MAX_FD)
		snprintf(names[fd], sizeof(names[fd]), "%s", slash ? slash + 1 : path);
}

static __attribute__((constructor)) void shim_begin(void)
{
	const char *path = getenv("SHIM_LOG");

#define LOOK_UP(func) *(void **)&real_##func = dlsym(RTLD_NEXT, #func)
	LOOK_UP(open);
	LOOK_UP(close);
	LOOK_UP(read);
	LOOK_UP(write);
	LOOK_UP(pread);
	LOOK_UP(pwrite);
	LOOK_UP(mmap);
	LOOK_UP(munmap);
	LOOK_UP(unlink);
	pid = getpid();
	if (path)
		log_fd = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static __attribute__((destructor)) void shim_end(void)
{
	for (int i = 0; i < n_outs; i++)
		flush(outs[i]);
}

int open(const char *path, int flags, ...)
{
	int64_t start = now_ns();
	mode_t mode;
	va_list ap;
	int fd;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	fd = real_open(path, flags, mode);
	remember(fd, path);
	line("open", start, fd, path, 0, 0, fd);
	return fd;
}

int close(int fd)
{
	int64_t start = now_ns();
	int ret = real_close(fd);

	line("close", start, fd, NULL, 0, 0, ret);
	return ret;
}

ssize_t read(int fd, void *buf, size_t len)
{
	int64_t start = now_ns();
	ssize_t ret = real_read(fd, buf, len);

	line("read", start, fd, NULL, len, 0, ret);
	return ret;
}

ssize_t write(int fd, const void *buf, size_t len)
{
	int64_t start = now_ns();
	ssize_t ret = real_write(fd, buf, len);

	line("write", start, fd, NULL, len, 0, ret);
	return ret;
}

ssize_t pread(int fd, void *buf, size_t len, off_t offset)
{
	int64_t start = now_ns();
	ssize_t ret = real_pread(fd, buf, len, offset);

	line("pread", start, fd, NULL, len, offset, ret);
	return ret;
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t offset)
{
	int64_t start = now_ns();
	ssize_t ret = real_pwrite(fd, buf, len, offset);

	line("pwrite", start, fd, NULL, len, offset, ret);
	return ret;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	int64_t start = now_ns();
	void *ret = real_mmap(addr, len, prot, flags, fd, offset);

	line("mmap", start, fd, NULL, len, offset, (int64_t)(intptr_t)ret);
	return ret;
}

int munmap(void *addr, size_t len)
{
	int64_t start = now_ns();
	int ret = real_munmap(addr, len);

	line("munmap", start, -1, NULL, len, 0, ret);
	return ret;
}

int unlink(const char *path)
{
	int64_t start = now_ns();
	int ret = real_unlink(path);

	line("unlink", start, -1, path, 0, 0, ret);
	return ret;
}
