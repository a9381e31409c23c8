/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet to a running trace's socket: of the owner, while the daemon is root. The trace is one that
 * traces nothing, the answers are real. The input's first byte says which phase it is in.
 */
#include "fuzz.h"

#include <sys/socket.h>

#include "trace/config.h"

#include "control/control.c"
#include "session/control.c"

static const struct config cfg;

static void request(struct session *s, const uint8_t *data, size_t size)
{
	struct control c = { .loop = &s->loop, .fd = -1, .fn = on_request, .ctx = s };
	autofree char *answer = malloc(CONTROL_PACKET_MAX + 1);
	ssize_t n;
	int fds[2];

	for (unsigned int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		c.clients[i].fd = -1;
	EXPECT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	EXPECT(send(fds[1], data, size, 0) == (ssize_t)size);
	c.clients[0].fd = fds[0];
	EXPECT(loop_add(c.loop, fds[0], EPOLLIN, on_client, &c) == 0);
	EXPECT(loop_once(c.loop, 0) == 0);
	n = recv(fds[1], answer, CONTROL_PACKET_MAX, MSG_DONTWAIT);
	EXPECT(!size || n > 0);
	answer[MAX(n, 0)] = '\0';
	EXPECT(n <= 0 || !strncmp(answer, "ok\n", 3) || !strncmp(answer, "error\n", 6));
	if (c.clients[0].fd >= 0)
		client_end(&c, &c.clients[0]);
	close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct session s;
	bool running;

	if (!size || size > CONTROL_TEXT_MAX + 1024)
		return 0;
	s = (struct session){
		.cfg = &cfg,
		.dir = { .fd = open("/", O_PATH | O_CLOEXEC), .path = "/" },
		.folder_watch = FOLDER_WATCH_NONE,
		.writing.call = ASYNC_CALL_NONE,
		.metrics_writing.call = ASYNC_CALL_NONE,
	};
	/* no counters exist here, so a running trace is only asked for marks */
	running = size > 4 && !memcmp(data + 1, "mark", 4);
	s.traced = data[0] & 1;
	s.files = running ? FILES_GROWING : FILES_CLOSED;
	s.phase = (enum session_phase)(data[0] >> 1) % (PHASE_OVER + 1);
	EXPECT(loop_init(&s.loop) == 0 &&
	       socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, s.drain.marks) == 0);
	request(&s, data + 1, size - 1);
	close(s.drain.marks[0]);
	close(s.drain.marks[1]);
	loop_free(&s.loop);
	/* started tasks point to S, which is overwritten for the next input */
	EXPECT(async_call_wait(&s.folder_watch.call, -1) && async_call_wait(&s.writing.call, -1) &&
	       async_call_wait(&s.metrics_writing.call, -1));
	async_call_free(&s.folder_watch.call);
	async_call_free(&s.writing.call);
	async_call_free(&s.metrics_writing.call);
	close(s.dir.fd);
	return 0;
}
