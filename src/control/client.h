/* SPDX-License-Identifier: BSD-2-Clause */
/* The other end of control.h: the running traces, and a question to one of them. */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "host/rights/caller.h"

#define TRACES_MAX 64

/* A running trace, as it tells itself. */
struct trace {
	char socket[108];
	char *words; /* owned, what the others point into */
	const char *name, *pid, *phase, *elapsed_s, *rows, *lost, *bytes, *free_bytes, *dir, *experiment;
	/* "?": its dltraced is older */
	const char *rows_s, *bytes_s, *target, *collectors;
	const char *owner, *session; /* who has started it, as session/control.c has it; in which session */
	bool silent; /* it does not answer: but for its number all words are "?" */
};

struct traces {
	struct trace t[TRACES_MAX];
	struct caller caller; /* who looks for them */
	unsigned int n, hidden; /* hidden: those of others */
	bool deaf; /* this user has no place for sockets: what they trace without root is found by its folder alone */
};

/* Look for them. Sockets that nobody listens at any more are taken away, where we may. */
void traces_find(struct traces *ts);
void traces_free(struct traces *ts);

/* T was started by who looks: not by another user, nor by the service. */
bool trace_is_own(const struct traces *ts, const struct trace *t);

/*
 * The one of this name, experiment, folder or process number. For NULL, of those that have not ended and were started by
 * who looks, the only one of this session, else the only one. NULL: none, or several; which is said. One that was not found
 * without its folder is added to TS.
 */
const struct trace *traces_pick(struct traces *ts, const char *which);

/* What T's folder is called. 0, or -ENOENT: that is not known. */
int trace_folder(const struct trace *t, char path[PATH_MAX]);

/* The socket of a question to T, for answers that go on: a descriptor, or -errno. */
int trace_connect(const struct trace *t, const char *verb, const char *text);

/* What came of an answer, as a string. All zero is nothing; TEXT is the user's to free. */
struct answer {
	char *text;
	size_t len, size;
};
/* Wait for a packet more of it: its bytes, 0 at the end, or -errno. */
ssize_t answer_more(struct answer *a, int fd);
/* Take off its first line. 0: it says that the question was taken; -EPROTO: the rest is why not. */
int answer_begin(struct answer *a);
/* Take off N bytes. */
void answer_drop(struct answer *a, size_t n);

/*
 * Ask T. 0 and the answer, the caller's to free; or -errno, with *ANSWER_RET what it said, or NULL. -EAGAIN: nothing for
 * some seconds, to what is answered at once (not stop, which takes what the end of the trace does).
 */
int trace_ask(const struct trace *t, const char *verb, const char *text, char **answer_ret);

#endif
