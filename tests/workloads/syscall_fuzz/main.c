// SPDX-License-Identifier: BSD-2-Clause
/*
 * syscall_fuzz: calls of every kind that dltraced records, at random, well and badly, and what each of them was.
 *
 *   syscall_fuzz [-1] [-n CALLS] [-s SEED] -T TALLY DIR
 *
 * DIR is the mount point of an empty tmpfs or ext4: the calls are made in there by nobody, in a mount namespace
 * that has nothing else, as they would remove what they reach (cage.c). Some processes of one to three threads
 * each work in folders of their own, "/p0/t0" and so on; a process's working directory is its "/p0". Threads
 * have a table of descriptors together, until one leaves it. Children come and go, by fork and vfork. With -1 there is
 * one process of one thread, beside its children. Half of the threads have rings, that one always: one of each kind
 * (ring.c).
 *
 * TALLY begins with a line "# lacks NAME" for each kind of ring (ring:NAME) and of request that the kernel does not
 * have, and that is left out. Then it has a line for each call, in the order in which they began, TAB between:
 *
 *   NR FUNC PID TID START END RET INTERRUPTS SHARED RING SILENT ARG0 ... ARG5 BYTES, and for its file and a second one
 *   HOW BEFORE AFTER LIFE MODE F_FLAGS TEXT
 *
 * - is nothing. START and END are CLOCK_MONOTONIC around the call; RET is -errno where it failed; INTERRUPTS is
 * how often a signal's handler ran in it; SHARED is 1 where another process has the same open file. RING is the kind of
 * ring that a request was given to, TID then the thread that takes it from there. SILENT is 1 where a request has no
 * completion, as it or an earlier one of its chain asked for that: RET is 0 where that shows that it succeeded, else
 * -ECANCELED; 2 where the kernel has refused one of the chain, which has an error of its own. A multishot read has a
 * line for each completion. BYTES is the sum of a vector, where the kernel can read it. HOW are flags and mode of
 * open_how; of a read or write of io_uring the first is the file's size before it. Of brk the first is the end of the
 * heap before it, the second 1 where no other thread moves that. BEFORE and AFTER are the file's position, as the call
 * was given it or by lseek(2), negative where it has none. LIFE, MODE, F_FLAGS: which file it was by what the program
 * knows of its descriptors, DEVICE:INODE:HANDLE of stat(2) and name_to_handle_at(2) (where there is a generation), its
 * mode, its flags by fcntl(2). For an open it is the file that was opened; where it failed and was to make one, what is
 * at that name all the same. The second one is the folder. TEXT is a path that was passed, LENGTH:HEX; of a longer one
 * the last byte is repeated. ARG0 of a request on one of a ring's own files is -, as that has no descriptor; of a
 * splice also ARG2.
 */
#include "fuzz.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct worker *workers;
static unsigned int n_workers, calls_each, processes = PROCESSES;
static pthread_barrier_t begin; /* for the threads of a process */

void die(const char *what)
{
	fprintf(stderr, "syscall_fuzz: %s: %s\n", what, strerror(errno));
	_exit(1);
}

void deed_any(struct worker *w)
{
	switch (pick(w, 32)) {
	case 0 ... 5:
		deed_open(w);
		break;
	case 6 ... 8:
		deed_descriptor(w);
		break;
	case 9 ... 15:
		deed_rw(w);
		break;
	case 16 ... 17:
		deed_copy(w);
		break;
	case 18 ... 20:
		deed_map(w);
		break;
	case 21 ... 22:
		deed_sync(w);
		break;
	case 23 ... 30:
		deed_name(w);
		break;
	default:
		if (one_in(w, 4))
			deed_process(w);
		else if (one_in(w, 4))
			deed_interrupted(w);
	}
}

static void *mapped(size_t size, int flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

/* All memory exists before the calls begin. The memory after buf is not readable. */
static void worker_init(struct worker *w, unsigned int process, unsigned int thread, uint64_t seed)
{
	w->nr = n_workers;
	w->random = seed + 1000003ULL * w->nr;
	snprintf(w->dir, sizeof(w->dir), "/p%u/t%u", process, thread);
	if (mkdir(w->dir, 0700) < 0)
		die(w->dir);
	w->arena = mapped(ARENA, MAP_PRIVATE);
	w->stack = mapped(2 * STACK, MAP_PRIVATE);
	w->buf = mapped(BUF + 4096, MAP_PRIVATE);
	if (mprotect(w->buf + BUF, 4096, PROT_NONE) < 0)
		die("mprotect");
	w->spare = workers + PROCESSES * THREADS_MAX + w->nr;
	w->notes = NO_NOTES;
	for (struct fd *f = w->fds; f < w->fds + FDS; f++)
		f->fd = -1;
	n_workers++;
}

/* No call is made before the process has left /proc. */
static void rings_made(void)
{
	if (pthread_barrier_wait(&begin) == PTHREAD_BARRIER_SERIAL_THREAD && close(PROC_FD) < 0)
		die("close /proc");
	pthread_barrier_wait(&begin);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	w->pid = getpid();
	w->tid = (pid_t)syscall(SYS_gettid);
	w->heap = syscall(SYS_brk, 0);
	if (processes == 1 || one_in(w, 2))
		rings_begin(w);
	aio_begin(w);
	rings_made();
	if (w->pid == w->tid && one_in(w, 2))
		CALL(w, close, 0); /* the next open returns 0 */
	w->notes.paths[0] = w->dir;
	w->dir_fd = (int)CALL(w, openat, AT_FDCWD, (long)w->dir, O_RDONLY | O_DIRECTORY);
	fd_take(w, w->dir_fd, true, false);
	w->notes.paths[0] = "keep"; /* so that the folder is never empty, and no call removes it */
	CALL(w, mknodat, w->dir_fd, (long)w->notes.paths[0], S_IFREG | 0600, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, w->sock) < 0)
		die("socketpair");
	fd_take(w, w->sock[0], true, false);
	fd_take(w, w->sock[1], true, false);
	rings_files(w);
	while (w->made < calls_each) {
		deed_any(w);
		if (one_in(w, 8))
			deed_ring(w);
		if (one_in(w, 40))
			deed_multishot(w);
		if (one_in(w, 24))
			deed_aio(w);
	}
	return NULL;
}

static void __attribute__((noreturn)) process_run(unsigned int process, struct worker *first, unsigned int n)
{
	pthread_t threads[THREADS_MAX];
	pthread_attr_t attr;
	char dir[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(dir, sizeof(dir), "/p%u", process);
	if (chdir(dir) < 0)
		die(dir);
	errno = pthread_barrier_init(&begin, NULL, n);
	if (errno)
		die("pthread_barrier_init");
	pthread_attr_init(&attr);
	for (unsigned int i = 1; i < n; i++) {
		pthread_attr_setstack(&attr, first[i].stack, STACK);
		errno = pthread_create(&threads[i], &attr, worker_run, first + i);
		if (errno)
			die("pthread_create");
	}
	worker_run(first);
	for (unsigned int i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static void run(uint64_t seed)
{
	struct worker *first[PROCESSES + 1];
	char dir[16];

	workers = mapped(2 * PROCESSES * THREADS_MAX * sizeof(*workers), MAP_SHARED);
	for (unsigned int p = 0; p < processes; p++) {
		const unsigned int threads =
			processes == 1 ? 1 : (unsigned int)(random_next(&seed) >> 32) % THREADS_MAX + 1;

		snprintf(dir, sizeof(dir), "/p%u", p);
		if (mkdir(dir, 0700) < 0)
			die(dir);
		first[p] = workers + n_workers;
		for (unsigned int t = 0; t < threads; t++)
			worker_init(workers + n_workers, p, t, seed);
		for (unsigned int t = 0; t < threads; t++)
			first[p][t].kin = threads, first[p][t].sole = threads == 1;
	}
	first[processes] = workers + n_workers;
	calls_each /= n_workers;
	for (unsigned int p = 0; p < processes; p++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0)
			process_run(p, first[p], (unsigned int)(first[p + 1] - first[p]));
	}
	for (unsigned int p = 0; p < processes; p++) {
		int status;
		pid_t pid = wait(&status);

		if (pid < 0 || status) {
			fprintf(stderr, "syscall_fuzz: process %d ended with status %#x\n", pid, (unsigned int)status);
			_exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	const char *path = NULL;
	uint64_t seed = 1;
	int o, tally, proc;

	calls_each = 10000;
	while ((o = getopt(argc, argv, "1n:s:T:")) != -1)
		switch (o) {
		case '1':
			processes = 1;
			break;
		case 'n':
			calls_each = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'T':
			path = optarg;
			break;
		default:
			return 2;
		}
	if (argc - optind != 1 || !path) {
		fputs("usage: syscall_fuzz [-1] [-n CALLS] [-s SEED] -T TALLY DIR\n", stderr);
		return 2;
	}
	tally = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (tally < 0)
		die(path);
	/* with a number that no call of the fuzzer uses */
	if (dup3(tally, 900, O_CLOEXEC) < 0 || close(tally) < 0)
		die(path);
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || dup3(proc, PROC_FD, O_CLOEXEC) < 0 || close(proc) < 0)
		die("/proc");
	tally_begin(4 * calls_each + 65536);
	cage_enter(argv[optind]);
	rings_probe();
	interrupts_begin();
	umask(022);
	run(seed);
	tally_write(900);
	return 0;
}
