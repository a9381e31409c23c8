/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the service, and the functions that its files share: daemon.c (config, signals, time), daemon_always.c,
 * daemon_users.c, daemon_child.c. One thread.
 */
#ifndef SERVICE_DAEMON_IMPL_H
#define SERVICE_DAEMON_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "os/loop.h"
#include "service/daemon_conf.h"

#define DAEMON_LEAVERS_MAX 4

struct child {
	pid_t pid; /* 0: none */
	int pidfd;
	uid_t uid; /* of the user whom it serves, if it serves one */
	uint64_t start_ns; /* CLOCK_MONOTONIC, as all times below */
	bool logged; /* the log has lines about it */
};

/* A connection that is refused. */
struct refusal {
	uid_t uid;
	const char *why; /* NULL: nothing is to be said */
	bool logged; /* the child logs it, too */
};

/* How many requests of a user the log may still have lines for. */
struct log_quota {
	uid_t uid;
	unsigned int left, left_out; /* left out since that was last logged */
	uint64_t used_ns, refilled_ns; /* 0: never */
};

/* An always-on trace. */
struct always {
	const struct daemon_trace *trace; /* in the config; NULL: the config has it no longer, and it ends */
	char name[DAEMON_NAME_MAX];
	struct child child;
	uint64_t again_ns, backoff_ns; /* when it is to be started again; the length of that delay */
	bool restart; /* it is ending, and will start again with the new config */
};

struct daemon {
	const char *file;
	bool may_lack;
	struct daemon_conf conf;
	struct loop loop;
	int signal_fd, tick_fd, listen_fd;
	struct always always[2 * DAEMON_TRACES_MAX];
	struct child users[DAEMON_USERS_MAX];
	struct child leavers[DAEMON_LEAVERS_MAX + 1]; /* each closes a refused connection; the last one, the socket */
	struct log_quota quotas[DAEMON_USERS_MAX];
	bool full; /* all leavers are busy, so no connection is accepted until one has ended */
	uint64_t retain_ns; /* when the state folder was last checked */
	uint64_t stop_ns; /* since when the service is stopping; 0: it is not */
	bool users_stopped, killed;
};

static inline uint64_t daemon_now(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

/* daemon.c: sends FIRST and the number of traces to systemd, if the service was started by it. */
void daemon_notify(struct daemon *d, const char *first);

/*
 * prune.c: removes traces from the folder STATE: those that ended more than KEEP_NS before NOW_NS (CLOCK_REALTIME;
 * KEEP_NS 0: none), and the oldest until at most KEEP_BYTES remain (0: any number). A trace that is being written is
 * locked, and stays. Calls REPORT for each trace that was to be removed, with its path below STATE, its bytes, and the
 * error or 0. Returns how many were removed, or -errno when STATE cannot be read.
 */
int prune_traces(const char *state, uint64_t keep_bytes, uint64_t keep_ns, uint64_t now_ns,
		 void (*report)(const char *path, uint64_t bytes, int error));

/* --- daemon_child.c -------------------------------------------------------------------------------------- */

/*
 * Starts this program with ARGV as the child C, with *CONNECTION (-1: /dev/null) as its standard input; closes
 * *CONNECTION here once the child is forked. FN is called when the child has ended. Returns 0 or -errno.
 */
int daemon_spawn(struct daemon *d, struct child *c, char *const argv[], int *connection, loop_fn fn);
/*
 * Hands *FD over to a child CHILD, which calls LAST with it and WHAT, and exits. So closing *FD, which may take long,
 * delays only the child. Closes *FD here once the child is forked. FN is called when the child has ended. Returns 0 or
 * -errno.
 */
int daemon_leave(struct daemon *daemon, struct child *child, int *fd, void (*last)(int fd, const struct refusal *what),
		 const struct refusal *what, loop_fn fn);
/* Returns true once when C has ended, with the raw status. */
bool daemon_reap(struct daemon *d, struct child *c, int *status);
/* Returns how a child ended, in words. */
const char *daemon_end_of(int status, char buf[64]);
/* Sends a signal to the child, if there is one. */
void daemon_signal(const struct child *c, int sig);

enum daemon_children {
	DAEMON_ALWAYS = 1,
	DAEMON_USERS = 2,
	DAEMON_NOT_HELD =
		4, /* of these, not the killed ones that a file server holds in the kernel: they may never end */
};
/* Sends SIG (0: none) to the children WHICH; returns how many there are. */
unsigned int daemon_children(const struct daemon *d, unsigned int which, int sig);

/* --- daemon_quota.c -------------------------------------------------------------------------------------- */

/* Whether the log may have lines about another request of UID. One that it has no lines for is counted. */
bool daemon_quota_take(struct daemon *d, uid_t uid);
/* Logs the counts of users whose requests may have lines again. Call it each second. */
void daemon_quota_tick(struct daemon *daemon);
/* Logs the counts of all users. */
void daemon_quota_end(struct daemon *d);

/* --- daemon_always.c ------------------------------------------------------------------------------------- */

/* Ends, restarts and plans always-on traces so that they match the current config. OLD is the previous one, or NULL. */
void daemon_always_apply(struct daemon *daemon, const struct daemon_conf *old);
/* Starts the traces that are due. */
void daemon_always_tick(struct daemon *d);

/* --- daemon_users.c -------------------------------------------------------------------------------------- */

/* Sets *RET to the group that may connect, by the config. Returns 0, or -ENOENT after a message. */
int daemon_group(const struct daemon_conf *conf, gid_t *ret);
/* Listens for users, if the config wants that. Returns 0, or -errno after a message. */
int daemon_listen(struct daemon *daemon);
/* Stops listening. */
void daemon_listen_end(struct daemon *daemon);

#endif
