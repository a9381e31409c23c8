/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /etc/dltraced/dltraced.conf and conf.d/: read and checked as a whole. Every key is a row of a table, that of
 * [service] or that of the options of `start', from which `dltraced daemon --keys' and the manual page dltraced.conf(5)
 * have their text.
 */
#ifndef SERVICE_DAEMON_CONF_H
#define SERVICE_DAEMON_CONF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/log.h"

#define DAEMON_CONF_FILE "/etc/dltraced/dltraced.conf"
#define DAEMON_TRACES_MAX 16
#define DAEMON_NAME_MAX 33 /* of a trace, with its NUL */
#define DAEMON_WORDS_MAX 64 /* options of a trace */
#define DAEMON_USERS_MAX 32 /* traces of users at a time, at most */

struct option_row;

/* [trace NAME]: options of `dltraced start', --NAME or --NAME=VALUE. */
struct daemon_trace {
	char name[DAEMON_NAME_MAX];
	bool enabled;
	char *words[DAEMON_WORDS_MAX]; /* owned */
	const struct option_row *options[DAEMON_WORDS_MAX]; /* the options of these words */
	unsigned int n_words;
	unsigned int line; /* where it begins */
	bool flawed; /* one of its lines is a mistake, so the trace is not checked for missing keys */
};

struct daemon_conf {
	char *socket, *group, *state; /* owned; paths and a name */
	bool users; /* whether users may connect */
	uint64_t max_traces, max_traces_per_user;
	uint64_t max_buffer_bytes;
	uint64_t keep_ns, keep_bytes; /* limits of whole traces in STATE; 0: none */
	enum log_level log_level;
	struct daemon_trace traces[DAEMON_TRACES_MAX];
	unsigned int n_traces;
};

/*
 * Reads FILE, which may be absent when MAY_LACK, and then the files of conf.d/ beside it, in the order of their names;
 * a later file overrides an earlier one. Returns 0, or -EINVAL or -errno after one message for each mistake, with file,
 * line and the allowed values; C is empty then.
 */
int daemon_conf_read(struct daemon_conf *c, const char *file, bool may_lack);
/*
 * Reads as daemon_conf_read() does, but keeps in C all that is valid. Returns the number of mistakes, each with a
 * message; or -errno.
 */
int daemon_conf_load(struct daemon_conf *conf, const char *file, bool may_lack);
void daemon_conf_free(struct daemon_conf *c);

/* Prints the table of keys, as manual page source. */
void daemon_conf_keys(FILE *out);

/* Whether A and B describe the same trace. */
bool daemon_trace_same(const struct daemon_trace *a, const struct daemon_trace *b);

#endif
