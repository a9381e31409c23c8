/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/gate.h"

#include <string.h>

#include "report/scan/scan.h"

#define TRACER "dltraced"
#define COMM_LEN 15 /* the kernel cuts names to this */

/* Whether COMM is what the kernel calls the program in the first word of CMDLINE. */
static bool is_program_of(struct reader_field comm, const char *cmdline)
{
	const size_t len = strcspn(cmdline, " ");
	const char *slash = memrchr(cmdline, '/', len), *name = slash ? slash + 1 : cmdline;
	const size_t name_len = len - (size_t)(name - cmdline);

	return comm.len && comm.len == (name_len < COMM_LEN ? name_len : COMM_LEN) &&
	       memcmp(comm.p, name, comm.len) == 0;
}

bool scan_is_gate(const struct scan *s)
{
	const uint64_t pid = scan_number(s, COL_PID);
	const struct report_proc *p = table_find(&s->report->procs, pid);
	const struct manifest_facts *m = &s->report->manifest;
	const struct reader_field comm = scan_field(s, COL_COMM);

	/* it waits in its execve(2) until the job's program has been read */
	if (!p || !p->named || scan_is(s, COL_CALL, "execve") || reader_is(comm, p->comm) ||
	    (m->workload_pid && pid != m->workload_pid))
		return false;
	return reader_is(comm, TRACER) || is_program_of(comm, m->cmdline);
}
