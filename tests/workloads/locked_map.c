// SPDX-License-Identifier: BSD-2-Clause
/*
 * locked_map: a process whose memory map nobody can read, as it is locked for as long as a file server does not answer.
 *
 *   locked_map FILE [VARIABLES]
 *
 * FILE must be on a file system whose server stops answering (tests/native/hungfs.py), and have a page. The program
 * opens it, prints "ready", waits for a line on stdin, by which the server must have stopped, and locks its map: one
 * thread unmaps a page that it has written, which the kernel writes back under the map's lock, and another one wants to
 * map something, behind which the kernel lets no reader in. Then it prints "locked". With VARIABLES it executes itself
 * before, with that many variables in its environment. It can be killed once the server answers or has ended.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096
#define SAY(line) (void)!write(STDOUT_FILENO, line "\n", sizeof(line))

static char *page;
static pid_t tids[2];
static pthread_barrier_t begun;

static void *unmap_page(void *ctx)
{
	__atomic_store_n(&tids[0], gettid(), __ATOMIC_RELEASE);
	pthread_barrier_wait(&begun);
	munmap(page, PAGE);
	return ctx;
}

/* Whether the kernel holds thread TID, by the state after its name in parentheses. */
static int is_held(pid_t tid)
{
	char path[64], text[512], *end;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && end[1] && end[2] == 'D';
}

static void *map_another(void *ctx)
{
	pthread_barrier_wait(&begun);
	while (!is_held(__atomic_load_n(&tids[0], __ATOMIC_ACQUIRE)))
		usleep(1000);
	__atomic_store_n(&tids[1], gettid(), __ATOMIC_RELEASE);
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return ctx;
}

static void lock_map(int fd)
{
	pthread_t threads[2];

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		err(1, "mmap");
	page[0]++; /* in the page cache: no request */
	pthread_barrier_init(&begun, NULL, 3);
	if (pthread_create(&threads[0], NULL, unmap_page, NULL) || pthread_create(&threads[1], NULL, map_another, NULL))
		errx(1, "no threads");
	pthread_barrier_wait(&begun);
	while (!__atomic_load_n(&tids[1], __ATOMIC_ACQUIRE) || !is_held(tids[1]))
		usleep(1000);
	SAY("locked");
	for (;;)
		pause();
}

static void execute(const char *program, const char *fd, int n)
{
	char **env = calloc((size_t)n + 1, sizeof(*env));

	for (int i = 0; env && i < n; i++)
		if (asprintf(&env[i], "VARIABLE_%d=x", i) < 0)
			err(1, "no memory");
	execve(program, (char *[]){ (char *)program, "-", (char *)fd, NULL }, env);
	err(1, "exec");
}

int main(int argc, char **argv)
{
	char line, number[16];
	int fd;

	if (argc == 3 && !strcmp(argv[1], "-"))
		lock_map(atoi(argv[2]));
	if (argc < 2)
		errx(2, "usage: locked_map FILE [VARIABLES]");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(1, "%s", argv[1]);
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		err(1, "mmap");
	(void)*(volatile char *)page; /* into the page cache: FUSE forgets what was there when a file is opened */
	munmap(page, PAGE);
	SAY("ready");
	if (read(STDIN_FILENO, &line, 1) != 1)
		return 1;
	snprintf(number, sizeof(number), "%d", fd);
	if (argc > 2)
		execute(argv[0], number, atoi(argv[2]));
	lock_map(fd);
}
