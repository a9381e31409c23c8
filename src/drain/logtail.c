/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/logtail.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "drain/rows/decode.h"
#include "os/disk.h"

#define READS_MAX 64 /* of 16 KiB in a row: some 80 ms of short lines, and the rings are waiting */

int logtail_open(struct logtail *logtail, int dirfd, const char *name)
{
	struct stat st, dir;

	*logtail = (struct logtail){ .fd = -1 };
	logtail->fd = util_open_regular(dirfd, name, O_NOFOLLOW);
	if (logtail->fd < 0)
		return logtail->fd;
	if (fstat(logtail->fd, &st) == 0 && fstat(dirfd, &dir) == 0 && st.st_uid == dir.st_uid)
		return 0;
	/* not the log that was made: a hard link to a file that the folder's owner may not read */
	util_close(&logtail->fd);
	return -ESTALE;
}

void logtail_close(struct logtail *t)
{
	util_close(&t->fd);
}

static uint64_t size_bytes(const struct logtail *t)
{
	struct stat st;

	return fstat(t->fd, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

/* There is no telling which bytes those were. */
static void note_refusal(struct logtail *t, int r)
{
	__atomic_store_n(&t->refused, r, __ATOMIC_RELAXED);
	__atomic_store_n(&t->unsure_bytes, size_bytes(t), __ATOMIC_RELAXED);
}

void logtail_check_disk(struct logtail *t)
{
	int r = t->fd < 0 ? 0 : disk_refused(t->fd);

	if (r < 0)
		note_refusal(t, r);
}

uint64_t logtail_to_disk(struct logtail *logtail, uint64_t until_ns)
{
	uint64_t left;
	int r;

	if (logtail->fd < 0)
		return 0;
	left = disk_write_out(logtail->fd, size_bytes(logtail), until_ns, &r);
	if (r < 0)
		note_refusal(logtail, r);
	return left;
}

static void line_row(struct logtail *logtail, struct decode *decode)
{
	struct {
		struct dlt_workload rec;
		char text[DLT_TEXT_MAX + 1];
	} row = { .rec.hdr = { .ts_ns = clock_now_ns(CLOCK_MONOTONIC), .probe = DLT_workload } };

	memcpy(row.text, logtail->line, logtail->len);
	row.text[logtail->len] = '\0';
	row.rec.segs.len[0] = (uint16_t)(logtail->len + 1);
	row.rec.hdr.size = (uint32_t)(sizeof(row.rec) + logtail->len + 1);
	decode_record(decode, &row, row.rec.hdr.size);
	logtail->len = 0;
}

void logtail_read(struct logtail *logtail, struct decode *decode, int last)
{
	char buf[1 << 14];
	ssize_t n;

	if (logtail->fd < 0)
		return;
	for (int i = 0; (last || i < READS_MAX) && (n = read(logtail->fd, buf, sizeof(buf))) > 0; i++) {
		for (const char *p = buf, *end = buf + n; p < end;) {
			const char *nl = memchr(p, '\n', (size_t)(end - p));
			size_t len;

			/* a full line may yet end here */
			if (logtail->len == sizeof(logtail->line) && *p != '\n')
				line_row(logtail, decode);
			len = MIN((size_t)((nl ? nl : end) - p), sizeof(logtail->line) - logtail->len);

			memcpy(logtail->line + logtail->len, p, len);
			logtail->len += len;
			p += len;
			if (p == nl) {
				line_row(logtail, decode);
				p++;
			}
		}
	}
	if (last && logtail->len)
		line_row(logtail, decode);
}
