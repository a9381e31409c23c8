/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running trace's socket: `dltraced stop', `status' and `mark' ask, it answers. SOCK_SEQPACKET, a
 * packet each way and no more. Root and the trace's owner may connect, nobody else.
 *
 *	request		VERB or VERB TEXT
 *	answer		"ok\n" and what there is to say, or "error\n" and why not
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/un.h>

struct loop;

#define CONTROL_TEXT_MAX 4096 /* bytes of a request's text */
#define CONTROL_ANSWER_MAX 65536
#define CONTROL_CLIENTS_MAX 8

struct control_request {
	const char *verb, *text; /* text: "" without */
	pid_t pid;		 /* whose */
};

/* Answer RQ: what there is to say goes to OUT. 0, or -errno with the reason in OUT. */
typedef int (*control_fn)(void *ctx, const struct control_request *rq, FILE *out);

struct control {
	struct loop *loop;
	int fd, clients[CONTROL_CLIENTS_MAX]; /* -1: none */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	uid_t owner;
	control_fn fn;
	void *ctx;
};

/*
 * The folder of sockets into BUF: /run/dltraced for root, $XDG_RUNTIME_DIR/dltraced for others. False:
 * this user has none.
 */
bool control_folder(uid_t uid, char *buf, size_t size);

/* Listen for OWNER, in a folder that is made when missing. 0 or -errno: nobody can ask then. */
int control_open(struct control *c, struct loop *loop, uid_t owner, control_fn fn, void *ctx);
/* Take the socket away. One that was never opened (all zero) is left alone. */
void control_close(struct control *c);

#endif
