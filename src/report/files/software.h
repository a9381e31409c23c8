/* SPDX-License-Identifier: BSD-2-Clause */
/* The purpose of a file, by its path. */
#ifndef REPORT_FILES_SOFTWARE_H
#define REPORT_FILES_SOFTWARE_H

#include "report/scan/model.h"

/* Whether PATH is a program, a file that programs import or link, or a file of the system. */
bool report_is_software(struct reader_field path);
/* Whether a file of TYPE at PATH may hold samples, shards or checkpoints and is not software. */
bool report_is_data(enum report_type type, struct reader_field path);
/* Whether FOLDER, a component of a path, holds packages of a language or compiled sources. */
bool report_is_package(struct reader_field folder);

#endif
