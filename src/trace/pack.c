/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/util.h"

#define GZIP_ONLY (15 + 16) /* deflateInit2(): the largest window, and a gzip header */
#define GZIP_MEMORY 8 /* its default */

/* --- gzip ----------------------------------------------------------------------------------------- */

static int gzip_init(struct packer *packer)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (!z || deflateInit2(z, packer->level, Z_DEFLATED, GZIP_ONLY, GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return -ENOMEM;
	}
	packer->out_size = deflateBound(z, PACK_MEMBER_BYTES);
	packer->stream = z;
	return 0;
}

/* One member from the LEN bytes in p->in: returns its length in p->out, or -errno. */
static ssize_t gzip_member(struct packer *packer, size_t len, int level)
{
	z_stream *stream_s = packer->stream;

	deflateReset(stream_s);
	if (level != packer->level && deflateParams(stream_s, level, Z_DEFAULT_STRATEGY) != Z_OK)
		return -EINVAL;
	packer->level = level;
	stream_s->next_in = (unsigned char *)packer->in;
	stream_s->avail_in = (uInt)len;
	stream_s->next_out = (unsigned char *)packer->out;
	stream_s->avail_out = (uInt)packer->out_size;
	if (deflate(stream_s, Z_FINISH) != Z_STREAM_END)
		return -ENOBUFS;
	return (ssize_t)(packer->out_size - stream_s->avail_out);
}

static void gzip_free(struct packer *p)
{
	deflateEnd(p->stream);
	free(p->stream);
}

/* --- zstd ----------------------------------------------------------------------------------------- */

#ifdef HAVE_ZSTD
static int zstd_init(struct packer *p)
{
	p->stream = ZSTD_createCCtx();
	if (!p->stream)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(p->stream, ZSTD_c_checksumFlag, 1);
	p->out_size = ZSTD_compressBound(PACK_MEMBER_BYTES);
	return 0;
}

static ssize_t zstd_member(struct packer *p, size_t len, int level)
{
	size_t n;

	if (level != p->level)
		ZSTD_CCtx_setParameter(p->stream, ZSTD_c_compressionLevel, level);
	p->level = level;
	n = ZSTD_compress2(p->stream, p->out, p->out_size, p->in, len);
	return ZSTD_isError(n) ? -ENOBUFS : (ssize_t)n;
}

static void zstd_free(struct packer *p)
{
	ZSTD_freeCCtx(p->stream);
}
#endif

/* --- what they have in common --------------------------------------------------------------------- */

/*
 * The levels while behind, and when there is time. Rows are so regular that zstd's level 1 makes them
 * smaller than 2 to 12 do, at a fifth of the time of 9 (docs/design.md).
 */
static const struct kind {
	int (*init)(struct packer *p);
	ssize_t (*member)(struct packer *p, size_t len, int level);
	void (*free)(struct packer *p);
	int behind, leisurely;
} kinds[PACKS] = {
	[PACK_GZIP] = { gzip_init, gzip_member, gzip_free, 1, 6 },
#ifdef HAVE_ZSTD
	[PACK_ZSTD] = { zstd_init, zstd_member, zstd_free, 1, 1 },
#endif
};

int packer_init(struct packer *packer, enum pack pack)
{
	const struct kind *kind = &kinds[pack];
	int r;

	*packer = (struct packer){ .pack = pack };
	if (!kind->init)
		return -ENOTSUP;
	packer->in = malloc(PACK_MEMBER_BYTES);
	r = packer->in ? kind->init(packer) : -ENOMEM;
	if (r == 0) {
		packer->out = malloc(packer->out_size);
		r = packer->out ? 0 : -ENOMEM;
	}
	if (r < 0)
		packer_free(packer);
	return r;
}

void packer_free(struct packer *p)
{
	if (p->stream)
		kinds[p->pack].free(p);
	free(p->in);
	free(p->out);
	*p = (struct packer){ 0 };
}

/* Read all of LEN bytes at OFFSET: 0, -EBADMSG where the file ends before, or -errno. */
static int read_all(int fd, char *buf, size_t len, uint64_t offset)
{
	while (len) {
		ssize_t n = TEMP_FAILURE_RETRY(pread(fd, buf, len, (off_t)offset));

		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		buf += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* Returns how many of the LEN bytes are whole lines; all of them where there is no newline. */
static size_t whole_lines(const char *buf, size_t len)
{
	const char *end = memrchr(buf, '\n', len);

	return end ? (size_t)(end - buf) + 1 : len;
}

int packer_file(struct packer *packer, int from, uint64_t bytes, int to, bool behind, const bool *stop,
		uint64_t *packed_ret)
{
	const struct kind *kind = &kinds[packer->pack];
	uint64_t packed = 0;

	for (uint64_t at = 0; at < bytes;) {
		size_t len = (size_t)MIN(bytes - at, PACK_MEMBER_BYTES);
		ssize_t n = read_all(from, packer->in, len, at);

		if (n < 0)
			return (int)n;
		len = whole_lines(packer->in, len);
		n = kind->member(packer, len, behind ? kind->behind : kind->leisurely);
		if (n < 0)
			return (int)n;
		packed += (uint64_t)n;
		n = util_write_all(to, packer->out, (size_t)n);
		if (n >= 0 && stop && __atomic_load_n(stop, __ATOMIC_RELAXED))
			n = -ECANCELED;
		if (n < 0)
			return (int)n;
		at += len;
	}
	*packed_ret = packed;
	return 0;
}
