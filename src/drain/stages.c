/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/stages.h"

#include <stddef.h>

#include "drain/memory/access.h"
#include "drain/memory/alloc.h"
#include "drain/rows/folders.h"
#include "drain/rows/hosts.h"
#include "drain/rows/memory.h"
#include "drain/rows/printed.h"
#include "drain/rows/process_rows.h"
#include "drain/rows/regions.h"
#include "drain/rows/rollup_stage.h"

const struct drain_stage *const drain_stages[] = {
	&process_rows_stage,
	&printed_stage,
	&regions_stage,
	&folders_stage,
	&hosts_stage,
	&alloc_stage,
	&access_stage, /* knows by now which blocks were in use */
	&memory_stage,
	&rollup_stage, /* of the rows of all others */
	NULL,
};
