/* SPDX-License-Identifier: BSD-2-Clause */
/* What the bio probe has beyond a table: how it reads a kernel's BTF, and requests not done yet. */
#ifndef PROBES_BIO_H
#define PROBES_BIO_H

#include <stdbool.h>
#include <stdint.h>

#include "dlt/bio.h"

struct kernel_btf;
struct probe_object;

/* The forms that the block tracepoints have in a kernel with this BTF. */
struct dlt_bio_kernel bio_kernel_of(const struct kernel_btf *kernel);

/* IO at NOW_NS as a record; false: it was queued but never given to a driver, and is no row. */
bool bio_unfinished(const struct dlt_bio_flight *io, uint64_t now_ns, struct dlt_bio *rec);

#endif
