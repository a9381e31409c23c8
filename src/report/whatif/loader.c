/* SPDX-License-Identifier: BSD-2-Clause */
/* See loader.h. */
#include "report/whatif/loader.h"

#include <string.h>

#include "base/util.h"

bool whatif_arg(struct reader_field args, const char *key, uint64_t *ret)
{
	static const char newline[] = "\\012";
	const size_t key_len = strlen(key), newline_len = sizeof(newline) - 1;

	while (args.len) {
		const char *end = memmem(args.p, args.len, newline, newline_len);
		const size_t len = end ? (size_t)(end - args.p) : args.len, whole = MIN(len + newline_len, args.len);

		if (len > key_len && args.p[key_len] == '=' && !memcmp(args.p, key, key_len))
			return reader_u64((struct reader_field){ args.p + key_len + 1, len - key_len - 1 }, ret);
		args.p += whole;
		args.len -= whole;
	}
	return false;
}

static uint32_t number_of(struct reader_field args, const char *key, uint32_t otherwise)
{
	uint64_t n;

	return whatif_arg(args, key, &n) ? (uint32_t)MIN(n, UINT32_MAX) : otherwise;
}

struct whatif_loader whatif_loader_parse(struct reader_field args)
{
	uint64_t workers;

	return (struct whatif_loader){
		.known = whatif_arg(args, "workers", &workers),
		.workers = number_of(args, "workers", 0),
		.prefetch = number_of(args, "prefetch", 2), /* the default of PyTorch 1.7 to 2.15 */
		.persistent = number_of(args, "persistent", 0),
		.pin = number_of(args, "pin", 0),
		.in_order = number_of(args, "in_order", 1),
		.iterable = number_of(args, "iterable", 0),
	};
}
