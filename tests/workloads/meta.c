// SPDX-License-Identifier: BSD-2-Clause
/*
 * meta PROCESSES THREADS ROUNDS DIR: makes each call about metadata, well and badly, by path from the root, from the
 * working directory and from a folder's descriptor, and by descriptor. DIR is an absolute path, which does not exist.
 *
 * Prints what a thread has made, a line "FUNC REQUEST CALLS FAILED FOLDER" each, and first a line with the number of
 * threads. Calls of the dynamic loader and of main() are not in it: they are made by the first process alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "die.h"

#define LINES 256
static struct line {
	const char *func, *request;
	char folder[128];
	long calls, failed;
} lines[LINES];
static char dir[64], sub[80], up[96];
static int rounds;

/* The first thread of the first process writes the tally; all make the same calls. */
static __thread int tallies;

static void tally(const char *func, const char *request, const char *folder, long ret)
{
	struct line *l = lines;

	if (!tallies)
		return;
	while (l->func && (strcmp(l->func, func) || strcmp(l->request, request) || strcmp(l->folder, folder)))
		if (++l == lines + LINES - 1)
			die("the tally is full");
	l->func = func;
	l->request = request;
	snprintf(l->folder, sizeof(l->folder), "%s", folder);
	l->calls++;
	l->failed += ret < 0;
}

/* Calls that some architectures lack, as arm64: they are not made. */
#define ABSENT (-1)
#ifndef SYS_access
#define SYS_access ABSENT
#endif
#ifndef SYS_chmod
#define SYS_chmod ABSENT
#endif
#ifndef SYS_chown
#define SYS_chown ABSENT
#endif
#ifndef SYS_dup2
#define SYS_dup2 ABSENT
#endif
#ifndef SYS_futimesat
#define SYS_futimesat ABSENT
#endif
#ifndef SYS_getdents
#define SYS_getdents ABSENT
#endif
#ifndef SYS_lchown
#define SYS_lchown ABSENT
#endif
#ifndef SYS_lstat
#define SYS_lstat ABSENT
#endif
#ifndef SYS_readlink
#define SYS_readlink ABSENT
#endif
#ifndef SYS_stat
#define SYS_stat ABSENT
#endif
#ifndef SYS_utime
#define SYS_utime ABSENT
#endif
#ifndef SYS_utimes
#define SYS_utimes ABSENT
#endif

/* Makes the call, about FOLDER. Registers are 64 bits wide: arguments must be long or pointers. */
#define MAKE_OF(func, request, folder, ...)                                              \
	do {                                                                             \
		if (SYS_##func != ABSENT)                                                \
			tally(#func, request, folder, syscall(SYS_##func, __VA_ARGS__)); \
	} while (0)
#define MAKE(func, folder, ...) MAKE_OF(func, "-", folder, __VA_ARGS__)

/* The slash that ends a folder is at each place of a word. */
static void folders_of_all_lengths(void)
{
	char folder[128], path[256];
	struct stat st;

	for (int n = 1; n <= 40; n++) {
		snprintf(folder, sizeof(folder), "%s/%.*s", dir, n, "0123456789-_.,:;0123456789-_.,:;0123456789");
		snprintf(path, sizeof(path), "%s/none", folder);
		MAKE(stat, folder, path, &st);
	}
}

static void by_path(const char *f, const char *none, const char *link)
{
	static const struct timespec now[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_NOW } };
	char buf[PATH_MAX];
	struct stat st;

	MAKE(stat, sub, f, &st);
	MAKE(stat, sub, none, &st);
	MAKE(lstat, sub, link, &st);
	MAKE(access, sub, f, (long)R_OK);
	MAKE(access, sub, none, (long)R_OK);
	MAKE(faccessat, sub, (long)AT_FDCWD, f, (long)R_OK);
	MAKE(readlink, sub, link, buf, (long)sizeof(buf));
	MAKE(readlink, sub, f, buf, (long)sizeof(buf));
	MAKE(chmod, sub, f, 0600L);
	MAKE(chown, sub, f, -1L, -1L);
	MAKE(lchown, sub, link, -1L, -1L);
	MAKE(utime, sub, f, NULL);
	MAKE(utimes, sub, none, NULL);
	MAKE(utimensat, sub, (long)AT_FDCWD, f, now, 0L);
	MAKE(setxattr, sub, f, "user.x", "1", 1L, 0L);
	MAKE(getxattr, sub, f, "user.none", buf, 1L);
	MAKE(lgetxattr, sub, link, "user.none", buf, 1L);
	MAKE(lsetxattr, sub, link, "user.x", "1", 1L, 0L);
	MAKE(listxattr, sub, f, buf, (long)sizeof(buf));
	MAKE(llistxattr, sub, link, buf, (long)sizeof(buf));
	MAKE(removexattr, sub, none, "user.none");
	MAKE(lremovexattr, sub, link, "user.none");
	MAKE(statfs, sub, f, buf);
	MAKE(chdir, sub, none);
}

static void by_folder(int at, int fd)
{
	char buf[PATH_MAX];

	MAKE(newfstatat, sub, (long)at, "f", buf, 0L);
	MAKE(newfstatat, sub, (long)at, "none", buf, 0L);
	MAKE(newfstatat, up, (long)at, "../", buf, 0L);
	MAKE(newfstatat, sub, (long)fd, "", buf, (long)AT_EMPTY_PATH);
	MAKE(newfstatat, "-", (long)at, 1L, buf, 0L);
	MAKE(newfstatat, "/", -1L, "/", buf, 0L);
	MAKE(statx, sub, (long)at, "f", 0L, (long)STATX_BASIC_STATS, buf);
	MAKE(statx, sub, (long)fd, "", (long)AT_EMPTY_PATH, (long)STATX_BASIC_STATS, buf);
	MAKE(faccessat2, sub, (long)at, "f", (long)R_OK, 0L);
	MAKE(readlinkat, sub, (long)at, "link", buf, (long)sizeof(buf));
	MAKE(fchmodat, sub, (long)at, "f", 0600L);
	MAKE(fchownat, sub, (long)at, "none", -1L, -1L, 0L);
	MAKE(futimesat, sub, (long)at, "f", NULL);
}

static void by_descriptor(int at, int fd, int fifo)
{
	struct flock lock = { .l_type = F_RDLCK };
	char buf[PATH_MAX];
	int n;

	MAKE(fstat, sub, (long)fd, buf);
	MAKE(fstat, "-", -1L, buf);
	MAKE(fstat, "-", (long)fifo, buf);
	MAKE(fchmod, sub, (long)fd, 0600L);
	MAKE(fchown, sub, (long)fd, -1L, -1L);
	MAKE(utimensat, sub, (long)fd, NULL, NULL, 0L);
	MAKE(fsetxattr, sub, (long)fd, "user.x", "1", 1L, 0L);
	MAKE(fgetxattr, sub, (long)fd, "user.none", buf, 1L);
	MAKE(flistxattr, sub, (long)fd, buf, (long)sizeof(buf));
	MAKE(fremovexattr, sub, (long)fd, "user.none");
	MAKE(fstatfs, sub, (long)fd, buf);
	MAKE(lseek, sub, (long)fd, 1L, (long)SEEK_SET);
	MAKE(lseek, "-", (long)fifo, 1L, (long)SEEK_SET);
	MAKE(getdents64, sub, (long)at, buf, (long)sizeof(buf));
	MAKE(getdents64, sub, (long)fd, buf, (long)sizeof(buf));
	MAKE(getdents, sub, (long)at, buf, (long)sizeof(buf));
	MAKE(flock, sub, (long)fd, (long)LOCK_SH);
	MAKE(fadvise64, sub, (long)fd, 0L, 0L, (long)POSIX_FADV_RANDOM);
	MAKE(fadvise64, "-", (long)fifo, 0L, 0L, (long)POSIX_FADV_RANDOM);
	MAKE(readahead, sub, (long)fd, 0L, 4096L);
	MAKE(fchdir, sub, (long)fd);
	MAKE_OF(fcntl, "F_GETFL", sub, (long)fd, (long)F_GETFL);
	MAKE_OF(fcntl, "F_SETLK", sub, (long)fd, (long)F_SETLK, &lock);
	MAKE_OF(fcntl, "F_GETLK", sub, (long)fd, (long)F_GETLK, 0L);
	MAKE_OF(fcntl, "F_GETFD", "-", (long)fifo, (long)F_GETFD);
	MAKE_OF(fcntl, "0x3e7", sub, (long)fd, 999L);
	MAKE_OF(ioctl, "FIONREAD", "-", (long)fifo, (long)FIONREAD, &n);
	MAKE_OF(ioctl, "TCGETS", sub, (long)fd, (long)TCGETS, buf);
	MAKE_OF(ioctl, "0xdeadbeef", sub, (long)fd, 0xdeadbeefL, NULL);
	MAKE_OF(ioctl, "FIONREAD", "-", -1L, (long)FIONREAD, &n);
	MAKE(dup, "-", -1L);
	MAKE(dup2, sub, (long)fd, (long)fd);
	MAKE(dup3, sub, (long)fd, (long)fd, 0L);
}

static void *thread(void *first)
{
	char f[256], none[256], link[256];
	int at = open(sub, O_RDONLY | O_DIRECTORY), fd = open("a/f", O_RDWR), fifo[2];

	if (at < 0 || fd < 0 || pipe(fifo) < 0)
		die("open");
	snprintf(f, sizeof(f), "%s/f", sub);
	snprintf(none, sizeof(none), "%s/none", sub);
	snprintf(link, sizeof(link), "%s/./link", sub);
	tallies = first != NULL;
	for (int i = 0; i < rounds; i++) {
		by_path(f, none, link);
		by_path("a/f", "a//none", "./a/link");
		by_folder(at, fd);
		by_descriptor(at, fd, fifo[0]);
		folders_of_all_lengths();
	}
	return NULL;
}

/* The working directory is the process's. */
static void process(int threads, void *first)
{
	pthread_t t[16];
	int at = open(sub, O_RDONLY | O_DIRECTORY);

	tallies = first != NULL;
	for (int i = 0; i < threads; i++) { /* so that these, too, are as many as threads */
		MAKE(chdir, sub, "a");
		MAKE(chdir, dir, "..");
		MAKE(fchdir, sub, (long)at);
		MAKE(chdir, dir, dir);
		tallies = 0;
	}
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, thread, i ? NULL : first))
			die("pthread_create");
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
}

static void print(int threads)
{
	printf("%d\n", threads);
	for (struct line *l = lines; l->func; l++)
		printf("%s\t%s\t%ld\t%ld\t%s\n", l->func, l->request, l->calls, l->failed, l->folder);
}

int main(int argc, char **argv)
{
	int processes, threads;

	if (argc != 5)
		die("usage: meta PROCESSES THREADS ROUNDS DIR");
	processes = atoi(argv[1]);
	threads = atoi(argv[2]);
	rounds = atoi(argv[3]);
	snprintf(dir, sizeof(dir), "%s", argv[4]);
	snprintf(sub, sizeof(sub), "%s/a", dir);
	snprintf(up, sizeof(up), "%s/..", sub);
	if (threads > 16 || mkdir(dir, 0700) || mkdir(sub, 0700) || chdir(dir) ||
	    close(open("a/f", O_CREAT | O_WRONLY, 0600)) || symlink("f", "a/link"))
		die("%s", dir);
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (!pid) {
			process(threads, i ? NULL : lines);
			if (!i)
				print(processes * threads);
			return fflush(stdout);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("fork");
	}
	return 0;
}
