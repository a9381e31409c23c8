/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tensors READY GO LIBRARY [late|filter|filters]: loads LIBRARY (tensors/c10.c), makes the file READY, and when the
 * file GO is there, calls alloc_cpu and free_cpu of the library in two threads, each of which frees what the other has
 * allocated, and in a child; and posix_memalign itself. late: loads the library only then, and waits a while. filter:
 * it has a filter of system calls that lets all pass; filters: from its first call then on, after which it waits.
 * Prints how often it has called each, the bytes, and how the child ended. Blocks of EARLY bytes do not count: a child
 * allocates them before it can be followed.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 300
#define LEFT 7
#define ALIGNED 50
#define CHILDS 30
#define EARLY 77777
#define DEPTH_SIZE 12345

static void *(*alloc_cpu)(size_t size);
static void (*free_cpu)(void *p);
static int *depth;
static void *blocks[2][BLOCKS];
static pthread_barrier_t barrier;
static unsigned long allocs, bytes, frees;

static void die(const char *what)
{
	fprintf(stderr, "tensors: %s\n", what);
	exit(1);
}

static void load(const char *library)
{
	void *l = dlopen(library, RTLD_NOW);

	if (!l)
		die(dlerror());
	alloc_cpu = (void *(*)(size_t))dlsym(l, "_ZN3c109alloc_cpuEm");
	free_cpu = (void (*)(void *))dlsym(l, "_ZN3c108free_cpuEPv");
	depth = dlsym(l, "c10_depth");
	if (!alloc_cpu || !free_cpu || !depth)
		die("no such functions");
}

static void await(const char *path)
{
	for (int i = 0; access(path, F_OK); i++) {
		if (i == 6000)
			die("nobody says go");
		usleep(20000);
	}
}

/* The frames above a call of the library. */
static __attribute__((noinline)) int deep(void)
{
	free_cpu(alloc_cpu(DEPTH_SIZE));
	return *depth;
}

static void filter(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, all };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("no filter of system calls");
}

/* A function of its own on the stack, as are the others that allocate. */
static __attribute__((noinline)) void *tensor(size_t size)
{
	void *p = alloc_cpu(size);

	__atomic_fetch_add(&allocs, p != NULL, __ATOMIC_RELAXED);
	__atomic_fetch_add(&bytes, p ? size : 0, __ATOMIC_RELAXED);
	return p;
}

static void tensor_free(void *p)
{
	free_cpu(p);
	__atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
}

static void *works(void *which)
{
	const int me = which != NULL;

	for (int i = 0; i < BLOCKS; i++)
		blocks[me][i] = tensor(4096 + 16 * (size_t)i);
	pthread_barrier_wait(&barrier);
	for (int i = me ? 0 : LEFT; i < BLOCKS; i++)
		tensor_free(blocks[!me][i]);
	return NULL;
}

/* Returns how the child ended. */
static __attribute__((noinline)) int child(void)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		for (int i = 0; i < 100; i++) /* breakpoints that the fork has copied must not end it */
			free_cpu(alloc_cpu(EARLY));
		sleep(2);
		for (int i = 0; i < CHILDS; i++)
			free_cpu(alloc_cpu(100000 + (size_t)i));
		_exit(23);
	}
	waitpid(pid, &status, 0);
	allocs += CHILDS;
	frees += CHILDS;
	for (size_t i = 0; i < CHILDS; i++)
		bytes += 100000 + i;
	return status;
}

int main(int argc, char *argv[])
{
	const char *mode = argc > 4 ? argv[4] : "";
	const int late = !strcmp(mode, "late");
	unsigned long aligned_bytes = 0;
	pthread_t threads[2];
	int before = 0, status;

	if (argc < 4)
		die("READY GO LIBRARY [late|filter|filters]");
	if (!late)
		load(argv[3]);
	if (!strcmp(mode, "filter"))
		filter();
	before = depth ? deep() : 0;
	close(open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	await(argv[2]);
	if (late) {
		load(argv[3]);
		sleep(3);
		before = deep();
	}
	if (deep() != before)
		die("a stack is shorter while it is traced");
	if (!strcmp(mode, "filters")) {
		filter();
		sleep(3);
	}
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, works, i ? &barrier : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < ALIGNED; i++) {
		void *p = NULL;

		if (posix_memalign(&p, 128, 20000 + i))
			die("posix_memalign");
		aligned_bytes += 20000 + i;
		free(p);
	}
	if (alloc_cpu(1UL << 50) || alloc_cpu(0))
		die("a block of 0 bytes, or of all");
	free_cpu(NULL);
	status = child();
	printf("c10::alloc_cpu %lu %lu\n", allocs, bytes);
	printf("c10::free_cpu %lu\n", frees);
	printf("libc:posix_memalign %d %lu\n", ALIGNED, aligned_bytes);
	printf("end %d\n", LEFT);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	return 0;
}
