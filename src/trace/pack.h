/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs one file of whole lines: gzip members or zstd frames of about 1 MiB of text each, every one ending
 * on a newline, so that a truncated file loses only its end and programs can begin in its middle. Knows
 * neither names nor what a line means.
 */
#ifndef TRACE_PACK_H
#define TRACE_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/segment.h"

#define PACK_MEMBER_BYTES (1U << 20)

struct packer {
	enum pack pack;
	char *in, *out;
	size_t out_size;
	void *stream; /* z_stream or ZSTD_CCtx */
	int level; /* what STREAM is set to */
};

/* 0, -ENOTSUP (built without the library) or -ENOMEM. */
int packer_init(struct packer *packer, enum pack pack);
void packer_free(struct packer *p);

/*
 * Pack the first BYTES of FROM to TO. BEHIND: quickly rather than well. Ends early, with -ECANCELED, once
 * *STOP. 0 and the bytes written, or -errno (-EBADMSG: FROM is shorter).
 */
int packer_file(struct packer *packer, int from, uint64_t bytes, int to, bool behind, const bool *stop,
		uint64_t *packed_ret);

#endif
