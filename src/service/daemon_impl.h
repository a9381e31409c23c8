/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the service, and what its files ask of each other: daemon.c (config, signals, time), daemon_always.c,
 * daemon_users.c, daemon_child.c. One thread.
 */
#ifndef SERVICE_DAEMON_IMPL_H
#define SERVICE_DAEMON_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"
#include "base/util.h"
#include "service/daemon_conf.h"

#define DAEMON_LEAVERS_MAX 4

struct child {
	pid_t pid; /* 0: none */
	int pidfd;
	uid_t uid;	   /* a user's */
	uint64_t start_ns; /* CLOCK_MONOTONIC, also below */
};

/* An always-on trace. */
struct always {
	const struct daemon_trace *trace; /* of the config; NULL: it is no more, and ends */
	char name[DAEMON_NAME_MAX];
	struct child child;
	uint64_t again_ns, backoff_ns; /* when it is tried again; how long that was */
	bool restart;		       /* it ends, to begin with what the config says now */
};

struct daemon {
	const char *file;
	bool may_lack;
	struct daemon_conf conf;
	struct loop loop;
	int signal_fd, tick_fd, listen_fd;
	struct always always[2 * DAEMON_TRACES_MAX];
	struct child users[DAEMON_USERS_MAX];
	struct child leavers[DAEMON_LEAVERS_MAX + 1]; /* of refused connections; the last one of the socket itself */
	bool full; /* no more is accepted until one of them has ended */
	uint64_t retain_ns; /* when it was looked at the state folder last */
	uint64_t stop_ns;   /* stopping since; 0: not */
	bool users_stopped, killed;
};

static inline uint64_t daemon_now(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

/* daemon.c: a line for systemd, if it has started us: FIRST and how many traces there are. */
void daemon_notify(struct daemon *d, const char *first);

/*
 * prune.c: keep at most KEEP_BYTES of whole traces in the folder STATE (0: any number), and none that ended more than
 * KEEP_NS before NOW_NS (CLOCK_REALTIME; KEEP_NS 0: any age): the oldest go first. One that is being written is locked and
 * stays. REPORT has each that goes, with its path below STATE and its bytes. How many have gone, or -errno when STATE
 * cannot be read.
 */
int prune_traces(const char *state, uint64_t keep_bytes, uint64_t keep_ns, uint64_t now_ns,
		 void (*report)(const char *path, uint64_t bytes, int error));

/* --- daemon_child.c -------------------------------------------------------------------------------------- */

/*
 * Start ourselves with ARGV as the child C, with *CONNECTION (-1: /dev/null) as its standard input, which is closed here
 * unless nothing was forked; FN is called when it has ended. 0 or -errno.
 */
int daemon_spawn(struct daemon *d, struct child *c, char *const argv[], int *connection, loop_fn fn);
/*
 * Leave *FD to a child C, which calls LAST with it and TEXT, and ends: within a moment, whatever closing *FD takes. It is
 * closed here unless nothing was forked; FN is called when the child has ended. 0 or -errno.
 */
int daemon_leave(struct daemon *d, struct child *c, int *fd, void (*last)(int fd, const char *text), const char *text,
		 loop_fn fn);
/* Whether it has ended, which is told once, with the raw status. */
bool daemon_reap(struct daemon *d, struct child *c, int *status);
/* How a child has ended, in words. */
const char *daemon_end_of(int status, char buf[64]);
/* A signal to the child, if there is one. */
void daemon_signal(const struct child *c, int sig);

enum daemon_children {
	DAEMON_ALWAYS = 1,
	DAEMON_USERS = 2,
	DAEMON_NOT_HELD = 4, /* but for those that are killed and held by a file server: nobody can wait for them */
};
/* How many of those there are, each of which gets the signal SIG; 0: none. */
unsigned int daemon_children(const struct daemon *d, unsigned int which, int sig);

/* --- daemon_always.c ------------------------------------------------------------------------------------- */

/* They are to be what the config says now; OLD is the one from before, or NULL. */
void daemon_always_apply(struct daemon *d, const struct daemon_conf *old);
/* Those whose time has come are started. */
void daemon_always_tick(struct daemon *d);

/* --- daemon_users.c -------------------------------------------------------------------------------------- */

/* Who may ask, by the config. 0, or -ENOENT, which has been said. */
int daemon_group(const struct daemon_conf *c, gid_t *ret);
/* Listen for users, if the config wants that. 0, or -errno, which has been said. */
int daemon_listen(struct daemon *d);
/* Nobody can ask any more. */
void daemon_listen_end(struct daemon *d);

#endif
