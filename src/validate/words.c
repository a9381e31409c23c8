/* SPDX-License-Identifier: BSD-2-Clause */
/* See words.h. */
#include "validate/words.h"

#include "trace/field.h"
#include "trace/probe.h"

bool words_are(const struct field *field)
{
	return field->kind == FIELD_FUNC || field->kind == FIELD_NAME;
}

bool words_have(const struct probe *p, const struct field *field, struct reader_field v)
{
	uint64_t n;

	p = probe_of_calls(p, field);
	if ((v.len == 1 && (v.p[0] == '-' || v.p[0] == '?')) || (field->kind == FIELD_NAME && reader_u64(v, &n)))
		return true;
	for (unsigned int i = 0; field->kind == FIELD_FUNC && i < p->n_calls; i++)
		if (reader_is(v, p->calls[i].name))
			return true;
	for (const struct field_name *name = field->names; field->kind == FIELD_NAME && name->name; name++)
		if (reader_is(v, name->name))
			return true;
	return false;
}
