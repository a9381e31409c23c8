/* SPDX-License-Identifier: BSD-2-Clause */
/* The always-on traces of the config: starts and restarts them, and applies a new config. */
#include "service/daemon_impl.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"

#define BACKOFF_MIN_NS NSEC_PER_SEC
#define BACKOFF_MAX_NS (60 * NSEC_PER_SEC)
#define SETTLED_NS (60 * NSEC_PER_SEC) /* after a run of this length, the delay begins at its minimum again */

static int on_always(void *ctx, int fd, uint32_t events);

static void always_try_later(struct always *a)
{
	a->backoff_ns = MIN(a->backoff_ns ? 2 * a->backoff_ns : BACKOFF_MIN_NS, BACKOFF_MAX_NS);
	a->again_ns = daemon_now() + a->backoff_ns;
}

static void always_start(struct daemon *d, struct always *a)
{
	autofree char *out = util_fmt("--output=%s/%s/%%t_%%p", d->conf.state, a->name);
	autofree char *name = util_fmt("--experiment=%s", a->name); /* the name in status */
	char *argv[DAEMON_WORDS_MAX + 8] = { "dltraced", "start", "--no-report", out, name };
	unsigned int n = 5;
	int r, none = -1;

	for (unsigned int i = 0; i < a->trace->n_words; i++)
		argv[n++] = a->trace->words[i];
	r = out && name ? daemon_spawn(d, &a->child, argv, &none, on_always) : -ENOMEM;
	if (r < 0) {
		log_err_r(r, "[trace %s] cannot be started", a->name);
		always_try_later(a);
		return;
	}
	a->restart = false;
	log_info("[trace %s] started as process %d, in %s/%s; an option --KEY in its messages is KEY in this section", a->name, a->child.pid, d->conf.state, a->name);
}

static int on_always(void *ctx, int fd, uint32_t events)
{
	struct daemon *d = ctx;
	char how[64];
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++) {
		struct always *a = &d->always[i];
		uint64_t start_ns = a->child.start_ns;

		if (!daemon_reap(d, &a->child, &status))
			continue;
		if (!a->trace || d->stop_ns || a->restart) {
			log_info("[trace %s] has ended", a->name);
			if (!a->trace)
				*a = (struct always){};
			a->again_ns = 0;
			continue;
		}
		if (daemon_now() - start_ns > SETTLED_NS)
			a->backoff_ns = 0;
		always_try_later(a);
		log_warn("[trace %s] %s: started again in %llu s", a->name, daemon_end_of(status, how),
			 (unsigned long long)(a->backoff_ns / NSEC_PER_SEC));
	}
	daemon_notify(d, "");
	return 0;
}

static struct always *always_find(struct daemon *d, const char *name)
{
	struct always *unused = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++) {
		if (!strcmp(d->always[i].name, name))
			return &d->always[i];
		if (!*d->always[i].name && !unused)
			unused = &d->always[i];
	}
	return unused;
}

void daemon_always_apply(struct daemon *d, const struct daemon_conf *old)
{
	struct daemon_conf *c = &d->conf;

	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++)
		d->always[i].trace = NULL;
	for (unsigned int i = 0; i < c->n_traces; i++) {
		const struct daemon_trace *t = &c->traces[i], *before = NULL;
		struct always *a = t->enabled ? always_find(d, t->name) : NULL;

		for (unsigned int k = 0; old && k < old->n_traces; k++)
			if (!strcmp(old->traces[k].name, t->name))
				before = &old->traces[k];
		if (!a)
			continue;
		strcpy(a->name, t->name);
		a->trace = t;
		a->again_ns = a->backoff_ns = 0;
		if (a->child.pid && (!before || !daemon_trace_same(before, t) || strcmp(old->state, c->state))) {
			a->restart = true;
			daemon_signal(&a->child, SIGTERM);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++) {
		struct always *a = &d->always[i];

		if (*a->name && !a->trace && a->child.pid)
			daemon_signal(&a->child, SIGTERM);
		else if (*a->name && !a->trace)
			*a = (struct always){};
	}
}

void daemon_always_tick(struct daemon *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++) {
		struct always *a = &d->always[i];

		if (a->trace && !a->child.pid && daemon_now() >= a->again_ns)
			always_start(d, a);
	}
}
