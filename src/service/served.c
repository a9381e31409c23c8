/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace that a user without rights has requested from the service. The client may be hostile: docs/service.md. */
#include "service/service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/util.h"
#include "host/rights/creds.h"
#include "host/rights/user_name.h"
#include "service/protocol.h"
#include "session/borrowed.h"
#include "session/session.h"
#include "session/start_options.h"
#include "trace/config.h"

#define GROUPS_MAX 65536
#define STATUS_WAIT_NS (2 * NSEC_PER_SEC)

struct served {
	struct config *cfg; /* the session has it const; here the steps below fill it in from the request */
	int fd; /* to the client; -1: the client has gone */
	bool logged; /* the journal may have lines about it */
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned, until served_user() */
	size_t n_groups;
	pid_t client;
	struct service_request rq;
	uint64_t over_ns; /* CLOCK_MONOTONIC when the workload ended, its status being unknown at first; 0: it runs */
};

/* --- the request ------------------------------------------------------------------------------------ */

/* Asks the kernel whose connection this is; from now on this process works for that user. Returns 0 or -errno. */
static int become_peer(struct served *sv)
{
	autofree gid_t *groups = calloc(GROUPS_MAX, sizeof(*groups));
	struct ucred peer;
	socklen_t size = sizeof(peer), bytes = GROUPS_MAX * sizeof(*groups);

	if (!groups)
		return -ENOMEM;
	if (getsockopt(sv->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
	    getsockopt(sv->fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) < 0)
		return -errno;
	if (!peer.uid)
		return -EPERM;
	sv->uid = peer.uid;
	sv->gid = peer.gid;
	sv->client = peer.pid;
	sv->n_groups = bytes / sizeof(*groups);
	sv->groups = TAKE_PTR(groups);
	return creds_work_for(peer.uid, peer.gid, sv->groups, sv->n_groups);
}

static int receive(struct served *sv)
{
	struct timeval wait = { .tv_sec = SERVICE_ANSWER_S };
	autofree char *text = malloc(SERVICE_REQUEST_MAX);
	struct service_request *rq = &sv->rq;
	ssize_t len;
	int r;

	if (!text)
		return -ENOMEM;
	setsockopt(sv->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	len = service_recv(sv->fd, text, SERVICE_REQUEST_MAX, rq->fds, ARRAY_SIZE(rq->fds), &rq->n_fds);
	r = len < 0 ? (int)len : service_request_parse(rq, text, (size_t)len);
	if (r < 0)
		return r;
	return rq->n_fds < 2 || rq->n_fds > 1 + (rq->argv != NULL) + CONFIG_LIST_MAX ? -EPROTO : 0;
}

/* Makes a config of the request. Returns NULL, or what is wrong with it. */
static const char *configure(struct config *cfg, struct served *sv, char *why, size_t size)
{
	struct option_parse p = { .into = cfg };
	const char *wrong;

	start_config_defaults(cfg);
	for (unsigned int i = 0; i < sv->rq.n_options; i++) {
		const struct config_given *given = &sv->rq.options[i];
		const struct option_row *row = option_find(start_options, given->name);

		if (!row || !service_option_allowed(given->name)) {
			snprintf(why, size, "--%s: not available through the service", given->name);
			return why;
		}
		wrong = option_set(&p, row, (char *)given->value);
		if (wrong) {
			snprintf(why, size, "--%s '%s': %s", given->name, given->value ? given->value : "", wrong);
			return why;
		}
	}
	if (cfg->access == ACCESS_WATCH ||
	    cfg->access == ACCESS_PMU) /* whoever accesses that address, or anything, pays for it */
		return "--access watch and pmu: not available through the service, as they slow other users' processes";
	cfg->argv = sv->rq.argv;
	cfg->log = sv->rq.log && cfg->argv;
	cfg->n_pids =
		sv->rq.n_fds - 1 - (cfg->argv != NULL); /* which ones: served_targets() gets that from their pidfds */
	return start_config_finish(cfg);
}

/* --- the session's steps ------------------------------------------------------------------------------ */

static struct served *served_of(const struct session *s)
{
	return session_of(s);
}

static int served_user(struct session *session)
{
	struct served *sv = served_of(session);
	const struct borrower b = {
		.uid = sv->uid,
		.gid = sv->gid,
		.groups = TAKE_PTR(sv->groups),
		.n_groups = sv->n_groups,
		.client = sv->client,
		.environ = sv->rq.environ,
		.cwd = sv->rq.cwd,
	};

	return session_work_for(session, &b);
}

static int served_targets(struct session *session)
{
	struct served *sv = served_of(session);
	const struct service_request *rq = &sv->rq;
	struct config *cfg = sv->cfg;

	cfg->n_pids = 0;
	for (unsigned int i = 1 + (rq->argv != NULL); i < rq->n_fds; i++) {
		pid_t pid = session_target(session, rq->fds[i]);

		if (pid < 0)
			return EXIT_DLTRACED;
		cfg->pids[cfg->n_pids++] = pid;
	}
	return session_targets_checked(session, rq->argv ? rq->fds[1] : -1);
}

static int served_folder(struct session *session)
{
	struct served *sv = served_of(session);
	int fd = sv->rq.fds[0];

	sv->rq.fds[0] = -1; /* the session owns it from here on, also after an error */
	return session_folder_take(session, fd, sv->uid);
}

static int served_adopt(struct session *session)
{
	struct service_request *rq = &served_of(session)->rq;
	int fd = rq->argv ? rq->fds[1] : -1;

	if (rq->argv)
		rq->fds[1] = -1; /* likewise */
	return session_workload_take(session, fd);
}

static void client_gone(struct session *session)
{
	struct served *sv = served_of(session);

	session_unwatch(session, sv->fd);
	/* from now on messages go to our own stderr, which is the journal; standard output is /dev/null */
	log_to(sv->logged ? STDERR_FILENO : STDOUT_FILENO);
	log_errors_also(-1, NULL);
	util_close(&sv->fd);
	if (sv->over_ns)
		session_workload_known(session, NULL);
}

static int on_client(void *ctx, int fd, uint32_t events)
{
	struct session *session = ctx;
	char word[SERVICE_WORD_MAX + 1];
	ssize_t n = service_recv(fd, word, sizeof(word) - 1, NULL, 0, NULL);
	struct service_end end;

	if (n == -EAGAIN || n == -E2BIG || n == -EMSGSIZE)
		return 0;
	if (n < 0) {
		client_gone(session);
		return 0;
	}
	word[n] = '\0';
	if (service_end_parse(&end, word)) {
		session_workload_known(session, &(struct workload_end){ end.status, end.has_usage ? end.usage : NULL,
									end.lost });
	} else if (!strcmp(word, "stop")) {
		log_debug("the client requests the end");
		session_is_over(session);
	}
	return 0;
}

/* Lets the client start the workload, and reads its messages from now on. */
static int served_go(struct session *s)
{
	int fd = served_of(s)->fd, r = service_send(fd, "go", 2, NULL, 0);

	log_errors_also(-1, NULL); /* what comes now is no refusal any more, and the client's alone */
	if (!r)
		r = session_watch(s, fd, on_client);
	if (r < 0)
		log_err_r(r, "the client");
	return r < 0 ? EXIT_DLTRACED : 0;
}

/* The status is still unknown: only the client, the workload's parent, gets it, and sends it. */
static void served_workload_ended(struct session *s, int fd)
{
	struct served *sv = served_of(s);

	session_workload_over(s, fd);
	sv->over_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (sv->fd < 0)
		session_workload_known(s, NULL);
}

/* Ends the wait for the workload's status when it takes too long. */
static void served_tick(struct session *s)
{
	uint64_t over_ns = served_of(s)->over_ns;

	if (over_ns && clock_now_ns(CLOCK_MONOTONIC) - over_ns > STATUS_WAIT_NS)
		session_workload_known(s, NULL);
}

/* Ends the connection by shutdown(2), which takes effect even while threads that hang still use the descriptor. */
static void served_hang_up(struct session *s)
{
	struct served *sv = served_of(s);

	if (sv->fd >= 0)
		shutdown(sv->fd, SHUT_RDWR);
	util_close(&sv->fd);
}

static const struct session_kind of_user = {
	.remote = true,
	.user = served_user,
	.targets = served_targets,
	.folder = served_folder,
	.fork = served_adopt,
	.go = served_go,
	.workload_ended = served_workload_ended,
	.tick = served_tick,
	.hang_up = served_hang_up,
};

/* --- one trace ---------------------------------------------------------------------------------------- */

/*
 * Takes the connection from our standard input and moves it to another descriptor, so that no child inherits it.
 * Returns 0 or -errno.
 */
static int take_connection(struct served *sv)
{
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	sv->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (sv->fd < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static const char *why_refused(int r)
{
	if (r == -EPROTONOSUPPORT)
		return "the service runs another version of dltraced: restart it";
	return r == -EAGAIN ? "it did not arrive" : strerror(-r);
}

/* The client has refused what its user wants by itself, for instance --all, or was killed: nothing is refused here. */
static void note_no_request(const struct served *sv)
{
	char name[USER_NAME_MAX];

	log_errors_also(-1, NULL);
	log_to(STDERR_FILENO);
	if (sv->logged)
		log_info("process %d for user %s has no request: the client went without one", getpid(),
			 user_name(sv->uid, name));
}

static int serve(struct served *sv, uint64_t max_buffer_bytes)
{
	struct config *cfg = sv->cfg;
	char why[512];
	const char *wrong;
	char *argv[] = { "dltraced", NULL };
	int r = receive(sv);

	if (r == -ECONNRESET) {
		note_no_request(sv);
		return EXIT_DLTRACED;
	}
	if (r < 0) {
		log_err("the request: %s", why_refused(r));
		return EXIT_DLTRACED;
	}
	wrong = configure(cfg, sv, why, sizeof(why));
	if (wrong) {
		log_err("%s", wrong);
		return EXIT_DLTRACED;
	}
	cfg->buffer_bytes = MIN(cfg->buffer_bytes ? cfg->buffer_bytes : UINT64_MAX, max_buffer_bytes);
	log_set_level(cfg->log_level);
	fcntl(sv->fd, F_SETFL,
	      O_NONBLOCK); /* messages go there and must not wait: a client that does not read loses them */
	return session_run_as(&of_user, sv, cfg, sv->rq.cmdline[0] ? sv->rq.cmdline : argv);
}

int served_run(uint64_t max_buffer_bytes, bool logged)
{
	char name[USER_NAME_MAX];
	autofree char *refused = NULL;
	autofree struct config *cfg = calloc(1, sizeof(*cfg));
	struct served sv = { .cfg = cfg, .fd = -1, .logged = logged };
	int r = cfg ? take_connection(&sv) : -ENOMEM, code;

	if (!r)
		r = become_peer(&sv);
	if (r < 0) {
		if (logged)
			log_err_r(r, "a user's connection");
		return EXIT_DLTRACED;
	}
	log_to(sv.fd);
	if (logged)
		refused = util_fmt("process %d for user %s is refused: ", getpid(), user_name(sv.uid, name));
	if (refused)
		log_errors_also(STDERR_FILENO, refused);
	code = serve(&sv, max_buffer_bytes);
	log_errors_also(-1, NULL);
	log_to(STDERR_FILENO);
	if (sv.fd >= 0)
		service_send(sv.fd, "end", 3, NULL, 0);
	util_close(&sv.fd);
	service_request_free(&sv.rq);
	free(sv.groups);
	return code;
}
