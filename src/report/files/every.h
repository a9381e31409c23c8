/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every file, every pair of a process and a file, and the paths of all logs and shared memory, for tables that are
 * whole: those of `report --csv'. Other forms show what stands out.
 */
#ifndef REPORT_FILES_EVERY_H
#define REPORT_FILES_EVERY_H

#include "report/files/uses.h"
#include "report/scan/model.h"

struct report_part;

struct report_every {
	struct report_top_file *files; /* as files.out has them */
	struct report_top_use *uses; /* their paths are those of FILES */
	uint32_t n_files, n_uses;
};

extern const struct report_part report_every_part;

#endif
