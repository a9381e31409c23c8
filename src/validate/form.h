/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a field has the form that fields of its column must have. Pure. */
#ifndef VALIDATE_FORM_H
#define VALIDATE_FORM_H

#include <stdbool.h>

#include "trace/field.h"
#include "trace/reader_fields.h"

/* Whether V may be a value of a column of KIND, which is not text. All kinds but the times have the values - and ?,
 * too. */
bool form_is(enum field_kind kind, struct reader_field v);
/* Whether KIND is text, for form_is_text() to check. */
bool form_has_text(enum field_kind kind);
/* Whether V is text, and escaped in the only form that is valid. SCRATCH has FORM_SCRATCH(V.len) bytes. */
bool form_is_text(struct reader_field v, char *scratch);
#define FORM_SCRATCH(len) \
	(5 * (len) + 64) /* the text once unescaped and once escaped, which takes up to 4 bytes for one */

#endif
