/* SPDX-License-Identifier: BSD-2-Clause */
/* See relay.h. The thread also checks the space that is to stay free: that may be a request to a server. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "host/machine/space.h"
#include "job/relay.h"

#define ROOM (1U << 20)
#define PIECE (64U << 10)
#define STALLED_NS NSEC_PER_SEC
/* How often it checks the space: that may be a request to a file server. */
#define SPACE_CHECK_NS (100 * NSEC_PER_MSEC)
#define SPACE_CHECK_BYTES (256U << 10)

static struct {
	int fd;
	struct relay_log *log;
	struct space space; /* the thread's, as the two below */
	uint64_t looked_ns, since_look;

	pthread_mutex_t lock;
	pthread_cond_t moved; /* on CLOCK_MONOTONIC: data has come, or gone */
	uint64_t put, taken; /* bytes, from the start on */
	bool stalled;
	char text[ROOM];
} b = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool space_is_low(void)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	if (now - b.looked_ns >= SPACE_CHECK_NS || b.since_look >= SPACE_CHECK_BYTES) {
		space_look(&b.space, b.fd, __atomic_load_n(&b.log->min_free, __ATOMIC_RELAXED));
		b.looked_ns = now;
		b.since_look = 0;
	}
	return b.space.low;
}

static void count_lost(size_t len, int error)
{
	__atomic_store_n(&b.log->error, error, __ATOMIC_RELAXED);
	__atomic_fetch_add(&b.log->lost_bytes, len, __ATOMIC_RELAXED);
}

/* Output that does not get into the log is counted, and does not stop the output: space may return. */
static void write_piece(const char *text, size_t len)
{
	int error = 0;

	if (__atomic_load_n(&b.log->ended, __ATOMIC_RELAXED))
		return;
	b.since_look += len;
	while (len && !space_is_low()) {
		ssize_t n = write(b.fd, text, len);

		if (n < 0) {
			error = -errno;
			break;
		}
		__atomic_fetch_add(&b.log->written_bytes, (size_t)n, __ATOMIC_RELAXED);
		text += n;
		len -= (size_t)n;
	}
	if (len)
		count_lost(len, error);
}

static void *backlog_main(void *arg)
{
	pthread_mutex_lock(&b.lock);
	for (;;) {
		size_t at = b.taken % ROOM, len = MIN(MIN(b.put - b.taken, ROOM - at), PIECE);

		if (!len) {
			pthread_cond_wait(&b.moved, &b.lock);
			continue;
		}
		pthread_mutex_unlock(&b.lock);
		write_piece(b.text + at, len);
		pthread_mutex_lock(&b.lock);
		b.taken += len;
		b.stalled = false;
		pthread_cond_broadcast(&b.moved);
	}
	return NULL;
}

int backlog_start(int fd, struct relay_log *log)
{
	pthread_condattr_t attr;
	pthread_t thread;

	b.fd = fd;
	b.log = log;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b.moved, &attr);
	return -pthread_create(&thread, NULL, backlog_main, NULL);
}

/* With the lock: wait until the queue has moved, for NS. Returns false when it has not. */
static bool await_move(uint64_t ns)
{
	uint64_t until = clock_now_ns(CLOCK_MONOTONIC) + ns, taken = b.taken;
	struct timespec ts = { (time_t)(until / NSEC_PER_SEC), (long)(until % NSEC_PER_SEC) };

	while (b.taken == taken)
		if (pthread_cond_timedwait(&b.moved, &b.lock, &ts) == ETIMEDOUT)
			return b.taken != taken;
	return true;
}

/* With the lock: returns how much has room, waiting for room while the log accepts anything. */
static size_t room(void)
{
	while (b.put - b.taken == ROOM && !b.stalled)
		b.stalled = !await_move(STALLED_NS);
	return ROOM - (size_t)(b.put - b.taken);
}

void backlog_put(const char *text, size_t len)
{
	size_t n;

	pthread_mutex_lock(&b.lock);
	for (; len && (n = MIN(MIN(len, room()), ROOM - b.put % ROOM)); text += n, len -= n) {
		memcpy(b.text + b.put % ROOM, text, n);
		b.put += n;
		pthread_cond_broadcast(&b.moved);
	}
	pthread_mutex_unlock(&b.lock);
	if (len && !__atomic_load_n(&b.log->ended, __ATOMIC_RELAXED))
		count_lost(len, -ETIMEDOUT);
}

void backlog_await(int timeout_ms)
{
	uint64_t until = clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * NSEC_PER_MSEC, now;

	pthread_mutex_lock(&b.lock);
	while (b.put != b.taken) {
		now = clock_now_ns(CLOCK_MONOTONIC);
		if (timeout_ms >= 0 && now >= until)
			break;
		await_move(timeout_ms < 0 ? STALLED_NS : until - now);
	}
	pthread_mutex_unlock(&b.lock);
}
