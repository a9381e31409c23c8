/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plain text of one file, be it plain, .gz or .zst, as a stream with bounded memory. Packed files are
 * members (frames) one after the other; the start of each is noted, so that going back unpacks no more than
 * one. Offline side and the packer's; trusts no byte.
 */
#ifndef TRACE_UNPACK_H
#define TRACE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/segment.h"

/* Where a member begins, in plain text and in the file. */
struct unpack_mark {
	uint64_t plain, packed;
};

struct unpack_marks {
	struct unpack_mark *v; /* rising */
	size_t n;
};

void unpack_marks_free(struct unpack_marks *m);

struct unpack {
	int fd;
	enum pack pack;
	uint64_t limit; /* bytes of the file: growth beyond this is not read */
	uint64_t at; /* in the file, of in[in_pos] or of the next pread() */
	uint64_t plain; /* bytes unpacked so far */
	bool between; /* members: the next byte begins one */
	bool cut; /* it ends within a member */
	bool damaged; /* the rest cannot be unpacked */
	unsigned char *in;
	size_t in_pos, in_len;
	void *stream; /* z_stream or ZSTD_DStream */
	struct unpack_marks *marks;
};

/* Was this dltraced built with the library for PACK? */
bool unpack_knows(enum pack pack);

/* Returns how FD is packed, by its first bytes, whatever its name; PACK_NONE also where it cannot be read. */
enum pack unpack_sniff(int fd);

/*
 * Open FD (taken over, also on failure) of LIMIT bytes; its MARKS outlive unpack_close(). 0, -ENOTSUP
 * (built without the library) or -ENOMEM.
 */
int unpack_open(struct unpack *unpack, int fd, enum pack pack, uint64_t limit, struct unpack_marks *marks);
/* Read up to LEN bytes of plain text; 0 at the end, or -errno. */
ssize_t unpack_read(struct unpack *unpack, char *buf, size_t len);
/* Continue at PLAIN bytes of the text, which has been read up to there before. 0 or -errno. */
int unpack_seek(struct unpack *unpack, uint64_t plain);
/* Fine on one that is all zero, or whose opening failed. */
void unpack_close(struct unpack *u);

#endif
