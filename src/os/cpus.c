/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cpus.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void cpus_in(const char *list, bool *in, unsigned int n)
{
	char *at = (char *)list;

	memset(in, 0, n * sizeof(*in));
	while (isdigit((unsigned char)*at)) {
		unsigned long first = strtoul(at, &at, 10), last = *at == '-' ? strtoul(at + 1, &at, 10) : first;

		for (; first <= last && first < n; first++)
			in[first] = true;
		at += *at == ',';
	}
}

void cpus_online(bool *online, unsigned int n)
{
	char list[4096];

	if (util_read_line("/sys/devices/system/cpu/online", list, sizeof(list)) == 0)
		cpus_in(list, online, n);
	else
		memset(online, true, n * sizeof(*online));
}
