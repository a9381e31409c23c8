/* SPDX-License-Identifier: BSD-2-Clause */
/* sites.out: the stacks that rows of alloc.out name, and the files that their code is in. */
#include "drain/memory/alloc_sites.h"

#include "trace/probe.h"

static const struct field_name kind_names[] = {
	{ ALLOC_SITE_NATIVE, "native" }, { ALLOC_SITE_MODULE, "module" }, { ALLOC_SITE_PYTHON, "python" }, { 0, NULL }
};

#define AT(member) offsetof(struct alloc_site_row, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC when it was first seen, ns", AT(hdr.ts_ns)),
	{ "FIRST_PID", "process in which it was first seen", FIELD_S64, AT(pid) },
	{ "SITE", "its number, from 1", FIELD_U32, AT(site) },
	{ "KIND", "native, python (a stack), module (a file that code is in)", FIELD_NAME, AT(kind), 0, 0, kind_names },
	{ "FRAMES",
	  "from the innermost on, joined by ';': native: return addresses, each as the SITE of a module (-: in none) "
	  "and an address in that file; python: file:line:function; module: path, as the process has it",
	  FIELD_STACK, AT(segs), 0 },
	{ "BUILD_ID", "of a module, in hex", FIELD_USTR, AT(segs), 1 },
};
#undef AT

const struct probe sites_probe = {
	.name = "sites",
	.help = "the stacks of allocations, with alloc",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct alloc_site_row),
	.flags = PROBE_REFERENCE | PROBE_WHOLE,
	.needs = DLT_alloc,
};
