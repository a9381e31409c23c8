/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/shell.h"

#include <stdbool.h>
#include <string.h>

#include "base/util.h"

static void append(char *dst, size_t size, const char *s, size_t len)
{
	size_t have = strlen(dst);

	len = MIN(len, size - have - 1);
	memcpy(dst + have, s, len);
	dst[have + len] = '\0';
}

void shell_append(char *dst, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";
	bool quote = !*word || word[strspn(word, plain)];

	append(dst, size, " ", dst[0] ? 1 : 0);
	append(dst, size, "'", quote);
	for (;;) {
		size_t len = strcspn(word, "'");

		append(dst, size, word, len);
		if (!word[len])
			break;
		append(dst, size, "'\\''", 4);
		word += len + 1;
	}
	append(dst, size, "'", quote);
}
