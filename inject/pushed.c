/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See pushed.h. A signal handler may push and pop at any moment, also while its thread is in here: so a place is taken
 * before it is filled, and given back after it has been read, and places are given back by their owner alone.
 */
#include "pushed.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum state {
	FREE, /* also while it is being filled */
	OPEN,
	POPPED, /* while others above it are open */
};

struct pushed {
	volatile unsigned int n, beyond; /* BEYOND: how many did not fit */
	struct place {
		struct range range;
		volatile int level;
		volatile enum state state;
	} v[PUSHED_MAX];
};

static pthread_key_t
	key; /* and no thread-local variable: there may be no room for one in a process that runs already */
static int have_key;

static void thread_ends(void *p)
{
	munmap(p, sizeof(struct pushed));
}

static void init(void)
{
	have_key = !pthread_key_create(&key, thread_ends);
}

void pushed_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init);
}

/* Returns the thread's, NULL: memory is out. Only the pages of places that are used take memory. */
static struct pushed *pushed_make(void)
{
	int saved = errno;
	struct pushed *p;

	p = !have_key ?
		    MAP_FAILED :
		    mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p != MAP_FAILED && pthread_setspecific(key, p)) {
		munmap(p, sizeof(*p));
		p = MAP_FAILED;
	}
	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

static struct pushed *pushed_get(void)
{
	return have_key ? pthread_getspecific(key) : NULL;
}

/* Returns the last of the N places that is open and of DOMAIN, or NULL. */
static struct place *last_of(struct pushed *p, unsigned int n, const struct text *domain)
{
	while (n--)
		if (p->v[n].state == OPEN && p->v[n].range.domain == domain)
			return &p->v[n];
	return NULL;
}

int pushed_push(const struct label *label)
{
	static bool reported;
	struct pushed *pushed = pushed_get() ?: pushed_make();
	const struct place *outer;
	struct place *place;
	unsigned int at;

	if (!pushed)
		return NVTX_NO_LEVELS;
	at = pushed->n;
	if (at == PUSHED_MAX) {
		label_lost(&reported, "ranges pushed within " LABEL_LIMIT(PUSHED_MAX) " others of their thread");
		return (int)(PUSHED_MAX + pushed->beyond++);
	}
	pushed->n = at + 1;
	atomic_signal_fence(memory_order_seq_cst);
	place = &pushed->v[at];
	outer = last_of(pushed, at, label->domain);
	place->level = outer ? outer->level + 1 : 0;
	label_begin(&place->range, label);
	atomic_signal_fence(memory_order_seq_cst);
	place->state = OPEN;
	return place->level;
}

int pushed_pop(const struct text *domain)
{
	struct pushed *pushed = pushed_get();
	struct place *place;
	unsigned int n;
	int level;

	if (!pushed)
		return -1;
	if (pushed->beyond)
		return (int)(PUSHED_MAX + --pushed->beyond);
	n = pushed->n;
	place = last_of(pushed, n, domain);
	if (!place)
		return -1;
	level = place->level;
	dltraced_end(&place->range.region);
	atomic_signal_fence(memory_order_seq_cst);
	place->state = POPPED;
	while (n && pushed->v[n - 1].state == POPPED) {
		pushed->v[n - 1].state = FREE;
		pushed->n = --n;
	}
	return level;
}
