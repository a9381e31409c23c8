// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tally: a record of each call, in memory that all processes share, written as text at the end. main.c describes
 * its columns. The code here makes no call that dltraced records, except the one that is to be made.
 */
#include "fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

const struct func_info funcs[F_NR] = {
#define X(name, fd, fd2) [F_##name] = { #name, SYS_##name, fd, fd2 },
	CALLS(X)
#undef X
#define X(name, op, fd, fd2) [F_ring_##name] = { "io_uring:" #name, op, fd, fd2 },
		RING_OPS(X)
#undef X
#define X(name, op) [F_aio_##name] = { "io_submit:" #name, op, 0, -1 },
			AIO_OPS(X)
#undef X
};

static struct shared {
	unsigned int n;
	struct record records[];
} * shared;
static unsigned int room;

void tally_begin(unsigned int records)
{
	room = records;
	shared = mmap(NULL, sizeof(*shared) + room * sizeof(struct record), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED)
		die("the tally");
}

/* Some room is left for the rest of a deed that has begun. */
bool tally_is_full(void)
{
	return __atomic_load_n(&shared->n, __ATOMIC_RELAXED) + 4096 > room;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void text_set(struct text *t, const char *s)
{
	t->len = s ? (int32_t)strlen(s) : -1;
	if (s)
		strncpy(t->head, s, TEXT);
}

static int64_t position(struct worker *w, const struct record *r, unsigned int i)
{
	const int arg = i ? funcs[r->func].fd2 : funcs[r->func].fd;

	if (w->notes.pos[i])
		return *w->notes.pos[i];
	return arg < 0 || !fd_find(w, r->args[arg]) ? NOTHING : lseek((int)r->args[arg], 0, SEEK_CUR);
}

static void side_begin(struct worker *w, struct record *r, unsigned int i)
{
	const int arg = i ? funcs[r->func].fd2 : funcs[r->func].fd;
	const struct fd *f = arg < 0 ? NULL : fd_find(w, r->args[arg]);

	r->before[i] = position(w, r, i);
	if (f) {
		int flags = fcntl(f->fd, F_GETFL);

		r->lives[i] = f->life;
		r->lives[i].f_flags = flags < 0 ? 0 : (uint32_t)flags;
		r->shared |= f->shared;
	}
	text_set(&r->texts[i], w->notes.paths[i]);
}

static int64_t open_flags_of(const struct record *r)
{
	switch (r->func) {
	case F_creat:
		return O_CREAT;
	case F_open:
		return r->args[1];
	case F_openat:
		return r->args[2];
	case F_openat2:
		return r->how[0] == NOTHING ? 0 : r->how[0];
	default:
		return 0;
	}
}

/* Looks at the file that an open has opened; where the open failed and was to make one, at the file of that name. */
static void open_look(struct worker *w, struct record *r)
{
	const int64_t flags = open_flags_of(r);
	const bool at = r->func == F_openat || r->func == F_openat2;

	if (r->ret >= 0)
		r->lives[0] = life_of((int)r->ret);
	else if (flags & O_CREAT && w->notes.paths[0])
		r->lives[0] =
			life_at(at ? (int)r->args[0] : AT_FDCWD, w->notes.paths[0], !(flags & (O_NOFOLLOW | O_EXCL)));
}

static struct record *record_new(void)
{
	const unsigned int at = __atomic_fetch_add(&shared->n, 1, __ATOMIC_RELAXED);

	if (at >= room) {
		errno = ENOSPC;
		die("the tally is full");
	}
	return &shared->records[at];
}

struct record *record_again(const struct record *r)
{
	struct record *again = record_new();

	*again = *r;
	return again;
}

struct record *record_begin(struct worker *w, enum func f, const long args[6])
{
	struct record *r = record_new();

	*r = (struct record){
		.func = (int32_t)f, .pid = w->pid, .tid = w->tid, .dir = w->dir, .bytes = w->notes.bytes, .ring = "-"
	};
	memcpy(r->args, args, sizeof(r->args));
	memcpy(r->how, w->notes.how, sizeof(r->how));
	side_begin(w, r, 0);
	side_begin(w, r, 1);
	r->start_ns = now_ns();
	return r;
}

void record_end(struct worker *w, struct record *r, long ret)
{
	r->end_ns = now_ns();
	r->ret = ret;
	r->after[0] = position(w, r, 0);
	r->after[1] = position(w, r, 1);
	w->made++;
}

/* Makes the call, and records it. Returns its result, or -errno. */
long call(struct worker *w, enum func f, const long args[6])
{
	struct record *r, *outer = w->running;
	long ret;

	if (funcs[f].nr == ABSENT)
		return -ENOSYS;
	r = w->running = record_begin(w, f, args);
	ret = syscall(funcs[f].nr, args[0], args[1], args[2], args[3], args[4], args[5]);
	if (ret == -1)
		ret = -errno;
	w->running = outer;
	record_end(w, r, ret);
	if (f == F_open || f == F_openat || f == F_openat2 || f == F_creat)
		open_look(w, r);
	w->notes = NO_NOTES;
	return ret;
}

/* --- as text --------------------------------------------------------------------------------------- */

static void put_number(FILE *f, int64_t n)
{
	if (n == NOTHING)
		fputs("\t-", f);
	else
		fprintf(f, "\t%ld", n);
}

static void put_life(FILE *f, const struct life *l)
{
	if (!l->mode)
		fputs("\t-\t-\t-", f);
	else
		fprintf(f, "\t%u:%u:%lu:%lx\t%o\t%u", major(l->dev), minor(l->dev), l->ino, l->handle, l->mode,
			l->f_flags);
}

static void put_text(FILE *f, const struct text *t)
{
	if (t->len < 0) {
		fputs("\t-", f);
		return;
	}
	fprintf(f, "\t%d:", t->len);
	for (int32_t i = 0; i < t->len && i < TEXT; i++)
		fprintf(f, "%02x", (unsigned char)t->head[i]);
}

void tally_write(int fd)
{
	FILE *f = fdopen(fd, "w");

	if (!f)
		die("the tally");
	rings_print_lacks(f);
	for (unsigned int i = 0; i < shared->n; i++) {
		const struct record *r = &shared->records[i];

		if (!r->end_ns) /* a request that the kernel has not taken, or one without a row */
			continue;
		fprintf(f, "%u\t%s\t%d\t%d\t%lu\t%lu\t%ld\t%u\t%d\t%s\t%d", i, funcs[r->func].name, r->pid, r->tid,
			r->start_ns, r->end_ns, r->ret, r->interrupts, r->shared, r->ring, r->silent);
		for (unsigned int a = 0; a < 6; a++)
			put_number(f, r->args[a]);
		put_number(f, r->bytes);
		for (unsigned int s = 0; s < 2; s++) {
			put_number(f, r->how[s]);
			put_number(f, r->before[s]);
			put_number(f, r->after[s]);
			put_life(f, &r->lives[s]);
			put_text(f, &r->texts[s]);
		}
		fprintf(f, "\t%s\n", r->dir);
	}
	if (fclose(f))
		die("write the tally");
}
