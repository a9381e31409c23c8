/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced daemon', and `dltraced serve', which it starts for each connection. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/options.h"
#include "cmd/cmd.h"
#include "service/daemon_conf.h"
#include "service/service.h"

struct daemon_args {
	const char *file;
	bool check, keys;
};

static const struct option_row options[] = {
	{ "config", 'c', "FILE", "The config, instead of " DAEMON_CONF_FILE "; conf.d/ beside it is read, too",
	  option_text, offsetof(struct daemon_args, file) },
	{ "check", 0, NULL, "Only check the config, and list all its mistakes", option_true,
	  offsetof(struct daemon_args, check) },
	{ "keys", 0, NULL, "Print the keys of the config as the source of a manual page", option_true,
	  offsetof(struct daemon_args, keys) },
	{ 0 },
};

int cmd_daemon(int argc, char **argv)
{
	static const struct option_line line = {
		.options = options,
		.doc = "Run the service in the foreground, for systemd: it keeps the traces of its config running, and "
		       "lets the members of a group trace their own processes without sudo.\vSIGHUP reads the config "
		       "again, SIGTERM ends all traces and then the service. See dltraced.conf(5) and docs/service.md.",
	};
	struct daemon_args a = {};
	struct option_parse p;

	if (options_parse(&line, argc, argv, 0, &p, &a))
		return EXIT_DLTRACED;
	if (a.keys) {
		daemon_conf_keys(stdout);
		return 0;
	}
	if (a.check)
		return daemon_check(a.file ? a.file : DAEMON_CONF_FILE, !a.file);
	if (geteuid()) {
		log_err("only root can run the service (as root: systemctl start dltraced)");
		return EXIT_DLTRACED;
	}
	return daemon_run(a.file ? a.file : DAEMON_CONF_FILE, !a.file);
}

int cmd_serve(int argc, char **argv)
{
	const bool logged = argc == 3 && !strcmp(argv[2], "logged");
	unsigned long long buffer = argc == 2 || logged ? strtoull(argv[1], NULL, 10) : 0;
	int domain = 0;
	socklen_t size = sizeof(domain);

	if (!buffer || getsockopt(STDIN_FILENO, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_UNIX) {
		log_err("`dltraced daemon' starts this, for a user's connection");
		return EXIT_DLTRACED;
	}
	return served_run(buffer, logged);
}
