/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many requests of a user the log has lines for: a member of the group can connect thousands of times a second, and
 * what others have in the log must stay there. The number of requests without lines is logged. Only uids are known
 * here: a look into the user database may take long, so the processes that handle a request do that.
 */
#include "service/daemon_impl.h"

#include "base/fmt.h"
#include "base/log.h"
#include "base/util.h"

#define BURST 40U
#define REFILL_NS (10 * NSEC_PER_SEC) /* for another request */

static void log_unlogged(struct log_quota *q)
{
	if (q->left_out)
		log_warn("user %u: %s without lines here, as they came too fast", q->uid,
			 FMT_N(q->left_out, "further request stayed", "further requests stayed"));
	q->left_out = 0;
}

/* Returns the entry of UID: a new one replaces the one that was unused for longest, whose count is logged first. */
static struct log_quota *entry_of(struct daemon *daemon, uid_t uid)
{
	struct log_quota *oldest = &daemon->quotas[0];

	for (size_t i = 0; i < ARRAY_SIZE(daemon->quotas); i++) {
		struct log_quota *q = &daemon->quotas[i];

		if (q->used_ns && q->uid == uid)
			return q;
		if (q->used_ns < oldest->used_ns)
			oldest = q;
	}
	log_unlogged(oldest);
	*oldest = (struct log_quota){ .uid = uid, .left = BURST, .refilled_ns = daemon_now() };
	return oldest;
}

static void refill(struct log_quota *q, uint64_t now_ns)
{
	uint64_t n = (now_ns - q->refilled_ns) / REFILL_NS;

	q->left = (unsigned int)MIN(q->left + n, (uint64_t)BURST);
	q->refilled_ns += n * REFILL_NS;
}

bool daemon_quota_take(struct daemon *d, uid_t uid)
{
	struct log_quota *q = entry_of(d, uid);
	uint64_t now_ns = daemon_now();

	q->used_ns = now_ns;
	refill(q, now_ns);
	if (!q->left) {
		q->left_out++;
		return false;
	}
	q->left--;
	return true;
}

void daemon_quota_tick(struct daemon *daemon)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemon->quotas); i++) {
		struct log_quota *q = &daemon->quotas[i];

		refill(q, daemon_now());
		if (q->left_out && q->left) {
			q->left--;
			log_unlogged(q);
		}
	}
}

void daemon_quota_end(struct daemon *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(d->quotas); i++)
		log_unlogged(&d->quotas[i]);
}
