/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/waits/socket_peer.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "host/process.h"

#define ANSWER_MS 100
#define TCP_MAX_BYTES (4U << 20) /* some 25000 sockets */

/* --- Unix ---------------------------------------------------------------------------------------------- */

/* Returns the peer in ANSWER, LEN bytes. */
static uint64_t peer_in(const struct nlmsghdr *answer, size_t len)
{
	const struct unix_diag_msg *msg = NLMSG_DATA(answer);
	unsigned int left;

	if (!NLMSG_OK(answer, len) || answer->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    answer->nlmsg_len < NLMSG_LENGTH(sizeof(*msg)))
		return 0;
	left = (unsigned int)(answer->nlmsg_len - NLMSG_LENGTH(sizeof(*msg)));
	for (const struct rtattr *attr = (const struct rtattr *)(msg + 1); RTA_OK(attr, left);
	     attr = RTA_NEXT(attr, left))
		if (attr->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(attr) == sizeof(uint32_t))
			return *(const uint32_t *)RTA_DATA(attr);
	return 0;
}

static uint64_t peer_of_unix(uint64_t inode)
{
	struct {
		struct nlmsghdr hdr;
		struct unix_diag_req req;
	} query = {
		.hdr = { .nlmsg_len = sizeof(query), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST },
		.req = { .sdiag_family = AF_UNIX,
			 .udiag_states = UINT32_MAX,
			 .udiag_ino = (uint32_t)inode,
			 .udiag_show = UDIAG_SHOW_PEER,
			 .udiag_cookie = { UINT32_MAX, UINT32_MAX } },
	};
	autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct pollfd p = { fd, POLLIN, 0 };
	union {
		struct nlmsghdr hdr;
		char bytes[4096];
	} answer;
	ssize_t n;

	if (fd < 0 || inode > UINT32_MAX || send(fd, &query, sizeof(query), 0) < 0 || poll(&p, 1, ANSWER_MS) < 1)
		return 0;
	n = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
	return n > 0 ? peer_in(&answer.hdr, (size_t)n) : 0;
}

/* --- TCP ----------------------------------------------------------------------------------------------- */

/* Addresses and inode of a line of it. */
struct tcp_line {
	char local[48], remote[48];
	uint64_t inode;
};

static bool next_line(const char **text, struct tcp_line *line)
{
	for (const char *at = *text; *at; at = *text) {
		const char *end = strchrnul(at, '\n');

		*text = *end ? end + 1 : end;
		if (sscanf(at, " %*u: %47s %47s %*x %*s %*s %*x %*u %*u %" SCNu64, line->local, line->remote,
			   &line->inode) == 3)
			return true;
	}
	return false;
}

uint64_t socket_peer_of_tcp(const char *text, uint64_t inode)
{
	struct tcp_line own = { .inode = 0 }, line;
	const char *at = text;

	while (own.inode != inode)
		if (!next_line(&at, &own))
			return 0;
	for (at = text; next_line(&at, &line);)
		if (strcmp(line.local, own.remote) == 0 && strcmp(line.remote, own.local) == 0 && line.inode != inode)
			return line.inode;
	return 0;
}

uint64_t socket_peer(pid_t pid, uint64_t inode)
{
	static const char *const files[] = { "net/tcp", "net/tcp6" };
	uint64_t peer = peer_of_unix(inode);

	for (size_t i = 0; !peer && i < ARRAY_SIZE(files); i++) {
		autofree char *text = NULL;

		if (process_text(pid, files[i], TCP_MAX_BYTES, &text, NULL) == 0)
			peer = socket_peer_of_tcp(text, inode);
	}
	return peer;
}
