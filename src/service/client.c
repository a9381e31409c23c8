/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of the service. It forks the workload itself, so that the workload has this process's cgroup, limits,
 * namespaces and terminal. The workload waits at its gate until the service says "go". From then on it depends neither
 * on this process nor on the service: it goes on when either ends.
 */
#include "service/service.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/util.h"
#include "collectors/kinds.h"
#include "host/background.h"
#include "host/rights/sudo_command.h"
#include "host/rights/workload_user.h"
#include "host/stall/guard.h"
#include "host/stall/proxy.h"
#include "job/relay.h"
#include "job/workload.h"
#include "kernel/tracer.h"
#include "os/loop.h"
#include "service/protocol.h"
#include "session/command.h"
#include "session/session.h"
#include "session/start_options.h"
#include "session/workload_environ.h"
#include "trace/config.h"
#include "trace/outdir.h"

#define ANSWER_MS 3000 /* loading seldom takes longer; if it does, a message says what this process waits for */

struct client {
	const struct config *cfg;
	char **argv;
	struct workload_user user;
	struct outdir dir;
	struct workload workload;
	struct loop loop;
	int log_fd, socket_fd, signal_fd, timer_fd;
	bool whole; /* the service has reported that the files are whole */
	bool went; /* the service has let the workload go */
	struct command_interrupts ended; /* whether signals have ended the trace before the workload */
};

bool client_needed(void)
{
	char error[512];

	return geteuid() && tracer_check(error, sizeof(error)) == -EPERM;
}

/* --- the service --------------------------------------------------------------------------------------- */

/* The path of the service's socket; tests have one of their own. */
static const char *socket_path(void)
{
	const char *other = getenv("DLTRACED_SOCKET");

	return other && *other ? other : SERVICE_SOCKET;
}

/* Returns a connection, or -errno after a message that says what to do. */
static int service_connect(const struct config *cfg)
{
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const struct passwd *pw = getpwuid(geteuid());
	enum log_level level = cfg->best_effort ? LOG_LEVEL_WARN : LOG_LEVEL_ERR;
	char hint[PATH_MAX];
	int r;

	if (fd < 0)
		return log_err_r(-errno, "a socket");
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", socket_path());
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return TAKE_FD(fd);
	r = -errno;
	if (r == -EACCES)
		log_msg(level,
			"not allowed to trace: run with sudo%s, or have yourself added to the group of the dltraced "
			"service (as root: usermod -aG " SERVICE_GROUP " %s; it counts from the next login)",
			sudo_hint(hint, sizeof(hint)), pw ? pw->pw_name : "NAME");
	else if (r == -ENOENT || r == -ECONNREFUSED) /* where the workload will run untraced, another warning says so */
		log_msg(cfg->best_effort && cfg->argv ? LOG_LEVEL_DEBUG : level,
			"not allowed to trace: run with sudo%s, or have the dltraced service started on this machine "
			"(as root: systemctl enable --now dltraced)",
			sudo_hint(hint, sizeof(hint)));
	else
		log_msg(level, "not allowed to trace, and %s: %s", addr.sun_path, strerror(-r));
	return r;
}

/* Returns an option that neither the service nor this process handles, so that only root may give it; NULL: none. */
static const char *for_root(const struct config *cfg)
{
	for (unsigned int i = 0; i < cfg->n_given; i++)
		if (!(option_find(start_options, cfg->given[i].name)->flags & (START_BY_SERVICE | START_BY_USER)))
			return cfg->given[i].name;
	return NULL;
}

static int send_request(struct client *client)
{
	int fds[SERVICE_PIDS_MAX + 1] = { client->dir.fd }, r;
	autofree char *text = NULL, *cwd = getcwd(NULL, 0);
	unsigned int n = 1;
	size_t len;

	if (client->workload.pid)
		fds[n++] = client->workload.pidfd;
	for (unsigned int i = 0; i < client->cfg->n_pids && n < ARRAY_SIZE(fds); i++, n++) {
		fds[n] = util_pidfd_open(client->cfg->pids[i]);
		if (fds[n] < 0) {
			r = log_err_r(fds[n], "--pid %d", client->cfg->pids[i]);
			goto out;
		}
	}
	r = service_request_pack(client->cfg, client->argv, client->user.environ ?: environ, cwd, &text, &len);
	if (!r)
		r = service_send(client->socket_fd, text, len, fds, n);
	if (r == -EPIPE) /* the service has refused already: await_go() receives the reason */
		r = 0;
	if (r < 0)
		log_err_r(r, "the dltraced service");
out:
	while (n > 1 + (client->workload.pid != 0))
		util_close(&fds[--n]);
	return r;
}

/* Reads one packet and passes on its text. Returns 0, or -errno at the end. */
static int listen_once(struct client *client)
{
	char word[SERVICE_WORD_MAX + 1];
	ssize_t n = service_recv(client->socket_fd, word, sizeof(word) - 1, NULL, 0, NULL);

	if (n < 0)
		return n == -EMSGSIZE || n == -E2BIG ? 0 : (int)n;
	word[n] = '\0';
	if (!strcmp(word, "go"))
		client->went = true;
	else if (!strcmp(word, "end"))
		client->whole = true;
	else
		log_pass(word);
	return 0;
}

/* Waits for "go". Returns 0 or an exit status. */
static int await_go(struct client *client)
{
	struct signalfd_siginfo si;
	struct pollfd fds[] = { { client->socket_fd, POLLIN, 0 }, { client->signal_fd, POLLIN, 0 } };
	int r = 0, timeout_ms = ANSWER_MS;

	while (!r && !client->went) {
		int n = poll(fds, ARRAY_SIZE(fds), timeout_ms);

		if (n == 0) { /* the service is busy, or does not answer */
			log_warn("the dltraced service has not answered yet; waiting for it; ^C or TERM ends the wait");
			timeout_ms = -1;
		}
		if (n <= 0)
			continue;
		if (fds[1].revents && read(client->signal_fd, &si, sizeof(si)) == sizeof(si))
			return 128 + (int)si.ssi_signo;
		if (fds[0].revents)
			r = listen_once(client);
		if (client->whole) /* the trace has ended without "go", and the service has said why */
			return EXIT_DLTRACED;
	}
	if (!client->went)
		log_err("the dltraced service has ended the connection");
	return client->went ? 0 : EXIT_DLTRACED;
}

/* --- start ----------------------------------------------------------------------------------------------- */

static void log_for_root(const char *option)
{
	if (!strcmp(option, "phase"))
		log_err("--phase is for root: the service runs no expressions of users; use --log, which keeps all "
			"lines, and `dltraced report --phase'");
	else
		log_err("--%s is for root: without sudo, dltraced traces your own processes only (--workload, --, "
			"--pid)",
			option);
}

static int step_command(struct client *client)
{
	const char *what = for_root(client->cfg);
	int r;

	if (what) {
		log_for_root(what);
		return EXIT_DLTRACED;
	}
	r = workload_user_get(&client->user, NULL);
	if (r < 0) {
		log_err_r(r, "who is tracing");
		return EXIT_DLTRACED;
	}
	return workload_environ_set(client->cfg, &client->user) < 0 ? EXIT_DLTRACED :
								      command_look(client->cfg, &client->user);
}

static int step_folder(struct client *c)
{
	char **env = c->user.environ ?: environ;

	return session_open_folder(&c->dir, c->cfg, env, &c->user) < 0 ? EXIT_DLTRACED : 0;
}

static int step_signals(struct client *c)
{
	int r = loop_init(&c->loop);

	c->signal_fd = r < 0 ? r : command_signals();
	if (c->signal_fd < 0)
		log_err_r(c->signal_fd, "signals");
	return c->signal_fd < 0 ? EXIT_DLTRACED : 0;
}

static int step_fork(struct client *c)
{
	return c->cfg->argv ? command_fork(&c->workload, c->cfg, &c->user, &c->dir, &c->log_fd) : 0;
}

static int step_request(struct client *c)
{
	return send_request(c) < 0 ? EXIT_DLTRACED : await_go(c);
}

static int step_go(struct client *c)
{
	return c->workload.pid ? command_go(&c->workload, c->cfg, &c->user) : 0;
}

/* --- while it runs --------------------------------------------------------------------------------------- */

static void report_end(struct client *c)
{
	const struct relay_log *log = c->workload.relay.log;
	const uint64_t lost = log ? __atomic_load_n(&log->lost_bytes, __ATOMIC_RELAXED) : 0;
	char word[SERVICE_WORD_MAX];

	if (c->socket_fd < 0)
		return;
	service_end_put(word, c->workload.status, lost, c->workload.usage);
	service_send(c->socket_fd, word, strlen(word), NULL, 0);
}

static void advance(struct client *c)
{
	bool runs = c->workload.pid && !c->workload.ended;

	if (c->socket_fd < 0 && (!runs || c->ended.signal))
		loop_quit(&c->loop);
}

static int on_service(void *ctx, int fd, uint32_t events)
{
	struct client *client = ctx;

	if (listen_once(client) < 0) {
		loop_del(&client->loop, fd);
		util_close(&client->socket_fd);
		if (!client->whole)
			log_err("the dltraced service has gone: the trace in %s may lack its end%s", client->dir.path,
				client->workload.pid && !client->workload.ended ? ", the workload goes on" : "");
	}
	advance(client);
	return 0;
}

static int on_workload(void *ctx, int fd, uint32_t events)
{
	struct client *c = ctx;

	if (workload_reap(&c->workload)) {
		loop_del(&c->loop, fd);
		workload_await_output(&c->workload);
		report_end(c);
	}
	advance(c);
	return 0;
}

static int on_signal(void *ctx, int fd, uint32_t events)
{
	struct client *client = ctx;

	if (!command_signalled(&client->workload, fd, false, &client->ended)) {
		if (client->ended.n == 1)
			loop_timer_set(client->timer_fd, COMMAND_GOES_ON_S * NSEC_PER_SEC, 0);
		return 0;
	}
	if (client->socket_fd >= 0)
		service_send(client->socket_fd, "stop", 4, NULL, 0);
	advance(client);
	return 0;
}

/* Called some seconds after the first ^C. */
static int on_timer(void *ctx, int fd, uint32_t events)
{
	struct client *c = ctx;
	uint64_t n;

	if (read(fd, &n, sizeof(n)) == sizeof(n) && c->ended.n == 1 && c->workload.pid && !c->workload.ended)
		command_log_goes_on();
	return 0;
}

static int watch(struct client *client)
{
	int r = loop_add(&client->loop, client->socket_fd, EPOLLIN, on_service, client);

	client->timer_fd = loop_timerfd(0);
	if (!r)
		r = client->timer_fd < 0 ? client->timer_fd :
					   loop_add(&client->loop, client->timer_fd, EPOLLIN, on_timer, client);

	if (!r)
		r = loop_add(&client->loop, client->signal_fd, EPOLLIN, on_signal, client);
	if (!r && client->workload.pid)
		r = loop_add(&client->loop, client->workload.pidfd, EPOLLIN, on_workload, client);
	return r < 0 ? r : loop_run(&client->loop);
}

/* --- end ------------------------------------------------------------------------------------------------- */

static int exit_code(const struct client *c)
{
	if (!c->workload.pid)
		return c->whole ? 0 : EXIT_DLTRACED;
	return c->workload.ended ? exit_code_of(c->workload.status) : 128 + c->ended.signal;
}

static int (*const steps[])(struct client *c) = {
	step_command, step_folder, step_signals, step_fork, step_request, step_go,
};

static int run(struct client *client)
{
	int code = client->cfg->background ? background_start() : 0;

	if (code)
		return code < 0 ? 0 : code;
	for (size_t i = 0; !code && i < ARRAY_SIZE(steps); i++)
		code = steps[i](client);
	if (code) {
		util_close(&client->socket_fd); /* so that the service writes nothing more there */
		stall_guard_begin(client->dir.path, code);
		outdir_discard(&client->dir, collectors_file);
		stall_guard_end();
		return code;
	}
	background_ready(client->dir.path,
			 BACKGROUND_BY_NAME); /* not by PID: `status' has that of the service's process */
	if (watch(client) < 0)
		return EXIT_DLTRACED;
	command_finish(client->cfg, &client->user, &client->dir, exit_code(client), client->whole);
	return exit_code(client);
}

int client_run(const struct config *cfg, char **argv)
{
	struct client c = {
		.cfg = cfg,
		.argv = argv,
		.dir.fd = -1,
		.dir.parent_fd = -1,
		.workload = WORKLOAD_NONE,
		.loop.epoll_fd = -1,
		.log_fd = -1,
		.signal_fd = -1,
		.timer_fd = -1,
	};
	int code;

	if (!cfg->background && proxy_stand(cfg->out, &code))
		return code;
	c.socket_fd = service_connect(cfg);
	if (c.socket_fd < 0)
		return cfg->best_effort && cfg->argv ? -1 : EXIT_DLTRACED;
	code = run(&c);
	workload_free(&c.workload);
	loop_free(&c.loop);
	outdir_close(&c.dir);
	util_close(&c.socket_fd);
	util_close(&c.signal_fd);
	util_close(&c.timer_fd);
	util_close(&c.log_fd);
	workload_user_free(&c.user);
	return code;
}
