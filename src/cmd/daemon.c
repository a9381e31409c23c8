/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced daemon', and `dltraced serve', which it starts for a connection. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "service/daemon.h"
#include "service/daemon_conf.h"
#include "service/served.h"

enum { KEY_CHECK = 0x100, KEY_KEYS };

struct daemon_args {
	const char *file;
	bool check, keys;
};

static const struct argp_option options[] = {
	{ "config", 'c', "FILE", 0, "Instead of " DAEMON_CONF_FILE ", with conf.d/ beside it", 0 },
	{ "check", KEY_CHECK, NULL, 0, "Only say what is wrong in the config", 0 },
	{ "keys", KEY_KEYS, NULL, 0, "Print the keys of the config, as source of a manual page", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct daemon_args *a = state->input;

	switch (key) {
	case 'c':
		a->file = arg;
		return 0;
	case KEY_CHECK:
		a->check = true;
		return 0;
	case KEY_KEYS:
		a->keys = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_daemon(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.doc = "The service, in the foreground, for systemd: traces what its config says, always, and lets the "
		       "members of a group trace their own processes without sudo.\v"
		       "SIGHUP reads the config again, SIGTERM ends all traces and then the service. See dltraced.conf(5) "
		       "and docs/service.md.",
	};
	struct daemon_args a = {};

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_DLTRACED;
	if (a.keys) {
		daemon_conf_keys(stdout);
		return 0;
	}
	if (a.check)
		return daemon_check(a.file ? a.file : DAEMON_CONF_FILE, !a.file);
	if (geteuid()) {
		log_err("the service is root's (as root: systemctl start dltraced)");
		return EXIT_DLTRACED;
	}
	return daemon_run(a.file ? a.file : DAEMON_CONF_FILE, !a.file);
}

int cmd_serve(int argc, char **argv)
{
	unsigned long long buffer = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
	int domain = 0;
	socklen_t size = sizeof(domain);

	if (!buffer || getsockopt(STDIN_FILENO, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_UNIX) {
		log_err("`dltraced daemon' starts this, for a user's connection");
		return EXIT_DLTRACED;
	}
	return served_run(buffer);
}
