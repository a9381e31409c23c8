/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/ksyms.h"

#include <errno.h>
#include <string.h>

/* A read returns a page at most, and stdio asks for less by itself: the file's block size is 1 KiB. */
#define READ_BYTES 16384

/* strtoull() for this form alone, as hundreds of thousands of addresses are read at each start. */
static uint64_t address_of(char *text, char **end)
{
	uint64_t addr = 0;

	for (;; text++) {
		const unsigned char digit = (unsigned char)*text;

		if (digit >= '0' && digit <= '9')
			addr = addr << 4 | (digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			addr = addr << 4 | (digit - 'a' + 10);
		else
			break;
	}
	*end = text;
	return addr;
}

/* A line: address, type, name, and of a module's a TAB and its name in brackets. */
int ksyms_read(FILE *IO_FILE, ksyms_fn fn, void *ctx)
{
	char line[1024];
	int r = -EPERM;

	while (fgets(line, sizeof(line), IO_FILE)) {
		char *type, *name, *module;
		uint64_t addr = address_of(line, &type);

		if (!addr || type[0] != ' ' || !strchr("tTwW", type[1]) || type[1] == '\0' || type[2] != ' ')
			continue;
		name = type + 3;
		module = name + strcspn(name, "\t\n");
		/*
		 * Behind the modules come BPF programs and kprobes, which are no functions. For each program the kernel
		 * goes through its list from the start (kernel/bpf/core.c, bpf_get_kallsym()), so with hundreds of them
		 * these lines would take longer than all others.
		 */
		if (!strcmp(module, "\t[bpf]\n"))
			break;
		*module = '\0';
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
