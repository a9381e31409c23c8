/* SPDX-License-Identifier: BSD-2-Clause */
/* See unpack.h. One function per format unpacks what it can from the input at hand. */
#include "trace/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/util.h"

#define IN_BYTES (128U << 10)
#define GZIP_ONLY (15 + 16) /* inflateInit2(): the largest window, and a gzip header */

void unpack_marks_free(struct unpack_marks *m)
{
	free(m->v);
	*m = (struct unpack_marks){ 0 };
}

/* A member begins here. Without memory for the mark, going back takes longer. */
static void mark(struct unpack *u)
{
	struct unpack_marks *m = u->marks;

	u->between = false;
	if ((!m->n || m->v[m->n - 1].plain < u->plain) && !util_room(&m->v, m->n, sizeof(*m->v)))
		m->v[m->n++] = (struct unpack_mark){ u->plain, u->at };
}

/* --- gzip ----------------------------------------------------------------------------------------- */

static int gzip_open(struct unpack *u)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (!z || inflateInit2(z, GZIP_ONLY) != Z_OK) {
		free(z);
		return -ENOMEM;
	}
	u->stream = z;
	return 0;
}

static void gzip_reset(struct unpack *u)
{
	inflateReset(u->stream);
}

static void gzip_close(struct unpack *u)
{
	inflateEnd(u->stream);
	free(u->stream);
}

/* Returns the bytes unpacked; *USED of the input. */
static size_t gzip_step(struct unpack *unpack, char *buf, size_t len, size_t *used)
{
	z_stream *stream_s = unpack->stream;
	size_t have = unpack->in_len - unpack->in_pos;
	int r;

	stream_s->next_in = unpack->in + unpack->in_pos;
	stream_s->avail_in = (uInt)have;
	stream_s->next_out = (unsigned char *)buf;
	stream_s->avail_out = (uInt)len;
	r = inflate(stream_s, Z_NO_FLUSH);
	*used = have - stream_s->avail_in;
	unpack->between = r == Z_STREAM_END;
	unpack->damaged = r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR;
	return len - stream_s->avail_out;
}

/* --- zstd ----------------------------------------------------------------------------------------- */

#ifdef HAVE_ZSTD
static int zstd_open(struct unpack *u)
{
	u->stream = ZSTD_createDStream();
	return u->stream ? 0 : -ENOMEM;
}

static void zstd_reset(struct unpack *u)
{
	ZSTD_DCtx_reset(u->stream, ZSTD_reset_session_only);
}

static void zstd_close(struct unpack *u)
{
	ZSTD_freeDStream(u->stream);
}

static size_t zstd_step(struct unpack *u, char *buf, size_t len, size_t *used)
{
	ZSTD_inBuffer in = { u->in + u->in_pos, u->in_len - u->in_pos, 0 };
	ZSTD_outBuffer out = { buf, len, 0 };
	size_t r = ZSTD_decompressStream(u->stream, &out, &in);

	*used = in.pos;
	u->damaged = ZSTD_isError(r);
	u->between = r == 0;
	return out.pos;
}
#endif

/* --- what they have in common --------------------------------------------------------------------- */

static const struct kind {
	int (*open)(struct unpack *u);
	void (*reset)(struct unpack *u);
	size_t (*step)(struct unpack *u, char *buf, size_t len, size_t *used);
	void (*close)(struct unpack *u);
} kinds[PACKS] = {
	[PACK_GZIP] = { gzip_open, gzip_reset, gzip_step, gzip_close },
#ifdef HAVE_ZSTD
	[PACK_ZSTD] = { zstd_open, zstd_reset, zstd_step, zstd_close },
#endif
};

bool unpack_knows(enum pack pack)
{
	return pack == PACK_NONE || kinds[pack].open;
}

enum pack unpack_sniff(int fd)
{
	static const struct {
		enum pack pack;
		size_t len;
		const char *magic;
	} packs[] = {
		{ PACK_GZIP, 3, "\x1f\x8b\x08" },
		{ PACK_ZSTD, 4, "\x28\xb5\x2f\xfd" },
	};
	char begin[4];
	ssize_t n = pread(fd, begin, sizeof(begin), 0);

	for (size_t i = 0; i < ARRAY_SIZE(packs); i++)
		if (n >= (ssize_t)packs[i].len && memcmp(begin, packs[i].magic, packs[i].len) == 0)
			return packs[i].pack;
	return PACK_NONE;
}

int unpack_open(struct unpack *unpack, int fd, enum pack pack, uint64_t limit, struct unpack_marks *marks)
{
	int r = 0;

	*unpack = (struct unpack){ .fd = fd, .pack = pack, .limit = limit, .between = true, .marks = marks };
	if (!unpack_knows(pack))
		r = -ENOTSUP;
	else if (pack != PACK_NONE) {
		unpack->in = malloc(IN_BYTES);
		r = unpack->in ? kinds[pack].open(unpack) : -ENOMEM;
	}
	if (r < 0)
		unpack_close(unpack);
	return r;
}

static ssize_t read_at(const struct unpack *u, void *buf, size_t len, uint64_t offset)
{
	ssize_t n;

	len = MIN(len, u->limit - MIN(offset, u->limit));
	n = len ? TEMP_FAILURE_RETRY(pread(u->fd, buf, len, (off_t)offset)) : 0;
	return n < 0 ? -errno : n;
}

/* Returns 1: there is input, 0: the file ends, -errno. */
static int fill(struct unpack *u)
{
	ssize_t n;

	if (u->in_pos < u->in_len)
		return 1;
	n = read_at(u, u->in, IN_BYTES, u->at);
	u->in_pos = 0;
	u->in_len = n > 0 ? (size_t)n : 0;
	return n < 0 ? (int)n : n > 0;
}

static ssize_t read_packed(struct unpack *unpack, char *buf, size_t len)
{
	for (;;) {
		size_t used = 0, given;
		int r = unpack->damaged ? 0 : fill(unpack);

		if (r < 0 || unpack->damaged)
			return r;
		if (r == 0 && unpack->between)
			return 0;
		if (unpack->between) {
			kinds[unpack->pack].reset(unpack);
			mark(unpack);
		}
		/* also without input: the last bytes may still be inside */
		given = kinds[unpack->pack].step(unpack, buf, len, &used);
		unpack->in_pos += used;
		unpack->at += used;
		unpack->plain += given;
		if (given)
			return (ssize_t)given;
		if (r == 0 && !unpack->between) {
			unpack->cut = true;
			return 0;
		}
	}
}

ssize_t unpack_read(struct unpack *unpack, char *buf, size_t len)
{
	ssize_t n;

	if (unpack->pack != PACK_NONE)
		return read_packed(unpack, buf, len);
	n = read_at(unpack, buf, len, unpack->at);
	if (n > 0) {
		unpack->at += (uint64_t)n;
		unpack->plain += (uint64_t)n;
	}
	return n;
}

/* Go to the member that holds byte PLAIN. */
static void seek_member(struct unpack *unpack, uint64_t plain)
{
	const struct unpack_marks *marks = unpack->marks;
	struct unpack_mark to = { 0 };
	size_t low = 0, high = marks->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (marks->v[mid].plain <= plain)
			low = mid + 1;
		else
			high = mid;
	}
	if (low)
		to = marks->v[low - 1];
	unpack->plain = to.plain;
	unpack->at = to.packed;
	unpack->in_pos = unpack->in_len = 0;
	unpack->between = true;
	unpack->cut = unpack->damaged = false;
}

int unpack_seek(struct unpack *unpack, uint64_t plain)
{
	char skip[4096];

	if (unpack->pack == PACK_NONE) {
		unpack->at = unpack->plain = plain;
		return 0;
	}
	seek_member(unpack, plain);
	while (unpack->plain < plain) {
		ssize_t n = unpack_read(unpack, skip, MIN(sizeof(skip), plain - unpack->plain));

		if (n <= 0)
			return n < 0 ? (int)n : -EBADMSG;
	}
	return 0;
}

void unpack_close(struct unpack *u)
{
	if (u->stream)
		kinds[u->pack].close(u);
	if (u->fd > 0 || u->marks) /* an all-zero unpack has descriptor 0, which is not ours */
		util_close(&u->fd);
	free(u->in);
	*u = (struct unpack){ .fd = -1 };
}
