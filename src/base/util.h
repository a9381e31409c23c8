/* SPDX-License-Identifier: BSD-2-Clause */
/* Small helpers that every file may use: owned locals, hand-over, clocks, whole reads and writes. */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

static inline void util_freep(void *p)
{
	free(*(void **)p);
}

static inline void util_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define autofree __attribute__((cleanup(util_freep)))
#define autoclose __attribute__((cleanup(util_closep)))

/* Hand an owned local over: the local forgets it. */
#define TAKE_PTR(p)                     \
	({                              \
		__typeof__(p) t_ = (p); \
		(p) = NULL;             \
		t_;                     \
	})
#define TAKE_FD(fd)            \
	({                     \
		int t_ = (fd); \
		(fd) = -1;     \
		t_;            \
	})

static inline uint64_t timespec_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
}

/* Returns the largest power of two that is at most V; 0 for 0. */
static inline uint64_t util_pow2_below(uint64_t v)
{
	while (v & (v - 1))
		v &= v - 1;
	return v;
}

/* The clock CLK now, in ns. */
static inline uint64_t clock_now_ns(clockid_t clk)
{
	struct timespec ts;

	clock_gettime(clk, &ts);
	return timespec_ns(&ts);
}

/* Add N to a counter that only this thread writes, and others read (relaxed). */
static inline void util_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Read such a counter, or another number that only one thread writes. */
static inline uint64_t util_counted(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Close *FD if it is open and mark it closed. */
void util_close(int *fd);

/* Write all of BUF; 0 or -errno. */
int util_write_all(int fd, const void *buf, size_t len);

/*
 * Read a whole small file (also of /proc and /sys, whose size is not known ahead) into a new
 * NUL-terminated buffer of at most MAX bytes. *LEN_RET may be NULL. 0 or -errno.
 */
int util_read_file(const char *path, size_t max, char **ret, size_t *len_ret);

/*
 * Open the regular file NAME of the folder DIRFD for reading; FLAGS may be O_NOFOLLOW. Of anything else (a
 * FIFO, a device, whose opening alone may do harm) only the type is looked at: -EBADMSG. Returns a
 * descriptor or -errno.
 */
int util_open_regular(int dirfd, const char *name, int flags);
/* Read the rest of the open file FD, as util_read_file() does. */
int util_read_fd(int fd, size_t max, char **ret, size_t *len_ret);

/* Read it into BUF with blanks and newlines at the end cut off; 0 or -errno. */
int util_read_line(const char *path, char *buf, size_t size);

/* The current path of the open file or folder FD, whatever path it was opened by. 0 or -errno. */
int util_fd_path(int fd, char path[PATH_MAX]);

/*
 * Create NAME in the folder DIRFD for writing (O_APPEND or 0 in FLAGS): it must not exist, has mode 0600,
 * and gets the folder's owner. Returns a descriptor or -errno.
 */
int util_create_at(int dirfd, const char *name, int flags);

/* asprintf that returns NULL when memory is out. */
char *util_fmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Make room in the vector *V for one more element of SIZE bytes after its N: its capacity is the next power
 * of two. 0 or -ENOMEM.
 */
int util_room(void *v, size_t n, size_t size);

/* Raise our limit of open files as far as the hard limit allows. */
void util_raise_open_files(void);

/* Between fork and exec, async-signal-safe: reset signals, so that none is handled, ignored or blocked. */
void util_signals_default(void);

/* Has process or thread TID ended? Not while its number is another's. */
bool util_is_gone(pid_t tid);

/* Returns a pidfd (close-on-exec) for PID, or -errno. */
int util_pidfd_open(pid_t pid);

/* Deliver SIG through PIDFD; 0 or -errno. */
int util_pidfd_kill(int pidfd, int sig);

#endif
