/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/ksyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A read returns a page at most, and stdio asks for less by itself: the file's block size is 1 KiB. */
#define READ_BYTES 16384

/* A line: address, type, name, and of a module's a TAB and its name in brackets. */
int ksyms_read(FILE *IO_FILE, ksyms_fn fn, void *ctx)
{
	char line[1024];
	int r = -EPERM;

	while (fgets(line, sizeof(line), IO_FILE)) {
		char *type, *name;
		uint64_t addr = strtoull(line, &type, 16);

		if (!addr || type[0] != ' ' || !strchr("tTwW", type[1]) || type[1] == '\0' || type[2] != ' ')
			continue;
		name = type + 3;
		name[strcspn(name, "\t\n")] = '\0';
		fn(ctx, name, addr);
		r = 0;
	}
	return r;
}

int ksyms_each(ksyms_fn fn, void *ctx)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char buf[READ_BYTES];
	int r;

	if (!f)
		return -errno;
	setvbuf(f, buf, _IOFBF, sizeof(buf));
	r = ksyms_read(f, fn, ctx);
	fclose(f);
	return r;
}
