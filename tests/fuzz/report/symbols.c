/* SPDX-License-Identifier: BSD-2-Clause */
/* A program or library that a trace names, whatever it is now: the names of its functions. */
#include "fuzz.h"
#include "report/memory/symbols.h"

#define ID "00112233445566778899aabbccddeeff00112233"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_place places[] = {
		{ .at = 0 }, { .at = 0x1000 }, { .at = 0x1001 }, { .at = 0x1010 }, { .at = UINT64_MAX }
	};
	autoclose int fd = fuzz_file(data, size);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	symbols_find(path, ID, places, ARRAY_SIZE(places));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		EXPECT(!places[i].name ||
		       (strlen(places[i].name) <= SYMBOL_NAME_MAX && places[i].begin <= places[i].at));
		free(places[i].name);
	}
	return 0;
}
