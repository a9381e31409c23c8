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
	struct archiver_segment *segment = malloc(sizeof(*segment));
	struct archiver *archiver = ctx;

	if (!segment) /* it stays as it is, plain, and unlisted */
		return;
	*segment = (struct archiver_segment){ .seg = *seg, .stored_bytes = seg->bytes, .fd = -1 };
	while (segment->file < archiver->n_files && archiver->files[segment->file].sink->base != seg->base)
		segment->file++;
	segment->next = __atomic_load_n(&archiver->handed, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&archiver->handed, &segment->next, segment, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	wake(archiver->wake_fd);
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
int archiver_open(const struct archiver *archiver, const struct archiver_segment *segment)
{
	char name[NAME_MAX + 1];
	autoclose int fd = -1;
	struct stat st;

	segment_format(name, segment->seg.base, segment->seg.nr, segment->pack);
	fd = openat(archiver->dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ELOOP ? -ESTALE : -errno;
	if (st.st_dev != segment->seg.dev || st.st_ino != segment->seg.ino)
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

static void query_disk(struct archiver *archiver)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < archiver->n; i++) {
		struct archiver_segment *s = archiver->segments[i];
		bool over = s->fd >= 0 && now - s->closed_ns > WATCHED_NS;
		int r = s->fd < 0 ? 0 : disk_refused(s->fd);

		if (r == 0 && over) /* it was written long ago */
			disk_write_out(s->fd, s->seg.bytes, UINT64_MAX, &r);
		if (r < 0)
			note_refusal(archiver, s, r);
		else if (over)
			util_close(&s->fd);
	}
}

/* As the growing ones. */
static void to_disk(struct archiver *archiver)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + DISK_END_NS;

	for (size_t i = 0; i < archiver->n; i++) {
		struct archiver_segment *s = archiver->segments[i];
		int r;

		if (s->fd < 0)
			continue;
		util_count(&archiver->not_on_disk,
			   disk_write_out(s->fd, s->seg.bytes, is_set(&archiver->stop) ? 0 : until_ns, &r));
		if (r < 0)
			note_refusal(archiver, s, r);
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

static void take_handed(struct archiver *archiver)
{
	struct archiver_segment *segment = __atomic_exchange_n(&archiver->handed, NULL, __ATOMIC_ACQUIRE), *next,
				*first = NULL;
	size_t had = archiver->n;

	for (; segment; segment = next) { /* into the order of closing */
		next = segment->next;
		segment->next = first;
		first = segment;
	}
	pthread_mutex_lock(&archiver->lock);
	for (segment = first; segment; segment = next) {
		next = segment->next;
		if (util_room(&archiver->segments, archiver->n, sizeof(*archiver->segments)) < 0)
			free(segment);
		else
			archiver->segments[archiver->n++] = segment;
	}
	pthread_mutex_unlock(&archiver->lock);
	for (; had < archiver->n; had++)
		watch(archiver, archiver->segments[had]);
}

static void lower_priority(void)
{
	pid_t tid = thread_id();

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
	struct archiver *archiver = ctx;
	struct packer p = { 0 };
	bool ending = false;

	(void)!privileges_give_up(archiver->privileges, false); /* as the drain's */
	lower_priority();
	if (archiver->o.pack != PACK_NONE && packer_init(&p, archiver->o.pack) < 0)
		archiver->o.pack = PACK_NONE;
	while (!ending) {
		/* read before the list of handed-over segments is taken */
		ending = is_set(&archiver->ending);
		do {
			take_handed(archiver);
			archiver_hold_to_keep(archiver);
			query_disk(archiver);
		} while (archiver_pack_one(archiver, &p));
		if (ending)
			to_disk(archiver);
		__atomic_store_n(&archiver->cpu_ns, clock_now_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
		if (!ending)
			wait_for_work(archiver);
	}
	packer_free(&p);
	wake(archiver->done_fd);
	return NULL;
}

/* --- control plane -------------------------------------------------------------------------------- */

int archiver_init(struct archiver *archiver, const struct archiver_options *options, int dirfd)
{
	*archiver = (struct archiver){ .o = *options, .dirfd = dirfd, .wake_fd = -1, .done_fd = -1, .rollup.fd = -1 };
	pthread_mutex_init(&archiver->lock, NULL);
	rollup_init(&archiver->sums);
	if (!unpack_knows(options->pack))
		return -ENOTSUP;
	archiver->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	archiver->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (archiver->wake_fd < 0 || archiver->done_fd < 0)
		return -errno;
	return options->keep_bytes ? archiver_begin_to_drop(archiver) : 0;
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

void archiver_report(struct archiver *archiver, const char *dir)
{
	int error = __atomic_load_n(&archiver->error, __ATOMIC_RELAXED);

	if (error && !archiver->error_logged)
		log_warn("cannot compress a part of the trace in %s: %s; it stays as it is, and is tried again", dir,
			 strerror(-error));
	archiver->error_logged = error;
	archiver->over_for = __atomic_load_n(&archiver->over, __ATOMIC_RELAXED) ? archiver->over_for + 1 : 0;
	if (archiver->over_for == OVER_LOGGED_AFTER && !archiver->over_logged) {
		log_warn("%s takes more than --keep: rows are dropped as soon as they can be; marks, processes and "
			 "file names stay as long as they fit",
			 dir);
		archiver->over_logged = true;
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

void archiver_free(struct archiver *archiver)
{
	struct archiver_segment *segment, *next;

	if (archiver->wake_fd <= 0 && archiver->done_fd <= 0) /* never made: descriptors are 0, not -1 */
		return;
	__atomic_store_n(&archiver->stop, true, __ATOMIC_RELEASE);
	archiver_finish(archiver);
	for (segment = archiver->handed; segment; segment = next) {
		next = segment->next;
		free(segment);
	}
	for (size_t i = 0; i < archiver->n; i++) {
		util_close(&archiver->segments[i]->fd);
		free(archiver->segments[i]);
	}
	free(archiver->segments);
	sink_close(&archiver->rollup);
	rollup_free(&archiver->sums);
	util_close(&archiver->wake_fd);
	util_close(&archiver->done_fd);
	pthread_mutex_destroy(&archiver->lock);
	*archiver = (struct archiver){ .wake_fd = -1, .done_fd = -1 };
}
