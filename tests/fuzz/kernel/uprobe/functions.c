/* SPDX-License-Identifier: BSD-2-Clause */
/* What a target has mapped as a library whose functions can have probes, as a file, and as the code of a function. */
#include <errno.h>

#include "fuzz.h"
#include "kernel/uprobe/uprobe.h"

static void point_of_file(const uint8_t *data, size_t size, const char *symbol)
{
	const struct prologue_need need = { PROLOGUE_ARG1 | PROLOGUE_ARG2, true };
	autoclose int fd = fuzz_file(data, size);
	struct uprobe_point point;
	int r = uprobe_find(fd, symbol, &need, &point);

	EXPECT(r || point.offset < size);
	EXPECT(r != -ENOTSUP || (*point.why && strnlen(point.why, sizeof(point.why)) < sizeof(point.why)));
}

static void point_of_code(const uint8_t *code, size_t size, size_t own)
{
	const struct prologue_need any = { 0 },
				   all = { PROLOGUE_ARG1 | PROLOGUE_ARG2 | PROLOGUE_ARG3 | PROLOGUE_ARG4, true };
	struct prologue_point loose, strict;
	const char *why = NULL;

	if (prologue_find(code, size, own, &all, &strict, &why)) {
		EXPECT(why && *why);
		return;
	}
	EXPECT(strict.at < MIN(size, own));
	/* what passes with more needs passes with fewer */
	EXPECT(!prologue_find(code, size, own, &any, &loose, &why) && loose.at == strict.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	point_of_file(data, size, "f");
	point_of_code(data, size, size);
	if (size)
		point_of_code(data + 1, size - 1, data[0]);
	return 0;
}
