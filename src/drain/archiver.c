/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See archiver.h: the thread, and the list of segments. Segments come in by an atomic list and an eventfd,
 * without a lock; the lock is between this thread and the control plane, which reads the list for the
 * manifest. The work on segments is in archiver_drop.c and archiver_pack.c.
 */
#include "drain/archiver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "drain/archiver_impl.h"
#include "host/rights/privileges.h"
#include "os/disk.h"
#include "os/thread.h"
#include "trace/pack.h"

#define LOOK_MS 1000 /* interval of the look at growing files, with --keep */
#define OVER_LOGGED_AFTER 5 /* seconds */
#define LOWEST_NICE 19
/* ioprio_set(2) has no header: best effort, the lowest of its levels. The idle class may never get its turn. */
#define IOPRIO_LOWEST (2 << 13 | 7)
#define IOPRIO_THREAD 1
/* The system writes what is 30 s old, and looks every 5 s (vm.dirty_expire_centisecs): twice that. */
#define WATCHED_NS (60 * NSEC_PER_SEC)
#define WATCHED_MAX 64 /* each is an open file */

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

void archiver_closed(void *ctx, const struct sink_segment *seg)
{
	struct archiver_segment *s = malloc(sizeof(*s));
	struct archiver *k = ctx;

	if (!s) /* it stays as it is, plain, and unlisted */
		return;
	*s = (struct archiver_segment){ .seg = *seg, .stored_bytes = seg->bytes, .fd = -1 };
	while (s->file < k->n_files && k->files[s->file].sink->base != seg->base)
		s->file++;
	s->next = __atomic_load_n(&k->handed, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&k->handed, &s->next, s, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	wake(k->wake_fd);
}

bool archiver_wants_split(struct archiver *k)
{
	return __atomic_exchange_n(&k->want_split, false, __ATOMIC_RELAXED);
}

/* --- the list of segments ------------------------------------------------------------------------- */

void archiver_forget(struct archiver *k, size_t i)
{
	util_close(&k->segments[i]->fd); /* not under the lock: it may be a request to a server */
	pthread_mutex_lock(&k->lock);
	free(k->segments[i]);
	k->n--;
	memmove(k->segments + i, k->segments + i + 1, (k->n - i) * sizeof(*k->segments));
	pthread_mutex_unlock(&k->lock);
}

/* The trace folder is its user's: a file is only trusted when it is the inode that we have closed. */
int archiver_open(const struct archiver *k, const struct archiver_segment *s)
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

/* --- late refusals by the disk ---------------------------------------------------------------------- */

/* An error that has not been reported yet is returned to the next opener of the file. */
static void watch(struct archiver *k, struct archiver_segment *s)
{
	unsigned int n = 0;

	for (size_t i = 0; i < k->n; i++)
		n += k->segments[i]->fd >= 0;
	s->closed_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (n < WATCHED_MAX && s->seg.nr != SEGMENT_LAST) /* the last is its sink's until the end */
		s->fd = archiver_open(k, s);
}

static void note_refusal(struct archiver *k, struct archiver_segment *s, int r)
{
	__atomic_store_n(&k->refused, r, __ATOMIC_RELAXED);
	if (s->file < k->n_files)
		util_count(&k->files[s->file].unsure_rows, s->seg.rows - MIN(s->seg.unsure, s->seg.rows));
	util_close(&s->fd);
}

static void query_disk(struct archiver *k)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < k->n; i++) {
		struct archiver_segment *s = k->segments[i];
		bool over = s->fd >= 0 && now - s->closed_ns > WATCHED_NS;
		int r = s->fd < 0 ? 0 : disk_refused(s->fd);

		if (r == 0 && over) /* it was written long ago */
			disk_write_out(s->fd, s->seg.bytes, UINT64_MAX, &r);
		if (r < 0)
			note_refusal(k, s, r);
		else if (over)
			util_close(&s->fd);
	}
}

/* As the growing ones. */
static void to_disk(struct archiver *k)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + DISK_END_NS;

	for (size_t i = 0; i < k->n; i++) {
		struct archiver_segment *s = k->segments[i];
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

static bool is_watching(const struct archiver *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->segments[i]->fd >= 0)
			return true;
	return false;
}

/* --- the thread ----------------------------------------------------------------------------------- */

static void take_handed(struct archiver *k)
{
	struct archiver_segment *s = __atomic_exchange_n(&k->handed, NULL, __ATOMIC_ACQUIRE), *next, *first = NULL;
	size_t had = k->n;

	for (; s; s = next) { /* into the order of closing */
		next = s->next;
		s->next = first;
		first = s;
	}
	pthread_mutex_lock(&k->lock);
	for (s = first; s; s = next) {
		next = s->next;
		if (util_room(&k->segments, k->n, sizeof(*k->segments)) < 0)
			free(s);
		else
			k->segments[k->n++] = s;
	}
	pthread_mutex_unlock(&k->lock);
	for (; had < k->n; had++)
		watch(k, k->segments[had]);
}

static void lower_priority(void)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	setpriority(PRIO_PROCESS, (id_t)tid, LOWEST_NICE);
	syscall(SYS_ioprio_set, IOPRIO_THREAD, tid, IOPRIO_LOWEST);
}

static void wait_for_work(struct archiver *k)
{
	struct pollfd fd = { .fd = k->wake_fd, .events = POLLIN };
	bool look = k->o.keep_bytes || archiver_to_pack(k) || is_watching(k);
	uint64_t n;

	poll(&fd, 1, look ? LOOK_MS : -1);
	if (fd.revents && read(k->wake_fd, &n, sizeof(n)) < 0)
		return;
}

static void *archiver_main(void *ctx)
{
	struct archiver *k = ctx;
	struct packer p = { 0 };
	bool ending = false;

	(void)!privileges_give_up(k->privileges, false); /* as the drain's */
	lower_priority();
	if (k->o.pack != PACK_NONE && packer_init(&p, k->o.pack) < 0)
		k->o.pack = PACK_NONE;
	while (!ending) {
		/* read before the list of handed-over segments is taken */
		ending = is_set(&k->ending);
		do {
			take_handed(k);
			archiver_hold_to_keep(k);
			query_disk(k);
		} while (archiver_pack_one(k, &p));
		if (ending)
			to_disk(k);
		__atomic_store_n(&k->cpu_ns, clock_now_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
		if (!ending)
			wait_for_work(k);
	}
	packer_free(&p);
	wake(k->done_fd);
	return NULL;
}

/* --- control plane -------------------------------------------------------------------------------- */

int archiver_init(struct archiver *k, const struct archiver_options *o, int dirfd)
{
	*k = (struct archiver){ .o = *o, .dirfd = dirfd, .wake_fd = -1, .done_fd = -1, .rollup.fd = -1 };
	pthread_mutex_init(&k->lock, NULL);
	rollup_init(&k->sums);
	if (!unpack_knows(o->pack))
		return -ENOTSUP;
	k->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	k->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (k->wake_fd < 0 || k->done_fd < 0)
		return -errno;
	return o->keep_bytes ? archiver_begin_to_drop(k) : 0;
}

void archiver_add(struct archiver *k, const struct sink *s, bool reference)
{
	if (k->n_files < ARCHIVER_FILES_MAX)
		k->files[k->n_files++] = (struct archiver_file){ .sink = s, .reference = reference };
}

int archiver_start(struct archiver *k)
{
	int r = thread_start(&k->thread, archiver_main, k);

	k->running = !r;
	return r;
}

void archiver_end(struct archiver *k)
{
	__atomic_store_n(&k->ending, true, __ATOMIC_RELEASE);
	wake(k->wake_fd);
}

void archiver_hurry(struct archiver *k)
{
	__atomic_store_n(&k->stop, true, __ATOMIC_RELEASE);
}

uint64_t archiver_finish(struct archiver *k)
{
	if (!k->running)
		return 0;
	archiver_end(k);
	pthread_join(k->thread, NULL);
	k->running = false;
	sink_close(&k->rollup);
	return archiver_to_pack(k);
}

void archiver_report(struct archiver *k, const char *dir)
{
	int error = __atomic_load_n(&k->error, __ATOMIC_RELAXED);

	if (error && !k->error_logged)
		log_warn("cannot compress a part of the trace in %s: %s; it stays as it is, and is tried again",
			 dir, strerror(-error));
	k->error_logged = error;
	k->over_for = __atomic_load_n(&k->over, __ATOMIC_RELAXED) ? k->over_for + 1 : 0;
	if (k->over_for == OVER_LOGGED_AFTER && !k->over_logged) {
		log_warn("%s takes more than --keep: rows are dropped as soon as they can be; marks, processes and file names stay as long as they fit",
			 dir);
		k->over_logged = true;
	}
}

const struct archiver_file *archiver_file(const struct archiver *k, const struct sink *s)
{
	for (unsigned int i = 0; i < k->n_files; i++)
		if (k->files[i].sink == s)
			return &k->files[i];
	return NULL;
}

void archiver_each(struct archiver *k, void (*fn)(void *ctx, const struct archiver_segment *s), void *ctx)
{
	pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < k->n; i++)
		fn(ctx, k->segments[i]);
	pthread_mutex_unlock(&k->lock);
}

void archiver_free(struct archiver *k)
{
	struct archiver_segment *s, *next;

	if (k->wake_fd <= 0 && k->done_fd <= 0) /* never made: descriptors are 0, not -1 */
		return;
	__atomic_store_n(&k->stop, true, __ATOMIC_RELEASE);
	archiver_finish(k);
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
	*k = (struct archiver){ .wake_fd = -1, .done_fd = -1 };
}
