/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pids.h"

#include <errno.h>
#include <stdlib.h>

int pids_parse(struct pids *p, const char *s)
{
	char *end;

	p->n = 0;
	errno = 0;
	do {
		if (p->n == PIDS_MAX || *s < '0' || *s > '9')
			return -EINVAL;
		p->v[p->n++] = strtoull(s, &end, 10);
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
