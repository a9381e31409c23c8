/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See keeper.h. Segments come in by an atomic list and an eventfd, without a lock; the lock is between
 * this thread and the control plane, which reads the list for the manifest.
 *
 * A packed file is written under a name of the moment, synced, renamed, and only then the plain one
 * is removed: killed at any point, one of them is whole, and readers take the plain one where both
 * are. The trace folder is its user's, so the file behind a name is believed only when it is the
 * inode that we have closed.
 */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "disk.h"
#include "log.h"
#include "pack.h"
#include "privileges.h"
#include "probe.h"
#include "record.h"
#include "util.h"

#define LOOK_MS 1000 /* at what grows, with --keep */
#define OVER_SAID_AFTER 5 /* seconds */
#define TRY_AGAIN_NS (10 * NSEC_PER_SEC)
/* The system writes what is 30 s old, and looks every 5 s (vm.dirty_expire_centisecs): twice that. */
#define WATCHED_NS (60 * NSEC_PER_SEC)
#define WATCHED_MAX 64 /* each is an open file */
#define ROLLUP_AHEAD_BYTES (256U << 10) /* what is dropped on a full disk is summed up all the same */
#define LOWEST_NICE 19
/* ioprio_set(2) has no header: best effort, the lowest of its levels. Idle may never get its turn. */
#define IOPRIO_LOWEST (2 << 13 | 7)
#define IOPRIO_THREAD 1

static uint64_t load(const uint64_t *v)
{
	return __atomic_load_n(v, __ATOMIC_RELAXED);
}

static void store(uint64_t *v, uint64_t n)
{
	__atomic_store_n(v, n, __ATOMIC_RELAXED);
}

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

/* --- handing over: the drain's side --------------------------------------------------------------- */

static void wake(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		return; /* it is awake already */
}

void keeper_closed(void *ctx, const struct sink_segment *seg)
{
	struct keeper_segment *s = malloc(sizeof(*s));
	struct keeper *k = ctx;

	if (!s) /* it stays as it is, plain, and in no list */
		return;
	*s = (struct keeper_segment){ .seg = *seg, .stored_bytes = seg->bytes, .fd = -1 };
	while (s->file < k->n_files && k->files[s->file].sink->base != seg->base)
		s->file++;
	s->next = __atomic_load_n(&k->handed, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&k->handed, &s->next, s, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	wake(k->wake_fd);
}

bool keeper_wants_split(struct keeper *k)
{
	return __atomic_exchange_n(&k->want_split, false, __ATOMIC_RELAXED);
}

/* --- the list of what is there -------------------------------------------------------------------- */

static int list_add(struct keeper *k, struct keeper_segment *s)
{
	void *more;

	if (k->n == k->room) {
		size_t room = k->room ? 2 * k->room : 64;

		more = reallocarray(k->segments, room, sizeof(*k->segments));
		if (!more)
			return -ENOMEM;
		k->segments = more;
		k->room = room;
	}
	k->segments[k->n++] = s;
	return 0;
}

static void list_remove(struct keeper *k, size_t i)
{
	util_close(&k->segments[i]->fd); /* not with the lock: a server may be asked */
	pthread_mutex_lock(&k->lock);
	free(k->segments[i]);
	k->n--;
	memmove(k->segments + i, k->segments + i + 1, (k->n - i) * sizeof(*k->segments));
	pthread_mutex_unlock(&k->lock);
}

static bool to_pack(const struct keeper *k, const struct keeper_segment *s)
{
	return k->o.pack != PACK_NONE && s->pack == PACK_NONE && !s->gone;
}

static uint64_t count_to_pack(const struct keeper *k)
{
	uint64_t n = 0;

	for (size_t i = 0; i < k->n; i++)
		n += to_pack(k, k->segments[i]);
	return n;
}

/* --- what the disk says ---------------------------------------------------------------------------- */

/* The file of S as it is there: a descriptor, or -errno; -ESTALE: it is another one by now. */
static int open_segment(const struct keeper *k, const struct keeper_segment *s)
{
	char name[NAME_MAX + 1];
	autoclose int fd = -1;
	struct stat st;

	segment_format(name, s->seg.base, s->seg.nr, s->pack);
	fd = openat(k->dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ELOOP ? -ESTALE : -errno;
	if (st.st_dev != s->seg.dev || st.st_ino != s->seg.ino)
		return -ESTALE;
	return TAKE_FD(fd);
}

/* Until the disk must have taken it. An error that nobody has been told of yet is told to who opens the file now. */
static void watch(struct keeper *k, struct keeper_segment *s)
{
	unsigned int n = 0;

	for (size_t i = 0; i < k->n; i++)
		n += k->segments[i]->fd >= 0;
	s->closed_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (n < WATCHED_MAX && s->seg.nr != SEGMENT_LAST) /* the last is its sink's until the end */
		s->fd = open_segment(k, s);
}

static void take_handed(struct keeper *k)
{
	struct keeper_segment *s = __atomic_exchange_n(&k->handed, NULL, __ATOMIC_ACQUIRE), *next, *first = NULL;
	size_t had = k->n;

	for (; s; s = next) { /* into the order of closing */
		next = s->next;
		s->next = first;
		first = s;
	}
	pthread_mutex_lock(&k->lock);
	for (s = first; s; s = next) {
		next = s->next;
		if (list_add(k, s) < 0)
			free(s);
	}
	pthread_mutex_unlock(&k->lock);
	for (; had < k->n; had++)
		watch(k, k->segments[had]);
}

static void note_refusal(struct keeper *k, struct keeper_segment *s, int r)
{
	__atomic_store_n(&k->refused, r, __ATOMIC_RELAXED);
	if (s->file < k->n_files)
		util_count(&k->files[s->file].unsure_rows, s->seg.rows - MIN(s->seg.unsure, s->seg.rows));
	util_close(&s->fd);
}

static void ask_disk(struct keeper *k)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < k->n; i++) {
		struct keeper_segment *s = k->segments[i];
		int r = s->fd < 0 ? 0 : disk_refused(s->fd);

		if (r < 0)
			note_refusal(k, s, r);
		else if (s->fd >= 0 && now - s->closed_ns > WATCHED_NS)
			util_close(&s->fd);
	}
}

/* At the end, as the growing ones. */
static void to_disk(struct keeper *k)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + DISK_END_NS;

	for (size_t i = 0; i < k->n; i++) {
		struct keeper_segment *s = k->segments[i];
		int r;

		if (s->fd < 0)
			continue;
		util_count(&k->not_on_disk,
			   disk_write_out(s->fd, s->seg.bytes, is_set(&k->stop) ? 0 : until_ns, &r));
		if (r < 0)
			note_refusal(k, s, r);
		util_close(&s->fd);
	}
}

static bool is_watching(const struct keeper *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->segments[i]->fd >= 0)
			return true;
	return false;
}

/* --- packing -------------------------------------------------------------------------------------- */

/* FROM packed into a file of the name TMP. 0 or -errno; S is then the packed one's. */
static int write_packed(struct keeper *k, struct packer *p, struct keeper_segment *s, int from, const char *tmp,
			uint64_t *packed)
{
	autoclose int to = -1;
	struct stat st;
	int r;

	if (unlinkat(k->dirfd, tmp, 0) < 0 && errno != ENOENT)
		return -errno;
	to = util_create_at(k->dirfd, tmp, 0);
	if (to < 0)
		return to;
	r = packer_file(p, from, s->seg.bytes, to, count_to_pack(k) > 1, &k->stop, packed);
	if (r == 0 && (fsync(to) < 0 || fstat(to, &st) < 0))
		r = -errno;
	if (r < 0)
		return r;
	pthread_mutex_lock(&k->lock);
	s->seg.dev = st.st_dev;
	s->seg.ino = st.st_ino;
	pthread_mutex_unlock(&k->lock);
	return 0;
}

static int pack_segment(struct keeper *k, struct packer *p, struct keeper_segment *s)
{
	char plain[NAME_MAX + 1], packed[NAME_MAX + 1], tmp[NAME_MAX + 1 + sizeof(SEGMENT_TMP)];
	autoclose int from = open_segment(k, s);
	uint64_t bytes = 0;
	int r;

	if (from < 0)
		return from;
	segment_format(plain, s->seg.base, s->seg.nr, PACK_NONE);
	segment_format(packed, s->seg.base, s->seg.nr, k->o.pack);
	snprintf(tmp, sizeof(tmp), "%s" SEGMENT_TMP, packed);
	r = write_packed(k, p, s, from, tmp, &bytes);
	if (r == 0 && renameat(k->dirfd, tmp, k->dirfd, packed) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(k->dirfd, tmp, 0);
		return r;
	}
	unlinkat(k->dirfd, plain, 0);
	util_close(&s->fd); /* what is packed is on the disk */
	pthread_mutex_lock(&k->lock);
	s->pack = k->o.pack;
	s->stored_bytes = bytes;
	pthread_mutex_unlock(&k->lock);
	store(&k->plain_bytes, k->plain_bytes + s->seg.bytes);
	store(&k->packed_bytes, k->packed_bytes + bytes);
	return 0;
}

/* The next one that is to be packed, and not just failed. */
static struct keeper_segment *next_to_pack(const struct keeper *k)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < k->n; i++) {
		struct keeper_segment *s = k->segments[i];

		if (to_pack(k, s) && (!s->failed_ns || now - s->failed_ns >= TRY_AGAIN_NS))
			return s;
	}
	return NULL;
}

/* --- dropping ------------------------------------------------------------------------------------- */

static uint64_t trace_bytes(const struct keeper *k)
{
	uint64_t bytes = load(&k->rollup.file_bytes);

	for (unsigned int i = 0; i < k->n_files; i++)
		bytes += __atomic_load_n(&k->files[i].sink->ended, __ATOMIC_RELAXED) ? 0 : load(&k->files[i].sink->file_bytes);
	for (size_t i = 0; i < k->n; i++)
		bytes += k->segments[i]->stored_bytes;
	return bytes;
}

/* The oldest one by its last row that may go, or k->n. */
static size_t oldest(const struct keeper *k)
{
	size_t best = k->n;

	for (size_t i = 0; i < k->n; i++) {
		const struct keeper_segment *s = k->segments[i];

		if (s->file < k->n_files && !k->files[s->file].stays && s->seg.nr != SEGMENT_LAST &&
		    (best == k->n || s->seg.last_ns < k->segments[best]->seg.last_ns))
			best = i;
	}
	return best;
}

/* Its roll-up into rollup.out, on the disk. How many rows. */
static int64_t sum_up(struct keeper *k, const struct keeper_segment *s)
{
	int fd = open_segment(k, s);
	struct reader rd;
	int64_t rows;
	int r;

	if (fd < 0)
		return fd;
	r = reader_open_fd(&rd, fd, s->pack, s->stored_bytes);
	if (r < 0)
		return r;
	rows = rollup_rows(&k->sums, &rd, &k->rollup, s->seg.nr);
	reader_close(&rd);
	r = sink_flush(&k->rollup);
	if (rows >= 0 && r < 0)
		return r;
	sink_to_disk(&k->rollup, UINT64_MAX); /* which counts what is refused */
	fdatasync(k->rollup.fd);
	return rows;
}

static void drop(struct keeper *k, size_t i)
{
	struct keeper_segment *s = k->segments[i];
	struct keeper_file *f = &k->files[s->file];
	int64_t rows = sum_up(k, s);
	char name[NAME_MAX + 1];

	if (rows < (int64_t)s->seg.rows)
		store(&k->not_summed, k->not_summed + s->seg.rows - (uint64_t)MAX(rows, 0));
	/* under both names, should the plain one have been left over */
	for (enum pack pack = PACK_NONE; pack <= s->pack; pack++) {
		segment_format(name, s->seg.base, s->seg.nr, pack);
		if (pack == PACK_NONE || pack == s->pack)
			unlinkat(k->dirfd, name, 0);
	}
	store(&f->dropped_rows, f->dropped_rows + s->seg.rows);
	store(&f->dropped_bytes, f->dropped_bytes + s->seg.bytes);
	store(&k->dropped, k->dropped + 1);
	list_remove(k, i);
}

/* Back to what may be kept. What grows is no segment yet: it has to be closed first. */
static void hold_to_keep(struct keeper *k)
{
	bool over = false;

	while (k->o.keep_bytes && !over && trace_bytes(k) > k->o.keep_bytes) {
		size_t i = oldest(k);

		over = i == k->n;
		if (!over)
			drop(k, i);
	}
	if (over)
		__atomic_store_n(&k->want_split, true, __ATOMIC_RELAXED);
	__atomic_store_n(&k->over, over, __ATOMIC_RELAXED);
}

/* --- the thread ----------------------------------------------------------------------------------- */

static void lower_priority(void)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	setpriority(PRIO_PROCESS, (id_t)tid, LOWEST_NICE);
	syscall(SYS_ioprio_set, IOPRIO_THREAD, tid, IOPRIO_LOWEST);
}

static void wait_for_work(struct keeper *k)
{
	struct pollfd fd = { .fd = k->wake_fd, .events = POLLIN };
	bool look = k->o.keep_bytes || count_to_pack(k) || is_watching(k);
	uint64_t n;

	poll(&fd, 1, look ? LOOK_MS : -1);
	if (fd.revents && read(k->wake_fd, &n, sizeof(n)) < 0)
		return;
}

/* Pack one. False: there is none to pack, or it cannot be done now. */
static bool pack_one(struct keeper *k, struct packer *p)
{
	struct keeper_segment *s = is_set(&k->stop) ? NULL : next_to_pack(k);
	int r;

	store(&k->waiting, count_to_pack(k));
	if (!s)
		return false;
	r = pack_segment(k, p, s);
	if (r == -ENOENT || r == -ESTALE) {
		s->gone = true;
		s->stored_bytes = 0;
		return true;
	}
	if (r < 0)
		s->failed_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (r != -ECANCELED)
		__atomic_store_n(&k->error, r, __ATOMIC_RELAXED);
	store(&k->waiting, count_to_pack(k));
	return true;
}

static void *keeper_main(void *ctx)
{
	struct keeper *k = ctx;
	struct packer p = { 0 };
	bool ending = false;

	(void)!privileges_give_up(k->privileges, false); /* as the drain's */
	lower_priority();
	if (k->o.pack != PACK_NONE && packer_init(&p, k->o.pack) < 0)
		k->o.pack = PACK_NONE;
	while (!ending) {
		/* asked before what was handed over is taken */
		ending = is_set(&k->ending);
		do {
			take_handed(k);
			hold_to_keep(k);
			ask_disk(k);
		} while (pack_one(k, &p));
		if (ending)
			to_disk(k);
		store(&k->cpu_ns, clock_now_ns(CLOCK_THREAD_CPUTIME_ID));
		if (!ending)
			wait_for_work(k);
	}
	packer_free(&p);
	wake(k->done_fd);
	return NULL;
}

/* --- control plane -------------------------------------------------------------------------------- */

static int open_rollup(struct keeper *k)
{
	char name[NAME_MAX + 1], header[4096];
	int r;

	segment_format(name, probes[DLT_rollup]->name, SEGMENT_LAST, PACK_NONE);
	r = sink_open(&k->rollup, k->dirfd, name);
	if (r < 0)
		return r;
	sink_header(&k->rollup, header, (size_t)(record_put_header(header, probes[DLT_rollup]) - header));
	r = sink_flush(&k->rollup);
	sink_keep_ahead(&k->rollup, ROLLUP_AHEAD_BYTES);
	return r;
}

int keeper_init(struct keeper *k, const struct keeper_options *o, int dirfd)
{
	*k = (struct keeper){ .o = *o, .dirfd = dirfd, .wake_fd = -1, .done_fd = -1, .rollup.fd = -1 };
	pthread_mutex_init(&k->lock, NULL);
	rollup_init(&k->sums);
	if (!unpack_knows(o->pack))
		return -ENOTSUP;
	k->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	k->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (k->wake_fd < 0 || k->done_fd < 0)
		return -errno;
	return o->keep_bytes ? open_rollup(k) : 0;
}

void keeper_add(struct keeper *k, const struct sink *s, bool stays)
{
	if (k->n_files < KEEPER_FILES_MAX)
		k->files[k->n_files++] = (struct keeper_file){ .sink = s, .stays = stays };
}

int keeper_start(struct keeper *k)
{
	sigset_t all, old;
	int r;

	/* signals are the main thread's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&k->thread, NULL, keeper_main, k);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	k->running = !r;
	return r;
}

void keeper_end(struct keeper *k)
{
	__atomic_store_n(&k->ending, true, __ATOMIC_RELEASE);
	wake(k->wake_fd);
}

void keeper_hurry(struct keeper *k)
{
	__atomic_store_n(&k->stop, true, __ATOMIC_RELEASE);
}

uint64_t keeper_finish(struct keeper *k, int fd)
{
	struct pollfd fds[] = { { k->done_fd, POLLIN, 0 }, { fd, POLLIN, 0 } };

	if (!k->running)
		return 0;
	keeper_end(k);
	poll(fds, fd < 0 ? 1 : 2, -1);
	if (!fds[0].revents)
		keeper_hurry(k);
	pthread_join(k->thread, NULL);
	k->running = false;
	sink_close(&k->rollup);
	return count_to_pack(k);
}

void keeper_say(struct keeper *k, const char *dir)
{
	int error = __atomic_load_n(&k->error, __ATOMIC_RELAXED);

	if (error && !k->error_said)
		log_warn("cannot compress a part of the trace in %s: %s; it stays as it is, and is tried again",
			 dir, strerror(-error));
	k->error_said = error;
	k->over_for = __atomic_load_n(&k->over, __ATOMIC_RELAXED) ? k->over_for + 1 : 0;
	if (k->over_for == OVER_SAID_AFTER && !k->over_said) {
		log_warn("%s takes more than --keep: what may be dropped is dropped at once, the names of files stay",
			 dir);
		k->over_said = true;
	}
}

const struct keeper_file *keeper_file(const struct keeper *k, const struct sink *s)
{
	for (unsigned int i = 0; i < k->n_files; i++)
		if (k->files[i].sink == s)
			return &k->files[i];
	return NULL;
}

void keeper_each(struct keeper *k, void (*fn)(void *ctx, const struct keeper_segment *s), void *ctx)
{
	pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < k->n; i++)
		fn(ctx, k->segments[i]);
	pthread_mutex_unlock(&k->lock);
}

void keeper_free(struct keeper *k)
{
	struct keeper_segment *s, *next;

	if (k->wake_fd <= 0 && k->done_fd <= 0) /* never made: descriptors are 0, not -1 */
		return;
	__atomic_store_n(&k->stop, true, __ATOMIC_RELEASE);
	keeper_finish(k, -1);
	for (s = k->handed; s; s = next) {
		next = s->next;
		free(s);
	}
	for (size_t i = 0; i < k->n; i++) {
		util_close(&k->segments[i]->fd);
		free(k->segments[i]);
	}
	free(k->segments);
	sink_close(&k->rollup);
	rollup_free(&k->sums);
	util_close(&k->wake_fd);
	util_close(&k->done_fd);
	pthread_mutex_destroy(&k->lock);
	*k = (struct keeper){ .wake_fd = -1, .done_fd = -1 };
}
