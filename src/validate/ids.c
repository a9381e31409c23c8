/* SPDX-License-Identifier: BSD-2-Clause */
/* See ids.h. */
#include "validate/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/reader.h"

static int add(struct ids *s, uint64_t id)
{
	uint64_t n = s->n;

	if (id >= IDS_MAX)
		return 0;
	while (n <= id)
		n = n ? 2 * n : 65536;
	if (n > s->n) {
		uint64_t *bits = realloc(s->bits, n / 8);

		if (!bits)
			return -ENOMEM;
		memset(bits + s->n / 64, 0, (n - s->n) / 8);
		s->bits = bits;
		s->n = n;
	}
	s->bits[id / 64] |= 1ULL << id % 64;
	return 0;
}

int ids_read(struct ids *s, int dirfd, const char *file, const char *column)
{
	struct reader_row row;
	struct reader r;
	uint64_t id;
	int res = 0;

	*s = (struct ids){ 0 };
	if (reader_open(&r, dirfd, file) < 0)
		return 0;
	const unsigned int at = reader_column(&r, column);

	s->known = at > 0;
	while (res == 0 && reader_next(&r, &row) > 0)
		if (reader_u64(reader_field(&row, at), &id))
			res = add(s, id);
	reader_close(&r);
	return res;
}

void ids_free(struct ids *s)
{
	free(s->bits);
	*s = (struct ids){ 0 };
}

bool ids_have(const struct ids *s, uint64_t id)
{
	return !s->known || id >= IDS_MAX || (id < s->n && s->bits[id / 64] >> id % 64 & 1);
}
