/* SPDX-License-Identifier: BSD-2-Clause */
#include "lookout.h"

#include <errno.h>
#include <sys/stat.h>

#include "util.h"

#define HANGS_NS (3 * NSEC_PER_SEC)

/* Removed by somebody: what is written now would reach nobody, and take space all the same. */
static bool is_gone(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? errno == ESTALE : st.st_nlink == 0;
}

static void ask(void *ctx)
{
	struct lookout_answer *a = ctx;

	a->gone = is_gone(a->fd);
	a->error = space_look(&a->space, a->fd, a->min_free);
}

bool lookout_ask(struct lookout *l, int fd, uint64_t min_free, int wait_ms)
{
	if (!l->chore.busy) {
		l->asked = (struct lookout_answer){ .fd = fd, .min_free = min_free, .space = l->space };
		if (chore_begin(&l->chore, ask, &l->asked) < 0)
			return false;
	}
	/* who has not answered for so long is not waited for at every look */
	if (!chore_wait(&l->chore, lookout_hangs(l) ? 0 : wait_ms))
		return false;
	if (!l->asked.error)
		l->space = l->asked.space;
	l->gone = l->asked.gone;
	l->answered = true;
	return true;
}

bool lookout_hangs(const struct lookout *l)
{
	return chore_busy_ns(&l->chore) > HANGS_NS;
}
