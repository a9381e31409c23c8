/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/number_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int number_set_add(struct number_set *set, uint64_t v)
{
	uint64_t n = set->n;

	if (v >= NUMBER_SET_MAX)
		return 0;
	while (n <= v)
		n = n ? 2 * n : 65536;
	if (n > set->n) {
		uint64_t *bits = realloc(set->bits, n / 8);

		if (!bits)
			return -ENOMEM;
		memset(bits + set->n / 64, 0, (n - set->n) / 8);
		set->bits = bits;
		set->n = n;
	}
	set->bits[v / 64] |= 1ULL << v % 64;
	return 0;
}

bool number_set_has(const struct number_set *s, uint64_t v)
{
	return v < s->n && s->bits[v / 64] >> v % 64 & 1;
}

void number_set_free(struct number_set *s)
{
	free(s->bits);
	*s = (struct number_set){ 0 };
}
