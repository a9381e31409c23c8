/* SPDX-License-Identifier: BSD-2-Clause */
/* See ids.h. */
#include "validate/ids.h"

#include "trace/reader.h"

int ids_read(struct ids *ids, int dirfd, const char *file, const char *column)
{
	struct reader_row row;
	struct reader r;
	uint64_t id;
	int res = 0;

	*ids = (struct ids){ 0 };
	if (reader_open(&r, dirfd, file) < 0)
		return 0;
	const unsigned int at = reader_column(&r, column);

	ids->known = at > 0;
	while (res == 0 && reader_next(&r, &row) > 0)
		if (reader_u64(reader_field(&row, at), &id))
			res = number_set_add(&ids->set, id);
	reader_close(&r);
	return res;
}

void ids_free(struct ids *s)
{
	number_set_free(&s->set);
	*s = (struct ids){ 0 };
}

bool ids_have(const struct ids *s, uint64_t id)
{
	return !s->known || id >= NUMBER_SET_MAX || number_set_has(&s->set, id);
}
