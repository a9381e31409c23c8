/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a field has the form that its kind of column has in every row. Pure. */
#ifndef VALIDATE_FORM_H
#define VALIDATE_FORM_H

#include <stdbool.h>

#include "trace/field.h"
#include "trace/reader_fields.h"

/* Whether V may be a value of a column of KIND that is no text; - and ? are values of every kind but the times. */
bool form_is(enum field_kind kind, struct reader_field v);
/* Whether KIND is text, whose form is form_is_text(). */
bool form_has_text(enum field_kind kind);
/* Whether V is text in its only way of being escaped. SCRATCH: room for V once unescaped and once escaped. */
bool form_is_text(struct reader_field v, char *scratch);
#define FORM_SCRATCH(len) (5 * (len) + 64)

#endif
