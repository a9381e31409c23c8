/* SPDX-License-Identifier: BSD-2-Clause */
/* A declaration that was demangled of a symbol of a program that a trace names, as a name in a stack. */
#include "base/text.h"
#include "fuzz.h"
#include "report/memory/cxx_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = fuzz_text(data, size), *name = malloc(TEXT_ESCAPED_MAX(CXX_NAME_MAX));

	if (!cxx_name_plain(name, text))
		return 0;
	EXPECT(name[0] && strlen(name) < TEXT_ESCAPED_MAX(CXX_NAME_MAX));
	for (const char *c = name; *c; c++) /* neither controls a terminal, nor divides a row */
		EXPECT((unsigned char)*c >= ' ' && *c != 0x7f && *c != '"');
	EXPECT(!strstr(name, " < ")); /* nor looks like two frames */
	return 0;
}
