/* SPDX-License-Identifier: BSD-2-Clause */
/* The other end of control.h: the list of running traces, and a request to one of them. */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "host/rights/caller.h"
#include "host/rights/user_name.h"

#define TRACES_MAX 64
#define TRACE_USER_MAX USER_NAME_MAX

/* A running trace, as it describes itself. */
struct trace {
	char socket[108];
	char *words; /* owned; the others point into it */
	const char *name, *pid, *phase, *elapsed_s, *rows, *lost, *bytes, *free_bytes, *dir, *experiment;
	/* "?": its dltraced is older */
	const char *rows_s, *bytes_s, *target, *collectors;
	const char *owner, *session; /* its starter, as session/control.c has it; in which session */
	bool silent; /* it does not answer: all words except its number are "?" */
};

struct traces {
	struct trace t[TRACES_MAX];
	struct caller caller; /* the caller that looks for them */
	unsigned int n, hidden; /* hidden: other users' traces */
	bool deaf; /* this user has no place for sockets: this user's traces without root are found only by their folder
		    */
};

/* Looks for them. Removes sockets that nobody listens at any more, where we may. */
void traces_find(struct traces *ts);
void traces_free(struct traces *ts);

/* Was T started by this caller, not by another user or the service? */
bool trace_is_own(const struct traces *ts, const struct trace *t);

/* Whether the service's config has started T. */
bool trace_is_of_service(const struct trace *t);
/* Returns the name by which users address T: of the service's own traces, that of the section in the config. */
const char *trace_called(const struct trace *t);
/* Returns the user who started T: a name, a number without a name, `service', or `?'. */
const char *trace_user(const struct trace *t, char buf[TRACE_USER_MAX]);

/*
 * Returns the trace of this name, experiment, folder or process number. For NULL, of those in progress that
 * this caller has started, the only one of this terminal, else the only one. NULL: none, or several, after a
 * message. A trace that was only found by its folder is added to TS.
 */
const struct trace *traces_pick(struct traces *ts, const char *which);

/* The name of T's folder. 0, or -ENOENT: it is not known. */
int trace_folder(const struct trace *t, char path[PATH_MAX]);

/* Opens the socket of a request to TRACE, for answers that go on: a descriptor, or -errno. */
int trace_connect(const struct trace *trace, const char *verb, const char *text);

/* The answer so far, as a string. All zero is nothing; the caller frees TEXT. */
struct answer {
	char *text;
	size_t len, size;
};
/* Wait for another packet of it: returns its bytes, 0 at the end, or -errno. */
ssize_t answer_more(struct answer *answer, int fd);
/* Remove its first line. 0: the request was accepted; -EPROTO: the rest is the reason. */
int answer_begin(struct answer *a);
/* Remove N bytes. */
void answer_drop(struct answer *a, size_t n);

/*
 * Send a request to TRACE. 0 and the answer, which the caller frees; or -errno, with *ANSWER_RET its text, or
 * NULL. -EAGAIN: no answer for some seconds, to a request that is answered at once (not stop, which takes
 * as long as the end of the trace).
 */
int trace_request(const struct trace *trace, const char *verb, const char *text, char **answer_ret);

#endif
