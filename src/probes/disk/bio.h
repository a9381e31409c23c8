/* SPDX-License-Identifier: BSD-2-Clause */
/* The bio probe's names and functions beyond its table: reading a kernel's BTF, and requests in flight. */
#ifndef PROBES_DISK_BIO_H
#define PROBES_DISK_BIO_H

#include <stdbool.h>
#include <stdint.h>

#include "dlt/bio.h"
#include "trace/field.h"

struct kernel_btf;
struct probe_object;

extern const struct field_name bio_kind_names[]; /* of KIND */

/* The forms that the block tracepoints have in a kernel with this BTF. */
struct dlt_bio_kernel bio_kernel_of(const struct kernel_btf *kernel);

/* Makes a record of IO at NOW_NS; false: it was queued but never given to a driver, and has no row. */
bool bio_unfinished(const struct dlt_bio_flight *io, uint64_t now_ns, struct dlt_bio *rec);

#endif
