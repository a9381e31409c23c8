// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rings of io_uring: which kinds and operations there are, their memory, submission and completion. What is
 * submitted is not known here.
 */
#include "fuzz.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define IDLE_MS 1 /* until the kernel's thread sleeps: it does so between most batches */

static const struct kind {
	const char *name;
	uint32_t flags;
} kinds[RING_KINDS] = {
	[RING_PLAIN] = { "plain", 0 },
	[RING_SKIP] = { "skip", 0 },
	[RING_SQPOLL] = { "sqpoll", SETUP_SQPOLL },
	[RING_COOP] = { "coop", SETUP_COOP_TASKRUN | SETUP_TASKRUN_FLAG },
	[RING_DEFER] = { "defer", SETUP_SINGLE_ISSUER | SETUP_DEFER_TASKRUN },
};

/* --- what this kernel has ------------------------------------------------------------------------------- */

static bool kind_is_there[RING_KINDS];
static struct probe known;

bool ring_knows(unsigned int op)
{
	return known.ops[op].flags & 1;
}

/* Returns a ring of KIND, or -1: the kernel has none. */
static int ring_setup(enum ring_kind kind, struct params *p)
{
	int fd;

	*p = (struct params){ .flags = kinds[kind].flags, .idle = IDLE_MS };
	fd = (int)syscall(URING_SETUP, ENTRIES, p);
	if (fd >= 0 && kind == RING_SKIP && !(p->features & FEAT_SKIP_SUCCESS)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

/* All that is missing (kernel.io_uring_disabled, an older kernel) is known before the first call. */
void rings_probe(void)
{
	struct params p;
	int fd;

	for (enum ring_kind k = 0; k < RING_KINDS; k++) {
		fd = ring_setup(k, &p);
		if (fd < 0 && errno != ENOSYS && errno != EPERM && errno != EINVAL)
			die("io_uring_setup");
		if (fd < 0)
			continue;
		kind_is_there[k] = true;
		if (k == RING_PLAIN && syscall(URING_REGISTER, fd, REGISTER_PROBE, &known, OPS) < 0)
			die("io_uring_register: probe");
		close(fd);
	}
}

/* Prints a line for each kind of ring and of request that the kernel lacks. */
void rings_print_lacks(FILE *f)
{
	for (enum ring_kind k = 0; k < RING_KINDS; k++)
		if (!kind_is_there[k])
			fprintf(f, "# lacks ring:%s\n", kinds[k].name);
	for (enum func i = 0; i < F_NR; i++)
		if (!strncmp(funcs[i].name, "io_uring:", 9) && !ring_knows((unsigned int)funcs[i].nr))
			fprintf(f, "# lacks %s\n", funcs[i].name);
}

const char *ring_kind_name(const struct ring *r)
{
	return kinds[r->kind].name;
}

/* --- a worker's rings -------------------------------------------------------------------------------------- */

static uint32_t *word(char *at, uint32_t offset)
{
	return (uint32_t *)(void *)(at + offset);
}

static void *ring_map(int fd, size_t size, long offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, offset);

	if (p == MAP_FAILED)
		die("mmap of a ring");
	return p;
}

/* Returns the kernel's thread of ring FD. Until that thread runs, fdinfo shows this thread's number. */
static pid_t poller(int fd)
{
	char path[64], text[4096];
	const char *line;
	pid_t tid = -1;
	ssize_t n;
	int info;

	snprintf(path, sizeof(path), "self/fdinfo/%d", fd);
	for (;;) {
		info = openat(PROC_FD, path, O_RDONLY | O_CLOEXEC);
		n = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
		if (n < 0 || close(info) < 0)
			die(path);
		text[n] = 0;
		line = strstr(text, "SqThread:");
		tid = line ? atoi(line + strlen("SqThread:")) : -1;
		if (tid > 0 && tid != (pid_t)syscall(SYS_gettid))
			return tid;
		sched_yield();
	}
}

static struct ring *ring_make(struct worker *w, enum ring_kind kind)
{
	const struct iovec buffer = { w->buf, BUF };
	struct ring *r = ring_map(-1, sizeof(*r), 0);
	const int fd = ring_setup(kind, &r->p);

	if (fd < 0)
		die("io_uring_setup");
	r->kind = kind;
	/* with a number that no call of the fuzzer uses */
	r->fd = dup3(fd, 800 + RING_KINDS * (int)w->nr + (int)kind, O_CLOEXEC);
	if (r->fd < 0 || close(fd) < 0)
		die("the ring's descriptor");
	r->sq = ring_map(r->fd, r->p.sq.array + r->p.sq_entries * sizeof(uint32_t), 0);
	r->cq = ring_map(r->fd, r->p.cq.word[1] + r->p.cq_entries * sizeof(struct cqe), OFF_CQ);
	r->sqes = ring_map(r->fd, r->p.sq_entries * sizeof(struct sqe), OFF_SQES);
	if (syscall(URING_REGISTER, r->fd, REGISTER_BUFFERS, &buffer, 1) < 0)
		die("io_uring_register");
	r->tid = kind == RING_SQPOLL ? poller(r->fd) : w->tid;
	return r;
}

void rings_begin(struct worker *w)
{
	for (enum ring_kind k = 0; k < RING_KINDS; k++)
		if (kind_is_there[k])
			w->ring = w->rings[k] = ring_make(w, k);
}

struct ring *ring_any(struct worker *w)
{
	struct ring *r;

	if (!w->ring)
		return NULL;
	do
		r = w->rings[pick(w, RING_KINDS)];
	while (!r);
	return r;
}

/* Puts files with descriptors that are kept into the slots of each ring of W. */
void rings_files(struct worker *w)
{
	static const struct {
		const char *name;
		long flags;
	} files[] = { [SLOT_FILE] = { "fixed", O_RDWR }, [SLOT_APPEND] = { "appended", O_RDWR | O_APPEND } };
	int slots[SLOTS] = { [SLOT_FOLDER] = w->dir_fd, [SLOT_SOCKET] = w->sock[0], [SLOT_FREE] = -1 };

	if (!w->ring)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		w->notes.paths[0] = files[i].name;
		slots[i] = (int)CALL(w, openat, w->dir_fd, (long)files[i].name, files[i].flags | O_CREAT | O_NONBLOCK,
				     0600);
		fd_take(w, slots[i], true, false);
	}
	for (enum ring_kind k = 0; k < RING_KINDS; k++) {
		struct ring *r = w->rings[k];

		if (!r)
			continue;
		memcpy(r->slots, slots, sizeof(slots));
		if (syscall(URING_REGISTER, r->fd, REGISTER_FILES, r->slots, SLOTS) < 0)
			die("io_uring_register: files");
	}
}

/* --- submission and completion ------------------------------------------------------------------------------- */

/* Returns the next submission, all zero. Waits for the kernel's thread, which may not have taken the last batch yet. */
struct sqe *ring_next(struct ring *r)
{
	const uint32_t mask = *word(r->sq, r->p.sq.mask), i = r->tail++ & mask;

	while (r->tail - __atomic_load_n(word(r->sq, r->p.sq.head), __ATOMIC_ACQUIRE) > r->p.sq_entries)
		sched_yield();
	word(r->sq, r->p.sq.array)[i] = i;
	r->sqes[i] = (struct sqe){};
	return &r->sqes[i];
}

unsigned int ring_completions(const struct ring *r)
{
	return __atomic_load_n(word(r->cq, r->p.cq.tail), __ATOMIC_ACQUIRE) - *word(r->cq, r->p.cq.head);
}

const struct cqe *ring_completion(const struct ring *r, unsigned int i)
{
	const uint32_t at = *word(r->cq, r->p.cq.head) + i, mask = *word(r->cq, r->p.cq.mask);

	return (const struct cqe *)(void *)(r->cq + r->p.cq.word[1]) + (at & mask);
}

void ring_taken(struct ring *r, unsigned int n)
{
	__atomic_store_n(word(r->cq, r->p.cq.head), *word(r->cq, r->p.cq.head) + n, __ATOMIC_RELEASE);
}

void ring_enter(struct ring *r, unsigned int completions)
{
	unsigned int flags, n;

	/* the kernel's thread must see it before this thread sees whether that one sleeps */
	__atomic_store_n(word(r->sq, r->p.sq.tail), r->tail, __ATOMIC_SEQ_CST);
	do {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		n = r->tail - __atomic_load_n(word(r->sq, r->p.sq.head), __ATOMIC_ACQUIRE);
		flags = ENTER_GETEVENTS;
		if (__atomic_load_n(word(r->sq, r->p.sq.word[0]), __ATOMIC_RELAXED) & SQ_NEED_WAKEUP)
			flags |= ENTER_SQ_WAKEUP;
		if (syscall(URING_ENTER, r->fd, n, completions, flags, NULL, 0) < 0 && errno != EINTR)
			die("io_uring_enter");
	} while (ring_completions(r) < completions);
}

int ring_alone(struct ring *r, struct sqe sqe)
{
	int res;

	*ring_next(r) = sqe;
	ring_enter(r, 1);
	res = ring_completion(r, 0)->res;
	ring_taken(r, 1);
	return res;
}
