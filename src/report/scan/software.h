/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file is for, by its path. */
#ifndef REPORT_SCAN_SOFTWARE_H
#define REPORT_SCAN_SOFTWARE_H

#include "report/scan/model.h"

/* Whether PATH is that of a program, of what programs import or link, or of what the system keeps of itself. */
bool report_is_software(struct reader_field path);
/* Whether a file of TYPE at PATH may hold samples, shards or checkpoints, and is no software. */
bool report_is_data(enum report_type type, struct reader_field path);
/* Whether FOLDER, a component of a path, is one that holds packages of a language, or what is remembered of sources. */
bool report_is_package(struct reader_field folder);

#endif
