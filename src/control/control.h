/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running trace's socket: `dltraced stop', `status' and `mark' ask, it answers. SOCK_SEQPACKET: the
 * request is one packet, the answer as many as it takes, and then the connection ends. Root and the
 * trace's owner may connect, nobody else.
 *
 *	request		VERB or VERB TEXT
 *	answer		"ok\n" and what there is to say, or "error\n" and why not
 *
 * Whoever does not read holds a place and nobody up: with all places taken, the oldest has to go.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/un.h>

#include "dlt/marks.h"

struct loop;

#define CONTROL_TEXT_MAX DLT_MARK_TEXT_MAX /* bytes of a request's text */
#define CONTROL_PACKET_MAX 32768 /* bytes: fewer than a socket accepts at once, net.core.wmem_default */
#define CONTROL_ANSWER_MAX (64U << 20)
#define CONTROL_CLIENTS_MAX 8

struct control_request {
	const char *verb, *text; /* text: "" without */
	pid_t pid; /* of the client */
	unsigned int client; /* for control_push() */
};

/*
 * Answer RQ: the answer goes to OUT. 0, or -errno with the reason in OUT; CONTROL_STAYS: the connection
 * stays open for more.
 */
#define CONTROL_STAYS 1
typedef int (*control_fn)(void *ctx, const struct control_request *rq, FILE *out);
/* A client that got CONTROL_STAYS has left. */
typedef void (*control_gone_fn)(void *ctx, unsigned int client);

struct control_client {
	int fd; /* -1: none */
	uint64_t since; /* its number in the order of connections */
	bool stays;
	char *out; /* not sent yet: owned */
	size_t len, at;
};

struct control {
	struct loop *loop;
	int fd; /* -1: none */
	struct control_client clients[CONTROL_CLIENTS_MAX];
	uint64_t connected;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	bool in_trace; /* the socket is in the trace's folder */
	uid_t owner;
	control_fn fn;
	control_gone_fn gone; /* NULL: no client is asked to stay */
	void *ctx;
};

/*
 * Writes the folder of sockets into BUF: /run/dltraced for root, $XDG_RUNTIME_DIR/dltraced for others, or
 * /run/user/UID/dltraced where that is not set. False: this user has none.
 */
bool control_folder(uid_t uid, char *buf, size_t size);

/*
 * Listen for OWNER, in a folder that is made when missing, or where this user has none, in the trace's own,
 * DIR. 0 or -errno: no client can connect then.
 */
int control_open(struct control *control, struct loop *loop, uid_t owner, const char *dir, control_fn fn,
		 control_gone_fn gone, void *ctx);
/*
 * No new connections; clients that were asked to stay keep theirs. One that was never opened is left alone.
 * A socket in the trace's folder keeps its name, as that folder may not answer: the caller removes it.
 */
void control_hide(struct control *control);
/* control_hide() and end all clients; data on its way to them has a second. */
void control_close(struct control *c);

/*
 * Send LEN bytes more to CLIENT, which was asked to stay. 0; -EAGAIN: it has not read earlier data, and
 * gets nothing of this; -errno: it has left.
 */
int control_push(struct control *control, unsigned int client, const char *text, size_t len);
/* No more for CLIENT: data on its way still arrives. */
void control_dismiss(struct control *c, unsigned int client);

#endif
