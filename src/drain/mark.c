/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/mark.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/util.h"
#include "dlt/marks.h"
#include "drain/decode.h"

/* A mark as it waits, and the record of its row. */
struct mark {
	struct dlt_marks rec;
	char text[DLT_MARK_TEXT_MAX + 1];
};

int mark_open(struct mark_queue *q)
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, q->fds) < 0 ? -errno : 0;
}

void mark_close(struct mark_queue *q)
{
	util_close(&q->fds[0]);
	util_close(&q->fds[1]);
}

int mark_put(const struct mark_queue *q, uint32_t pid, const char *text, size_t len)
{
	struct mark m = { .rec.hdr = { .ts_ns = clock_now_ns(CLOCK_MONOTONIC), .tgid = pid, .tid = pid,
				       .probe = DLT_marks } };

	if (len > DLT_MARK_TEXT_MAX)
		return -EINVAL;
	memcpy(m.text, text, len);
	m.rec.segs.len[0] = (uint16_t)(len + 1);
	m.rec.hdr.size = (uint32_t)(sizeof(m.rec) + len + 1);
	return send(q->fds[1], &m, m.rec.hdr.size, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void mark_rows(const struct mark_queue *q, struct decode *d)
{
	struct mark m;
	ssize_t n;

	while ((n = recv(q->fds[0], &m, sizeof(m), 0)) > 0)
		decode_record(d, &m, (uint32_t)n);
}
