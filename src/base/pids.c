/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pids.h"

#include <errno.h>
#include <stdlib.h>

int pids_parse(struct pids *pids, const char *s)
{
	char *end;

	pids->n = 0;
	errno = 0;
	do {
		if (pids->n == PIDS_MAX || *s < '0' || *s > '9')
			return -EINVAL;
		pids->v[pids->n++] = strtoull(s, &end, 10);
		s = end + 1;
	} while (*end == ',');
	return *end || errno ? -EINVAL : 0;
}

bool pids_have(const struct pids *p, uint64_t pid)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (p->v[i] == pid)
			return true;
	return false;
}
