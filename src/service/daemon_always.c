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

static void always_start(struct daemon *daemon, struct always *always)
{
	autofree char *out = util_fmt("--output=%s/%s/%%t_%%p", daemon->conf.state, always->name);
	autofree char *name = util_fmt("--experiment=%s", always->name); /* the name in status */
	char *argv[DAEMON_WORDS_MAX + 8] = { "dltraced", "start", "--report=none", out, name };
	unsigned int n = 5;
	int r, none = -1;

	for (unsigned int i = 0; i < always->trace->n_words; i++)
		argv[n++] = always->trace->words[i];
	r = out && name ? daemon_spawn(daemon, &always->child, argv, &none, on_always) : -ENOMEM;
	if (r < 0) {
		log_err_r(r, "[trace %s] cannot be started", always->name);
		always_try_later(always);
		return;
	}
	always->restart = false;
	log_info("[trace %s] started as process %d, in %s/%s; an option --KEY in its messages is KEY in this section",
		 always->name, always->child.pid, daemon->conf.state, always->name);
}

static int on_always(void *ctx, int fd, uint32_t events)
{
	struct daemon *daemon = ctx;
	char how[64];
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->always); i++) {
		struct always *always = &daemon->always[i];
		uint64_t start_ns = always->child.start_ns;

		if (!daemon_reap(daemon, &always->child, &status))
			continue;
		if (!always->trace || daemon->stop_ns || always->restart) {
			log_info("[trace %s] has ended", always->name);
			if (!always->trace)
				*always = (struct always){};
			always->again_ns = 0;
			continue;
		}
		if (daemon_now() - start_ns > SETTLED_NS)
			always->backoff_ns = 0;
		always_try_later(always);
		log_warn("[trace %s] %s: started again in %llu s", always->name, daemon_end_of(status, how),
			 (unsigned long long)(always->backoff_ns / NSEC_PER_SEC));
	}
	daemon_notify(daemon, "");
	return 0;
}

static struct always *always_find(struct daemon *daemon, const char *name)
{
	struct always *unused = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->always); i++) {
		if (!strcmp(daemon->always[i].name, name))
			return &daemon->always[i];
		if (!*daemon->always[i].name && !unused)
			unused = &daemon->always[i];
	}
	return unused;
}

void daemon_always_apply(struct daemon *daemon, const struct daemon_conf *old)
{
	struct daemon_conf *conf = &daemon->conf;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->always); i++)
		daemon->always[i].trace = NULL;
	for (unsigned int i = 0; i < conf->n_traces; i++) {
		const struct daemon_trace *trace = &conf->traces[i], *before = NULL;
		struct always *always = trace->enabled ? always_find(daemon, trace->name) : NULL;

		for (unsigned int k = 0; old && k < old->n_traces; k++)
			if (!strcmp(old->traces[k].name, trace->name))
				before = &old->traces[k];
		if (!always)
			continue;
		strcpy(always->name, trace->name);
		always->trace = trace;
		always->again_ns = always->backoff_ns = 0;
		if (always->child.pid &&
		    (!before || !daemon_trace_same(before, trace) || strcmp(old->state, conf->state))) {
			always->restart = true;
			daemon_signal(&always->child, SIGTERM);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(daemon->always); i++) {
		struct always *a = &daemon->always[i];

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
