/* SPDX-License-Identifier: BSD-2-Clause */
/* What ARGS of regions of a DataLoader hold: key=value pairs, the newlines between them escaped. */
#ifndef REPORT_WHATIF_LOADER_H
#define REPORT_WHATIF_LOADER_H

#include "report/whatif/model.h"
#include "trace/reader.h"

/* Returns in *RET the number that ARGS have for KEY; false when there is none. */
bool whatif_arg(struct reader_field args, const char *key, uint64_t *ret);
/* Returns the loader that ARGS of dataloader.start describe; not KNOWN where they have no number of workers. */
struct whatif_loader whatif_loader_parse(struct reader_field args);

#endif
