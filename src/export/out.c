/* SPDX-License-Identifier: BSD-2-Clause */
/* See out.h. */
#include "export/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/util.h"

#define GZIP_LEVEL 3 /* a trace is large: fast rather than small */
#define GZIP_WINDOW (15 + 16) /* zlib: with gzip's header and trailer */

static int begin_gzip(struct export_out *o)
{
	z_stream *z = calloc(1, sizeof(*z));

	o->deflate = z;
	if (!z || deflateInit2(z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	o->gzip = true;
	return 0;
}

/* What follows opening the file NAME, with RES. */
static int begin(struct export_out *o, const char *name, int res)
{
	const size_t len = strlen(name);

	o->stream = o->file.stream;
	if (res == 0 && len > 3 && !strcmp(name + len - 3, ".gz"))
		res = begin_gzip(o);
	if (res < 0)
		out_drop(o);
	return res;
}

int out_open(struct export_out *o, const char *path)
{
	*o = (struct export_out)EXPORT_OUT_NONE;
	if (strcmp(path, "-") != 0)
		return begin(o, path, new_file_open(&o->file, path));
	o->stream = stdout;
	return 0;
}

int out_open_at(struct export_out *o, int dirfd, const char *name)
{
	*o = (struct export_out)EXPORT_OUT_NONE;
	return begin(o, name, new_file_open_at(&o->file, dirfd, name));
}

char *out_more_room(struct export_out *out, size_t n)
{
	const size_t size = MAX(2 * out->size, MAX(out->len + n, (size_t)(OUT_FLUSH_BYTES + (256 << 10))));
	char *buf = realloc(out->buf, size);

	if (!buf) {
		out->error = out->error ? out->error : -ENOMEM;
		return NULL;
	}
	out->buf = buf;
	out->size = size;
	return buf + out->len;
}

void out_bytes(struct export_out *o, const void *p, size_t n)
{
	char *at = out_room(o, n);

	if (at) {
		memcpy(at, p, n);
		o->len += n;
	}
}

void out_text(struct export_out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

static void write_plain(struct export_out *o, const char *p, size_t n)
{
	errno = 0;
	if (fwrite(p, 1, n, o->stream) != n && !o->error)
		o->error = errno ? -errno : -EIO;
}

/* Writes the buffer as one gzip member. */
static void write_member(struct export_out *out)
{
	z_stream *stream_s = out->deflate;
	const size_t bound = deflateBound(stream_s, out->len);

	if (bound > out->packed_size) {
		free(out->packed);
		out->packed = malloc(bound);
		out->packed_size = out->packed ? bound : 0;
	}
	if (!out->packed) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	stream_s->next_in = (Bytef *)out->buf;
	stream_s->avail_in = (uInt)out->len;
	stream_s->next_out = (Bytef *)out->packed;
	stream_s->avail_out = (uInt)out->packed_size;
	if (deflate(stream_s, Z_FINISH) != Z_STREAM_END && !out->error)
		out->error = -EIO;
	write_plain(out, out->packed, out->packed_size - stream_s->avail_out);
	deflateReset(stream_s);
}

void out_flush(struct export_out *o)
{
	o->bytes += o->len;
	if (o->len && !o->error) {
		if (o->gzip)
			write_member(o);
		else
			write_plain(o, o->buf, o->len);
	}
	o->len = 0;
}

static void free_all(struct export_out *o)
{
	if (o->deflate)
		deflateEnd(o->deflate);
	free(o->deflate);
	free(o->buf);
	free(o->packed);
	o->deflate = o->buf = o->packed = NULL;
	o->len = o->size = o->packed_size = 0;
	o->stream = NULL;
}

int out_close(struct export_out *out)
{
	int res;

	out_flush(out);
	if (!out->error && out->stream == stdout && fflush(stdout) != 0)
		out->error = -errno;
	res = out->error;
	if (out->file.stream && res == 0)
		res = new_file_commit(&out->file);
	out_drop(out);
	out->error = res;
	return res;
}

void out_drop(struct export_out *o)
{
	if (o->file.stream)
		new_file_drop(&o->file);
	free_all(o);
}
